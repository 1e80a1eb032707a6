"""Sample sizes, power and plans, of right and wrong answers and of scores."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.stats import binom

from pytest_maxrandom.stats import sizes
from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.score_sizes import (
    DIFFERENCES,
    ScoreClaim,
    score_plan,
)
from pytest_maxrandom.stats.sizes import baseline_summary, plan

close = pytest.approx


@pytest.mark.parametrize(
    ("below", "chance", "expected"),
    [
        (0.55, 0.5, {10: 237, 200: 753, 10_000: 1482}),
        (0.3, 0.25, {10: 183, 200: 587, 10_000: 1156}),
    ],
)
def test_examples_that_keep_the_expected_maximum_low(
    below: float, chance: float, expected: dict[int, int]
) -> None:
    for t, n in expected.items():
        assert sizes.examples_for_expected_maximum(below, chance, t) == n


def test_the_smallest_passable_n_for_two_hundred_prompts() -> None:
    found = [sizes.smallest_passable_n(Fraction(1, m), 200) for m in (2, 3, 4, 5)]
    assert found == [12, 8, 6, 6]


@pytest.mark.parametrize(
    ("t", "examples"), [(10, (302, 452)), (200, (475, 663)), (10_000, (698, 919))]
)
def test_examples_for_eighty_and_ninety_five_percent_power(
    t: int, examples: tuple[int, int]
) -> None:
    for target, n in zip((0.8, 0.95), examples, strict=True):
        assert sizes.examples_for_power(0.6, 0.5, t, target) == n
        assert sizes.power(n - 1, 0.5, t, 0.6) < target
        assert all(sizes.power(m, 0.5, t, 0.6) >= target for m in range(n, n + 100))


def test_the_true_accuracy_that_one_prompt_needs() -> None:
    assert sizes.true_accuracy_for_power(100, 0.5, 200, 0.8) == close(0.713, abs=5e-4)
    assert sizes.true_accuracy_for_power(100, 0.5, 200, 0.95) == close(0.748, abs=5e-4)
    assert sizes.true_accuracy_for_power(5, 0.5, 200) is None


@given(st.integers(5, 200), st.floats(0.5, 1.0))
@settings(max_examples=30)
def test_power_is_the_chance_to_reach_the_critical_count(n: int, accuracy: float) -> None:
    critical = MaxRandomBaseline(n, 0.5, 10).critical_count()
    expected = 0.0 if critical is None else float(binom.sf(critical - 1, n, accuracy))
    assert sizes.power(n, 0.5, 10, accuracy) == close(expected, rel=1e-9)


@given(st.integers(1, 60), st.data())
@settings(max_examples=40)
def test_the_largest_t_is_the_last_that_passes(n: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, n))
    t = sizes.largest_t(n, 0.25, correct)
    if t:
        assert MaxRandomBaseline(n, 0.25, t).p_value(correct) <= 0.05
    if t < 10**15:
        assert MaxRandomBaseline(n, 0.25, t + 1).p_value(correct) > 0.05


def test_the_largest_t_whose_expected_maximum_stays_low() -> None:
    t = sizes.largest_t_below(100, 0.5, 0.6)
    assert MaxRandomBaseline(100, 0.5, t).expected_accuracy <= 0.6
    assert MaxRandomBaseline(100, 0.5, t + 1).expected_accuracy > 0.6
    assert sizes.largest_t_below(100, 0.5, 0.49) == 0


def test_the_largest_t_for_power_keeps_that_power() -> None:
    t = sizes.largest_t_for_power(100, 0.5, 0.7)
    assert sizes.power(100, 0.5, t, 0.7) >= 0.8 > sizes.power(100, 0.5, t + 1, 0.7)


def test_a_mix_of_choices_is_scaled_by_largest_remainders() -> None:
    half, fifth = Fraction(1, 2), Fraction(1, 5)
    assert sizes.mix_for({2: 50, 5: 50}, 10) == ((fifth, 5), (half, 5))
    assert sizes.mix_for({2: 2, 5: 1}, 10) == ((fifth, 3), (half, 7))
    assert sizes.mix_for({2: 1, 5: 99}, 10) == ((fifth, 10),)


@given(st.dictionaries(st.integers(2, 6), st.integers(1, 9), min_size=1), st.integers(1, 50))
def test_a_scaled_mix_has_every_example_and_stays_within_one_of_its_share(
    mix: dict[int, int], n: int
) -> None:
    scaled = dict(sizes.mix_for(mix, n))
    assert sum(scaled.values()) == n
    for choices, size in mix.items():
        share = Fraction(size * n, sum(mix.values()))
        assert abs(scaled.get(Fraction(1, choices), 0) - share) < 1


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(ValueError, match=r"below must be above the chance of one guess, 0\.5"):
        sizes.examples_for_expected_maximum(0.5, 0.5, 10)
    with pytest.raises(ValueError, match="true_accuracy must be above the chance of one guess"):
        sizes.examples_for_power(0.2, {5: 10}, 10)
    with pytest.raises(ValueError, match="plan needs n"):
        plan(0.5)


def test_a_need_of_more_than_ten_million_examples_is_none() -> None:
    assert sizes.examples_for_expected_maximum(0.5001, 0.5, 10**6) is None


def test_the_summary_holds_the_numbers_of_the_baseline() -> None:
    baseline = MaxRandomBaseline(100, 0.5, 10)
    summary = baseline_summary(baseline, correct=60)
    assert summary["max_random_baseline"] == baseline.expected_accuracy
    assert (summary["p_max"], summary["p_standard"]) == (
        baseline.p_value(60),
        baseline.p_standard(60),
    )
    assert (summary["accuracy"], summary["critical_count"]) == (0.6, 64)
    assert "p_max" not in baseline_summary(baseline)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in flat(part)]
    return [value]


@pytest.mark.parametrize("chance", [0.5, Fraction(1, 3), {2: 50, 5: 50}])
def test_a_plan_answers_from_n_from_t_and_from_both_in_builtin_types(
    chance: float | Fraction | dict[int, int],
) -> None:
    from_t = plan(chance, t=200, below=0.6, true_accuracy=0.7)
    from_n = plan(chance, n=100, below=0.6, true_accuracy=0.7)
    both = plan(chance, n=100, t=200, below=0.6, true_accuracy=0.7)
    assert {"smallest_n", "n_for_expected_maximum", "n_for_power"} <= set(from_t)
    assert {"largest_t", "largest_t_for_expected_maximum", "largest_t_for_power"} <= set(from_n)
    assert set(both) == set(from_t) | set(from_n) | {"baseline", "true_accuracy_for_power", "power"}
    assert {type(leaf) for leaf in flat(both)} <= {int, float, str, type(None)}
    assert json.loads(json.dumps(both)) == both


@pytest.mark.parametrize(("true", "bound", "t"), [(0.7, 0.62, 20), (0.6, 0.5, 1), (0.9, 0.8, 200)])
def test_without_a_spread_it_is_nearly_what_right_and_wrong_answers_take(
    true: float, bound: float, t: int
) -> None:
    claim = ScoreClaim(true, bound, t=t)
    n = claim.examples_for(0.8)
    assert n is not None
    least = int(stats.binom.isf(0.05 / t, n, bound)) + 1
    assert stats.binom.sf(least - 1, n, true) == pytest.approx(0.8, abs=0.05)
    assert claim.power(n - 1) < 0.8 <= claim.power(n)


@pytest.mark.parametrize("shape", [(2.0, 2.0), (8.0, 3.0)])
def test_the_power_of_other_scores_is_about_that(shape: tuple[float, float]) -> None:
    law, n = stats.beta(*shape), 80
    true = float(law.mean())
    generator = np.random.default_rng(3)
    passed = [
        BoundedMean(law.rvs(n, random_state=generator), 0.0).p_greater(true - 0.08) <= 0.005
        for _ in range(150)
    ]
    expected = ScoreClaim(true, true - 0.08, float(law.std()), t=10).power(n)
    assert np.mean(passed) == pytest.approx(expected, abs=0.12)


def test_a_plan_answers_what_is_asked() -> None:
    found = score_plan(ScoreClaim(0.05, 0.0, 0.2, t=20, ends=DIFFERENCES), 200)
    few, more = found["n_for_power"].values()
    assert 200 < few < more
    assert found["power"] < 0.8
    for wrong in ({"true": 0.5}, {"spread": 0.9}, {"alpha": 1.0}, {"t": 0}):
        with pytest.raises(ValueError, match=r"must be|expected|spread"):
            ScoreClaim(**{"true": 0.7, "bound": 0.6, **wrong})  # type: ignore[arg-type]
    assert ScoreClaim(0.7, 0.69999).examples_for(0.8) is None
