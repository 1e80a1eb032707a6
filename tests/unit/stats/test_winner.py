"""What the best prompt is worth on new questions, where the truth is known."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import beta, binom

from pytest_maxrandom.stats.winner import (
    interval,
    lower_bound,
    lower_bound_of_scores,
    out_of_bag,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Answers = tuple[NDArray[np.bool_], NDArray[np.float64]]
    """Which answers are right, shape (t, n), and each prompt's accuracy on all questions."""

N, T = 100, 200
SIZES = (1, 1, 2, 3, 5, 8)
"""Examples of clusters, over and over; Kish's effective n is .64 of their number."""


def guessers(generator: np.random.Generator) -> Answers:
    return generator.random((T, N)) < 0.5, np.full(T, 0.5)


def correlated(generator: np.random.Generator) -> Answers:
    """All are right on .6 of the questions; half of their answers are the same ones."""
    own, common = generator.random((T, N)) < 0.6, generator.random(N) < 0.6
    return np.where(generator.random((T, N)) < 0.5, common, own), np.full(T, 0.6)


def one_best(generator: np.random.Generator) -> Answers:
    truth = np.full(T, 0.5)
    truth[T // 2] = 0.75
    return generator.random((T, N)) < truth[:, None], truth


def in_clusters(
    generator: np.random.Generator, sizes: Sequence[int], *, follow: float, n: int = 240
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Guessers at .6 whose answers follow, in a share of the questions, one for each cluster."""
    each = np.resize(sizes, n)
    clusters = np.repeat(np.arange(n), each)[:n]
    shared = (generator.random((T, n)) < 0.6)[:, clusters]
    right = np.where(generator.random((T, n)) < follow, shared, generator.random((T, n)) < 0.6)
    return right, clusters


# The naive and the true accuracy of the winner, and the mean of the estimates: known from another
# simulation of 200 resamples each, rounded to three digits.
KNOWN = [(guessers, 0.638, 0.500, 0.501), (correlated, 0.710, 0.600, 0.602),
         (one_best, 0.753, 0.749, 0.717)]  # fmt: skip


@pytest.mark.parametrize(("answer", "naive", "truth", "estimate"), KNOWN)
def test_the_estimate_is_what_the_winner_is_worth_and_not_what_it_reached(
    answer: Callable[[np.random.Generator], Answers], naive: float, truth: float, estimate: float
) -> None:
    generator = np.random.default_rng(7)
    found = []
    for seed in range(200):
        right, true = answer(generator)
        best = right.mean(axis=1).argmax()
        found.append(
            (right[best].mean(), true[best], out_of_bag(right, resamples=200, seed=seed) or 0)
        )
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(len(found))
    # Four Monte Carlo standard errors, those of the other simulation included; and that another
    # prompt than the best one wins is too rare to be counted in so few runs.
    for mean, error, known in zip(means, errors, (naive, truth, estimate), strict=True):
        assert mean == pytest.approx(known, abs=4 * math.hypot(error, error) + 0.002)


def by_hand(right: NDArray[np.bool_], evaluated: NDArray[np.bool_], drawn: list[int]) -> float:
    """Select on drawn examples, score on the others: one resample in plain loops."""

    def accuracy(prompt: int, examples: list[int]) -> float:
        seen = [example for example in examples if evaluated[prompt, example]]
        return sum(right[prompt, example] for example in seen) / len(seen) if seen else math.nan

    others = sorted(set(range(right.shape[1])) - set(drawn))
    scores = [accuracy(prompt, drawn) for prompt in range(len(right))]
    best = max(score for score in scores if not math.isnan(score))
    elsewhere = [accuracy(place, others) for place, score in enumerate(scores) if score == best]
    known = [value for value in elsewhere if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 9))
def test_prompts_that_left_out_examples_are_selected_and_scored_on_their_own(
    seed: int, t: int, n: int
) -> None:
    generator = np.random.default_rng(seed)
    evaluated = generator.random((t, n)) < 0.7
    right = evaluated & (generator.random((t, n)) < 0.6)
    weights: list[NDArray[np.float32]] = []

    def select(drawn: NDArray[np.float32]) -> NDArray[np.float64]:
        """By accuracy, as without it; takes note of what was drawn."""
        weights.append(drawn)
        with np.errstate(invalid="ignore"):
            return (drawn @ right.T).astype(float) / (drawn @ evaluated.T)

    scores = np.where(evaluated, right, np.nan)
    found = out_of_bag(scores, select=select, resamples=20)
    assert found == out_of_bag(scores, resamples=20)
    values = []
    for row in np.concatenate(weights):
        drawn = [place for place, times in enumerate(row) for _ in range(int(times))]
        assert len(drawn) == n
        if evaluated[:, drawn].any():
            values.append(by_hand(right, evaluated, drawn))
    known = [value for value in values if not math.isnan(value)]
    assert found == (pytest.approx(np.mean(known)) if known else None)


def test_whole_clusters_are_drawn() -> None:
    clusters = [place // 4 for place in range(40)]
    sizes: Counter[int] = Counter()

    def select(drawn: NDArray[np.float32]) -> NDArray[np.float64]:
        of_clusters = drawn.reshape(len(drawn), 10, 4)
        assert (of_clusters == of_clusters[:, :, :1]).all()
        sizes.update(drawn.sum(axis=1).astype(int).tolist())
        return np.zeros((len(drawn), 2))

    right = np.repeat(np.random.default_rng(1).random((2, 10)) < 0.5, 4, axis=1)
    assert out_of_bag(right, clusters=clusters, select=select, resamples=30) is not None
    assert sizes == {40: 30}


def test_copies_of_questions_that_are_known_to_be_copies_do_not_teach_anything() -> None:
    generator = np.random.default_rng(5)
    naive, aware = [], []
    for seed in range(60):
        right, _ = guessers(generator)
        copied = np.repeat(right[:, :25], 4, axis=1)
        known = [place // 4 for place in range(100)]
        naive.append(out_of_bag(copied, resamples=100, seed=seed) or 0.0)
        aware.append(out_of_bag(copied, clusters=known, resamples=100, seed=seed) or 0.0)
    error = float(np.std(aware)) / math.sqrt(len(aware))
    assert np.mean(aware) == pytest.approx(0.5, abs=4 * error)
    assert np.mean(naive) > 0.55


def test_truth_values_are_scored_as_their_numbers_are() -> None:
    generator = np.random.default_rng(3)
    right, evaluated = generator.random((6, 40)) < 0.4, generator.random((6, 40)) < 0.8
    numbers = np.where(evaluated, right, np.nan)
    assert out_of_bag(right, evaluated) == out_of_bag(numbers)
    assert out_of_bag(right) == out_of_bag(right.astype(float))


@pytest.mark.parametrize("clusters", [None, ["one passage"] * 5])
def test_nothing_is_estimated_where_no_example_is_ever_left(clusters: list[str] | None) -> None:
    right = np.ones((3, 1 if clusters is None else 5), dtype=bool)
    assert out_of_bag(right, clusters=clusters) is None


def test_graded_scores_are_estimated_as_right_and_wrong_are() -> None:
    """Halves of all scores: the same prompts are selected, and what they are worth is half."""
    right = np.random.default_rng(1).random((5, 40)) < 0.6
    found = out_of_bag(np.where(right, 0.5, 0.0), resamples=50)
    assert found is not None
    assert found * 2 == pytest.approx(out_of_bag(right, resamples=50))


def test_the_bound_of_scores_is_that_of_right_and_wrong_and_allows_for_clusters() -> None:
    scores = np.repeat([1.0, 0.0], [71, 29])
    assert lower_bound_of_scores(scores, 200) == pytest.approx(lower_bound(71, 100, 200), abs=1e-6)
    copied = np.repeat(np.linspace(0.2, 1, 20), 3)
    groups = np.repeat(np.arange(20), 3).tolist()
    alone = lower_bound_of_scores(copied[::3], 4)
    assert lower_bound_of_scores(copied, 4, clusters=groups) == pytest.approx(alone, abs=1e-6)
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        lower_bound_of_scores([0.2, 1.2])


def test_wrong_shapes_are_told() -> None:
    right = np.ones((3, 4), dtype=bool)
    with pytest.raises(ValueError, match=r"scores must have a shape \(t, n\), found \(4,\)"):
        out_of_bag(right[0])
    with pytest.raises(ValueError, match="clusters names 3 examples, the scores have 4"):
        out_of_bag(right, clusters=[1, 2, 3])
    with pytest.raises(ValueError, match="clusters names 3 examples, n is 4"):
        lower_bound(2, 4, clusters=[1, 1, 2])
    with pytest.raises(ValueError, match="correct must be at most 4, found 5"):
        lower_bound(5, 4)


@given(st.integers(1, 3000), st.data(), st.integers(1, 10**6), st.sampled_from([0.5, 0.95, 0.999]))
def test_the_bound_is_clopper_and_pearsons_at_a_share_of_the_level(
    n: int, data: st.DataObject, t: int, confidence: float
) -> None:
    correct = data.draw(st.integers(0, n))
    expected = beta.ppf((1 - confidence) / t, correct, n - correct + 1) if correct else 0
    assert lower_bound(correct, n, t, confidence=confidence) == pytest.approx(expected, rel=1e-9)


def test_with_clusters_the_bound_is_that_of_as_many_questions_as_they_are_worth() -> None:
    alone = list(range(100))
    assert lower_bound(71, 100, 200, clusters=alone) == lower_bound(71, 100, 200)
    pairs = [place // 2 for place in range(100)]
    expected = beta.ppf(0.05 / 200 / math.e, 35, 50 - 35 + 1)  # 35.5 of 50 pairs, rounded down
    assert lower_bound(71, 100, 200, clusters=pairs) == pytest.approx(expected)


def covered(share: float, runs: int) -> bool:
    """Tell whether a coverage of .95 may be seen as this share."""
    return share >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("sizes", [(4,), (2,), SIZES])
@pytest.mark.parametrize("follow", [1.0, 0.7])
def test_the_bound_holds_where_answers_follow_clusters(
    sizes: tuple[int, ...], follow: float
) -> None:
    generator, runs = np.random.default_rng(12), 300
    held = ignored = 0
    for _ in range(runs):
        right, clusters = in_clusters(generator, sizes, follow=follow)
        best = int(right.sum(axis=1).max())
        known = clusters.tolist()
        held += lower_bound(best, right.shape[1], T, clusters=known) <= 0.6
        ignored += lower_bound(best, right.shape[1], T) <= 0.6
    assert covered(held / runs, runs)
    if follow == 1 and sizes != (2,):
        assert not covered(ignored / runs, runs)


@given(st.integers(1, 3000), st.data(), st.integers(1, 10**6))
def test_the_upper_end_is_clopper_and_pearsons_whatever_t(
    n: int, data: st.DataObject, t: int
) -> None:
    correct = data.draw(st.integers(0, n))
    low, high = interval(correct, n, t)
    assert low == lower_bound(correct, n, t)
    expected = beta.ppf(0.95, correct + 1, n - correct) if correct < n else 1
    assert high == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("accuracies", "copies"),
    [((0.6,), 1), ((0.6,), 20), ((0.5, 0.6), 10), ((0.5, 0.7), 1), ((0.2, 0.21), 100)],
)
def test_each_end_is_passed_by_the_winners_accuracy_with_probability_005_at_most(
    accuracies: tuple[float, ...], copies: int
) -> None:
    """Exact sums over who wins with how many right; ties go to whichever makes it worse."""
    n, t = 40, copies * len(accuracies)
    ends = [interval(correct, n, t) for correct in range(n + 1)]
    counts = [binom(n, accuracy) for accuracy in accuracies]
    below = above = 0.0
    for correct, (low, high) in enumerate(ends):
        at_most = [count.cdf(correct) ** copies for count in counts]
        fewer = [count.cdf(correct - 1) ** copies for count in counts]
        for place, own in enumerate(accuracies):
            others = math.prod(at_most[:place] + at_most[place + 1 :])
            wins = (at_most[place] - fewer[place]) * others
            below += wins * (own < low)
            above += wins * (own > high)
    assert below <= 0.05 + 1e-12
    assert above <= 0.05 + 1e-12


def test_the_ends_hold_where_prompts_share_their_answers() -> None:
    generator, runs = np.random.default_rng(13), 1500
    ends = [interval(correct, N, T) for correct in range(N + 1)]
    found = []
    for _ in range(runs):
        right, true = correlated(generator)
        counts = right.sum(axis=1)
        best = counts.argmax()
        low, high = ends[counts[best]]
        found.append((low <= true[best], true[best] <= high))
    assert all(covered(share, runs) for share in np.mean(found, axis=0))
