"""The rows that the full hierarchical model is fitted to."""

from __future__ import annotations

from collections import Counter

from pytest_maxrandom.stats.pair_design import design_of
from pytest_maxrandom.stats.paired import Pairs, paired


def pairs(right: int) -> Pairs:
    tasks, replicates = ["a", "a", "a", "b", "b"], [0, 1, 2, 0, 1]
    return paired(tasks, replicates, [right] * 5, [50] * 5, [20] * 5, [50] * 5)


def test_pairs_are_counted_within_their_task_so_that_every_combination_is_measured() -> None:
    design = design_of({"one": pairs(30), "other": pairs(31)})
    rows = Counter(zip(design.task.tolist(), design.pair.tolist(), strict=True))
    assert len(rows) == 10
    assert set(rows.values()) == {2}
    assert len(set(design.pair.tolist())) == 6  # the most pairs of a task


def test_each_pair_has_a_row_for_each_arm() -> None:
    design = design_of({"one": pairs(30), "other": pairs(31)})
    assert design.method.tolist() == [0.5] * 10 + [-0.5] * 10
    assert design.correct.tolist() == [30] * 5 + [31] * 5 + [20] * 10
    assert design.lm[:, 0].tolist() == ([-0.5] * 5 + [0.5] * 5) * 2
