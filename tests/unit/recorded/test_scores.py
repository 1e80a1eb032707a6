"""Graded scores in tables: what is claimed of them, compared with SciPy, and what is refused."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.incumbents import best_over_incumbent
from tests.unit.recorded.suites import judged, mistakes, planned, suite_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILE = "s.csv, format: table, shots: 0"
RIGHT_OR_WRONG = suite_text("{name: q, chance: 1/2, assert: {p_max: 0.05}}", "", FILE)


def write(folder: Path, scores: NDArray[np.float64], *lines: str, judge: str = "j") -> None:
    """Write a table with a row for each prompt and example; `lines` stand below."""
    rows = [
        f"p{prompt},e{example},{score:.6g},{judge}"
        for prompt, row in enumerate(scores.tolist())
        for example, score in enumerate(row)
        if not math.isnan(score)
    ]
    text = "\n".join(["prompt,example,score,judge", *rows, *lines])
    (folder / "s.csv").write_text(text)


def graded(k: int = 4, n: int = 50, seed: int = 3) -> NDArray[np.float64]:
    """Return scores of prompts that share how hard examples are; the last prompt is the best."""
    generator = np.random.default_rng(seed)
    shared, own = generator.beta(3, 2, n), generator.normal(0, 0.08, (k, n))
    steps = 0.04 * np.arange(k)[:, None]
    return np.clip(0.7 * shared + 0.1 + steps + own, 0, 1).round(3)


def text(claim: str, rest: str = "") -> str:
    return suite_text(f"{{name: q, assert: {claim}}}" if claim else "{name: q}", rest, FILE)


def test_a_stated_baseline_is_tested_as_the_best_of_t(tmp_path: Path) -> None:
    scores = graded()
    write(tmp_path, scores)
    (claim,) = planned(tmp_path, text("{beats: 0.55}"))
    record = judged(claim)
    best = scores[3]
    expected = best_over_incumbent(scores, np.full(50, 0.55), stated=True)
    assert (record.metric, record.judge, record.n, record.t) == ("score", "j", 50, 4)
    assert record.best_score == record.best_accuracy == pytest.approx(best.mean())
    assert record.best_correct is record.p_max is record.max_random_baseline is None
    assert record.mean_scores == pytest.approx(scores.mean(axis=1).tolist())
    assert record.baseline_p == expected.p
    assert record.baseline is not None
    assert record.baseline.low == expected.low > 0
    assert record.passed
    # Above the t-test, which takes no account of low scores that were not seen.
    alone = stats.ttest_1samp(best, 0.55, alternative="greater").pvalue
    assert 4 * alone < record.baseline_p < 0.05
    assert record.asserted == {"baseline_p": 0.05, "beats": 0.55}
    assert record.new_questions is not None
    assert record.new_questions.low < record.new_questions.estimate < best.mean() + 0.01  # type: ignore[operator]


def test_a_claim_that_fails_says_what_it_lacks(tmp_path: Path) -> None:
    write(tmp_path, graded())
    (claim,) = planned(tmp_path, text("{beats: 0.62, baseline_p: 0.01}"))
    record = judged(claim)
    assert record.passed is False
    assert record.message is not None
    assert record.message.startswith("best score .653 is .033 above the stated baseline .620, ")
    assert "but that may be luck: its interval must begin above .000" in record.message
    assert ", level .01; interval " in record.message


@pytest.mark.parametrize("right", [30, 41])
def test_scores_that_are_all_0_and_1_are_right_and_wrong(tmp_path: Path, right: int) -> None:
    scores = (np.arange(60) < np.array([[right], [right - 3]])).astype(float)
    write(tmp_path, scores, judge="")
    (scored,) = planned(tmp_path, RIGHT_OR_WRONG)
    record = judged(scored)
    table = (tmp_path / "s.csv").read_text().replace("score,", "correct,")
    (tmp_path / "s.csv").write_text(table)
    (marked,) = planned(tmp_path, RIGHT_OR_WRONG)
    assert judged(marked) == record
    assert record.metric == "accuracy"


def test_without_a_chance_right_and_wrong_are_above_a_baseline_by_the_binomial_test(
    tmp_path: Path,
) -> None:
    write(tmp_path, (np.arange(60) < np.array([[44], [30], [20]])).astype(float))
    (claim,) = planned(tmp_path, text("{beats: 0.55}"))
    record = judged(claim)
    assert (record.metric, record.best_correct, record.correct_counts) == (
        "accuracy", 44, [44, 30, 20],
    )  # fmt: skip
    assert record.baseline_p == pytest.approx(3 * stats.binom.sf(43, 60, 0.55), rel=1e-9)


def test_a_control_is_no_candidate_and_is_the_default_claim(tmp_path: Path) -> None:
    scores = np.vstack([graded(), np.full(50, 0.3)])
    write(tmp_path, scores)
    (claim,) = planned(tmp_path, text("", "control: {prompt: p4}\n"))
    record = judged(claim)
    assert record.asserted == {"control_p": 0.05}
    assert (record.t, len(record.mean_scores)) == (4, 4)
    assert record.control is not None
    assert record.control.name == "the control 'p4'"
    assert record.control.accuracy == pytest.approx(0.3)
    assert record.control_p == best_over_incumbent(scores[:4], scores[4]).p
    assert record.passed
    digest = record.control.digest
    write(tmp_path, np.vstack([graded(), np.full(50, 0.31)]))
    (claim,) = planned(tmp_path, text("", "control: {prompt: p4}\n"))
    assert judged(claim).control.digest != digest  # type: ignore[union-attr]


def test_a_judge_who_is_flattered_by_a_constant_answer_shows_nothing(tmp_path: Path) -> None:
    write(tmp_path, np.vstack([graded(), np.full(50, 0.86)]))
    (claim,) = planned(tmp_path, text("", "control: {prompt: p4}\n"))
    record = judged(claim)
    assert record.passed is False
    assert "the control's .860, and must be above it" in (record.message or "")


def test_an_incumbent_takes_scores(tmp_path: Path) -> None:
    scores = graded(n=250)
    write(tmp_path, scores)
    (claim,) = planned(tmp_path, text("{better_than: incumbent}", "incumbent: {prompt: p0}\n"))
    record = judged(claim)
    assert record.incumbent is not None
    assert record.incumbent.test == "exact"
    # Three of the four prompts are above it, so it may have been chosen for its low score.
    assert record.incumbent.rank == 4
    assert record.incumbent_p == best_over_incumbent(scores, scores[0], t=16, test="exact").p


def test_without_a_claim_it_cannot_tell(tmp_path: Path) -> None:
    write(tmp_path, graded())
    (claim,) = planned(tmp_path, text(""))
    record = judged(claim)
    assert record.passed is None
    assert "no guesser is compared with scores between 0 and 1; claim `beats`" in (
        record.message or ""
    )


@pytest.mark.parametrize(
    ("claim", "rest", "told"),
    [
        ("{p_max: 0.05}", "", "4: tasks[0]: `p_max` compares with random guessers, but the scores"),
        ("{beats: max_random}", "", "4: tasks[0]: `beats` compares with random guessers"),
        ("{control_p: 0.05}", "", "4: tasks[0].assert.control_p: the suite names no control"),
        (
            "{beats: 0.6}",
            "metric: macro_f1\n",
            "4: tasks[0].assert.beats: a stated baseline is one of accuracy, but the metric is",
        ),
        ("{p_max: 0.05, baseline_p: 0.1}", "", "4: tasks[0].assert.baseline_p: this belongs to a"),
        ("{beats: 1.5}", "", "4: `tasks[0].assert.beats`: found 1.5, expected"),
        ("report", "metric: macro_f1\n", "5: tasks[0]: `metric: macro_f1` is one of right"),
        ("{control_p: 0.05}", "control: {prompt: p9}\n", "5: control.prompt: /s.csv has no prompt"),
        ("{control_p: 0.05}", "control: {test: exact}\n", "5: control: says neither which prompt"),
    ],
)
def test_what_scores_cannot_show_is_refused(
    tmp_path: Path, claim: str, rest: str, told: str
) -> None:
    write(tmp_path, graded())
    (found,) = mistakes(tmp_path, text(claim, rest))
    assert found.startswith(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("p9,e0,1.2,j", "s.csv:202: score is '1.2', expected a number from 0 to 1; divide marks"),
        ("p9,e0,nan,j", "s.csv:202: score is 'nan', expected a number from 0 to 1"),
        ("p9,e0,good,j", "s.csv:202: score is 'good', expected a number from 0 to 1"),
        ("p9,e0,,j", "s.csv:202: score is empty, expected a number from 0 to 1"),
        ("p9,e0,0.5,j", "s.csv:202: q[m-0shot]: prompt 'p9' was scored on 1 examples, but"),
        ("p0,e0,0.5,j", "s.csv:202: q[m-0shot]: prompt 'p0' already has an answer to"),
        ("p9,e0,-0.1,j", "s.csv:202: score is '-0.1', expected a number from 0 to 1"),
    ],
)
def test_a_cell_that_is_no_score_is_told_with_its_line(
    tmp_path: Path, line: str, told: str
) -> None:
    write(tmp_path, graded(), line)
    (found,) = mistakes(tmp_path, text("{beats: 0.5}"))
    assert told in found


@pytest.mark.parametrize(
    ("said", "beside", "told"),
    [
        ("scoring: f1", "", "`scoring` says how answers are compared with references, and no col"),
        ("tolerance: 0.1", "", "`tolerance` says how answers are compared with references"),
        ("exact_match: {}", "", "and no column has references; name it as `columns: reference:`"),
        ("scoring: f1", "prediction,reference", "and the column 'score' says how good each answer"),
    ],
)
def test_how_answers_are_compared_is_refused_where_none_are(
    tmp_path: Path, said: str, beside: str, told: str
) -> None:
    write(tmp_path, graded())
    lines = (tmp_path / "s.csv").read_text().splitlines()
    if beside:
        lines = [f"{lines[0]},{beside}", *(f"{line},Rome,Oslo" for line in lines[1:])]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    task = "{name: q, assert: {beats: 0.5}}"
    (found,) = mistakes(tmp_path, suite_text(task, "", f"{FILE}, {said}"))
    assert told in found


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("example,score,judge\n*,0.5,j", ""),
        ("example,score,judge\n*,0.5,k", "it was scored by 'k' and the prompts of /s.csv by 'j'"),
        ("example,score\n*,0.5", "it was scored by nobody who is named and the prompts of"),
        ("example,score,judge\nx*,0.5,j", "has no answer to 50 of the 50 examples"),
        ("example,score,judge\n*,1.2,j", "/old.csv:2: score is '1.2', expected a number"),
    ],
)
def test_an_incumbent_in_another_file_was_scored_as_the_prompts_were(
    tmp_path: Path, old: str, told: str
) -> None:
    write(tmp_path, graded())
    header, row = old.split("\n")
    rows = [f"old,{row.replace('*', f'e{place}')}" for place in range(50)]
    (tmp_path / "old.csv").write_text("\n".join([f"prompt,{header}", *rows]))
    file = "{path: old.csv, format: table, shots: 0}"
    suite = text("{better_than: incumbent}", f"incumbent: {{results: {file}}}\n")
    found = mistakes(tmp_path, suite) if told else []
    if not told:
        assert planned(tmp_path, suite)
    assert [told in each for each in found] == [True] * bool(told)


def test_an_incumbent_whose_file_names_no_model_stands_beside_each_model(tmp_path: Path) -> None:
    write(tmp_path, graded())
    (tmp_path / "t.csv").write_text((tmp_path / "s.csv").read_text())
    rows = [f"today,e{place},0.5,j" for place in range(50)]
    (tmp_path / "today.csv").write_text("\n".join(["prompt,example,score,judge", *rows]))
    models = [f"{{name: {name}, backend: recorded, results: {{path: {name}.csv, format: table}}}}"
              for name in "st"]  # fmt: skip
    claims = planned(
        tmp_path,
        f"models: [{', '.join(models)}]\ntasks: [{{name: q}}]\nprompts: {{shots: 0}}\n"
        "incumbent: {results: {path: today.csv, format: table}}\n"
        "assert: {better_than: incumbent}\n",
    )
    assert [each.incumbent is not None for each in claims] == [True, True]


def test_an_incumbent_whose_examples_have_other_right_answers_is_refused(tmp_path: Path) -> None:
    for name, right in (("s.csv", "yes no"), ("old.csv", "no yes")):
        rows = [
            f"p{prompt},e{place},yes,{right.split()[place % 2]}"
            for prompt, place in product(range(2), range(30))
        ]
        (tmp_path / name).write_text("\n".join(["prompt,example,prediction,gold", *rows]))
    file = "{path: old.csv, format: table, shots: 0}"
    suite = text("{better_than: incumbent}", f"incumbent: {{results: {file}, prompt: p0}}\n")
    (found,) = mistakes(tmp_path, suite)
    assert "incumbent.results: example 'e0' has other right answers in /old.csv" in found


def test_a_suite_of_results_is_told_how_it_names_an_incumbent(tmp_path: Path) -> None:
    write(tmp_path, graded())
    (found,) = mistakes(tmp_path, text("{better_than: incumbent}"))
    assert found.endswith("such as `incumbent: {prompt: NAME}`")


def test_two_judges_in_one_sweep_are_refused(tmp_path: Path) -> None:
    rows = [f"p{place},e{each},0.{each}5,judge {place}" for place in (1, 2) for each in range(5)]
    (tmp_path / "s.csv").write_text("\n".join(["prompt,example,score,judge", *rows]))
    (found,) = mistakes(tmp_path, text("{beats: 0.5}"))
    assert "s.csv:7: q[m-0shot]: judge is 'judge 2', but 'judge 1' in an earlier row" in found


def test_clusters_are_what_is_independent(tmp_path: Path) -> None:
    scores = graded(n=30)
    lines = [
        f"p{prompt},e{example}-{copy},{scores[prompt, example]},c{example}"
        for prompt, example, copy in product(range(4), range(30), range(3))
    ]
    (tmp_path / "s.csv").write_text("\n".join(["prompt,example,score,cluster", *lines]))
    (copied,) = planned(tmp_path, text("{beats: 0.5}"))
    write(tmp_path, scores)
    (once,) = planned(tmp_path, text("{beats: 0.5}"))
    assert judged(copied).baseline_p == pytest.approx(judged(once).baseline_p)
    assert judged(copied).clusters == 30


def test_where_answers_are_marked_another_score_is_read_only_by_name(tmp_path: Path) -> None:
    rows = [f"p{each % 2},e{each // 2},{each % 3 and 1},{each / 60},j{each}" for each in range(40)]
    (tmp_path / "s.csv").write_text("\n".join(["prompt,example,correct,score,judge", *rows]))
    (marked,) = planned(tmp_path, RIGHT_OR_WRONG)
    assert judged(marked).metric == "accuracy"
    named = "s.csv, format: table, shots: 0, columns: {score: score, judge: ''}"
    (scored,) = planned(tmp_path, suite_text("{name: q, assert: {beats: 0.1}}", "", named))
    assert judged(scored).metric == "score"
    both = "s.csv, format: table, shots: 0, columns: {score: score, correct: correct}"
    (found,) = mistakes(tmp_path, suite_text("{name: q, assert: {beats: 0.1}}", "", both))
    assert "the columns 'correct' and 'score' both say how good an answer is" in found


def test_scores_are_taken_as_they_are_beside_references(tmp_path: Path) -> None:
    rows = [f"p0,e{each},said,asked,{each / 40}" for each in range(40)]
    header = "prompt,example,prediction,reference,score"
    (tmp_path / "s.csv").write_text("\n".join([header, *rows]))
    (claim,) = planned(tmp_path, text("{beats: 0.3}"))
    assert judged(claim).best_score == pytest.approx(39 / 80)
