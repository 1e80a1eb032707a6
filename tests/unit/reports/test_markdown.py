"""The Markdown report says n and t every time, and what a reader has to decide on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings, strategies as st

from pytest_maxrandom.record import HeldOut, Recorded, Remark, Tries
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.text import shorten, visible
from tests.unit.reports.page import FRAGMENTS, Page, any_text, read
from tests.unit.reports.samples import (
    calibrated,
    claim,
    comparison,
    contamination,
    flag,
    hand_written,
    interaction,
    label_bias,
    over_tasks,
    recorded,
    replicates,
    run,
    scored,
    several,
    untested,
)
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, Outcome, RunRecord

HOSTILE = "a|b <img> @someone ` `` \n](x) $math$ #12 :smile: \u200f\x1b[31m <!-- </details> \\|"


def hidden_in(text: str, *, outcome: Outcome = "failed") -> RunRecord:
    """Make a run in which every text that comes from files is `text`."""
    first = claim(
        best=38,
        task=text,
        model=text,
        id=f"suite.yaml::{text}",
        suite=text,
        revision=text,
        scoring=text,
        metric=text,
        message=text,
        xfail=text,
        critical_count=None,
        outcome=outcome,
        red_flags=[flag(text, severity="fail"), flag(text)],
        notes=[Remark(text=text)],
        asserted={text: text},
    )
    third = recorded(task=text, model=text, id=f"other.yaml::{text}", published="below standard")
    assert third.published is not None
    third = replace(
        third,
        recorded=Recorded(path=text, format=text, stated=[text]),
        published=replace(third.published, changes=[Remark(text=text)] * 2),
        warnings=[Remark(text=text)],
        notes=[Remark(text=text)],
    )
    assert first.best_prompt is not None
    prompt = replace(
        first.best_prompt,
        text=text,
        question=text,
        answers=[text],
        digest=text,
        demonstration_ids=[text],
    )
    first = replace(first, best_prompt=prompt)
    return run(first, claim(), third, **designs_hiding(text, outcome), created=text)


def designs_hiding(text: str, outcome: Outcome) -> dict[str, Any]:
    """Make records of all other kinds, and versions, whose every text is `text`."""
    told: dict[str, Any] = {
        "suite": text,
        "task": text,
        "message": text,
        "xfail": text,
        "outcome": outcome,
        "notes": [Remark(text=text)],
        "warnings": [Remark(text=text)],
    }
    repeated = replicates(45, 30, claim=text, id=f"r.yaml::{text}", model=text, **told)
    repeated.asserted = {text: text, "in_replicates": 0.9}
    for one in repeated.runs:
        one.best_prompt, one.demonstration_ids = text, [text]
    names: dict[str, Any] = {"first": text, "second": text, "changed": text}
    both = comparison(id=f"c.yaml::{text}", asserted={text: text}, **names, **told)
    tuned = contamination(id=f"t.yaml::{text}", base=text, extra=text, test=text, **told)
    asked = interaction(0.98, None, 0.01, 0.01, calibrated=[calibrated(prior={text: 1.0})])
    for row in asked.labels:
        row.label = text
    asked.best_prompt = asked.score_prompt = text
    biased = label_bias(asked, id=f"l.yaml::{text}", claim=text, model=text, **told)
    biased.sentence = f"Found: {text}"
    return {
        "versions": {"Python": text},
        "replicates": [repeated],
        "label_bias": [biased],
        "comparisons": [both],
        "contamination": [tuned],
        "over_tasks": [over_tasks(first=text, second=text)],
    }


@cache
def harmless(outcome: Outcome) -> Page:
    return read(markdown(hidden_in("word", outcome=outcome)))


@pytest.mark.parametrize("outcome", ["failed", "xpassed"])
@given(text=any_text)
@example(text=HOSTILE)
@example(text="x" * 5000)
@settings(max_examples=25, deadline=None)
def test_no_text_changes_the_structure_of_a_report(outcome: Outcome, text: str) -> None:
    tame = harmless(outcome)
    page = read(markdown(hidden_in(text, outcome=outcome)))
    assert page.tags == tame.tags
    assert page.links == tame.links
    for table, of_tame, rows in zip(page.tables, tame.tables, (2, 4), strict=False):
        assert [len(row) for row in table] == [len(of_tame[0])] * rows
    assert not [node for node in page.prose if ACTIVE.search(node)]


@pytest.mark.parametrize("text", [HOSTILE, *FRAGMENTS])
def test_a_hostile_name_is_shown_in_the_table_as_it_is(text: str) -> None:
    page = read(markdown(run(claim(task=text, model=text), claim(task="weather"))))
    task, model = page.body[0][1:3]
    assert task == shorten(visible(text), 40)
    assert model == shorten(visible(f"{text} (nf4)"), 40)


@given(st.lists(st.booleans(), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_n_and_t_stand_in_every_row_and_every_summary(tested: list[bool]) -> None:
    page = read(markdown(run(*[claim() if known else untested() for known in tested])))
    header = page.tables[0][0]
    found = [(row[header.index("n")], row[header.index("t")]) for row in page.body]
    assert found == [("60", "20") if known else ("100", "200") for known in tested]
    for known in set(tested):
        n, t = (60, 20) if known else (100, 200)
        assert page.text.count(f"n = {n}, t = {t}") >= tested.count(known)


def test_unknown_n_and_t_are_dashes() -> None:
    row = read(markdown(run(untested(n=None, t=None)))).body[0]
    assert row[4:] == ["-"] * 6


def test_a_row_holds_the_numbers_of_its_claim() -> None:
    record = claim(best=41)
    # By hand: scipy.stats.binom(60, .5) gives P(X <= 40) = .99691 and E[max of 20]/60 = .62016.
    (row,) = read(markdown(run(record))).body
    assert row == [
        "❌ failedabove maximum",
        "weather",
        "demo (nf4)",
        "4",
        "60",
        "20",
        ".68341/60",
        ".500",
        ".620",
        ".060",
    ]


def top(record: RunRecord) -> str:
    return markdown(record).split("\n", 1)[0].replace("*", "")


def test_the_top_line_of_one_claim_can_be_quoted() -> None:
    assert top(run(claim(best=41))) == (
        "❌ `weather[demo-nf4-4shot]`: failed. The best of t = 20 prompts answers 41 of n = 60 "
        "examples correctly (.683); the best of 20 random guessers reaches .620 on average, and "
        "does as well as the best prompt with probability p_max = .060."
    )


def test_the_top_line_of_many_claims_counts_each_kind_of_outcome() -> None:
    claims = [claim(), claim(best=41), claim(best=35, outcome="xfailed"), untested()]
    claims += [claim(outcome="xpassed", xfail="too hard"), untested(outcome="skipped")]
    assert top(run(*claims)) == (
        "❌ 1 of 6 claims fails, 1 passes unexpectedly, 1 could not "
        "be tested, 1 passes, 1 fails as expected, 1 was skipped: the best of t = 20 to 200 "
        "prompts on n = 60 to 100 examples, against the best of as many random guessers."
    )


@pytest.mark.parametrize(
    ("claims", "sign"),
    [
        ([claim(), claim()], "✅"),
        ([claim(), claim(best=35, outcome="xfailed")], "✅"),
        ([claim(), claim(best=35)], "❌"),
        ([claim(), claim(outcome="xpassed")], "❌"),
        ([claim(), untested()], "❌"),
        ([claim(), untested(outcome=None)], "❌"),
    ],
)
def test_a_run_is_good_only_if_every_claim_ended_as_it_should(
    claims: list[ClaimRecord], sign: str
) -> None:
    assert top(run(*claims)).startswith(sign)


def test_a_run_that_did_not_end_says_so_first_in_bold_and_in_the_tally() -> None:
    text = markdown(run(claim(), interrupted=True, not_run=3))
    assert text.startswith("**⚠️ The run was interrupted: 3 tests have no result.**\n")
    assert "**❌ 3 of 4 claims were not run, 1 passes**" in text
    early = markdown(run(claim(), not_run=1))
    assert early.startswith("**⚠️ The run ended early: 1 test has no result.**\n")


def test_a_run_without_claims_says_so() -> None:
    page = read(markdown(run()))
    assert page.text.startswith("No claim was tested.")
    assert page.tables == []


def test_what_needs_a_decision_stands_above_the_table() -> None:
    told = claim(red_flags=[flag("Always answering wet gets 45 of 60 right.")])
    text = markdown(run(claim(best=41), told, untested()))
    above = text[: text.index("| result |")]
    assert "- ❌ `weather[demo-nf4-4shot]`: 41 of 60 correct; 42 would have passed\n" in above
    warned = "red flag majority (warns): Always answering wet gets 45 of 60 right\n"
    assert f"- 🚩 `weather[demo-nf4-4shot]`: {warned}" in above
    assert "allenai/OLMo-7B: no such model on this machine" in above


def test_the_details_show_the_best_prompt_and_how_it_was_found() -> None:
    page = read(markdown(run(claim())))
    record = claim().best_prompt
    assert record is not None
    assert page.blocks == [f"{record.text}{record.question}\n"]
    assert "Scored as answers:  wet,  dry" in page.text
    assert "number 1 of 20, digest 9b1f0c6e2a77; demonstrations #7, #81." in page.text
    assert "20 asked for, 91,390 possible" in page.text
    assert "60 of the task's 100 examples, drawn with seed 0" in page.text


def test_formats_that_differ_only_in_the_question_are_told_apart() -> None:
    best = claim().best_prompt
    assert best is not None
    plain = replace(best, text="", question="Snow fell. ", answers=["wet", "dry"])
    letters = replace(best, text="", question="Snow fell.\nA. wet\nB. dry\n", answers=["A", "B"])
    pages = [read(markdown(run(claim(best_prompt=each)))) for each in (plain, letters)]
    assert [page.blocks for page in pages] == [
        ["Snow fell. \n"],
        ["Snow fell.\nA. wet\nB. dry\n\n"],
    ]
    assert "Scored as answers: wet, dry" in pages[0].text
    assert "Scored as answers: A, B" in pages[1].text


def test_the_disclosure_says_what_a_paper_must_say() -> None:
    text = read(markdown(run(claim(best=41), untested()))).text
    paragraph = text[text.index("For a paper") :]
    for fact in (
        "best of t = 20 4-shot prompts of demo (nf4)",
        "41 of n = 60 validation examples of weather",
        "standard baseline .500, maximum random baseline .620, p_max = .060",
        "t = 20 of 91,390 possible prompts (4 demonstrations each, from the 40 examples outside",
        "arXiv:2404.13020",
        "accuracy of always the same answer .517",
        "Throughout, t = 20",
        "pytest-maxrandom 0.1.0, Python 3.11.9, torch 2.13.0",
    ):
        assert fact in paragraph
    assert "emoji_movie" not in paragraph
    assert "permutation" not in paragraph


def disclosed(record: RunRecord) -> Page:
    text = markdown(record)
    return read(text[text.index("### For a paper") :])


def test_the_disclosure_has_an_item_for_each_of_several_claims() -> None:
    other = claim(task="f1", id="demo.yaml::f1[x]")
    assert other.prompts is not None
    other = replace(other, prompts=replace(other.prompts, seed=1))
    failing = claim(best=35, outcome="xfailed", xfail="too hard", permutation_p=0.4)
    page = disclosed(run(claim(), failing, other))
    assert page.tags[:5] == ["h3", "blockquote", "ul", "li", "code"]
    assert page.tags.count("li") == 3
    assert page.text.count("was expected to fail") == 1
    assert "This claim was expected to fail (too hard)." in page.text
    assert "permutation p = .400" in page.text
    assert "on shuffled right answers" in page.text


@pytest.mark.parametrize("claims", [[claim()], [claim(), untested()], [untested()], []])
def test_versions_stand_in_a_report_once(claims: list[ClaimRecord]) -> None:
    assert markdown(run(*claims)).count("torch 2.13.0") == 1


def test_a_score_of_another_metric_never_stands_as_an_accuracy() -> None:
    record = scored(asserted={"permutation_p": 0.05})
    text = markdown(run(record))
    assert top(run(record)) == (
        "❌ `weather[demo-nf4-4shot]`: failed. The best of t = 20 prompts reaches a macro-F1 of "
        ".515 on n = 60 examples; the best of 20 random guessers reaches .607 on average, and "
        "does as well as the best prompt with probability p_max = .912. What decides is "
        "permutation p = .412."
    )
    (row,) = read(text).body
    assert row[6:] == [".515macro-F1", ".490", ".607", ".412permutation p"]
    assert "decided by another p-value" in text
    assert "reaches a macro-F1 of .515 on n = 60 validation examples" in text
    assert "baseline is the expected macro-F1 of the best" in text
    assert ".633" not in text


def test_the_table_names_only_another_p_value_than_p_max() -> None:
    text = markdown(run(claim()))
    assert read(text).body[0][-1] == ".0013"
    assert "decided by another" not in text


def test_claims_of_the_same_name_are_told_apart_by_their_files_everywhere() -> None:
    one, two, other = (
        claim(best=41, id=f"evals/{path}::{name}[x]", task=name)
        for path, name in (("a/d.yaml", "one"), ("b/d.yaml", "one"), ("b/d.yaml", "two"))
    )
    text = markdown(run(one, two, other))
    assert [row[1] for row in read(text).body] == ["onea/d.yaml", "oneb/d.yaml", "two"]
    assert "- ❌ `a/d.yaml::one[x]`: " in text
    assert "- ❌ `two[x]`: " in text
    assert "<code>b/d.yaml::one[x]</code>" in text
    assert "examples of `one` (`b/d.yaml`)" in text
    assert "examples of `two` correctly" in text


def test_a_hand_written_claim_shows_only_what_it_states() -> None:
    text = markdown(run(hand_written()))
    assert read(text).body[0][1:4] == ["test_best", "-", "-"]
    assert "- **Test:** `tests/test_mine.py:8`\n" in text
    assert "The best of t = 20 prompts answers 45 of n = 60 validation examples" in text
    for unstated in ("()", "(empty)", "0-shot", "The model's answer", "not quantized"):
        assert unstated not in text
    stated = markdown(run(hand_written(model="mine", shots=2, quantization="nf4")))
    assert read(stated).body[0][2:4] == ["mine (nf4)", "2"]
    assert "- **Test:** `tests/test_mine.py:8`; model `mine`, nf4\n" in stated


def test_a_suite_that_could_not_be_read_is_told_first_and_is_never_good() -> None:
    text = markdown(run(claim(), broken=["a.yaml:3: <b> is no key"]))
    assert text.startswith("**⚠️ 1 suite could not be read:** a.yaml:3: &lt;b&gt; is no key\n\n")
    assert "**❌ 1 of 1 claim passes**" in text


def test_mistakes_are_shortened_on_top_and_told_in_full_below() -> None:
    mistakes = [f"s{number}.yaml:1: found {'x' * 400}, expected y" for number in range(7)]
    page = read(markdown(run(broken=mistakes)))
    above, below = page.text.split("Suites that could not be read")
    assert above.startswith("⚠️ Some suites could not be read (7 mistakes):")
    assert above.count("expected y") == 5
    assert max(map(len, above.splitlines())) == 300
    assert "and 2 more, listed at the end" in above
    assert "No claim was tested." in above
    for mistake in mistakes:
        assert mistake in below


@given(text=any_text)
@settings(max_examples=25, deadline=None)
def test_no_mistake_changes_the_structure_of_a_report(text: str) -> None:
    for broken in ([text], [text, text]):
        tame = read(markdown(run(claim(), broken=["word"] * len(broken))))
        page = read(markdown(run(claim(), broken=broken)))
        assert page.tags == tame.tags
        assert page.links == tame.links
        assert not [node for node in page.prose if ACTIVE.search(node)]


def test_a_red_flag_of_an_expected_failure_stands_alone() -> None:
    record = claim(best=35, outcome="xfailed", red_flags=[flag("Always wet is as good.")])
    text = markdown(run(record))
    told = "red flag majority (warns): Always wet is as good\n"
    assert f"🚩 `weather[demo-nf4-4shot]`: {told}" in text
    assert text.count("- ☑️") == 0


def test_a_run_without_a_tested_claim_has_nothing_to_disclose() -> None:
    assert "For a paper" not in markdown(run(untested()))


def test_any_report_can_be_encoded() -> None:
    assert markdown(hidden_in("\ud800\udfff")).encode("utf-8")


def test_a_claim_of_nothing_is_reported_and_no_claim_that_holds() -> None:
    record = run(claim(), claim(best=41), recorded())
    text = markdown(record)
    assert top(record).startswith("❌ 1 of 2 claims fails, 1 passes, 1 result reported: the best")
    assert read(text).body[2][0] == "📋 reportedabove maximum"
    assert "<summary>📋 <code>weather[demo-nf4-4shot]</code> reported: 45 of 60" in text
    only = run(recorded(), recorded())
    assert top(only).startswith("📋 2 results reported, nothing claimed: the best of t = 20")
    assert top(run(recorded())).startswith("📋 `weather[demo-nf4-4shot]`: reported. The best of")


def test_a_result_that_could_not_be_read_is_no_reported_one() -> None:
    broken = untested(asserted={}, backend="recorded")
    assert top(run(recorded(), broken)).startswith(
        "❌ 1 of 1 claim could not be tested, 1 result reported: "
    )


def test_recorded_results_say_where_they_come_from_and_what_was_stated() -> None:
    text = markdown(run(recorded()))
    assert "- **Results:** `data/results.npz`, format npz\n" in text
    assert "- **n = 60:** counted in the recorded results\n" in text
    assert "- **t = 20:** counted in the recorded results\n" in text
    assert "- **Chance of a right guess:** stated in the suite, not counted\n" in text
    assert (
        "> Throughout, the results were read from results.npz (npz); n and t were counted "
        "in them; chance was stated, not counted.\n"
    ) in text
    stated = Recorded(path="maxima.csv", format="summary", stated=["n", "t", "chance"])
    text = markdown(run(recorded(recorded=stated)))
    assert "- **n = 60:** stated in the results or the suite, not counted\n" in text
    assert "- **t = 20:** stated in the results or the suite, not counted\n" in text
    assert "(summary); n, t and chance were stated, not counted.\n" in text
    for unknown in ("seed", "drawn", "counted in", "quantized"):
        assert unknown not in text


def test_results_of_a_part_of_the_tries_say_how_many_they_hold() -> None:
    stated = Recorded(path="r.npz", format="npz", stated=["t"])
    text = markdown(run(recorded(recorded=stated, correct_counts=[45, 40, 41], t=20)))
    assert "- **t = 20:** stated in the suite, not counted; the results hold 3\n" in text


def test_changed_verdicts_stand_in_a_table_with_both_numbers_and_why() -> None:
    same = recorded(published="above maximum", task="same")
    other = recorded(published="between baselines", task="other")
    text = markdown(run(same, other, claim()))
    assert "1 of 2 published verdicts changes where n, t and chance are those of the" in text
    (table, claims) = read(text).tables
    assert table[1:] == [
        [
            "other[demo-nf4-4shot]",
            "between baselines\N{NO-BREAK SPACE}→above maximum",
            *(
                f"{before}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{now}"
                for before, now in (("99", "60"), ("103", "20"), (".312", ".620"))
            ),
            ".345\N{NO-BREAK SPACE}→.0013",
            "n is 60, not 99: example ids collide; t is 20, not 103: prompts repeat",
        ]
    ]
    assert [row[1] for row in claims[1:]] == ["same", "other", "weather"]
    assert (
        "- **As published:** n = 99, t = 103, chance .200, maximum random baseline .312, "
        "p_max = .345, between baselines; n is 60, not 99: example ids collide; "
    ) in text


def test_a_number_that_is_as_published_is_written_once() -> None:
    other = recorded(published="between baselines")
    assert other.published is not None
    other.published.n = 60
    [row] = read(markdown(run(other))).tables[0][1:]
    assert row[2] == "60"
    assert "→" in row[3]


def test_verdicts_that_all_stay_are_told_without_a_table() -> None:
    text = markdown(run(recorded(published="above maximum")))
    assert "0 of 1 published verdict changes where n, t" in text
    assert len(read(text).tables) == 1
    assert "published" not in markdown(run(recorded()))


def test_the_disclosure_names_corrections_and_the_test_set_with_their_sources() -> None:
    test = HeldOut(40, 30, 0.75, 0.6, 0.86, 0.5, 0.0011, openings=1)
    first = claim(adjusted_p=0.0042, test=test, permutation_p=0.0123)
    text = disclosed(run(first, claim(best=41, adjusted_p=0.06))).text
    for fact in (
        "permutation p = .012, adjusted .0042; accuracy of always",
        "On the test set: 30 of 40 correct (.750, 95 % interval .600 to .860), beside a standard",
        "adjusted for 2 claims by Holm's method, which holds the family-wise error (Holm, 1979,",
        "Westfall and Young, 1993; Besag and Clifford, 1991, doi:10.1093/biomet/78.2.301",
        "Wilson's score intervals (Wilson, 1927,",
        "nf4 is quantization to 4-bit NormalFloat (Dettmers et al., 2023, arXiv:2305.14314)",
    ):
        assert fact in text
    alone = disclosed(run(first)).text
    assert "adjusted" not in alone


def test_many_results_are_disclosed_in_short_and_one_by_one_when_unfolded() -> None:
    claims = several(tasks=5)
    page = disclosed(run(*claims))
    assert "Each of 20 results is the best of t = 20 prompts on n = 60 validation" in page.text
    assert page.text.count("The best of t = 20") == 20
    assert page.tags.count("details") == 1
    other = Recorded(path="other.npz", format="npz")
    half = [replace(one, recorded=other) if one.model == "model-1" else one for one in claims]
    assert "For all results of model-1: the results were read from other.npz" in (
        disclosed(run(*half)).text
    )


@pytest.mark.parametrize("tasks", [2, 30])
def test_every_claim_stands_in_the_table_and_in_the_details_once(tasks: int) -> None:
    claims = [*several(tasks=tasks), untested(), scored(), hand_written()]
    text = markdown(run(*claims))
    (table,) = (table for table in read(text).tables if table[0][0] == "result")
    assert [row[1] for row in table[1:]] == [claim.task for claim in claims]
    for each in claims:
        name = each.id.partition("::")[2]
        assert text.count(f"<code>{name}</code>") == 1
    assert (f"<summary>All {len(claims)} in detail</summary>" in text) == (tasks == 30)


def test_n_of_a_publication_is_no_number_of_examples_that_a_prompt_was_scored_on() -> None:
    # 16 of 40 are right; the publication says n = 102.
    numbers: dict[str, Any] = {"best": 16, "n": 102, "best_accuracy": 0.4, "best_score": 0.4}
    text = markdown(run(recorded(correct_counts=[16, 9, 8, 7, 5, 4], **numbers)))
    assert read(text).body[0][4:7] == ["102", "20", ".40016/40"]
    assert "reported: 16 of 40 correct, n = 102, t = 20</summary>" in text
    assert (
        "answers 16 of the 40 validation examples that it was scored on (n = 102 as published) of "
        "`weather` correctly (.400; "
    ) in text
    assert top(run(recorded(**numbers))).startswith(
        "📋 `weather[demo-nf4-4shot]`: reported. The best of t = 20 prompts answers 16 of the 40 "
        "examples that it was scored on (n = 102 as published) correctly (.400); "
    )
    assert "highest 16 correct\n" in text


def test_what_to_look_at_is_folded_where_it_is_long_with_failures_first() -> None:
    odd = [recorded(red_flags=[flag(f"odd {place}")], id=f"a::{place}") for place in range(20)]
    few = markdown(run(*odd))
    assert "more to look at" not in few
    many = markdown(run(*odd, claim(best=41)))
    above, folded = many.split("<summary>11 more to look at</summary>")
    assert "- ❌ `weather[demo-nf4-4shot]`: 41 of 60" in above
    assert above.count("🚩") == 9
    assert folded.partition("</details>")[0].count("🚩") == 11
    assert read(many).tags.count("details") == 1 + 1 + 21


def test_t_of_a_ledger_stands_in_the_disclosure() -> None:
    tries = Tries(run=20, claim=45, task=60, counted="claim", look=2, level=0.0083, holds=True)
    record = run(replace(claim(), t=45, tries=tries))
    assert (
        "t = 45: all prompts ever evaluated for this claim; this run tried 20 of 91,390 possible"
        in disclosed(record).text
    )
