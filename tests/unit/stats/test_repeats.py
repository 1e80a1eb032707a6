"""Few prompts that are right on the same examples: copies, and independent ones of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.repeats import repeats_p
from tests.targets import some

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, NDArray[np.int64]], NDArray[np.float64]]

T, N, LEVEL, RUNS = 6, 100, 0.02, 150


def unequal(generator: np.random.Generator, gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what prompts share: examples are easy or hard, and one label is preferred."""
    return generator.normal(0.4, 1.5, N) + np.where(gold, 0.4, -0.4)


def tricky(generator: np.random.Generator, gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return that where half of the examples are easy, and of the others most mislead."""
    return generator.choice([2.0, 0.0, -1.5], N, p=[0.5, 0.3, 0.2])


INDEPENDENT: dict[str, Draw] = {
    "guessers": lambda _, gold: np.zeros(len(gold)),
    "all right on .7": lambda _, gold: np.full(len(gold), 0.52),
    "examples of unequal difficulty": unequal,
    "easy, hard and misleading examples": tricky,
}


@pytest.mark.parametrize("name", some(INDEPENDENT, ["guessers"]))
def test_independent_examples_repeat_no_more_than_the_level(name: str) -> None:
    generator, found = np.random.default_rng(4), 0
    for _ in range(RUNS):
        gold = generator.integers(0, 2, N)
        right = INDEPENDENT[name](generator, gold) + generator.normal(size=(T, N)) > 0
        p = repeats_p(right, gold.tolist(), level=LEVEL)
        assert p is not None
        found += p <= LEVEL
    assert found <= stats.binom.isf(1e-3, RUNS, LEVEL)


@pytest.mark.parametrize(("size", "share", "least"), [(4, 0.4, 0.8), (2, 0.6, 0.5)])
def test_copies_are_repeated_more(size: int, share: float, least: float) -> None:
    """All prompts guess, and answer the copies of a group as its first example."""
    generator, found, runs = np.random.default_rng(5), 0, RUNS // 6
    groups = np.where(np.arange(N) < share * N, np.arange(N) // size * size, np.arange(N))
    for _ in range(runs):
        *said, gold = generator.integers(0, 2, (T + 1, N))[:, groups]
        p = repeats_p(np.array(said) == gold, gold.tolist(), level=LEVEL)
        found += p is not None and p <= LEVEL
    assert found >= least * runs


def test_it_is_not_told_where_any_numbers_are_those_of_independent_examples() -> None:
    generator = np.random.default_rng(6)
    right, gold = generator.random((10, 1200)) < 0.5, generator.integers(0, 2, 1200).tolist()
    assert repeats_p(right[:2, :N], gold[:N], level=LEVEL) is None
    assert repeats_p(right[[0, 0, 1, 1], :N], gold[:N], level=LEVEL) is None  # two prompts
    assert repeats_p(right[:3, :N], [0] * N, level=LEVEL) is None  # as many terms as kinds
    assert repeats_p(right[:, :N], gold[:N], level=LEVEL) is None  # too many kinds
    assert repeats_p(right[:T, :N], [*range(10)] * 10, level=LEVEL) is None  # of each too few
    assert repeats_p(right[:T], gold, level=LEVEL) is None  # too many examples
    assert repeats_p(right[:T, :N], gold[:N], level=LEVEL) is not None
