"""Two runs compared by the answers that their reports keep: what is paired, paid for, and said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.record import Recorded, Sampled, Searched, Tries
from pytest_maxrandom.record.packed import KeptAnswers, pack
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.losses import about_looks, loss, whether_worse
from pytest_maxrandom.reports.page.render import headed, html
from pytest_maxrandom.reports.recorded_looks import count_looks
from pytest_maxrandom.reports.regressions import Asserted, regressions
from pytest_maxrandom.reports.results import dump, load_untrusted, parse
from pytest_maxrandom.reports.summary import overall
from pytest_maxrandom.reports.worse import content, lines, markdown
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord, Regressions, RunRecord

ASSERTED = Asserted(not_worse_than=-0.05)


def rows(random: np.random.Generator, t: int, n: int, right: float = 0.7) -> list[str]:
    return ["".join("01"[cell] for cell in row) for row in (random.random((t, n)) < right).tolist()]


def lose(random: np.random.Generator, kept: list[str], share: float) -> list[str]:
    """Turn a share of right answers into wrong ones."""
    return ["".join("0" if random.random() < share else cell for cell in row) for row in kept]


def answered(
    answers: list[str], *, prompts: str = "p", tries: int | None = None, **changed: Any
) -> ClaimRecord:
    kept = KeptAnswers(
        tuple(f"{prompts}{place}" for place in range(len(answers))),
        tuple(f"e{place}" for place in range(len(answers[0]))),
        tuple(answers),
        changed.pop("clusters", None),
    )
    of = Tries(len(answers), tries or len(answers), tries or len(answers), "claim", 1, 0.05, True)
    of = replace(of, distinct_prompts=tries or len(answers), **changed.pop("counted", {}))
    known: dict[str, Any] = {"answers": kept.packed(), "tries": of, "different_answers": 1}
    return replace(claim(), **known | changed)


def compared(base: ClaimRecord, head: ClaimRecord, asserted: Asserted = ASSERTED) -> Regressions:
    return regressions(run(base), run(head), "main", asserted)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(11)


def test_what_is_kept_comes_back_in_any_order_as_the_same() -> None:
    kept = KeptAnswers(("a", "b"), ("x", "y", "z"), ("10-", "011"), ("c", None, "c"))
    assert KeptAnswers.unpacked(kept.packed()) == kept
    turned = KeptAnswers(("b", "a"), ("z", "x", "y"), ("101", "-10"), ("c", "c", None))
    assert turned.digest == kept.digest
    assert replace(kept, rows=("11-", "011")).digest != kept.digest
    np.testing.assert_array_equal(kept.values(["b", "a"], ["z", "x"]), [[1.0, 0.0], [np.nan, 1.0]])
    graded = KeptAnswers(("a",), ("x", "y"), ((0.25, None),))
    assert KeptAnswers.unpacked(graded.packed()) == graded


@pytest.mark.parametrize(
    "packed", ["", "x", pack([]), pack({"prompts": ["a"], "examples": ["x"], "rows": ["11"]}),
               pack({"prompts": ["a"], "examples": ["x"], "rows": [[1.5]]}), pack({"rows": 3})]
)  # fmt: skip
def test_what_is_no_kept_answers_is_refused(packed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        KeptAnswers.unpacked(packed)


def test_a_loss_is_found_at_all_prompts_whichever_is_best(random: np.random.Generator) -> None:
    base = rows(random, 10, 300)
    found = compared(answered(base), answered(lose(random, base, 0.2), model_digest="other"))
    (one,) = found.claims
    assert (one.loss, one.compared, one.prompts, one.examples) == ("worse", "prompts", 10, 300)
    assert (one.base_of, found.met) == (None, False)
    assert whether_worse(found) == "1 claim is worse than main"


def test_recorded_answers_are_looked_at_as_often_as_the_ledger_beside_their_suite_says(
    random: np.random.Generator, tmp_path: Path
) -> None:
    def recorded(answers: list[str]) -> ClaimRecord:
        of: dict[str, Any] = {"id": "r.yaml::r", "tries": None, "different_answers": None}
        return answered(answers, recorded=Recorded("r.csv", "table"), **of)

    base, looks = run(recorded(rows(random, 3, 100))), list[int]()
    heads = [recorded(rows(random, 3, 100)) for _ in range(3)]
    elsewhere = regressions(base, run(heads[0]), "main", ASSERTED)
    assert about_looks(elsewhere) == (
        "A false alarm at this look: at most .025. No ledger is here to count it, so many looks "
        "alarm more often: compare where the suites are"
    )
    count_looks(base, run(heads[0]), tmp_path, "a run")  # whose suite is not there
    assert not [*tmp_path.iterdir()]
    (tmp_path / "r.yaml").write_text("")
    for each in (heads[0], heads[0], heads[1], base.claims[0], heads[2]):
        head = run(replace(each, different_answers=None))
        count_looks(base, head, tmp_path, "a run")
        found = regressions(base, head, "main", ASSERTED)
        looks.append(found.claims[0].look)
        assert found.claims[0].looks_counted is (each is not base.claims[0])
        assert "No ledger" not in about_looks(found)
    assert looks == [1, 1, 2, 1, 3]
    p = found.claims[0].p_worse
    assert p is not None
    assert found.claims[0].adjusted_worse == pytest.approx(min(1, 12 * p))
    [ledger] = (tmp_path / "maxrandom-ledger").glob("*.jsonl")
    ledger.write_text("{}")
    count_looks(base, head, tmp_path, "a run")
    assert "is not counted: " in head.claims[0].warnings[-1].text


def test_the_very_same_is_told_without_a_test(random: np.random.Generator) -> None:
    base = answered(rows(random, 1, 8))
    found = compared(base, base)
    assert found.claims[0].loss == "the same"
    assert found.met
    other = compared(base, replace(base, model_digest="new weights"))
    assert other.claims[0].why == "too few"
    assert not other.met
    assert compared(
        base, replace(base, model_digest="new"), replace(ASSERTED, cannot_tell="pass")
    ).met


def test_the_base_pays_for_having_been_the_best_of_many(random: np.random.Generator) -> None:
    base = rows(random, 1, 200)
    head = answered(lose(random, base, 0.11), prompts="new")
    one = compared(answered(base), head).claims[0]
    many = compared(answered(base, tries=10**9), head).claims[0]
    assert (one.loss, one.compared) == ("worse", "best")
    assert (many.loss, many.why, many.base_of) == ("cannot tell", "chosen", 10**9)
    assert one.p_worse is not None
    assert many.p_worse == pytest.approx(min(1, 10**9 * one.p_worse))
    assert many.p_not_worse == one.p_not_worse  # luck of the base makes that no easier
    searched = Searched([], None, "nothing", looks=1)
    for_search = compared(replace(answered(base), searched=searched), head).claims[0]
    assert (for_search.why, for_search.searched) == ("chosen", True)


def test_the_later_run_pays_for_its_own_choice(random: np.random.Generator) -> None:
    base = rows(random, 1, 800)
    near = lose(random, base, 0.01)
    one = compared(answered(base), answered(near, prompts="new")).claims[0]
    many = compared(answered(base), answered(near, prompts="new", tries=10**9)).claims[0]
    assert (one.loss, many.loss) == ("not worse", "worse")
    few = compared(answered(rows(random, 3, 800)), answered(rows(random, 2, 800))).claims[0]
    assert few.head_of == 3  # one of the base's prompts was left out


def test_looks_at_other_answers_share_one_level(random: np.random.Generator) -> None:
    base = rows(random, 5, 300)
    head = lose(random, base, 0.02)
    first = compared(answered(base), answered(head, different_answers=2)).claims[0]
    later = compared(answered(base), answered(head, different_answers=10)).claims[0]
    assert (first.look, later.look) == (1, 9)
    assert first.adjusted_worse is not None
    assert first.p_worse is not None
    assert first.adjusted_worse == pytest.approx(min(1, 2 * first.p_worse))
    assert later.adjusted_worse == pytest.approx(min(1, 90 * first.p_worse))


def test_claims_of_a_task_are_also_judged_together(random: np.random.Generator) -> None:
    """Three models lose too little to tell of each, and enough to tell of the task."""
    base, head = [], []
    for model in "abc":
        before = rows(random, 3, 300)
        named: dict[str, Any] = {
            "id": f"s.yaml::weather[{model}]",
            "suite": "s.yaml",
            "model": model,
        }
        base.append(answered(before, **named))
        head.append(answered(lose(random, before, 0.02), **named))
    found = regressions(run(*base), run(*head), "main", Asserted(not_worse_than=-0.01))
    (task,) = found.tasks
    assert (task.id, task.of_task, task.prompts) == ("s.yaml::weather", True, 9)
    assert task.p_worse is not None
    assert all(task.p_worse < (each.p_worse or 1) for each in found.claims)


def test_a_model_of_another_name_is_compared_where_no_other_can_be_meant(
    random: np.random.Generator,
) -> None:
    base = answered(rows(random, 2, 50))
    head = replace(base, id="eval_suites/demo/demo.yaml::weather[new-4shot]", model="new")
    assert [each.id for each in compared(base, head).claims] == [head.id]
    others = run(head, replace(head, id=f"{head.id}2", model="newer"))
    found = regressions(run(base), others, "main", ASSERTED)
    assert [(each.id, each.why) for each in found.claims] == [(base.id, "not tested")]
    assert not found.met


def moved(one: ClaimRecord, file: str, **changed: Any) -> ClaimRecord:
    return replace(one, id=f"{file}::{one.id.partition('::')[2]}", suite=file, **changed)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_claim_in_another_file_is_paired_where_no_other_can_be_meant(
    random: np.random.Generator, is_recorded: bool
) -> None:
    known: dict[str, Any] = {"task_digest": None, "recorded": Recorded("r.csv", "table")}
    base = answered(rows(random, 3, 200), **known if is_recorded else {})
    lost = answered(lose(random, rows(random, 3, 200), 0.3), **known if is_recorded else {})
    found = compared(base, moved(lost, "other.yaml"))
    (one,) = found.claims
    assert (one.id, one.loss, one.moved_from) == ("other.yaml::" + base.id.partition("::")[2],
                                                  "worse", base.suite)  # fmt: skip
    assert one == replace(
        compared(base, lost).claims[0], id=one.id, moved_from=base.suite
    )  # whose file kept its name
    assert f"it was in {base.suite}" in loss(one, found)
    assert compared(base, moved(base, "other.yaml")).claims[0].loss == "the same"
    # Another model, other examples, or another name: nothing tells that it is the same claim.
    elsewhere = moved(lost, "other.yaml")
    strangers = [
        replace(elsewhere, model="new"),
        replace(elsewhere, quantization="int8"),
        replace(elsewhere, id=elsewhere.id.replace("weather", "sky")),
        answered(rows(random, 3, 201), **known, id=elsewhere.id, suite="other.yaml")
        if is_recorded
        else replace(elsewhere, task_digest="of others"),
    ]
    for stranger in strangers:
        assert [each.why for each in compared(base, stranger).claims] == ["not tested"]


def test_where_several_claims_of_other_files_may_be_meant_none_is_compared(
    random: np.random.Generator,
) -> None:
    base = answered(rows(random, 3, 200))
    two = [moved(base, "b.yaml"), moved(base, "c.yaml")]
    for before, now in (([base], two), (two, [base])):
        found = regressions(run(*before), run(*now), "main", ASSERTED)
        assert [(each.id, each.why) for each in found.claims] == [
            (each.id, "several") for each in before
        ]
        assert found.claims[0].candidates == [each.id for each in now]
        said = loss(found.claims[0], found)
        assert said.startswith("cannot tell; its file is gone, and which claim ")
        assert not found.met
    # One that kept its file is no candidate, and neither is that of a file that both have.
    found = regressions(run(base, two[0]), run(base, two[1]), "main", ASSERTED)
    assert [each.loss for each in found.claims] == ["the same", "the same"]


def test_what_is_not_kept_is_said_with_the_way_out(random: np.random.Generator) -> None:
    kept = answered(rows(random, 2, 50))
    bare = replace(kept, answers=None)
    assert "--maxrandom-json" in compared(bare, kept).problem
    for found in (compared(bare, kept), compared(kept, bare)):
        assert not found.met
        assert "no answers" in loss(found.claims[0], found)
    other = answered(rows(random, 2, 50))
    kept_names = KeptAnswers.unpacked(other.answers or "")
    elsewhere = replace(kept_names, examples=tuple(f"x{name}" for name in kept_names.examples))
    found = compared(kept, replace(other, answers=elsewhere.packed()))
    assert found.claims[0].why == "unpaired"
    assert "no claim" in regressions(run(), run(kept), "main", ASSERTED).problem


@pytest.mark.parametrize(
    ("base", "head", "comparable"),
    [
        ({"judge": "j 1"}, {"judge": "j 2"}, False),
        ({"judge": None}, {"judge": "f1"}, False),
        ({"judge": "j 1"}, {"judge": "j 1"}, True),
        ({"how": "mean"}, {"how": "pass"}, False),
        ({"how": "pass", "k": 4}, {"how": "pass", "k": 8}, False),
        ({"how": "pass", "k": 4, "asked": 2}, {"how": "pass", "k": 8, "asked": 2}, True),
        # A mean of samples is what one answer is; a vote is how an answer is asked for.
        ({}, {"how": "mean", "k": 8}, True),
        ({"how": "vote", "k": 3}, {"how": "vote", "k": 5}, True),
        ({}, {"how": "vote", "k": 5}, False),
        # Which answers are right may be told by another comparison with the references.
        ({"rule": "of words"}, {"rule": "of texts"}, False),
        ({"rule": "of words"}, {"rule": "of words"}, True),
        ({}, {"rule": "of words"}, True),
    ],
)
def test_scores_of_another_kind_are_not_compared(
    random: np.random.Generator, base: dict[str, Any], head: dict[str, Any], comparable: bool
) -> None:
    sides = []
    for said in (base, head):
        sampled = None
        if "how" in said:
            sampled = Sampled(
                samples=said.get("k", 4), aggregate=said["how"], asked=said.get("asked"),
                right=0.7, any_right=0.9, all_right=0.5,
            )  # fmt: skip
        one = answered(rows(random, 3, 100))
        sides.append(replace(one, judge=said.get("judge"), rule=said.get("rule"), sampled=sampled))
    [found] = compared(sides[0], sides[1]).claims
    assert (found.why != "scored otherwise") == comparable
    assert comparable or found.loss == "cannot tell"


def test_a_green_run_that_was_compared_with_nothing_says_so(random: np.random.Generator) -> None:
    lax = replace(ASSERTED, cannot_tell="pass")
    found = regressions(run(), run(answered(rows(random, 2, 50))), "main", lax)
    assert found.met
    assert found.nothing
    assert whether_worse(found) == (
        "Nothing was compared with main: its report has no claim; give the report of a run with "
        "results. cannot_tell=pass lets that pass"
    )
    assert next(lines(found, {})).markup == ("yellow",)


@pytest.mark.parametrize(
    "said", ["", "worse", "not_worse_than", "not_worse_than=0.02", "not_worse_than=nan",
             "alpha=0.05", "not_worse_than=0,alpha=0", "not_worse_than=-2",
             "not_worse_than=0,alpha=x", "not_worse_than=-.1,cannot_tell=maybe",
             "not_worse_than=0,not_worse_than=0"]
)  # fmt: skip
def test_what_cannot_be_asserted_is_said_in_one_sentence(said: str) -> None:
    with pytest.raises(ValueError, match=r"found .*, expected"):
        Asserted.read(said)


@pytest.mark.parametrize("said", ["0", "0.9", "nan"])
def test_a_level_that_is_none_is_not_taken_for_a_loss(said: str) -> None:
    with pytest.raises(ValueError, match=r"^alpha: found .*, expected .* above 0, of at most 0.5$"):
        Asserted.read(f"not_worse_than=-0.02,alpha={said}")


def test_all_words_of_an_assertion_are_read() -> None:
    said = "not_worse_than=-0.02, alpha=0.01,cannot_tell=pass,prompts=sample"
    assert Asserted.read(said) == Asserted(-0.02, 0.01, "pass", "sample")


def test_every_report_says_first_what_is_worse(random: np.random.Generator, tmp_path: Path) -> None:
    before = rows(random, 4, 300)
    base, head = answered(before), answered(lose(random, before, 0.3))
    found = compared(base, head)
    record: RunRecord = replace(run(head), regressions=found)
    assert overall(record) == "failed"
    first = comment(record, run(base), branch="main").splitlines()
    assert first[0].startswith("### ❌ maxrandom")
    assert first[2] == "🔻 **1 claim is worse than main**."
    assert first[4].startswith("- `weather")
    path = tmp_path / "run.json"
    path.write_text(dump(record), encoding="utf-8")
    untrusted = load_untrusted(path)
    assert untrusted.claims[0].answers is None
    assert untrusted.regressions is not None
    assert whether_worse(untrusted.regressions) == "1 claim is worse than the base"
    assert parse(path.read_bytes(), path).regressions == found
    page = headed(html(run(head)), record)
    assert page.startswith("<!doctype html>")
    assert "❌ 1 of 1 claim passes" in page
    assert "1 claim is worse than main." in page
    assert "1 claim is worse than main." in html(record)
    forged = replace(record, regressions=replace(found, margin=3.0))
    path.write_text(dump(forged), encoding="utf-8")
    assert load_untrusted(path).regressions is None
    text = "\n".join(line.text for line in lines(found, {head.id: "weather"}))
    assert text.startswith("1 claim is worse than main")
    assert "worse" in markdown(found, {})
    assert content(found)["met"] is False
    wide = "/".join(["evaluations"] * 8)
    shown = [line.text for line in lines(found, {head.id: wide})]
    assert max(map(len, shown)) <= 80
    assert wide in "".join(map(str.strip, shown)), "a long name stands below its row, and is whole"
