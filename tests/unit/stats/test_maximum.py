from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline
from tests.unit.stats import oracle

close = pytest.approx
TINY = 1e-300  # doubles below have fewer digits
probabilities = st.one_of(
    st.floats(1e-12, 1 - 1e-12),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20),
)
extremes = st.sampled_from([0.0, 1.0, 1e-200, 1e-60, 1e-17, 1 - 2**-53, 1 - Fraction(1, 10**40)])
any_chance = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), probabilities, extremes)
listings = st.lists(any_chance, min_size=1, max_size=12)
guessers = st.one_of(st.integers(1, 300), st.sampled_from([10**6, 10**9]))


def exact(chance: list[float | Fraction]) -> list[Fraction]:
    return oracle.counts([Fraction(value) for value in chance])


@given(listings, st.integers(1, 40))
@settings(max_examples=50)
def test_every_query_agrees_with_exact_sums_of_fractions(
    chance: list[float | Fraction], t: int
) -> None:
    baseline, masses = MaxRandomBaseline(None, chance, t), exact(chance)
    n = len(chance)
    assert baseline.expected_count == close(float(oracle.expected_best(masses, t)), rel=1e-13)
    deviation = math.sqrt(oracle.best_variance(masses, t))
    assert baseline.std == close(deviation, rel=1e-9, abs=1e-15)
    for k in range(n + 1):
        p_max = oracle.best_at_least(masses, k, t)
        over = oracle.best_at_least(masses, k + 1, t)
        assert baseline.p_standard(k) == close(
            float(oracle.at_least(masses, k)), rel=1e-12, abs=TINY
        )
        assert baseline.p_value(k) == close(float(p_max), rel=1e-12, abs=TINY)
        assert baseline.sf(k) == close(float(over), rel=1e-12, abs=TINY)
        assert baseline.cdf(k) == close(float(1 - over), rel=1e-11, abs=TINY)
        assert baseline.pmf(k) == close(float(p_max - over), rel=1e-11, abs=TINY)
        bound = min(1.0, float(t * oracle.at_least(masses, k)))
        assert baseline.union_p(k) == close(bound, rel=1e-12, abs=TINY)


@given(listings, st.integers(1, 40), st.floats(1e-9, 1 - 1e-9))
def test_critical_count_and_quantile_are_the_first_counts_that_qualify(
    chance: list[float | Fraction], t: int, level: float
) -> None:
    baseline, n = MaxRandomBaseline(None, chance, t), len(chance)
    passing = [k for k in range(n + 1) if baseline.p_value(k) <= level]
    assert baseline.critical_count(level) == (passing[0] if passing else None)
    if level <= 0.5:
        reached = [k for k in range(n + 1) if baseline.cdf(k) >= level]
    else:
        reached = [k for k in range(n + 1) if baseline.sf(k) <= 1 - level]
    slack = 1e-12
    assert abs(baseline.quantile(level) - reached[0]) <= 1
    assert baseline.cdf(baseline.quantile(level)) >= level - slack


def test_quantile_one_is_the_largest_possible_count_however_unlikely() -> None:
    assert MaxRandomBaseline(10_000, 0.25, 3).quantile(1.0) == 10_000
    assert MaxRandomBaseline(None, [0.0, 0.5, 1.0], 3).quantile(1) == 2


@pytest.mark.parametrize("choices", [2, 3, 5])
@pytest.mark.parametrize("t", [1, 10, 200])
def test_equal_choices_agree_with_integer_sums(choices: int, t: int) -> None:
    n = 60
    ways = [math.comb(n, k) * (choices - 1) ** (n - k) for k in range(n + 1)]
    below, total = 0, choices**n
    baseline = MaxRandomBaseline(n, Fraction(1, choices), t)
    for k in range(n + 1):
        p_max = Fraction(total**t - below**t, total**t)
        assert baseline.p_value(k) == close(float(p_max), rel=1e-13)
        below += ways[k]


@given(any_chance, st.integers(1, 2000), guessers, st.data())
@settings(max_examples=150)
def test_complements_sum_to_one(
    chance: float | Fraction, n: int, t: int, data: st.DataObject
) -> None:
    baseline = MaxRandomBaseline(n, chance, t)
    k = data.draw(st.integers(-2, n + 2))
    assert baseline.cdf(k) + baseline.sf(k) == close(1.0, rel=1e-14)
    assert baseline.sf(k) >= baseline.sf(k + 1) >= 0
    if 0 <= k <= n:
        assert baseline.p_value(k) == close(baseline.sf(k - 1), rel=1e-14)
        assert baseline.log_p_value(k) <= 0
        assert math.exp(baseline.log_p_value(k)) == close(baseline.p_value(k), rel=1e-12)


@given(any_chance, st.integers(1, 2000), st.data())
@settings(max_examples=100)
def test_one_guesser_is_the_plain_distribution(
    chance: float | Fraction, n: int, data: st.DataObject
) -> None:
    baseline = MaxRandomBaseline(n, chance, 1)
    correct = data.draw(st.integers(0, n))
    assert baseline.p_value(correct) == close(baseline.p_standard(correct), rel=1e-14)
    assert baseline.expected_accuracy == close(float(chance), rel=1e-13)
    assert baseline.std == close(math.sqrt(n * float(chance * (1 - chance))), rel=1e-9)


@given(probabilities, st.integers(1, 1000), guessers, st.data())
@settings(max_examples=100)
def test_more_guessers_better_chances_and_fewer_correct_raise_the_p_value(
    chance: float | Fraction, n: int, t: int, data: st.DataObject
) -> None:
    correct = data.draw(st.integers(1, n))
    p = MaxRandomBaseline(n, chance, t).log_p_value(correct)
    slack = 1e-12
    assert MaxRandomBaseline(n, chance, t + 1).log_p_value(correct) >= p - slack
    assert MaxRandomBaseline(n, (chance + 1) / 2, t).log_p_value(correct) >= p - slack
    assert MaxRandomBaseline(n, chance, t).log_p_value(correct - 1) >= p - slack
    assert MaxRandomBaseline(n, chance, t).expected_accuracy <= (
        MaxRandomBaseline(n, chance, t + 1).expected_accuracy + slack
    )


@given(st.dictionaries(st.integers(2, 9), st.integers(1, 40), min_size=1), guessers)
@settings(max_examples=60)
def test_a_mapping_of_choices_equals_the_listing_of_every_example(
    sizes: dict[int, int], t: int
) -> None:
    listing = [Fraction(1, choices) for choices, size in sizes.items() for _ in range(size)]
    grouped = MaxRandomBaseline(None, sizes, t)
    for listed in (listing, listing[::-1], tuple(listing)):
        other = MaxRandomBaseline(len(listing), listed, t)
        assert other.chance_groups == grouped.chance_groups
        assert other.expected_accuracy == grouped.expected_accuracy


def test_thousands_of_distinct_chances_agree_with_one_trial_at_a_time() -> None:
    chances = np.random.default_rng(3).uniform(0.05, 0.95, 3000)
    masses = np.ones(1)
    for chance in chances:
        masses = np.append(masses * (1 - chance), 0) + np.append(0, masses * chance)
    baseline = MaxRandomBaseline(3000, chances, 200)
    above = np.cumsum(masses[::-1])[::-1]
    assert baseline.expected_count == close(math.fsum(1 - (1 - above[1:]) ** 200), rel=1e-12)
    for k in (1400, 1500, 1600, 1700, 1900, 2200):
        assert baseline.p_standard(k) == close(above[k], rel=1e-10)


@given(st.lists(probabilities, min_size=40, max_size=60), st.integers(1, 200))
@settings(max_examples=20)
def test_far_tails_of_distinct_chances_agree_with_exact_sums(
    chance: list[float | Fraction], t: int
) -> None:
    baseline = MaxRandomBaseline(None, chance, t)
    everything = math.fsum(math.log(value) for value in chance)
    assert baseline.with_t(1).log_p_value(len(chance)) == close(everything, rel=1e-13)
    assert baseline.log_p_value(len(chance)) == close(
        min(0.0, everything + math.log(t)), rel=1e-12, abs=0.1
    )


def test_examples_without_a_chance_or_with_certainty_only_shift_the_count() -> None:
    plain = MaxRandomBaseline(80, 0.3, 50)
    padded = MaxRandomBaseline(100, [0.3] * 80 + [1] * 12 + [0] * 8, 50)
    assert padded.expected_count == close(plain.expected_count + 12, rel=1e-14)
    assert padded.std == close(plain.std, rel=1e-12)
    for correct in (0, 20, 40, 80):
        assert padded.p_value(correct + 12) == close(plain.p_value(correct), rel=1e-13)
    assert padded.p_value(11) == 1.0
    assert padded.p_value(93) == 0.0
    assert padded.log_p_value(93) == -math.inf
    assert padded.critical_count(0.0) == 93


@pytest.mark.parametrize(("chance", "count"), [(0.0, 0), (1.0, 7), (Fraction(1), 7)])
def test_certain_guesses_have_one_outcome(chance: float | Fraction, count: int) -> None:
    baseline = MaxRandomBaseline(7, chance, 200)
    assert baseline.expected_count == count
    assert baseline.std == 0.0
    assert [baseline.pmf(k) for k in range(8)] == [float(k == count) for k in range(8)]


def test_known_figures_of_the_literature() -> None:
    baseline = MaxRandomBaseline(n=100, chance=0.5, t=10)
    assert baseline.expected_accuracy == close(0.57677980668175033, rel=1e-15)
    assert MaxRandomBaseline(None, {2: 50, 5: 50}, 200).expected_accuracy == close(0.4763, abs=5e-5)
    assert MaxRandomBaseline(100, 0.35, 200).expected_accuracy == close(0.4835, abs=5e-5)
    assert MaxRandomBaseline(100, 0.5, 200).expected_accuracy == close(0.6365, abs=5e-5)
    level = MaxRandomBaseline(100, 0.5, 200)
    assert level.critical_count(0.05) == 68
    assert level.p_value(68) == close(0.040, abs=5e-4)
    assert MaxRandomBaseline(10, 0.5, 200).min_p == close(0.178, abs=5e-4)


@given(st.integers(1, 50), st.integers(1, 200), st.floats(0.01, 1))
def test_the_union_p_is_never_below_p_max_and_close_to_it_where_it_matters(
    correct: int, t: int, chance: float
) -> None:
    baseline = MaxRandomBaseline(50, chance, t)
    p_max = baseline.p_value(correct)
    assert baseline.union_p(correct) >= p_max * (1 - 1e-12)
    if p_max <= 0.05:
        assert baseline.union_p(correct) <= p_max * 1.026


def test_a_copied_guesser_keeps_the_union_p_and_shares_what_was_computed() -> None:
    baseline = MaxRandomBaseline(40, 0.25, 7)
    other = baseline.with_t(200)
    assert (other.t, other.n, other.expected_accuracy) == (
        200,
        40,
        MaxRandomBaseline(40, 0.25, 200).expected_accuracy,
    )


def test_results_are_builtin_floats_and_integers() -> None:
    n, t, correct, integral = cast("list[int]", [np.int64(100), np.int32(10), np.int64(60), 60.0])
    baseline = MaxRandomBaseline(n, np.float64(0.5), t)
    answers = [
        baseline.expected_accuracy,
        baseline.expected_count,
        baseline.std,
        baseline.p_value(correct),
        baseline.pmf(60),
        baseline.cdf(60),
        baseline.log_p_value(61),
        baseline.standard_baseline,
        baseline.min_p,
    ]
    assert {type(answer) for answer in answers} == {float}
    assert {type(baseline.n), type(baseline.t), type(baseline.critical_count())} == {int}
    assert baseline.p_value(integral) == baseline.p_value(60)


bad_values = [
    ((0, 0.5, 10), "n must be at least 1, found 0"),
    ((-3, 0.5, 10), "n must be at least 1, found -3"),
    ((100, 0.5, 0), "t must be at least 1, found 0"),
    ((100, 0.5, -1), "t must be at least 1, found -1"),
    ((100, 0.5, MOST_GUESSERS + 1), "t must be at most"),
    ((100, 1.01, 10), "from 0 to 1, found 1.01"),
    ((100, -0.1, 10), "from 0 to 1, found -0.1"),
    ((100, math.nan, 10), "from 0 to 1, found nan"),
    ((100, math.inf, 10), "from 0 to 1, found inf"),
    ((100, Fraction(3, 2), 10), "from 0 to 1"),
    ((100, 1e-310, 10), "use exactly 0 or 1"),
    ((3, [0.5] * 4, 10), "chance names 4 examples, but n is 3"),
    ((101, {2: 50, 5: 50}, 10), "chance names 100 examples, but n is 101"),
    ((None, 0.5, 10), "n is needed"),
    ((None, [], 10), "at least 1"),
    ((None, {2: 0}, 10), "at least 1"),
    ((None, {0: 5}, 10), "number of choices in chance must be at least 1"),
    ((None, {2: -5, 3: 10}, 10), "number of examples with 2 choices"),
    ((None, [0.5, math.nan], 10), "found nan"),
]


@pytest.mark.parametrize(("arguments", "message"), bad_values)
def test_values_outside_the_domain_are_refused_in_one_sentence(
    arguments: tuple[int, float, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MaxRandomBaseline(*arguments)


bad_types = [
    (10.5, 0.5, 10),
    (True, 0.5, 10),
    ("100", 0.5, 10),
    (100, True, 10),
    (100, "0.5", 10),
    (100, None, 10),
    (100, 0.5 + 0j, 10),
    (100, 0.5, 1.5),
    (100, 0.5, True),
    (100, 0.5, None),
    (2, [0.5, "x"], 10),
    (2, {0.5, 0.25}, 10),
    (2, np.full((2, 2), 0.5), 10),
    (2, {2.5: 2}, 10),
    (2, {2: 1.5}, 10),
]


@pytest.mark.parametrize("arguments", bad_types)
def test_values_of_the_wrong_type_are_refused(arguments: tuple[int, float, int]) -> None:
    with pytest.raises(TypeError):
        MaxRandomBaseline(*arguments)


@pytest.mark.parametrize("correct", [-1, 101])
def test_a_count_outside_the_examples_is_refused(correct: int) -> None:
    with pytest.raises(ValueError, match="correct must be at"):
        MaxRandomBaseline(100, 0.5, 10).p_value(correct)


@pytest.mark.parametrize("correct", [True, 59.5, "60", None, 0.6])
def test_a_count_that_is_no_integer_is_refused(correct: int) -> None:
    with pytest.raises(TypeError, match="correct must be an integer"):
        MaxRandomBaseline(100, 0.5, 10).p_value(correct)


@pytest.mark.parametrize("level", [-0.1, 1.5, math.nan])
def test_a_level_outside_zero_to_one_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="alpha must be a probability"):
        MaxRandomBaseline(100, 0.5, 10).critical_count(level)


mixes = st.dictionaries(st.integers(2, 5), st.integers(1, 6), min_size=1, max_size=3)


@given(st.lists(st.tuples(mixes, st.integers(1, 5)), min_size=1, max_size=4))
@settings(max_examples=60)
def test_prompts_of_different_sizes_agree_with_the_product_of_exact_distributions(
    prompts: list[tuple[dict[int, int], int]],
) -> None:
    best = BestOfPrompts(prompts)
    exact_counts = [
        (oracle.counts([Fraction(1, m) for m, size in mix.items() for _ in range(size)]), copies)
        for mix, copies in prompts
    ]

    def below(accuracy: Fraction) -> Fraction:
        product = Fraction(1)
        for masses, copies in exact_counts:
            n = len(masses) - 1
            part = sum((m for k, m in enumerate(masses) if Fraction(k, n) < accuracy), Fraction(0))
            product *= part**copies
        return product

    ladder = sorted(
        {Fraction(k, len(masses) - 1) for masses, _ in exact_counts for k in range(len(masses))}
    )
    expected = Fraction(0)
    second = Fraction(0)
    for accuracy, following in zip(ladder, [*ladder[1:], Fraction(2)], strict=True):
        p = 1 - below(accuracy)
        mass = below(following) - below(accuracy)
        expected += accuracy * mass
        second += accuracy**2 * mass
        answer = best.p_value(accuracy.numerator, n=accuracy.denominator)
        assert answer == close(float(p), rel=1e-12)
        bound = sum(
            copies * oracle.at_least(masses, math.ceil(accuracy * (len(masses) - 1)))
            for masses, copies in exact_counts
        )
        assert best.union_p(accuracy.numerator, n=accuracy.denominator) == close(
            min(1.0, float(bound)), rel=1e-12
        )
    assert best.expected_accuracy == close(float(expected), rel=1e-13)
    assert best.accuracy_std == close(math.sqrt(second - expected**2), rel=1e-7)
    passing = [a for a in ladder if best.p_value(a.numerator, n=a.denominator) <= 0.2]
    assert best.critical_accuracy(0.2) == (passing[0] if passing else None)


def test_equal_prompts_are_the_maximum_random_baseline() -> None:
    whole = MaxRandomBaseline(None, {2: 30, 5: 40}, 200)
    best = BestOfPrompts([({2: 30, 5: 40}, 150), ([Fraction(1, 5)] * 40 + [0.5] * 30, 50)])
    assert (best.t, best.n) == (200, 70)
    assert best.expected_accuracy == whole.expected_accuracy
    assert best.critical_count() == whole.critical_count()
    assert best.p_value(30) == whole.p_value(30)
    assert best.p_standard(30) == whole.p_standard(30)


def test_prompts_that_share_n_but_not_chances_answer_in_counts() -> None:
    best = BestOfPrompts([({2: 39, 3: 60}, 100), ({2: 40, 3: 59}, 100)])
    count = best.critical_count()
    assert count is not None
    assert best.critical_accuracy() == Fraction(count, 99)
    assert best.p_value(count) <= 0.05 < best.p_value(count - 1)
    assert best.p_standard(count, prompt=1) > best.p_standard(count, prompt=0)
    assert best.quantile(0.5) == next(k for k in range(100) if best.cdf(k) >= 0.5)
    with pytest.raises(ValueError, match="say which one with prompt="):
        best.p_standard(count)


def test_counts_are_refused_where_prompts_differ_in_their_number_of_examples() -> None:
    best = BestOfPrompts([({2: 99}, 100), ({2: 98}, 100)])
    for question in (best.critical_count, lambda: best.p_value(60), lambda: best.std):
        with pytest.raises(ValueError, match="differ in their number of examples"):
            question()


def test_no_prompt_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="t must be at least 1"):
        BestOfPrompts([])
    with pytest.raises(ValueError, match="number of prompts must be at least 1"):
        BestOfPrompts([({2: 5}, 0)])
