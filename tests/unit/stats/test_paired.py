"""Two arms on the same examples: laws, and SciPy as the second opinion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from pytest_maxrandom.stats.paired import (
    Pairs,
    compare_arms,
    mcnemar,
    overdispersion,
    paired,
)

N = 20
ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 4), st.integers(0, N), st.integers(0, N)),
    min_size=1,
    max_size=40,
)
Rows = list[tuple[str, int, int, int]]


def of(rows: Rows) -> Pairs:
    task, replicate, a, b = (list(column) for column in zip(*rows, strict=True))
    return paired(task, replicate, a, [N] * len(rows), b, [N] * len(rows))


def figures(pairs: Pairs) -> tuple[object, ...]:
    found = compare_arms(pairs)
    p_values = (found.test.p_value(), found.test.p_greater(-0.02), found.test.p_less(0.05))
    return (found.difference, found.low, found.high, found.overdispersion, found.tasks, *p_values)


@given(st.data(), ROWS)
def test_the_order_of_the_rows_does_not_matter(data: st.DataObject, rows: Rows) -> None:
    assert figures(of(data.draw(st.permutations(rows)))) == figures(of(rows))


@given(ROWS)
def test_swapping_the_arms_flips_the_sign(rows: Rows) -> None:
    exchanged = [(task, replicate, b, a) for task, replicate, a, b in rows]
    found, swapped = compare_arms(of(rows)), compare_arms(of(exchanged))
    assert swapped.difference == -found.difference
    assert (swapped.low, swapped.high) == (-found.high, -found.low)
    assert swapped.test.p_value() == found.test.p_value()
    assert swapped.test.p_greater(0.1) == found.test.p_less(-0.1)
    assert swapped.overdispersion == pytest.approx(found.overdispersion)
    for task, mirrored in zip(found.tasks, swapped.tasks, strict=True):
        assert mirrored.difference == -task.difference
        assert (mirrored.p_value, mirrored.bh, mirrored.holm) == (task.p_value, task.bh, task.holm)


@given(ROWS)
def test_a_copy_of_an_arm_differs_by_exactly_nothing(rows: Rows) -> None:
    found = compare_arms(of([(task, k, a, a) for task, k, a, _ in rows]))
    assert (found.difference, found.test.p_value()) == (0, 1)
    assert all(task.difference == 0 and task.p_value in (1, None) for task in found.tasks)
    assert found.overdispersion in (0, None)


def test_every_task_counts_alike_however_often_it_was_replicated() -> None:
    rows = [("often", k, 15, 10) for k in range(9)] + [("once", 0, 10, 11)]
    pairs = of(rows)
    assert pairs.by_task == pytest.approx([0.25, -0.05])
    found = compare_arms(pairs)
    assert found.difference == pytest.approx(0.1)
    assert found.pairs == 10
    assert [(task.task, task.replicates) for task in found.tasks] == [("often", 9), ("once", 1)]
    assert [task.p_value for task in found.tasks] == [pytest.approx(2 / 2**9), None]


def test_rows_of_one_task_and_replicate_are_one_draw() -> None:
    pairs = of([("t", 1, 12, 10), ("t", 0, 10, 10), ("t", 1, 16, 10), ("t", 0, 10, 6)])
    assert [len(rows) for rows in pairs.rows[0]] == [2, 2]
    assert [*pairs.by_replicate[0]] == pytest.approx([0.1, 0.2])


def test_replicates_are_told_by_their_names_within_their_task() -> None:
    pairs = paired(["x", "y", "x"], ["r9", "r9", "r1"], [1, 2, 3], [9] * 3, [0] * 3, [9] * 3)
    assert pairs.names == ("x", "y")
    assert (pairs.task.tolist(), pairs.replicate.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert pairs.correct_a.tolist() == [3, 1, 2]


def test_arms_may_have_different_numbers_of_examples() -> None:
    pairs = paired(["t"], [0], [3], [4], [1], [2])
    assert pairs.differences.tolist() == [0.25]


def test_the_tests_of_the_tasks_are_adjusted_for_their_number() -> None:
    generator = np.random.default_rng(0)
    rows = [
        (task, k, int(generator.binomial(N, 0.5 + shift)), int(generator.binomial(N, 0.5)))
        for task, shift in zip("abcde", (0.0, 0.1, 0.2, 0.3, 0.0), strict=True)
        for k in range(10)
    ]
    tasks = compare_arms(of(rows)).tasks
    ps = [task.p_value for task in tasks]
    differences = [[(a - b) / N for name, _, a, b in rows if name == task.task] for task in tasks]
    expected = [
        stats.permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=2000
        ).pvalue
        for values in differences
    ]
    assert ps == pytest.approx(expected)
    assert [task.bh for task in tasks] == pytest.approx(stats.false_discovery_control(expected))
    for task, p_value in zip(tasks, expected, strict=True):
        assert task.holm is not None
        assert task.holm >= min(1, p_value * sum(p >= p_value for p in expected)) - 1e-12


def test_with_too_few_tasks_the_interval_is_all_that_a_difference_can_be() -> None:
    found = compare_arms(of([(task, 0, 15, 10) for task in "abcde"]), confidence=0.95)
    assert (found.low, found.high) == (-1, 1)
    assert found.test.p_value() == found.test.smallest_p == 2 / 2**5


def simulated(
    generator: np.random.Generator, spread: float, pairs: int = 4000, n: int = 100
) -> Pairs:
    """Pairs of equal arms; `spread` is the standard deviation of their own effects in log odds."""
    level = generator.normal(0, 1, pairs)
    own = generator.normal(0, spread, pairs) if spread else np.zeros(pairs)
    a, b = (generator.binomial(n, 1 / (1 + np.exp(-level - s * own / 2))) for s in (1, -1))
    return paired(["t"] * pairs, range(pairs), a, [n] * pairs, b, [n] * pairs)


def test_binomial_arms_have_dispersion_1_whatever_the_levels_of_the_pairs() -> None:
    generator = np.random.default_rng(1)
    for n in (5, 100):
        assert overdispersion(simulated(generator, 0, n=n)) == pytest.approx(1, abs=0.08)


def test_overdispersion_is_the_variance_beyond_the_binomial() -> None:
    pairs = simulated(np.random.default_rng(2), 1.0)
    total = pairs.correct_a + pairs.correct_b
    p = total / 200
    ratio = pairs.differences.var() / (2 * p * (1 - p) / 100).mean()
    assert ratio > 5
    assert overdispersion(pairs) == pytest.approx(ratio, rel=0.1)


def test_pairs_that_are_all_right_or_all_wrong_tell_no_dispersion() -> None:
    assert overdispersion(of([("a", 0, N, N), ("a", 1, 0, 0), ("a", 2, 3, 4)])) is None


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemars_test_is_the_binomial_test_of_the_examples_that_differ(a: int, b: int) -> None:
    expected = stats.binomtest(a, a + b).pvalue if a + b else 1.0
    assert mcnemar(a, b) == pytest.approx(expected, abs=1e-12)
    assert mcnemar(a, b) == mcnemar(b, a)


def test_many_examples_that_differ_are_counted_too() -> None:
    assert mcnemar(51_000, 49_000) == pytest.approx(stats.binomtest(49_000, 100_000).pvalue)
    assert mcnemar(3000, 2000) == pytest.approx(stats.binomtest(2000, 5000).pvalue, rel=1e-9)


@pytest.mark.parametrize("wrong", [-1, 0.5])
def test_mcnemars_test_takes_counts(wrong: float) -> None:
    with pytest.raises((TypeError, ValueError), match="only_b must be"):
        mcnemar(3, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "error", "said"),
    [
        (([3], [2], [1], [2]), ValueError, "pair 0: expected 0 <= correct <= n"),
        (([1], [2], [-1], [2]), ValueError, "pair 0: expected 0 <= correct <= n"),
        (([0], [0], [0], [2]), ValueError, "and n >= 1"),
        (([1, 1], [2], [1], [2]), ValueError, "equally long"),
        (([0.5], [2], [1], [2]), TypeError, "correct_a must hold integers"),
        (([[1]], [2], [1], [2]), ValueError, r"correct_a must have 1 dimension\(s\)"),
    ],
)
def test_what_are_no_counts_is_refused(
    counts: tuple[list[int], ...], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        paired(["t"], [0], *counts)


def test_nothing_cannot_be_compared() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="at least one pair"):
        paired([], [], nothing, nothing, nothing, nothing)
