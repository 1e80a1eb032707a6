"""Recorded results with several samples of each answer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError, SuiteError
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.sources import read
from pytest_maxrandom.reports.quantities import metric_name
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.stats.maximum import BestOfPrompts
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.studies.label_bias.answers import NoLabels, recorded
from tests.unit.recorded.reading import read_table
from tests.unit.recorded.suites import judged, planned, suite_text, write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

TEXTS = ("red", "green", "blue", "grey")
T, N, K, M = 4, 30, 3, 4
TABLE = "r.csv, format: table, shots: 0"
close = pytest.approx


def drawn(knowing: float = 0.5) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return samples, shape (t, n, k), and right answers."""
    rng = np.random.default_rng(5)
    gold = rng.integers(0, M, N)
    said = rng.integers(0, M, (T, N, K))
    return np.where(rng.random((T, N, K)) < knowing, gold[:, None], said), gold


def table(path: Path, said: NDArray[np.int64], gold: NDArray[np.int64]) -> Path:
    """Write a row for each sample, those of one answer apart from each other."""
    rows: list[dict[str, Any]] = [
        {
            "prompt": f"p{prompt}",
            "example": f"e{example}",
            "sample": sample + 1,
            "prediction": TEXTS[said[prompt, example, sample]],
            "gold": TEXTS[gold[example]],
            "choices": [*TEXTS],
        }
        for sample in range(said.shape[2])
        for prompt, example in np.ndindex(said.shape[:2])
    ]
    return write_csv(path, rows)


def archive(path: Path, **arrays: Any) -> Path:
    arrays = {"prompt_ids": np.arange(T), "example_ids": np.arange(N), **arrays}
    np.savez(path, **{f"q__0__{name}": array for name, array in arrays.items()})
    return path


def of_suite(folder: Path, rest: str = "", results: str = TABLE) -> Any:
    [claim] = planned(folder, suite_text("{name: q}", rest, results))
    return claim


def test_the_samples_of_a_table_are_read_as_they_stand(tmp_path: Path) -> None:
    said, gold = drawn()
    [found] = read_table(table(tmp_path / "r.csv", said, gold), model="m", task="q", shots=0)
    assert found.aggregate is not None
    assert found.sampled is not None
    assert (found.aggregate.how, found.aggregate.samples) == ("mean", K)
    assert found.prompts == tuple(f"p{each}" for each in range(T))
    number = [found.labels.index(text) for text in TEXTS]
    rows = np.array(number)[said].transpose(0, 2, 1).reshape(T * K, N)
    assert found.sampled.answers is not None
    assert np.array_equal(found.sampled.answers, rows)
    assert found.values == close((said == gold[:, None]).mean(axis=2))
    assert found.labels == tuple(sorted(TEXTS))
    first = found.of_prompts([2, 0])
    assert first.sampled is not None
    assert np.array_equal(first.sampled.correct, found.sampled.correct[[6, 7, 8, 0, 1, 2]])


def test_an_archive_has_a_third_axis(tmp_path: Path) -> None:
    said, gold = drawn()
    arrays: dict[str, Any] = {"answers": said, "gold": gold, "choices": np.full(N, M)}
    [found] = read_npz(archive(tmp_path / "m.npz", **arrays))
    assert found.values == close((said == gold[:, None]).mean(axis=2))
    arrays["correct"] = np.ones((T, N, K + 1), dtype=np.bool_)
    with pytest.raises(RecordedError, match="answers: found 3 samples on its third axis, but corr"):
        read_npz(archive(tmp_path / "m.npz", **arrays))


def test_scores_of_an_archive_may_have_a_third_axis(tmp_path: Path) -> None:
    scores = np.random.default_rng(2).random((T, N, K)).round(3)
    [found] = read_npz(archive(tmp_path / "m.npz", scores=scores))
    assert found.values == close(scores.mean(axis=2))
    assert found.aggregate is not None
    assert found.aggregate.samples == K
    scores[1, 4, 0] = np.nan
    with pytest.raises(RecordedError, match=rf"has {K - 1} samples of its answer to example '4'"):
        read_npz(archive(tmp_path / "m.npz", scores=scores))


def claimed(folder: Path, aggregate: str) -> Any:
    return judged(of_suite(folder, f"aggregate: {aggregate}\n"))


def test_each_aggregate_is_judged_by_the_answers_given(tmp_path: Path) -> None:
    said, gold = drawn()
    table(tmp_path / "r.csv", said, gold)
    hits = said == gold[:, None]
    different = np.array([[len({*cell}) for cell in row] for row in said.tolist()])
    chances = {
        "pass": [[Fraction(d, M) for d in row] for row in different.tolist()],
        "all": [[Fraction(d == 1, M) for d in row] for row in different.tolist()],
    }
    right = {"pass": hits.any(axis=2), "all": hits.all(axis=2)}
    for how, of_prompts in chances.items():
        record = claimed(tmp_path, how)
        best = BestOfPrompts([(row, 1) for row in of_prompts])
        counts = right[how].sum(axis=1)
        count = int(counts.max())
        assert record.best_correct == count
        assert record.p_max == close(best.p_value(count), rel=1e-9)
        assert record.max_random_baseline == close(best.expected_accuracy, rel=1e-9)
        assert record.sampled.any_right == close(right["pass"][counts.argmax()].mean())
        assert record.permutation_p < 0.01

    record = claimed(tmp_path, "mean")
    assert record.best_correct is None
    assert record.best_accuracy == record.best_score == close(hits.mean(axis=(1, 2)).max())
    assert record.standard_baseline == close(1 / M)
    assert record.passed

    record = claimed(tmp_path, "vote")
    assert record.standard_baseline == 1 / M
    clear = [[max(map(cell.count, cell)) > 1 for cell in row] for row in said.tolist()]
    sure = (hits.sum(axis=2) > 1).sum(axis=1)
    assert sure.max() <= record.best_correct <= (sure + (~np.array(clear)).sum(axis=1)).max()


def test_identical_samples_are_one_answer(tmp_path: Path) -> None:
    """All aggregates of k equal samples give the numbers of single answers."""
    said, gold = drawn()
    same = np.repeat(said[..., :1], K, axis=2)
    table(tmp_path / "r.csv", same, gold)
    single = max_t_test(said[..., 0], gold, permutations=9_999, stop_after=1_000)
    best = BestOfPrompts([([Fraction(1, M)] * N, T)])
    found = {how: claimed(tmp_path, how) for how in ("mean", "vote", "pass", "all")}
    for record in found.values():
        assert record.best_accuracy == close(single.best)
        assert record.p_max == close(best.p_value(round(single.best * N)), rel=1e-6)
        assert record.max_random_baseline == close(best.expected_accuracy, abs=1e-9)
        assert record.sampled.alike == 1
        assert record.sampled.noise_of_prediction == 0
    # Samples are exchanged as one answer is: by the same draws.
    assert len({record.permutation_p for record in found.values()}) == 1
    # So is what is needed; a mean of samples may lie between two numbers of right answers.
    needed = found["vote"].critical_count
    assert found["mean"].critical_count is None
    assert (needed - 1) / N < found["mean"].critical_score <= needed / N


def test_fewer_samples_of_more_are_estimated(tmp_path: Path) -> None:
    said, gold = drawn()
    table(tmp_path / "r.csv", said, gold)
    record = claimed(tmp_path, "{pass: 2}")
    c = (said == gold[:, None]).sum(axis=2)
    estimates = np.vectorize(lambda right: 1 - math.comb(K - right, 2) / math.comb(K, 2))(c)
    assert record.best_accuracy == close(estimates.mean(axis=1).max())
    assert record.sampled.asked == 2


def test_pass_of_answers_that_are_all_different_is_no_knowledge(tmp_path: Path) -> None:
    """pass@4 is 1 whoever guesses so, where the formula for independent guesses says .684."""
    rng = np.random.default_rng(0)
    said = rng.permuted(np.tile(np.arange(4), (2, N, 1)), axis=2)
    table(tmp_path / "r.csv", said, rng.integers(0, M, N))
    record = claimed(tmp_path, "pass")
    assert (record.best_accuracy, record.max_random_baseline, record.p_max) == (1, 1, 1)
    assert record.permutation_p == 1
    assert record.sampled.any_by_chance == 1
    [note] = [worded(each).text for each in record.notes if each.kind == "samples"]
    assert "pass@4 is 1.000 (a guesser with as many different answers: 1.000)" in note


def test_right_and_wrong_alone_cannot_tell(tmp_path: Path) -> None:
    said, gold = drawn()
    hits = said == gold[:, None]
    everywhere = np.ones((T, N), dtype=np.bool_)
    archive(tmp_path / "m.npz", correct=hits, evaluated=everywhere, choices=np.full(N, M))
    for how, chance in (("pass", 3 / M), ("all", 1 / M), ("mean", 1 / M)):
        record = judged(of_suite(tmp_path, f"aggregate: {how}\n", "m.npz, format: npz"))
        assert record.passed is None
        assert record.standard_baseline == close(chance)
    with pytest.raises(SuiteError, match="a vote needs what was answered and what is right"):
        of_suite(tmp_path, "aggregate: vote\n", "m.npz, format: npz")


def test_missing_and_repeated_samples_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "r.csv", *drawn())
    *most, last = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(most), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"r.csv:\d+: .* example 'e29' has 2 of the 3 samples"):
        of_suite(tmp_path)
    path.write_text("\n".join([*most, last, last]), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"sample '3' of the answer of prompt 'p3' to example 'e2"):
        of_suite(tmp_path)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("aggregate: best\n", "`aggregate`: found 'best', expected 'mean' or 'vote'"),
        ("aggregate: {pass: 4}\n", r"pass@4 needs at least 4 samples of each answer, found 3"),
        ("aggregate: {pass: 0}\n", "aggregate"),
        ("metric: balanced_accuracy\n", "several samples; use `aggregate: vote`"),
    ],
)
def test_what_samples_cannot_be_is_said_at_collection(
    tmp_path: Path, rest: str, message: str
) -> None:
    table(tmp_path / "r.csv", *drawn())
    with pytest.raises(SuiteError, match=message):
        of_suite(tmp_path, rest)


def test_what_needs_one_answer_refuses_samples(tmp_path: Path) -> None:
    table(tmp_path / "r.csv", *drawn())
    text = suite_text("{name: q}", "label_bias: {}\n", TABLE)
    [claim] = planned(tmp_path, text)
    with pytest.raises(NoLabels, match="several samples of each answer; use `aggregate: vote`"):
        recorded(claim)
    said, gold = drawn()
    path = archive(tmp_path / "m.npz", answers=said, gold=gold)
    with pytest.raises(RecordedError, match="holds 3 samples of each answer, and one is needed"):
        read(path)


def test_what_is_no_choice_has_no_vote_and_no_chance(tmp_path: Path) -> None:
    said, gold = drawn()
    path = table(tmp_path / "r.csv", said, gold)
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",", 4) for line in lines[1:]]
    for row in rows:
        row[3] = "nothing" if row[1] == "e0" and row[2] != "1" else row[3]
    path.write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n", encoding="utf-8")
    votes = of_suite(tmp_path, "aggregate: vote\n").evidence.results
    named = [votes.labels[each] for each in votes.answers[:, 0].tolist()]
    assert named == [TEXTS[each] for each in said[:, 0, 0].tolist()]
    alone = of_suite(tmp_path, "aggregate: pass\n").null.best
    whole = [[len({*cell}) for cell in row] for row in said.tolist()]
    chances = [[Fraction(d, M) for d in [1, *row[1:]]] for row in whole]
    assert alone.standard_baseline == close(float(sum(map(sum, chances)) / (T * N)))


def graded(path: Path, samples: int = K, **left_out: Any) -> tuple[Any, Any]:
    """Write scores of samples with what was said; return them, shape (t, n, k)."""
    rng = np.random.default_rng(0)
    said = rng.integers(0, 3, (T, N, samples))
    scores = np.round(rng.random((T, N, samples)), 3)
    rows = [
        {
            "prompt": f"p{prompt}",
            "example": f"e{example}",
            "sample": sample + 1,
            "score": scores[prompt, example, sample],
            "prediction": TEXTS[said[prompt, example, sample]],
        }
        for prompt, example, sample in np.ndindex(said.shape)
    ]
    write_csv(path, [{key: row[key] for key in row if key not in left_out} for row in rows])
    return scores, said


BEST = "assert: {beats: 0.1}\n"


@pytest.mark.parametrize(
    ("how", "metric"),
    [
        ("mean", "mean of 3 scores"),
        ("pass", "maximum of 3 scores"),
        ("{pass: 2}", "maximum of 2 scores"),
        ("all", "minimum of 3 scores"),
        ("vote", "score of votes of 3"),
    ],
)
def test_graded_samples_come_to_what_the_suite_says(tmp_path: Path, how: str, metric: str) -> None:
    scores, said = graded(tmp_path / "r.csv")
    claim = of_suite(tmp_path, f"aggregate: {how}\n{BEST}")
    record = judged(claim)
    if how == "vote":
        expected = np.empty((T, N))
        values = claim.evidence.results.values
        for place in np.ndindex(T, N):
            own = said[place].tolist()
            most = max(map(own.count, own))
            firsts = {own.index(each) for each in own if own.count(each) == most}
            [first] = {at for at in firsts if scores[place][at] == values[place]}
            expected[place] = scores[place][first]
    else:
        low, middle, high = np.moveaxis(np.sort(scores, axis=2), 2, 0)
        expected = {
            "mean": scores.mean(axis=2),
            "pass": high,
            "{pass: 2}": (2 * high + middle) / 3,
            "all": low,
        }[how]
    assert record.mean_scores == close(expected.mean(axis=1).tolist())
    assert (record.metric, metric_name(record)) == ("score", metric)
    best = int(expected.mean(axis=1).argmax())
    assert record.sampled is not None
    assert record.sampled.right == close(scores[best].mean())
    assert record.sampled.any_right == close(scores[best].max(axis=1).mean())
    assert record.sampled.all_right == close(scores[best].min(axis=1).mean())
    assert record.sampled.noise_of_data is not None
    assert record.baseline_p is not None
    [note] = [worded(each).text for each in record.notes if each.kind == "graded_samples"]
    assert note.startswith("Each example was asked 3 times")


def test_a_vote_of_scores_needs_what_was_said(tmp_path: Path) -> None:
    graded(tmp_path / "r.csv", prediction=None)
    with pytest.raises(SuiteError, match=r"aggregate: .* and only scores are known; use mean, pa"):
        of_suite(tmp_path, "aggregate: vote\n" + BEST)


def test_a_table_that_f1_grades_votes_by_what_counts_of_a_text(tmp_path: Path) -> None:
    said = ["red ball", "a Red ball!", "blue ball"]
    rows = [
        {"prompt": f"p{prompt}", "example": each, "sample": sample, "prediction": text}
        | {"reference": "the blue ball", "question": "Which?"}
        for prompt in range(2)
        for each in range(20)
        for sample, text in enumerate(said if prompt else said[::-1])
    ]
    write_csv(tmp_path / "r.csv", rows)
    f1 = f"{TABLE}, scoring: f1, columns: {{input: question}}"
    claim = of_suite(tmp_path, f"aggregate: vote\n{BEST}", f1)
    assert judged(claim).mean_scores == [0.5, 0.5]
    assert claim.evidence.results.labels[0] == "blue ball"


@pytest.mark.parametrize("how", ["pass", "all"])
def test_the_best_of_several_is_compared_with_as_many(tmp_path: Path, how: str) -> None:
    """Else who is asked more often is better, whoever it is."""
    graded(tmp_path / "r.csv")
    graded(tmp_path / "few.csv", samples=2)
    other = "incumbent: {results: {path: few.csv, format: table, shots: 0}, prompt: p0}\n"
    claim = "assert: {better_than: incumbent}\n"
    with pytest.raises(SuiteError, match=r"incumbent.results: .*few.csv: it has 2 of each answer"):
        of_suite(tmp_path, f"aggregate: {how}\n{other}{claim}")
    assert of_suite(tmp_path, f"aggregate: mean\n{other}{claim}").incumbent is not None
    assert of_suite(tmp_path, f"aggregate: {{pass: 2}}\n{other}{claim}").incumbent is not None


def test_single_answers_have_no_aggregate(tmp_path: Path) -> None:
    said, gold = drawn()
    table(tmp_path / "r.csv", said[..., :1], gold)
    assert of_suite(tmp_path).evidence.results.aggregate is None
    with pytest.raises(SuiteError, match=r"aggregate: .* holds one answer of each prompt to each"):
        of_suite(tmp_path, "aggregate: pass\n")
