from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.stats.labels.scores import NEVER_X
from pytest_maxrandom.stats.permutation import max_t_test

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

close = pytest.approx


def permutation_p_value(
    answers: NDArray[np.int64], gold: Any, choices: Sequence[int], **settings: Any
) -> float:
    return max_t_test(answers, gold, choices, statistic=NEVER_X, **settings).p_value


def score(answers: Sequence[int], gold: Sequence[Collection[int]], m: int) -> float:
    """Nvr-X score of one prompt, by its definition."""
    pairs = [(said, right) for said, right in zip(answers, gold, strict=True) if said >= 0]
    recalls = []
    for label in range(m):
        said = [said == label for said, right in pairs if label in right]
        if said:
            recalls.append(sum(said) / len(said))
    return (sum(recalls) - max(recalls)) / (len(recalls) - 1) if len(recalls) > 1 else -1.0


def exact(
    answers: NDArray[np.int64], gold: Sequence[Collection[int]], choices: Sequence[int]
) -> float:
    """The same of all orders of right answers that keep the number of choices."""
    n, m = len(gold), max(choices)
    orders = [
        order
        for order in itertools.permutations(range(n))
        if all(choices[i] == choices[k] for i, k in enumerate(order))
    ]
    best = [max(score(row, [gold[k] for k in order], m) for row in answers) for order in orders]
    observed = max(score(row, gold, m) for row in answers)
    return sum(value >= observed - 1e-9 for value in best) / len(best)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
@pytest.mark.parametrize(
    ("gold", "choices"),
    [
        ([{0}, {0}, {0}, {0}, {1}, {1}, {1}], [2] * 7),
        ([{0}, {1}, {2}, {0}, {1}, {2}, {0}], [3] * 7),
        ([{0}, {1}, {0}, {1}, {2}, {2}, {0}], [2, 2, 2, 3, 3, 3, 3]),
        ([{0, 1}, {1}, {2}, {0, 2}, {1}, {0}, {2}], [3] * 7),
    ],
)
def test_it_is_the_share_of_orders_of_the_right_answers_with_as_high_a_score(
    gold: list[set[int]], choices: list[int], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    answers = np.array([[generator.integers(k) for k in choices] for _ in range(3)])
    if seed % 2:  # each prompt leaves an example out
        answers[np.arange(3), generator.choice(7, 3, replace=False)] = -1
    p = exact(answers, gold, choices)
    found = permutation_p_value(answers, gold, choices, permutations=20_000, seed=seed)
    assert found == close(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1 / 20_000)


def test_no_p_value_is_below_one_over_the_permutations_and_one_more() -> None:
    gold = np.arange(100) % 4
    assert permutation_p_value(gold[None], gold, [4] * 100, permutations=99) == 0.01
    assert permutation_p_value(gold[None] * 0, gold, [4] * 100, permutations=99) == 1
    assert permutation_p_value(gold[None], gold, [4] * 100) == 1e-4
