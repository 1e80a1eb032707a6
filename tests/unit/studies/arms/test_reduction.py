"""From the answers of two arms to their difference."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from pytest_maxrandom.studies.arms import reduction
from pytest_maxrandom.studies.arms.reduction import Difference, smallest_p
from tests.unit.studies.arms.made import answers, random_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.studies.arms.answers import PairedAnswers

seeds = st.integers(0, 10_000)


@pytest.fixture(scope="module", autouse=True)
def fewer_signs() -> Iterator[None]:
    """Draw a tenth of the signs: what these tests say holds for any number of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reduction, "DRAWS", 999)
        yield


def by_hand(replicates: list[PairedAnswers]) -> tuple[Fraction, list[tuple[Fraction, Fraction]]]:
    """The mean difference, and each distinct example's part and share of it, exactly."""
    parts: dict[str, Fraction] = {}
    shares: dict[str, Fraction] = {}
    for each in replicates:
        one = Fraction(1, int(each.evaluated.sum()) * len(replicates))
        for row, column in zip(*np.nonzero(each.evaluated), strict=True):
            gain = int(each.first[row, column]) - int(each.second[row, column])
            name = each.examples[column]
            parts[name] = parts.get(name, Fraction(0)) + gain * one
            shares[name] = shares.get(name, Fraction(0)) + one
    return sum(parts.values(), Fraction(0)), [(parts[name], shares[name]) for name in parts]


def p_over_all_signs(values: list[tuple[Fraction, Fraction]], margin: Fraction) -> float:
    """The one-sided p-value of the sign-flip test, by going through all signs."""
    centred = [part - share * margin for part, share in values]
    found = sum(centred, Fraction(0))
    flipped = [
        sum((sign * value for sign, value in zip(signs, centred, strict=True)), Fraction(0))
        for signs in itertools.product((1, -1), repeat=len(centred))
    ]
    return sum(each >= found for each in flipped) / len(flipped)


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_difference_and_p_values_are_those_of_all_signs(replicates: int, missing: bool) -> None:
    # The prompts of one replicate are those of the others: three, too few for units.
    made = [random_answers(k, 3, 7, shared=5, missing=missing) for k in range(replicates)]
    mean, parts = by_hand(made)
    found = Difference(made)
    assert found.mean == pytest.approx(float(mean), abs=1e-12)
    for margin in (Fraction(0), Fraction(1, 7), Fraction(-1, 9)):
        expected = p_over_all_signs(parts, margin)
        assert found.tests["examples"].p_greater(float(margin)) == pytest.approx(expected)
        assert found.p_greater(float(margin)) >= expected - 1e-12


def test_one_prompt_is_tested_as_mcnemar_does_and_no_further() -> None:
    for seed in range(20):
        made = random_answers(seed, t=1, n=20)
        found = Difference([made])
        (prompt,) = found.prompts
        assert found.p_value() == pytest.approx(prompt.p_value)


def test_accuracies_and_best_prompts_are_means_over_replicates() -> None:
    one = answers([[1, 1, 0, 0], [1, 1, 1, 0]], [[0, 0, 0, 1], [1, 0, 1, 0]])
    two = answers([[1, 0, 0, 0], [0, 0, 0, 0]], [[1, 1, 1, 1], [0, 0, 0, 0]])
    found = Difference([one, two])
    assert (found.t, found.n) == (2, 4)
    assert found.first_accuracy == pytest.approx((5 / 8 + 1 / 8) / 2)
    assert found.second_accuracy == pytest.approx((3 / 8 + 4 / 8) / 2)
    assert found.by_replicate == pytest.approx((2 / 8, -3 / 8))
    assert found.first_best == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert found.second_best == pytest.approx((2 / 4 + 4 / 4) / 2)
    assert found.best_difference == pytest.approx((1 / 4 - 3 / 4) / 2)


def test_prompts_that_met_fewer_examples_have_their_own_best_accuracy() -> None:
    known = [[1, 1, 1, 1], [1, 1, 0, 0]]
    found = Difference([answers([[1, 1, 0, 0], [1, 1, 0, 0]], [[0] * 4, [0] * 4], known)])
    assert found.first_best == 1
    assert found.mean == pytest.approx(4 / 6)


@settings(max_examples=10)
@given(seeds, st.booleans())
def test_swapping_the_arms_flips_the_sign_of_everything(seed: int, missing: bool) -> None:
    made = [random_answers(seed + k, shared=6, missing=missing) for k in range(1 + 5 * (seed % 2))]
    found, swapped = (
        Difference(made),
        Difference(
            [dataclasses.replace(each, first=each.second, second=each.first) for each in made]
        ),
    )
    assert swapped.mean == -found.mean
    assert swapped.by_replicate == tuple(-value for value in found.by_replicate)
    assert swapped.best_difference == -found.best_difference
    assert swapped.p_value() == found.p_value()
    low, high = found.interval(0.9)
    assert swapped.interval(0.9) == (-high, -low)
    best, other = found.best_interval(0.9), swapped.best_interval(0.9)
    assert (best is None) == (other is None)
    assert best is None or other == (-best[1], -best[0])
    for one, two in zip(found.prompts, swapped.prompts, strict=True):
        assert (one.only_first, one.only_second) == (two.only_second, two.only_first)
        assert (one.p_value, one.adjusted_p) == (two.p_value, two.adjusted_p)


@given(seeds, st.sampled_from([1, 6]), st.booleans())
def test_a_copy_of_an_arm_makes_exactly_no_difference(
    seed: int, replicates: int, missing: bool
) -> None:
    made = [random_answers(seed + k, missing=missing) for k in range(replicates)]
    found = Difference([dataclasses.replace(each, second=each.first) for each in made])
    assert (found.mean, found.best_difference) == (0, 0)
    assert (found.p_value(), found.p_greater()) == (1, 1)
    low, high = found.interval(0.95)
    # Rule of three: losses that so many examples do not show with probability .025.
    met = {
        each.examples[place]
        for each in made
        for place in range(len(each.examples))
        if each.evaluated[:, place].any()
    }
    assert low == -high == pytest.approx(0.025 ** (1 / len(met)) - 1, abs=0.02)
    assert all(each.p_value == each.adjusted_p == 1 for each in found.prompts)


@pytest.mark.parametrize(
    ("seed", "replicates"),
    [
        (0, 1),
        (2, 3),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1, 1), (3, 3), (4, 7))),
    ],
)
def test_neither_the_order_of_examples_nor_that_of_replicates_matters(
    seed: int, replicates: int
) -> None:
    generator = np.random.default_rng(seed)
    made = [random_answers(seed + k, n=40, shared=20, missing=True) for k in range(replicates)]
    mixed = []
    for each in made:
        order = generator.permutation(len(each.examples))
        mixed.append(
            type(each)(
                tuple(each.examples[place] for place in order),
                each.first[:, order],
                each.second[:, order],
                each.evaluated[:, order],
            )
        )
    found = Difference(made)
    other = Difference([mixed[place] for place in generator.permutation(replicates)])
    assert other.mean == found.mean
    assert other.p_value() == found.p_value()
    assert other.p_greater(0.1) == found.p_greater(0.1)
    assert other.interval(0.95) == found.interval(0.95)
    assert other.best_interval(0.95) == found.best_interval(0.95)
    assert other.units == found.units


@settings(max_examples=20)
@given(seeds, st.sampled_from([1, 6]), st.floats(-0.5, 0.5), st.floats(0.01, 0.2))
def test_a_margin_below_the_interval_is_one_that_the_difference_is_above(
    seed: int, replicates: int, margin: float, level: float
) -> None:
    found = Difference([random_answers(seed + k, shared=6) for k in range(replicates)])
    low, high = found.interval(1 - 2 * level)
    if abs(margin - low) > 2e-4:
        assert (found.p_greater(margin) <= level) == (margin < low)
    assert low <= found.mean <= high


def test_mcnemar_is_that_of_each_prompt_of_the_first_replicate() -> None:
    made = [random_answers(k, t=5, n=30) for k in range(2)]
    for row, prompt in enumerate(Difference(made).prompts):
        first, second = made[0].first[row], made[0].second[row]
        only = int((first & ~second).sum()), int((second & ~first).sum())
        assert (prompt.only_first, prompt.only_second) == only
        expected = stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1
        assert prompt.p_value == pytest.approx(expected, abs=1e-12)


def test_the_larger_p_value_decides() -> None:
    # Examples that all replicates share differ by chance; the replicates agree with each other.
    alike = [random_answers(3, t=4, n=8)] * 8
    found = Difference(alike)
    assert found.units == "examples"
    assert found.p_value() == Difference(alike[:1]).p_value()
    # Replicates that disagree, with an example each: examples and replicates are the same units.
    signs = [1, 1, 1, -1, 1, 1, -1]
    apart = [answers([[sign > 0] * 20], [[sign < 0] * 20], examples=[f"{k}-{e}" for e in range(20)])
             for k, sign in enumerate(signs)]  # fmt: skip
    found = Difference(apart)
    assert found.units == "replicates"
    assert found.p_value() == pytest.approx(stats.binomtest(5, 7).pvalue)


def test_fewer_than_six_replicates_are_no_units() -> None:
    made = [random_answers(k) for k in range(6)]
    assert set(Difference(made[:5]).tests) == {"examples"}
    assert Difference(made[:5]).best_interval(0.95) is None
    assert set(Difference(made).tests) == {"examples", "replicates"}
    assert Difference(made).best_interval(0.95) is not None


@pytest.mark.parametrize(
    ("examples", "prompts", "replicates"),
    [(4, 1, 1), (7, 1, 1), (20, 1, 5), (12, 1, 6), (40, 1, 7), (40, 5, 1), (40, 6, 1), (40, 9, 7)],
)
def test_no_answers_give_a_smaller_p_than_the_smallest(
    examples: int, prompts: int, replicates: int
) -> None:
    # All right in the one, all wrong in the other.
    made = [answers([[1] * examples] * prompts, [[0] * examples] * prompts)] * replicates
    assert Difference(made).p_greater() == pytest.approx(smallest_p(examples, prompts, replicates))
