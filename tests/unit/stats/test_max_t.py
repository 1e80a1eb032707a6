"""The max-T test over statistics, strata and groups, compared with all permutations."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.stats.labels.scores import NEVER_X
from pytest_maxrandom.stats.metrics import BUILT_IN as METRICS, LIFT
from pytest_maxrandom.stats.permutation import arrangements, max_t_test, permutations_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

LEVEL, RUNS = 0.05, 300
NOISE = 3 * math.sqrt(LEVEL * (1 - LEVEL) / RUNS)


def every_order(strata: Sequence[int], groups: Sequence[object]) -> list[tuple[int, ...]]:
    """List the permutations that exchange whole groups with as many examples of the same strata."""
    members = [[i for i, own in enumerate(groups) if own == name] for name in dict.fromkeys(groups)]
    for own in members:
        own.sort(key=lambda i: (strata[i], i))
    kinds = [tuple(strata[i] for i in own) for own in members]
    found = []
    for order in itertools.permutations(range(len(members))):
        if all(kinds[i] == kinds[j] for i, j in enumerate(order)):
            whole = [0] * len(groups)
            for i, j in enumerate(order):
                for one, other in zip(members[i], members[j], strict=True):
                    whole[one] = other
            found.append(tuple(whole))
    return found


def exact_p(
    score: Callable[[Sequence[int], Sequence[int]], float],
    answers: NDArray[np.int64],
    gold: Sequence[int],
    orders: Sequence[Sequence[int]],
) -> float:
    observed = max(score(row, gold) for row in answers.tolist())
    best = [max(score(row, [gold[j] for j in own]) for row in answers.tolist()) for own in orders]
    return sum(value >= observed - 1e-9 for value in best) / len(best)


def test_what_is_kept_of_other_right_answers_changes_nothing() -> None:
    """Tests of one shape share their permutations, those of one task what is right under each."""
    answers = np.random.default_rng(1).integers(0, 3, (2, 7))
    golds: list[list[Any]] = [
        [{0}, {0}, {0}, {0}, {1}, {1}, {2}],
        [{2}, {0}, {1}, {0}, {1}, {1}, {2}],
        [{0, 1}, {0}, {0, 2}, {0}, {1}, {1, 2}, {2}],
        [{1}] * 7,
        [{0}, {0}, {1}, {0}, {1}, {1}, {0}],
    ]
    orders = [*itertools.permutations(range(7))]

    def score(row: Sequence[int], gold: Sequence[Any]) -> float:
        return float(np.mean([one in right for one, right in zip(row, gold, strict=True)]))

    exact = [exact_p(score, answers, gold, orders) for gold in golds]
    for truth, gold in [*zip(exact, golds, strict=True)] * 2:
        assert max_t_test(answers, gold, permutations=20_000).p_value == pytest.approx(
            truth, abs=0.015
        )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_all_metrics_are_permuted_as_they_are_defined(metric: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    gold = [0, 0, 0, 0, 1, 1, 2]
    answers = generator.integers(0, 3, (3, 7))
    orders = list(itertools.permutations(range(7)))
    score, statistic = METRICS[metric].score, METRICS[metric].statistic
    exact = exact_p(score, answers, gold, orders)
    found = max_t_test(answers, gold, statistic=statistic, permutations=20_000, seed=seed)
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.best == pytest.approx(max(score(row, gold) for row in answers))


GROUPED: dict[str, tuple[list[int], list[str]]] = {
    "pairs": ([2] * 8, list("aabbccdd")),
    "pairs and single ones": ([2] * 7, ["a", "a", "b", "b", "c", "d", "e"]),
    "clusters of two strata": ([2, 3, 3, 2, 2, 3, 2, 3], list("aabbccdd")),
    "one that is alone": ([2] * 7, list("aaabbcc")),
}


@pytest.mark.parametrize("case", GROUPED)
def test_whole_groups_of_a_kind_are_permuted(case: str) -> None:
    strata, groups = GROUPED[case]
    generator = np.random.default_rng(len(case))
    gold = [int(generator.integers(own)) for own in strata]
    answers = np.array([[int(generator.integers(own)) for own in strata] for _ in range(2)])
    orders = every_order(strata, groups)

    def score(row: Sequence[int], right: Sequence[int]) -> float:
        return float(np.mean(np.array(row) == np.array(right)))

    found = max_t_test(answers, gold, strata, groups=groups, permutations=20_000)
    assert found.p_value == pytest.approx(exact_p(score, answers, gold, orders), abs=0.015)
    distinct = {tuple(gold[j] for j in order) for order in orders}
    assert arrangements(gold, strata, groups) == len(distinct)
    assert found.fixed == (3 if case == "one that is alone" else 0)


def clustered(generator: np.random.Generator, follows: float) -> tuple[Any, Any, Any]:
    """Questions in 25 clusters of 4, whose right answers and answers follow the cluster."""
    groups = np.repeat(np.arange(25), 4)

    def following(rows: int) -> NDArray[np.int64]:
        own, shared = generator.integers(0, 2, (rows, 100)), generator.integers(0, 2, (rows, 25))
        return np.where(generator.random((rows, 100)) < follows, shared[:, groups], own)

    return following(20), following(1)[0], groups.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("follows", [0.7, 1.0])
def test_guessers_whose_answers_follow_the_passage_are_found_out_with_groups_only(
    follows: float,
) -> None:
    generator = np.random.default_rng(3)
    whole = alone = 0
    for run in range(RUNS):
        answers, gold, groups = clustered(generator, follows)
        given: Any = {"permutations": 199, "stop_after": 30, "seed": run}
        whole += max_t_test(answers, gold, groups=groups, **given).p_value <= LEVEL
        alone += max_t_test(answers, gold, **given).p_value <= LEVEL
    assert whole / RUNS <= LEVEL + NOISE
    assert alone / RUNS > 0.2


def test_lift_is_accuracy_beyond_what_the_same_answers_are_expected_to_reach() -> None:
    answers = np.array([[0, 0, 1, 1, -1, 2, 0]])
    gold = [0, 1, 1, 0, 1, 2, 2]
    strata = [2, 2, 2, 2, 2, 3, 3]
    # Two of four are right; said and right twice each of 4, so 2 expected. Stratum 3: of two
    # examples that are right with 2, one is answered with 2: 1 expected and 1 right.
    assert max_t_test(answers, gold, [3] * 7, statistic=LIFT, strata=strata).best == 0
    gold[3] = 1
    # Now 2 is expected of label 1 (2 x 3 / 4 = 1.5) and label 0 (2 x 1 / 4 = .5), and 3 are right.
    assert max_t_test(answers, gold, [3] * 7, statistic=LIFT, strata=strata).best == pytest.approx(
        1 / 6
    )


@pytest.mark.parametrize("share", [0.7, 0.9])
def test_constant_answers_are_no_evidence_in_any_statistic(share: float) -> None:
    gold = (np.arange(100) >= 100 * share).astype(np.int64)
    constant = np.zeros((3, 100), dtype=np.int64)
    for statistic in (LIFT, *(one.statistic for one in METRICS.values()), NEVER_X):
        assert max_t_test(constant, gold, [2] * 100, statistic=statistic).p_value == 1


def test_as_many_permutations_are_drawn_as_a_level_needs() -> None:
    assert permutations_for(0.05) == 9_999
    for level in (0.0125, 1e-3, 1e-4, 2e-5):
        # A p-value just at its level then stands on 20 exceedances at least.
        assert level * (permutations_for(level) + 1) >= 20 - 1e-9


def test_a_prompt_without_a_score_is_no_best_one() -> None:
    gold = [0, 0, 0, 1, 1, 1]
    answers = np.array([[0, 0, 0, -1, -1, -1], [0, 1, 0, 1, 0, 1]])
    found = max_t_test(answers, gold, statistic=NEVER_X, permutations=99)
    assert found.best_prompt == 1
    assert found.best == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="no prompt has a score"):
        max_t_test(answers[:1], gold, statistic=NEVER_X)
