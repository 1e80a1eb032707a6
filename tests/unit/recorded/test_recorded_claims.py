"""Claims about recorded results: what they are judged by, compared with SciPy and with counting."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.record import Recorded
from tests.notes import noted, sentences
from tests.unit.recorded.suites import flags, judged, mistakes, planned, rows, save, suite_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.tables.grid import Meant


def best_of(t: int, n: int, chance: float) -> float:
    """Expected best accuracy of t guessers."""
    return float(sum(1 - stats.binom.cdf(k, n, chance) ** t for k in range(n))) / n


def p_of(t: int, correct: int, n: int, chance: float) -> float:
    return -math.expm1(t * math.log1p(-stats.binom.sf(correct - 1, n, chance)))


def test_n_and_t_are_counted_and_the_chance_is_stated(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", snarks__1={"correct": rows(20, 31, 31, n=40)})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2, assert: {p_max: 0.05}}"))
    before = claim.record("id", "s.yaml")
    assert (before.n, before.t, before.best_correct) == (40, 3, None)
    record = judged(claim)
    assert (record.id, record.line) == ("s.yaml::snarks[m-1shot]", 4)
    assert (record.n, record.t, record.best_correct) == (40, 3, 31)
    assert record.correct_counts == [20, 31, 31]
    assert record.max_random_baseline == pytest.approx(best_of(3, 40, 0.5), rel=1e-12)
    assert record.p_max == pytest.approx(p_of(3, 31, 40, 0.5), rel=1e-12)
    assert record.p_standard == pytest.approx(stats.binom.sf(30, 40, 0.5), rel=1e-12)
    assert (record.verdict, record.passed) == ("above maximum", True)
    assert record.recorded == Recorded("m.npz", "npz", ["chance"], {"1/2": 40})
    assert (record.backend, record.quantization, record.shots) == ("recorded", "", 1)
    assert "The best prompt is '1' in the results, the first of 2 that score the same." in (
        noted(record)
    )


def test_prompts_that_repeat_count_once(tmp_path: Path) -> None:
    first, last = rows(3, 9, n=10)
    same = [first, first, last]
    save(tmp_path / "m.npz", snarks__1={"correct": same, "demonstration_ids": [[7], [7], [8]]})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2}"))
    record = judged(claim)
    assert (record.t, record.correct_counts) == (2, [3, 9])
    (flag,) = flags(claim)
    assert flag.kind == "repeated_prompts"
    assert flag.parameters == {"distinct": 2, "asked": 3, "t": 2}


def test_repeats_that_answer_otherwise_are_a_red_flag(tmp_path: Path) -> None:
    save(
        tmp_path / "m.npz",
        snarks__1={"correct": rows(3, 4, 9, n=10), "demonstration_ids": [[7], [7], [8]]},
    )
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2}"))
    unsteady, repeated = flags(claim)
    assert (unsteady.kind, repeated.kind) == ("unsteady_prompts", "repeated_prompts")
    assert unsteady.parameters == {"repeating": 1, "prompts": 3}


def test_more_prompts_may_be_stated_than_the_results_hold(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", snarks__1={"correct": rows(20, 31, n=40)})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2, t: {1: 50}}"))
    record = judged(claim)
    assert record.t == 50
    assert record.p_max == pytest.approx(p_of(50, 31, 40, 0.5), rel=1e-12)
    assert record.recorded is not None
    assert record.recorded.stated == ["t", "chance"]
    assert "t = 50 is stated; the results have 2 distinct prompts." in noted(record)


def test_prompts_with_other_numbers_of_examples_are_compared_by_accuracy(tmp_path: Path) -> None:
    """3 of 4 beats 7 of 10, and is the best of a guesser on 4 examples and two on 10."""
    correct = np.zeros((3, 10), dtype=np.bool_)
    evaluated = np.ones((3, 10), dtype=np.bool_)
    correct[0, :7] = correct[1, :3] = correct[2, :5] = True
    evaluated[1, 4:] = False
    save(tmp_path / "m.npz", snarks__2={"correct": correct, "evaluated": evaluated})
    ragged = "m.npz, format: npz, ragged: true"
    (claim,) = planned(
        tmp_path, suite_text("{name: snarks, chance: 1/3, assert: {p_max: 0.05}}", model=ragged)
    )
    record = judged(claim)
    assert (record.n, record.best_correct, record.best_accuracy) == (4, 3, 0.75)
    below = stats.binom.cdf(2, 4, 1 / 3) * stats.binom.cdf(7, 10, 1 / 3) ** 2  # 8 of 10 is above
    assert record.p_max == pytest.approx(1 - below, rel=1e-12)
    assert record.p_standard == pytest.approx(stats.binom.sf(2, 4, 1 / 3), rel=1e-12)
    steps = sorted({k / 4 for k in range(5)} | {k / 10 for k in range(11)})
    expected = sum(
        (high - low)
        * (
            1
            - stats.binom.cdf(math.floor(low * 4 + 1e-9), 4, 1 / 3)
            * stats.binom.cdf(math.floor(low * 10 + 1e-9), 10, 1 / 3) ** 2
        )
        for low, high in itertools.pairwise(steps)
    )
    assert record.max_random_baseline == pytest.approx(expected, rel=1e-12)
    assert any(
        note.startswith("Prompts were scored on 4 to 10 examples.") for note in noted(record)
    )
    least = min(k for k in range(5) if 1 - below <= 1 and _p_at(k) <= 0.05)
    assert record.critical_count == least


def test_a_prompt_that_was_cut_short_is_a_mistake_unless_it_is_said(tmp_path: Path) -> None:
    correct, evaluated = np.zeros((3, 10), dtype=np.bool_), np.ones((3, 10), dtype=np.bool_)
    correct[:, 0] = correct[0, 1] = True
    evaluated[1, 7:] = False
    save(tmp_path / "m.npz", snarks__2={"correct": correct, "evaluated": evaluated})
    (problem,) = mistakes(tmp_path, suite_text("{name: snarks, chance: 1/2}"))
    assert "prompt '1' was scored on 7 examples and '0' on 10" in problem
    assert "write `ragged: true`" in problem
    ragged = suite_text("{name: snarks, chance: 1/2}", model="m.npz, format: npz, ragged: true")
    (claim,) = planned(tmp_path, ragged)
    (fewer,) = (flag.parameters for flag in flags(claim) if flag.kind == "other_examples")
    named = [fewer[name] for name in ("case", "told", "prompt", "size", "usual")]
    assert named == ["fewer", 1, "1", 7, 10]
    evaluated[1, 7] = True  # and 2 may be its own demonstrations
    save(tmp_path / "m.npz", snarks__2={"correct": correct, "evaluated": evaluated})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2}"))
    assert flags(claim) == []


def _p_at(k: int) -> float:
    tens = math.ceil(k / 4 * 10)
    return float(1 - stats.binom.cdf(k - 1, 4, 1 / 3) * stats.binom.cdf(tens - 1, 10, 1 / 3) ** 2)


def test_a_mix_of_chances_may_be_stated(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", mixed__0={"correct": rows(9, n=12)})
    (claim,) = planned(tmp_path, suite_text("{name: mixed, chance: {2: 4, 4: 8}}"))
    record = judged(claim)
    assert record.standard_baseline == pytest.approx((4 / 2 + 8 / 4) / 12, rel=1e-15)
    two, four = stats.binom.pmf(range(5), 4, 0.5), stats.binom.pmf(range(9), 8, 0.25)
    assert record.p_max == pytest.approx(float(np.convolve(two, four)[9:].sum()), rel=1e-12)


def test_nothing_is_claimed_where_only_a_report_is_asked_for(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", snarks__1={"correct": rows(1, n=40)})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2}", "assert: report\n"))
    record = judged(claim)
    assert (record.asserted, record.passed, record.message) == ({}, True, None)
    assert (record.verdict, record.critical_count) == ("below standard", None)


def test_a_claim_that_does_not_hold_says_why(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", snarks__1={"correct": rows(20, n=40)})
    (claim,) = planned(tmp_path, suite_text("{name: snarks, chance: 1/2, assert: {p_max: 0.05}}"))
    record = judged(claim)
    assert record.passed is False
    assert record.message is not None
    assert record.message.startswith("best .500, needs .650 (p_max = .563; t = 1, n = 40)")


PUBLISHED = "published: {n: {1: 50}, t: 9, chance: 1/5}"


def test_a_publication_is_compared_and_each_difference_named(tmp_path: Path) -> None:
    correct = rows(10, 11, n=40)
    correct.append(correct[1])
    sweep = {"correct": correct, "demonstration_ids": [[1], [2], [2]]}
    save(tmp_path / "m.npz", emoji__1=sweep)
    task = f"{{name: e, in_results: emoji, chance: 1/4, {PUBLISHED}}}"
    (claim,) = planned(tmp_path, suite_text(task))
    record = judged(claim)
    assert (record.n, record.t, record.verdict) == (40, 2, "between baselines")
    found = record.published
    assert found is not None
    assert (found.n, found.t, found.standard_baseline) == (50, 9, 0.2)
    assert found.max_random_baseline == pytest.approx(best_of(9, 50, 0.2), rel=1e-12)
    assert found.p_standard == pytest.approx(stats.binom.sf(10, 40, 0.2), rel=1e-12)
    assert found.p_max == pytest.approx(p_of(9, 11, 40, 0.2), rel=1e-12)
    assert found.verdict == "between baselines"
    assert [*sentences(found.changes)] == [
        "n is 40, not 50: the results hold 40 example ids, so ids collide or fewer were scored",
        "t is 2, not 9: that many of 3 prompts are distinct",
        "chance is 1/4, not 1/5",
    ]


def test_the_chance_of_the_publication_is_taken_where_no_other_is_stated(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", e__1={"correct": rows(*[9] * 9, n=50)})
    (claim,) = planned(tmp_path, suite_text(f"{{name: e, {PUBLISHED}}}"))
    record = judged(claim)
    assert record.standard_baseline == 0.2
    assert record.published is not None
    assert record.published.changes == []


def test_a_claim_may_be_judged_by_the_publication(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", e__1={"correct": rows(10, 14, n=40)})
    text = suite_text(f"{{name: e, {PUBLISHED}}}", "judge: published\n")
    (claim,) = planned(tmp_path, text)
    record = judged(claim)
    assert (record.n, record.t, record.best_correct) == (50, 9, 14)
    assert record.best_accuracy == 14 / 40
    assert record.max_random_baseline == pytest.approx(best_of(9, 50, 0.2), rel=1e-12)
    assert record.p_max == pytest.approx(p_of(9, 14, 40, 0.2), rel=1e-12)
    assert record.recorded is not None
    assert record.recorded.stated == ["n", "t", "chance"]
    assert record.published is None
    assert noted(record)[0].startswith("n, t and chance are those of the publication")


@pytest.mark.parametrize(
    ("task", "rest", "told"),
    [
        (
            "{name: e}",
            "",
            "4: tasks[0]: the results do not give the chance of one guess; give `chance`, such as "
            "1/4, or claim what needs none, such as `beats` with a number",
        ),
        (
            "{name: e, chance: 1/2,\n   t: 2}",
            "",
            "5: tasks[0].t: found 2, but the results are of 3 1-shot prompts; t is at least that, "
            "and more if the results cover only a part of the prompts",
        ),
        (
            "{name: e, chance: 1/2,\n   t: {2: 5}}",
            "",
            "5: tasks[0].t: has no number for 1-shot prompts; add it",
        ),
        (
            "{name: e, chance: 1/2,\n   n: 50}",
            "",
            "5: tasks[0].n: found 50, but the 1-shot prompts were scored on 40 examples; find out "
            "why, then remove it, or give it in `published` to compare both",
        ),
        (
            "{name: e, chance: {2: 30, 4: 5}}",
            "",
            "4: tasks[0].chance: chance names 35 examples, but n is 40; correct one of them",
        ),
        (
            "{name: e, chance: 1/2, published: {n: 9, t: 9, chance: {2: 5}}}",
            "",
            "4: tasks[0].published: chance names 5 examples, but n is 9; correct one of them",
        ),
        (
            "{name: emoji, chance: 1/2}",
            "",
            "4: tasks[0]: no results of 'm' for 'emoji', found 'e'; correct `in_results`, or give "
            "the model `if_missing` with the reason, so that this claim is skipped",
        ),
        (
            "{name: e, chance: 1/2}",
            "prompts: {shots: [1, 2]}\n",
            "5: prompts.shots: no 2-shot results of 'm' for 'e', found those with 1; list only "
            "those",
        ),
        (
            "{name: e, chance: 1/2}",
            "assert: {permutation_p: 0.05}\n",
            "5: tasks[0]: `permutation_p` cannot be computed, because in /m.npz the results do not "
            "say which answers were given and which are right; use `p_max` instead",
        ),
    ],
)
def test_what_results_and_suite_do_not_tell_alike_is_a_mistake(
    tmp_path: Path, task: str, rest: str, told: str
) -> None:
    save(tmp_path / "m.npz", e__1={"correct": rows(1, 2, 3, n=40)})
    assert mistakes(tmp_path, suite_text(task, rest)) == [told]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            "n.npz, format: npz",
            "2: models[0].results: /n.npz: no such file or folder; correct the path, or say in "
            "`if_missing` how to get it, and its claims are skipped",
        ),
        (
            "m.npz, format: npz, model: gpt",
            "2: models[0].results: /m.npz: no results of 'gpt', found those of 'm'; give "
            "what the model is called there as `results.model`",
        ),
        (
            '"${NO_SUCH}/m.npz", format: npz',
            "2: models[0].results: the environment variable NO_SUCH is not set; set it, or write a "
            "default: ${NO_SUCH:-folder}",
        ),
        (
            "s.yaml, format: npz",
            "2: models[0].results: /s.yaml: not an .npz archive; write it with numpy.savez",
        ),
    ],
)
def test_results_that_cannot_be_read_are_a_mistake(tmp_path: Path, model: str, told: str) -> None:
    save(tmp_path / "m.npz", e__1={"correct": rows(1, n=40)})
    assert mistakes(tmp_path, suite_text("{name: e, chance: 1/2}", model=model)) == [told]


def test_environment_variables_say_where_results_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    save(folder / "m.npz", e__1={"correct": rows(1, n=40)})
    task = "{name: e, chance: 1/2}"
    monkeypatch.delenv("RESULTS", raising=False)
    assert planned(tmp_path, suite_text(task, model='"${RESULTS:-data}/m.npz", format: npz'))
    monkeypatch.setenv("RESULTS", str(folder))
    assert planned(tmp_path, suite_text(task, model='"${RESULTS:-no}/m.npz", format: npz'))


def test_all_shots_of_the_results_are_meant_if_none_are_given(tmp_path: Path) -> None:
    sweeps = {f"e__{shots}": {"correct": rows(1, n=40)} for shots in (4, 0, 1)}
    save(tmp_path / "m.npz", **sweeps)
    claims = planned(tmp_path, suite_text("{name: e, chance: 1/2}"))
    assert [claim.name for claim in claims] == ["e[m-0shot]", "e[m-1shot]", "e[m-4shot]"]


def test_every_file_is_read_once_for_all_of_its_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_maxrandom.recorded import sources

    (tmp_path / "r.csv").write_text("model,task,shots,n,t,best_correct,choices\n"
                                    "a,e,0,100,10,60,2\nb,e,0,100,320,64,2\n")  # fmt: skip
    read: list[Path] = []
    read_summary = sources.READERS["summary"]

    def counted(path: Path, spec: Any, meant: Meant) -> Sequence[Answers]:
        read.append(path)
        return read_summary(path, spec, meant)

    monkeypatch.setitem(sources.READERS.built_in, "summary", counted)
    text = (
        "models:\n"
        "- {name: a, backend: recorded, results: {path: r.csv, format: summary}}\n"
        "- {name: b, backend: recorded, results: {path: r.csv, format: summary}}\n"
        "tasks: [{name: e}]\n"
    )
    first, second = planned(tmp_path, text)
    assert (first.record("", "").t, second.record("", "").t) == (10, 320)
    assert len(read) == 1


def test_a_family_without_a_level_is_told(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", e__0={"correct": rows(1, n=40)}, e__1={"correct": rows(1, n=40)})
    text = suite_text("{name: e, chance: 1/2}", "assert: {beats: max_random, family: suite}\n")
    (told,) = mistakes(tmp_path, text)
    assert told.startswith("4: e: `family: suite`: there is no level to share")
