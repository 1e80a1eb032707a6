"""Tests of "worse" and "not worse": exact sums, SciPy and simulation tell what is true."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.judged_losses import chosen, judged, look_share
from pytest_maxrandom.stats.regressions import Change, LossTest, flipped, needed_units


def whole(gains: int, losses: int, n: int) -> LossTest:
    return LossTest([1.0] * gains + [-1.0] * losses + [0.0] * (n - gains - losses))


@pytest.mark.parametrize(("gains", "losses", "n"), [(0, 5, 20), (3, 9, 40), (7, 7, 30), (0, 0, 9)])
def test_one_prompt_that_is_right_or_wrong_is_tested_by_mcnemar(
    gains: int, losses: int, n: int
) -> None:
    expected = 1.0
    if gains + losses:
        expected = binomtest(losses, gains + losses, alternative="greater").pvalue
    assert whole(gains, losses, n).p_worse() == pytest.approx(expected)
    assert whole(losses, gains, n).p_not_worse(0.0) == pytest.approx(expected)


@pytest.mark.parametrize("values", [[0.25, -0.5, 0.75, 0.5, 0.25], [1 / 3, 1, 2 / 3, -1 / 3] * 3])
def test_the_flip_counts_all_choices_of_signs(values: list[float]) -> None:
    signs = itertools.product((-1, 1), repeat=len(values))
    reached = [np.dot(each, values) >= sum(values) - 1e-9 for each in signs]
    assert flipped(values) == pytest.approx(np.mean(reached))


def test_the_flip_of_any_numbers_is_near_the_counted_one() -> None:
    random = np.random.default_rng(1)
    values, weights = random.uniform(-0.5, 1, 24), random.uniform(0.5, 2, 24)
    counted = sign_flip(values, weights=weights).p_greater()
    assert flipped(values * weights) == pytest.approx(counted, rel=0.02)
    assert flipped([]) == flipped([0.0, 0.0]) == 1.0


@pytest.mark.parametrize(("n", "margin"), [(20, -0.1), (50, -0.05), (50, -0.02)])
def test_not_worse_keeps_its_level_whatever_share_of_answers_changes(n: int, margin: float) -> None:
    """Sum, over all that can be seen, the probability of a false "not worse"."""
    seen = [(g, k) for g in range(n + 1) for k in range(n + 1 - g)]
    shown = [each for each in seen if whole(*each, n).p_not_worse(margin) <= 0.05]
    for gain in (0.0, 0.01, 0.05, 0.2, 0.4):
        chances = [gain, gain - margin, 1 - 2 * gain + margin]
        cells = np.array([[g, k, n - g - k] for g, k in shown])
        assert multinomial.pmf(cells, n, chances).sum() <= 0.05 if len(cells) else True


def test_without_a_difference_the_number_of_examples_alone_says_how_much_worse_it_may_be() -> None:
    assert whole(0, 0, 100).p_not_worse(-0.02) == pytest.approx(0.98**100)
    needed = needed_units(0.0, -0.02, 0.05)
    assert needed == math.ceil(math.log(0.05) / math.log(0.98))
    assert whole(0, 0, needed).p_not_worse(-0.02) <= 0.05
    assert whole(0, 0, needed - 1).p_not_worse(-0.02) > 0.05


def test_the_needed_number_of_units_shows_it_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    chances = [0.05, 0.9, 0.05]
    n = needed_units(math.sqrt(0.1), -0.05, 0.05)
    assert n is not None
    shown = [
        LossTest(random.choice([-1.0, 0.0, 1.0], n, p=chances)).p_not_worse(-0.05) <= 0.05
        for _ in range(400)
    ]
    assert 0.7 <= np.mean(shown) <= 0.9
    assert needed_units(0.3, 0.0, 0.05) is None


def scores(random: np.random.Generator, *shape: int, right: float = 0.7) -> np.ndarray:
    return (random.random(shape) < right).astype(float)


def test_prompts_are_averaged_and_cells_without_an_answer_do_not_count() -> None:
    random = np.random.default_rng(3)
    base, head = scores(random, 4, 30), scores(random, 4, 30)
    base[0, :10] = np.nan
    head[1, 5] = np.nan
    there = ~np.isnan(base + head)
    found = Change(base, head)
    assert (found.prompts, found.examples) == (4, 30)
    assert found.mean == pytest.approx((head - base)[there].mean())
    assert found.head_mean - found.base_mean == pytest.approx(found.mean)
    with pytest.raises(ValueError, match="no prompt and example"):
        Change([[np.nan]], [[1.0]])


def test_a_cluster_is_one_unit() -> None:
    base, head = np.ones((1, 40)), np.ones((1, 40))
    head[0, :20] = 0
    alone, together = Change(base, head), Change(base, head, [k // 10 for k in range(40)])
    assert together.mean == alone.mean == -0.5
    assert alone.p_worse() == pytest.approx(0.5**20)
    assert together.p_worse() == pytest.approx(0.25)  # two clusters of four fell


def test_what_holds_of_new_prompts_is_shown_by_prompts_that_agree() -> None:
    random = np.random.default_rng(4)
    base = scores(random, 8, 300)
    lost = base * (random.random((8, 300)) > 0.2)
    one = base.copy()
    one[0] = 0  # a single prompt broke
    for head, of_others in ((lost, True), (one, False)):
        assert Change(base, head).p_worse() < 1e-6
        assert (Change(base, head, sampled=True).p_worse() < 0.05) == of_others
    assert Change(base[:5], one[:5], sampled=True).p_worse() < 1e-6  # too few prompts to say it of


def test_graded_scores_are_tested_as_well() -> None:
    random = np.random.default_rng(5)
    base = random.uniform(0.2, 1.0, (1, 200))
    assert Change(base, base - 0.05).p_worse() < 1e-3
    assert Change(base, base - 0.005).p_not_worse(-0.02) <= 0.05
    assert Change(base, base).p_worse() == 1.0
    with pytest.raises(ValueError, match="-1 to 1"):
        LossTest([1.5])


def test_a_choice_costs_as_many_tests_as_there_are_ways_to_make_it() -> None:
    assert chosen(0.001, 1, 200) == pytest.approx(0.2)
    assert chosen(0.001, 3, 5) == pytest.approx(0.01)
    assert chosen(0.01, 50, 50) == 0.01
    assert chosen(0.01, 7, 3) == 0.01  # fewer were counted than are compared
    assert chosen(1e-20, 50, 100) == 1.0
    assert chosen(0.01, 2, 2, variants=3) == pytest.approx(0.03)
    assert chosen(0.0, 5, 200) == 0.0
    assert 0 < chosen(1e-40, 50, 100) < 1e-10


def test_all_looks_together_have_one_level() -> None:
    assert sum(map(look_share, range(1, 100))) == pytest.approx(1 - 1 / 100)


def test_claims_share_the_level_of_worse_and_not_that_of_not_worse() -> None:
    first, second, third = judged([0.01, 0.012, 0.6], [0.9, 0.9, 0.02], [1, 1, 1], 0.05)
    assert (first.shown, second.shown, third.shown) == ("cannot tell", "cannot tell", "not worse")
    assert first.holm == pytest.approx(0.06)
    (alone,) = judged([0.01], [0.9], [1], 0.05)
    assert alone.shown == "worse"
    (later,) = judged([0.01], [0.9], [2], 0.05)
    assert later.shown == "cannot tell"
    (both,) = judged([1e-9], [1e-9], [1], 0.05)
    assert both.shown == "not worse"  # a certain loss within the margin
