"""The best of t candidates beside the incumbent, compared with SciPy, exact sums and simulation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.incumbents import (
    FEWEST_RESAMPLED,
    best_over_incumbent,
    usual_test,
)
from pytest_maxrandom.stats.score_pairs import ScorePair

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _right_or_wrong(
    seed: int, k: int, n: int, rates: tuple[float, float] = (0.6, 0.7)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return k candidates and an incumbent who are right at two rates."""
    generator = np.random.default_rng(seed)
    return (
        (generator.random((k, n)) < rates[1]).astype(float),
        (generator.random(n) < rates[0]).astype(float),
    )


@pytest.mark.parametrize("t", [3, 40])
@pytest.mark.parametrize("seed", range(4))
def test_exact_is_t_times_mcnemars_test_of_the_best(seed: int, t: int) -> None:
    candidates, incumbent = _right_or_wrong(seed, 3, 80)
    found = best_over_incumbent(candidates, incumbent, t=t, test="exact")
    best = candidates[int(candidates.mean(axis=1).argmax())]
    wins, losses = int((best > incumbent).sum()), int((best < incumbent).sum())
    alone = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
    assert found.p == pytest.approx(min(1.0, t * alone))
    assert found.difference == pytest.approx((wins - losses) / 80)


@pytest.mark.parametrize("margin", [0.05, 0.2, -0.05, -0.2])
def test_with_a_margin_no_true_difference_of_that_size_passes_more_often_than_the_level(
    margin: float,
) -> None:
    """All outcomes of n examples, each weighted with its probability."""
    n, level = 25, 0.05
    outcomes = [(won, n - won - same, same) for won in range(n + 1) for same in range(n + 1 - won)]
    passing = [
        counts
        for counts in outcomes
        if ScorePair(np.repeat([1.0, -1.0, 0.0], counts), np.arange(n)).p_greater(margin, level)
        <= level
    ]
    for apart in (0.2, 0.4, 1.0):
        chances = ((apart + margin) / 2, (apart - margin) / 2, 1 - apart)
        assert 0 < stats.multinomial.pmf(passing, n, chances).sum() <= level + 1e-9


@pytest.mark.parametrize("by", [0.0, 0.03])
@pytest.mark.parametrize("test", ["exact", "resampled"])
@pytest.mark.parametrize("rates", [(0.6, 0.7), (0.5, 0.75), (0.6, 0.6)])
def test_the_lower_end_is_above_the_margin_where_the_claim_holds(
    by: float, test: str, rates: tuple[float, float]
) -> None:
    for seed in range(4):
        candidates, incumbent = _right_or_wrong(seed, 5, 200, rates)
        found = best_over_incumbent(candidates, incumbent, by=by, test=test)  # type: ignore[arg-type]
        assert (found.p <= 0.05) == (found.low > by or (test == "exact" and found.low == by))
        assert found.low < found.difference < found.high


def test_resampled_is_whites_reality_check() -> None:
    candidates, incumbent = _right_or_wrong(3, 8, 120, (0.55, 0.6))
    differences = candidates - incumbent
    means = differences.mean(axis=1)
    generator = np.random.default_rng(9)
    reached, runs = 0, 4000
    for _ in range(runs):
        drawn = generator.integers(0, 120, 120)
        reached += (differences[:, drawn].mean(axis=1) - means).max() >= means.max() - 1e-12
    found = best_over_incumbent(candidates, incumbent, test="resampled")
    assert found.p == pytest.approx(reached / runs, abs=4 * math.sqrt(0.25 / runs))


def test_tries_without_answers_take_their_share_of_the_level() -> None:
    candidates, incumbent = _right_or_wrong(3, 4, 300)
    alone = best_over_incumbent(candidates, incumbent, test="resampled")
    more = best_over_incumbent(candidates, incumbent, t=12, test="resampled")
    assert more.p == pytest.approx(min(1.0, 3 * alone.p))
    assert more.low < alone.low


@pytest.mark.parametrize("test", ["exact", "resampled"])
def test_copies_of_each_example_are_no_evidence_where_clusters_say_so(test: str) -> None:
    candidates, incumbent = _right_or_wrong(5, 3, 60, (0.5, 0.65))
    groups = np.repeat(np.arange(60), 4)
    names = [f"passage {number}" for number in groups]
    once = best_over_incumbent(
        np.round(candidates * 0.999, 3),
        incumbent,
        test=test,  # type: ignore[arg-type]
    )
    copied = best_over_incumbent(
        np.round(candidates[:, groups] * 0.999, 3),
        incumbent[groups],
        clusters=names,
        test=test,  # type: ignore[arg-type]
    )
    assert copied.p == pytest.approx(once.p, rel=1e-6)
    assert (copied.units, copied.n) == (60, 240)


def test_examples_that_only_one_of_both_was_scored_on_do_not_count() -> None:
    candidates, incumbent = _right_or_wrong(6, 2, 50)
    candidates[0, :10], incumbent[45:] = np.nan, np.nan
    found = best_over_incumbent(candidates[:1], incumbent)
    kept = best_over_incumbent(candidates[:1, 10:45], incumbent[10:45])
    assert (found.n, found.p, found.difference) == (35, kept.p, kept.difference)


def test_the_truly_best_is_among_those_that_cannot_be_told_from_the_best() -> None:
    generator = np.random.default_rng(8)
    rates = np.array([0.75, 0.7, 0.7, 0.65, 0.4])
    missed = 0
    for _ in range(60):
        candidates = (generator.random((5, 100)) < rates[:, None]).astype(float)
        found = best_over_incumbent(candidates, candidates[4], test="exact")
        missed += 0 not in found.alike
        assert found.best in found.alike
    assert 4 not in found.alike
    assert missed <= 6


def test_so_many_examples_as_are_said_to_be_needed_show_the_difference_in_four_of_five() -> None:
    generator = np.random.default_rng(2)

    def drawn(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        both = generator.random(n)
        incumbent = (both < 0.6).astype(float)
        better = (np.where(generator.random(n) < 0.2, generator.random(n), both) < 0.7).astype(
            float
        )
        return better[None], incumbent

    better, incumbent = drawn(400)
    needed = best_over_incumbent(better, incumbent, t=50, test="exact", matters=0.1).needed
    assert needed is not None
    runs, passed = 200, 0
    for _ in range(runs):
        better, incumbent = drawn(needed)
        pair = ScorePair(better[0] - incumbent, np.arange(needed))
        passed += 50 * pair.p_greater(0.0, 0.001) <= 0.05
    assert 0.65 < passed / runs < 0.95


def test_no_number_of_examples_shows_what_is_no_more_than_the_margin() -> None:
    candidates, incumbent = _right_or_wrong(1, 2, 60)
    assert best_over_incumbent(candidates, incumbent, by=0.05, matters=0.05).needed is None


@pytest.mark.parametrize("n", [FEWEST_RESAMPLED - 1, FEWEST_RESAMPLED, 2 * FEWEST_RESAMPLED])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("at_hand", "t"), [(1, 1), (3, 3), (3, 700)])
@pytest.mark.parametrize("level", [0.05, 1e-4])
@pytest.mark.parametrize("graded", [False, True])
def test_a_plan_has_the_test_that_is_made(
    n: int, size: int, at_hand: int, t: int, level: float, *, graded: bool
) -> None:
    scores, incumbent = _right_or_wrong(3, at_hand, n)
    groups = [place // size for place in range(n)]
    found = best_over_incumbent(
        scores * (0.9 if graded else 1), incumbent, t=t, level=level, clusters=groups
    )
    units = len({*groups})
    assert found.test == usual_test(units, t=t, at_hand=at_hand, level=level, graded=graded)
    enough = units >= FEWEST_RESAMPLED and t < 700 and level == 0.05
    assert (found.test == "resampled") is (enough and not graded)


@pytest.mark.parametrize(("t", "level"), [(600, 0.05), (1, 1e-5)])
def test_the_test_is_exact_where_resamples_could_hardly_show_the_level(
    t: int, level: float
) -> None:
    incumbent = (np.arange(300) < 135).astype(float)
    found = best_over_incumbent(np.ones((1, 300)), incumbent, t=t, level=level)
    alone = stats.binomtest(165, 165, alternative="greater").pvalue
    assert found.test == "exact"
    assert found.p == pytest.approx(t * alone)
    assert found.low > 0
    assert best_over_incumbent(np.ones((1, 300)), incumbent, t=5).test == "resampled"


@pytest.mark.parametrize("test", ["exact", "resampled"])
def test_the_incumbent_as_the_only_candidate_is_no_better(test: str) -> None:
    _, incumbent = _right_or_wrong(1, 1, 300)
    found = best_over_incumbent(incumbent[None], incumbent, test=test)  # type: ignore[arg-type]
    assert (found.p, found.difference) == (1.0, 0.0)
    assert -0.1 < found.low <= 0 <= found.high < 0.1


@pytest.mark.parametrize(
    ("candidates", "incumbent", "keys", "message"),
    [
        ([[0, 1]], [1], {}, "shape"),
        ([[0, 2]], [1, 0], {}, "from 0 to 1"),
        ([[0, math.nan]], [math.nan, 0], {}, "shares no example"),
        ([[0, 1], [1, 1]], [1, 0], {"t": 1}, "t"),
        ([[0, 1]], [1, 0], {"by": -0.1}, "by"),
        ([[0, 1]], [1, 0], {"clusters": ["a"]}, "clusters names 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    candidates: list[list[float]], incumbent: list[float], keys: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        best_over_incumbent(candidates, incumbent, **keys)  # type: ignore[arg-type]
