"""Series that follow the order of their examples, and right answers that are rotated."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.stats.clusters import alike_within, united
from pytest_maxrandom.stats.order import follows_order, rotated

N = 60
PLACES = np.arange(N)


@pytest.mark.parametrize(
    "series",
    [
        pytest.param(PLACES >= N // 2, id="sorted"),
        pytest.param(PLACES % 2, id="in turns"),
        pytest.param(PLACES % 3 == 0, id="every third"),
        pytest.param(PLACES // 5 % 2, id="in runs of five"),
    ],
)
def test_what_follows_the_order_is_seen(series: np.ndarray) -> None:
    assert follows_order([series], [0] * N) <= 0.01
    assert follows_order([series], series.tolist()) == 1  # nothing is left within its classes


@pytest.mark.parametrize("n", range(60, 64))
@pytest.mark.parametrize("period", [2, 3, 10])
def test_choices_right_in_turn_are_seen_among_any_number_of_examples(n: int, period: int) -> None:
    series = np.arange(n) % period == np.arange(period)[:, np.newaxis]
    assert follows_order(series, [0] * n) <= 0.01


def test_what_does_not_follow_it_is_uniform() -> None:
    random = np.random.default_rng(0)
    values = np.array(
        [
            follows_order(random.integers(0, 2, (2, N)), (PLACES % 2).tolist(), 99, seed)
            for seed in range(200)
        ]
    )
    # Binomial: 10 expected at .05, 22 is reached with probability .0005; 100 at .5.
    assert (values <= 0.05).sum() < 22
    assert 60 < (values <= 0.5).sum() < 125


@pytest.mark.parametrize("wrong", range(0, 24, 5))
def test_one_error_beside_right_answers_in_turn_is_in_no_order(wrong: int) -> None:
    """Wherever it stands, permutations are rotations, which differ by rounding and by trend."""
    turns = np.arange(24) % 4
    answers = turns.copy()
    answers[wrong] = (answers[wrong] + 1) % 4
    right, said = np.equal.outer(np.arange(4), [turns, answers]).swapaxes(0, 1).astype(float)
    assert follows_order(said, turns.tolist()) > 0.1
    assert follows_order(said, turns.tolist(), beside=right) > 0.1


def test_only_the_order_that_is_shared_counts_beside_another_series() -> None:
    sections, turns = PLACES // 10 % 2, PLACES % 2
    assert follows_order([sections], [0] * N, beside=[sections]) <= 0.01
    assert follows_order([turns], [0] * N, beside=[turns]) <= 0.01
    assert follows_order([sections], [0] * N, beside=[turns]) > 0.1
    assert follows_order([turns], [0] * N, beside=[sections]) > 0.1


def test_sections_of_other_sizes_are_an_order_that_is_shared() -> None:
    assert follows_order([PLACES // 10 % 2], [0] * N, beside=[PLACES >= N // 2]) <= 0.01


def test_right_answers_are_rotated_within_their_strata() -> None:
    random = np.random.default_rng(1)
    strata = random.integers(1, 3, 30)
    answers, gold = random.integers(0, 3, (4, 30)), random.integers(0, 3, 30)
    answers[0, :3] = -1
    best = []
    for shift in range(30):
        moved = gold.copy()
        for stratum in (1, 2):
            members = np.flatnonzero(strata == stratum)
            moved[members] = np.roll(gold[members], -shift)
        scores = [(row == moved)[row >= 0].mean() for row in answers]
        best.append(max(scores))
    expected = np.mean(np.array(best) >= best[0] - 1e-9)
    right = gold[:, np.newaxis] == np.arange(3)
    assert rotated(answers, right, strata) == pytest.approx(expected)


def test_answers_that_are_alike_in_clusters_are_seen_beyond_what_is_right() -> None:
    random = np.random.default_rng(2)
    clusters = PLACES // 3
    gold = random.integers(0, 2, N // 3)[clusters]
    knowing = np.where(random.random((5, N)) < 0.7, gold, 1 - gold)
    assert alike_within(knowing, clusters.tolist(), gold.tolist()) > 0.05
    guessing = random.integers(0, 2, (5, N // 3))[:, clusters]
    assert alike_within(guessing, clusters.tolist(), gold.tolist()) == 0.001


def test_sets_unite_what_hangs_together() -> None:
    parts = united([[0], (4, 5), (5, 1), {2, 3}])
    assert len({parts[each] for each in (1, 4, 5)}) == len({parts[each] for each in (2, 3)}) == 1
    assert len(set(parts.values())) == 3
