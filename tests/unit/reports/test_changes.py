"""What changed since the base, and why a claim fell, with its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from site_reference import filled

from pytest_maxrandom.record import ClaimRecord, Recorded, Remark
from pytest_maxrandom.record.cost import Arithmetic, SweepCost
from pytest_maxrandom.record.packed import KeptAnswers
from pytest_maxrandom.reports.changes import Change, changes, counted
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.difference import content, difference, lines
from pytest_maxrandom.reports.reasons import COMPARED, REASONS, Compared, KindOfReason
from tests.unit.reports.samples import claim, flagged, recorded, replicates, run, scored, untested


def compare(now: ClaimRecord, before: ClaimRecord) -> Change:
    (change,) = changes(run(now), run(before))
    return change


def outcome(word: str | None, **changed: Any) -> ClaimRecord:
    return replace(claim(**changed), outcome=word)  # type: ignore[arg-type]


def shuffled(p: float) -> ClaimRecord:
    """A claim whose best accuracy is high enough, judged by shuffled right answers too."""
    asserted, passes = {"p_max": 0.05, "permutation_p": 0.05}, p <= 0.05
    end = "passed" if passes else "failed"
    return outcome(end, asserted=asserted, permutation_p=p, holds=passes, passed=passes)


@pytest.mark.parametrize(
    ("now", "before", "kind", "what"),
    [
        (claim(best=38), claim(), "fell", "newly fails"),
        (outcome("error"), claim(), "fell", "can no longer be tested"),
        (outcome(None), claim(), "fell", "has no result any more"),
        (outcome("skipped"), claim(), "fell", "is skipped now"),
        (outcome("xpassed"), claim(), "fell", "newly passes unexpectedly"),
        (outcome("xfailed"), claim(), "fell", "no longer passes, and is expected to fail now"),
        (claim(), claim(best=38), "rose", "newly passes"),
        (claim(), untested(id=claim().id), "rose", "newly passes"),
        (claim(), outcome("xfailed"), "rose", "newly passes"),
        (claim(t=21), claim(t=20), "t grew", "more prompts were tried"),
        (claim(best=38, t=21), claim(best=38, t=20), "t grew", "more prompts were tried"),
        (claim(t=19), claim(t=20), "weakened", "counts fewer tries, and passes"),
        (claim(t=10), claim(best=38, t=200), "weakened", "counts fewer tries, and passes"),
        (claim(best=38, t=10), claim(best=38), "weakened", "counts fewer tries, and fails"),
        (claim(best=38, t=10), claim(), "fell", "newly fails"),
        (claim(best=46), claim(best=45), "other", ""),
        (
            outcome("cannot tell"),
            claim(),
            "fell",
            "no longer passes, because its results cannot tell",
        ),
        (outcome("cannot tell"), claim(best=38), "other", "cannot tell, before: fails"),
        (claim(best=38), outcome("cannot tell"), "other", "fails, before: cannot tell"),
        (claim(), outcome("cannot tell"), "rose", "newly passes"),
        (
            claim(passes_on="p_max only"),
            claim(),
            "other",
            "passes on p_max only, before: passes",
        ),
        (outcome("error"), claim(best=38), "other", "could not be tested, before: fails"),
        (outcome("xfailed", best=38), claim(best=38), "weakened", "is expected to fail now"),
        (claim(level=0.06), claim(level=0.05), "weakened", "asserts less"),
        (claim(asserted={}), claim(), "weakened", "is only reported now"),
        (claim(asserted={}), claim(asserted={}, outcome="error"), "rose", "is reported now"),
        (
            claim(asserted={"beats": "standard"}),
            claim(asserted={"beats": "max_random"}),
            "weakened",
            "asserts less",
        ),
        (claim(best=40, level=0.5), claim(best=40), "weakened", "passes, but asserts less"),
        (claim(best=30, level=0.5), claim(best=30), "weakened", "asserts less, and fails"),
        (claim(level=0.04), claim(level=0.05), "other", ""),
        (claim(), claim(), "same", ""),
        (claim(notes=[Remark(text="x")], revision="b"), claim(), "same", ""),
    ],
)
def test_a_claim_is_told_by_what_became_of_it(
    now: ClaimRecord, before: ClaimRecord, kind: str, what: str
) -> None:
    change = compare(now, before)
    assert (change.kind, change.what) == (kind, what)


@pytest.mark.parametrize(
    ("now", "before", "why"),
    [
        ({"t": 200}, {"t": 50}, "t from 50 to 200"),
        ({"t": 1500}, {"t": 200}, "t from 200 to 1,500"),
        ({"n": 60}, {"n": 100}, "n from 100 to 60"),
        ({"best": 37}, {"best": 42}, "best accuracy from .700 to .617"),
        ({"best": 45}, {"best": 42}, "best accuracy from .700 to .750"),
        (
            {"level": 0.01},
            {"level": 0.05},
            "claims: p_max is at most .01, before: p_max is at most .05",
        ),
        ({"asserted": {}}, {}, "claims: nothing, before: p_max is at most .05"),
        ({}, {"asserted": {}}, "claims: p_max is at most .05, before: nothing"),
        ({"task_digest": "b"}, {"task_digest": "a"}, "the task's examples are not the same"),
        ({"revision": "b"}, {"revision": "a"}, "the model has another revision"),
        ({"model_digest": "b"}, {"model_digest": "a"}, "the model is not the same"),
        ({"metric": "macro_f1"}, {}, "metric from accuracy to macro-F1"),
    ],
)
def test_each_difference_is_said_with_its_numbers(
    now: dict[str, Any], before: dict[str, Any], why: str
) -> None:
    assert why in compare(claim(**now), claim(**before)).why


def drawn(digest: str | None, examples: int = 60, **changed: Any) -> ClaimRecord:
    validation = replace(claim().validation, digest=digest, examples=examples)  # type: ignore[type-var]
    return claim(validation=validation, **changed)


def test_other_validation_examples_are_one_reason() -> None:
    assert compare(drawn("b"), drawn("a")).why == ("the validation examples are not the same",)
    whole = compare(drawn("b", task_digest="d"), drawn("a", task_digest="c"))
    assert whole.why == ("the validation examples are not the same",)
    # Examples that no prompt is scored on may be demonstrations.
    rest = compare(drawn("a", task_digest="d"), drawn("a", task_digest="c"))
    assert rest.why == ("the task's examples are not the same",)
    assert compare(drawn("a"), drawn(None)).kind == "same"
    more = compare(drawn("b", 100, n=100), drawn("a"))
    assert "the validation examples are not the same" not in more.why
    assert "n from 60 to 100" in more.why


def test_another_revision_is_one_reason_and_not_two() -> None:
    now, before = (claim(revision=name, model_digest=name) for name in "ba")
    assert compare(now, before).why == ("the model has another revision",)
    unknown = claim(revision="b", model_digest=None)
    assert compare(unknown, claim(model_digest="a")).kind == "same"


def test_a_fall_that_t_alone_caused_names_t_alone() -> None:
    now, before = claim(best=42, t=200), claim(best=42, t=20)
    # By hand: scipy.stats.binom(60, .5).cdf(41) ** t is .9825 for t = 20 and .838 for t = 200.
    assert compare(now, before).why == (
        "t from 20 to 200",
        "right answers needed from 42 to 44",
        "p_max from .026 to .234",
    )


def test_a_fall_without_any_difference_has_no_cause() -> None:
    assert compare(outcome("error"), claim()).why == ()


def test_other_metrics_are_compared_in_their_own_value() -> None:
    why = compare(scored(best_score=0.5), scored(best_score=0.6)).why
    assert why == ("best macro-F1 from .600 to .500",)


@pytest.mark.parametrize("above", ["repo/", "home/me/repo/"])
def test_claims_are_the_same_where_pytest_began_in_a_folder_above(above: str) -> None:
    """As its rootdir does where no ini-file says otherwise, and an option names another folder."""
    here = run(*(claim(id=f"a.yaml::{name}", suite="a.yaml") for name in "xy"))
    there = run(*(claim(id=f"{above}a.yaml::{name}", suite=f"{above}a.yaml") for name in "xy"))
    for now, before in ((here, there), (there, here)):
        assert [change.kind for change in changes(now, before)] == ["same", "same"]
    # A suite that only looks alike is another one.
    other = run(claim(id="aa.yaml::x", suite="aa.yaml", task_digest="of other examples"))
    assert {change.kind for change in changes(here, other)} == {"new", "gone"}


def test_a_claim_whose_file_was_renamed_is_the_same() -> None:
    now = [claim(id=f"new.yaml::{name}", suite="new.yaml") for name in "xy"]
    before = [claim(id=f"old/a.yaml::{name}", suite="old/a.yaml") for name in "xz"]
    found = {(each.record.id, each.kind): each.why for each in changes(run(*now), run(*before))}
    moved = "its file from old/a.yaml to new.yaml"
    assert found == {
        ("new.yaml::x", "other"): (moved,),
        ("new.yaml::y", "new"): (),
        ("old/a.yaml::z", "gone"): ("before: passes",),
    }
    fell = claim(best=38, id="new.yaml::x", suite="new.yaml")
    (change,) = changes(run(fell), run(before[0]))
    assert (change.kind, change.why[0]) == ("fell", moved)


def test_claims_that_are_new_or_gone_are_told() -> None:
    old, kept, new = (claim(id=f"a.yaml::{name}") for name in ("old", "kept", "new"))
    found = changes(run(new, kept), run(kept, old))
    assert [(change.kind, change.what) for change in found] == [
        ("new", "is new"),
        ("same", ""),
        ("gone", "is gone"),
    ]
    assert found[2].now is None
    assert found[2].why == ("before: passes",)


@pytest.mark.parametrize("partial", [{"interrupted": True}, {"not_run": 2}, {"broken": ["x"]}])
def test_a_claim_that_a_partial_run_lacks_is_not_said_to_be_gone(partial: dict[str, Any]) -> None:
    (change,) = changes(run(**partial), run(claim()))
    assert change.what == "has no result in this run"


def test_changes_are_counted_in_one_phrase() -> None:
    names = ("fell", "fell too", "rose", "grew", "weaker", "other", "same")
    now = [claim(best=38), claim(best=38, t=30), claim(), claim(t=30), claim(level=0.06)]
    before = [claim(), claim(), claim(best=38), claim(), claim()]
    now += [claim(best=50), claim()]
    before += [claim(best=45), claim()]
    ids = [f"a.yaml::{name}" for name in names]
    one = [replace(record, id=name) for record, name in zip(now, ids, strict=True)]
    two = [replace(record, id=name) for record, name in zip(before, ids, strict=True)]
    found = changes(run(*one, claim(id="new")), run(*two, claim(id="gone"), claim(id="gone too")))
    assert counted(found) == (
        "2 claims fell, 1 was weakened, 1 newly passes, t grew for 2, 2 are gone, 1 is new, "
        "1 changed otherwise"
    )
    assert counted(changes(run(claim()), run(claim()))) == "nothing changed"


def test_claims_of_one_name_are_compared_with_the_first() -> None:
    found = changes(run(claim(best=38), claim()), run(claim(), claim(best=38)))
    assert [change.kind for change in found] == ["fell", "same"]


numbers = st.none() | st.integers(0, 300)


@given(numbers, numbers)
def test_t_is_said_to_grow_only_if_it_is_known_to(now: int | None, before: int | None) -> None:
    change = compare(replace(claim(), t=now), replace(claim(), t=before))
    grew = now is not None and before is not None and now > before
    assert change.t_grew == grew == (change.kind == "t grew")


def computed(**changed: Any) -> ClaimRecord:
    """Make a claim with what computed it."""
    arithmetic = Arithmetic("H100", "bitsandbytes", {"torch": "2.12.0"})
    known: dict[str, Any] = {
        "device": "cuda", "dtype": "bfloat16", "requests": 1, "tokens_forwarded": 1, "seconds": 1.0,
        "engine": "packed", "arithmetic": arithmetic, "handshake": {"server": "vLLM", "local": 0.1},
    }  # fmt: skip
    return claim(best=changed.pop("best", 45), engine=SweepCost(**{**known, **changed}))


OTHER_PROCESSOR = Arithmetic("A100", "bitsandbytes", {"torch": "2.12.0"})
OTHER_TORCH = Arithmetic("H100", "bitsandbytes", {"torch": "2.13.0"})


@pytest.mark.parametrize(
    ("changed", "kind", "text"),
    [
        ({"arithmetic": OTHER_PROCESSOR}, "arithmetic", "processor from H100 to A100"),
        ({"arithmetic": OTHER_TORCH}, "arithmetic", "torch from 2.12.0 to 2.13.0"),
        ({"engine": "rows"}, "arithmetic", "engine from packed to rows"),
        ({"dtype": "float32"}, "arithmetic", "dtype from bfloat16 to float32"),
        ({"quantized": "gptq, 4 bits"}, "model", "files quantized by from nothing to gptq, 4 bits"),
        ({"handshake": {"server": "x"}}, "model", "the server reports another model"),
    ],
)
def test_what_computed_the_numbers_is_a_reason(
    changed: dict[str, Any], kind: str, text: str
) -> None:
    fell = compare(computed(best=38, **changed), computed())
    assert (kind, text) in [(reason.kind, reason.text) for reason in fell.reasons]
    # With the same results, other arithmetic alone is no change.
    same = compare(computed(**changed), computed())
    assert same.kind == ("same" if kind == "arithmetic" else "other")


def test_what_a_handshake_measures_anew_is_no_reason() -> None:
    again = computed(best=38, handshake={"server": "vLLM", "local": 0.2})
    assert {reason.kind for reason in compare(again, computed()).reasons} == {"number"}


def test_another_best_prompt_is_a_reason_of_another_result_only() -> None:
    other = replace(claim().best_prompt, digest="another")  # type: ignore[type-var]
    assert compare(claim(best_prompt=other), claim()).kind == "same"
    assert "another prompt is the best" in compare(claim(best=38, best_prompt=other), claim()).why


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"scoring": "sum_logprob"}, "scoring from mean_logprob to sum_logprob"),
        ({"backend": "gguf"}, "backend from transformers to gguf"),
        (
            {"prompts": replace(claim().prompts, seed=7)},  # type: ignore[type-var]
            "seed of prompts from 0 to 7",
        ),
        (
            {"validation": replace(claim().validation, seed=7)},  # type: ignore[type-var]
            "seed of examples from 0 to 7",
        ),
    ],
)
def test_other_settings_are_a_reason(changed: dict[str, Any], text: str) -> None:
    change = compare(claim(**changed), claim())
    assert change.kind == "other"
    assert change.why == (text,)


# By scipy.stats.binom(60, .5): 42 of 60 pass with t = 20, 44 with t = 200, 41 with t = 10.
@pytest.mark.parametrize(
    ("now", "before", "because"),
    [
        (claim(best=38), claim(best=45), "best accuracy .750 to .633"),
        (claim(best=42, t=200), claim(best=42, t=20), "needed accuracy .700 to .733"),
        # Better than before, and with the old bar it would have passed.
        (claim(best=43, t=200), claim(best=42, t=20), "needed accuracy .700 to .733"),
        # Both moved; it would have failed with the old bar too.
        (claim(best=38, t=200), claim(best=42, t=20), "best accuracy .700 to .633"),
        # Neither would have been enough: 43 pass with the old bar, and 45 with the new one.
        (
            claim(best=43, t=200),
            claim(best=45, t=20),
            "best accuracy .750 to .717 and needed accuracy .700 to .733",
        ),
        (
            claim(best=42, t=20),
            claim(best=41, t=200),
            "best accuracy .683 to .700 and needed accuracy .733 to .700",
        ),
        # Both are above what is needed; shuffled right answers decide.
        (shuffled(0.2), shuffled(0.01), "permutation p .010 to .200"),
        (shuffled(0.01), shuffled(0.2), "permutation p .200 to .010"),
        (claim(best=45), claim(best=38), "best accuracy .633 to .750"),
        (claim(best=42, t=20), claim(best=42, t=200), "needed accuracy .733 to .700"),
        (flagged(), claim(), "red flag tied_scores fails it"),
        (claim(), flagged(), "red flag tied_scores fails it no longer"),
        (untested(id=claim().id), claim(), ""),
        (claim(), untested(id=claim().id), ""),
    ],
)
def test_what_decides_is_named(now: ClaimRecord, before: ClaimRecord, because: str) -> None:
    assert compare(now, before).because == because


def test_what_decides_of_other_records_is_not_guessed() -> None:
    now, before = replicates(38, 38), replicates(45, 45)
    (change,) = changes(run(replicates=[now]), run(replicates=[before]))
    assert (change.kind, change.because) == ("fell", "")


def test_names_from_data_are_written_as_they_are() -> None:
    braces = Arithmetic("{0}", "{now}", {"{x}": "{1}"})
    more = Arithmetic("{2}", "{now}", {"{x}": "{before}"})
    change = compare(computed(best=38, arithmetic=more), computed(arithmetic=braces))
    assert "processor from {0} to {2}" in change.why
    assert "{x} from {1} to {before}" in change.why


def test_a_reason_needs_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KindOfReason("the weather of the day", "weather from dry to wet")
    row = Compared("weather", "weather", "message")
    monkeypatch.setitem(REASONS, "weather", kind)
    monkeypatch.setitem(COMPARED, ClaimRecord, (*COMPARED[ClaimRecord], row))
    now, before = run(claim(best=46, message="wet")), run(claim(message="dry"))
    found = difference("a", before, "b", now)
    said = {"kind": "weather", "text": "weather from dry to wet"}
    assert said in content(found)["changes"][0]["reasons"]
    assert "weather from dry to wet" in " ".join(line.text for line in lines(found))
    assert "weather from dry to wet" in comment(now, before)
    assert "| weather | the weather of the day |" in filled("<!-- generated: reasons -->")


def kept(*rows: str, examples: str = "ab", path: str = "a.csv") -> ClaimRecord:
    """A claim on recorded results, with what a report keeps of them."""
    answers = KeptAnswers(tuple(map(str, range(len(rows)))), tuple(examples), rows).packed()
    source = Recorded(path=path, format="csv")
    return recorded(recorded=source, answers=answers, best=30 + "".join(rows).count("1"))


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (kept("10", "11"), "the recorded answers are not the same"),
        (kept("10", "00", examples="ac"), "the examples of the results are not the same"),
        (kept("10"), "the prompts of the results are not the same"),
        (kept("10", "11", path="b.csv"), "results from a.csv to b.csv"),
    ],
)
def test_a_changed_claim_on_recorded_results_has_a_reason(now: ClaimRecord, why: str) -> None:
    change = compare(now, kept("10", "00"))
    assert why in change.why
    # Of other questions, or prompts, answers are no news.
    others = "of the results" in why
    assert ("the recorded answers are not the same" in change.why) is not others


def test_results_that_merely_moved_are_the_same() -> None:
    assert compare(kept("10", "00", path="b.csv"), kept("10", "00")).kind == "same"
