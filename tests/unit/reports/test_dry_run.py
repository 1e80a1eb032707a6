"""The table of a dry run of what would be trained."""

from __future__ import annotations

import pytest

from pytest_maxrandom.claims.dry_run import ModelCost, TrainingCost
from pytest_maxrandom.reports.dry_run import lines


def cost(arm: str, task: str, replicate: int, seconds: float | None = None) -> ModelCost:
    found = ModelCost(arm, "transformers")
    found.claims = found.prompts = 1
    found.trained = [TrainingCost(arm, task, replicate, 50, 0, 1000 + replicate, seconds)]
    return found


@pytest.mark.parametrize("replicates", [1, 3])
def test_replicates_of_an_arm_share_a_row(replicates: int) -> None:
    costs = [
        cost(arm, task, k)
        for task in ("sums", "colours")
        for arm in ("extra", "test")
        for k in range(replicates)
    ]
    told, header, *rows, _ = lines(costs, {}, {})
    assert told.startswith(f"to train, then {4 * replicates} prompts to compute")
    assert header.split()[:4] == ["arm", "task", "trainings", "kept"]
    words = f"{sum(1000 + k for k in range(replicates)):,}"
    assert [row.split() for row in rows] == [
        [arm, task, str(replicates), "0", "50", "0", words]
        for task in ("sums", "colours")
        for arm in ("extra", "test")
    ]
    assert len({len(line) for line in (header, *rows)}) == 1


def test_a_mistake_is_told_for_its_model_alone() -> None:
    wrong = cost("test", "sums", 0)
    wrong.problem = "no text"
    told = list(lines([cost("extra", "sums", 0), wrong], {}, {}))
    assert told[:2] == ["test (transformers): 1 claim", "  cannot run: no text"]
    assert sum("extra" in line for line in told) == 1
