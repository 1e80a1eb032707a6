"""The same comparison on several tasks."""

from __future__ import annotations

import itertools

import pytest
from scipy import stats

from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.studies.arms.conclude import (
    adjust_over_tasks,
    contamination_over_tasks,
    over_tasks,
)
from tests.unit.reports.samples import contamination, run

DIFFERENCES = [0.04, -0.01, 0.06, 0.03, 0.02, 0.05, 0.07]
PS = [0.04, 0.9, 0.001, 0.2, 0.03, 0.01, 0.5]


def comparison(task: str, difference: float | None, p: float | None = 0.5) -> ComparisonRecord:
    return ComparisonRecord(
        id=f"s::{task}::compare[x-y]", suite="s", line=1, task=task, shots=0, first="x", second="y",
        changed="model: x, not y", asserted={}, replicates=1, difference=difference, p_value=p,
    )  # fmt: skip


@pytest.fixture
def several() -> list[ComparisonRecord]:
    values = zip(DIFFERENCES, PS, strict=True)
    return [comparison(f"t{k}", each, p) for k, (each, p) in enumerate(values)]


def test_the_test_over_tasks_is_that_of_all_signs(several: list[ComparisonRecord]) -> None:
    (found,) = over_tasks(several)
    total = sum(DIFFERENCES)
    flipped = [
        sum(sign * value for sign, value in zip(signs, DIFFERENCES, strict=True))
        for signs in itertools.product((1, -1), repeat=len(DIFFERENCES))
    ]
    expected = sum(abs(each) >= total - 1e-12 for each in flipped) / len(flipped)
    assert found.p_value == pytest.approx(expected)
    assert (found.tasks, found.shots, found.first, found.second) == (7, 0, "x", "y")
    assert found.difference == pytest.approx(total / 7)
    assert found.low < found.difference < found.high


def test_p_values_are_adjusted_for_the_tasks(several: list[ComparisonRecord]) -> None:
    adjust_over_tasks(several)
    bh = stats.false_discovery_control(PS)
    assert [each.adjusted_bh for each in several] == pytest.approx(list(bh))
    ranks = stats.rankdata(PS, method="ordinal")
    steps = sorted(zip(ranks, PS, strict=True))
    so_far, by_rank = 0.0, {}
    for rank, p in steps:
        so_far = max(so_far, min(1.0, p * (len(PS) - rank + 1)))
        by_rank[rank] = so_far
    assert [each.adjusted_holm for each in several] == pytest.approx([by_rank[r] for r in ranks])


def test_other_arms_shots_and_changes_are_other_comparisons(
    several: list[ComparisonRecord],
) -> None:
    several[1].shots = 4
    several[2].first = "z"
    several[3].changed = "quantization: nf4, not none"
    adjust_over_tasks(several)
    assert [each.adjusted_holm for each in several[1:4]] == PS[1:4]
    assert [each.tasks for each in over_tasks(several)] == [4]


def test_a_comparison_without_result_does_not_count(several: list[ComparisonRecord]) -> None:
    without = [*several, comparison("lost", None, None)]
    adjust_over_tasks(without)
    assert without[-1].adjusted_bh is None
    assert over_tasks(without) == over_tasks(several)


def test_one_task_is_no_comparison_over_tasks() -> None:
    once = [comparison("t", 0.1), comparison("t", 0.2)]
    assert over_tasks(once) == []
    (found,) = over_tasks([*once, comparison("u", 0.05)])
    # A task that stands in two suites is one unit.
    assert found.tasks == 2
    assert found.difference == pytest.approx((0.15 + 0.05) / 2)


def test_too_few_tasks_have_no_narrower_interval_than_all() -> None:
    (found,) = over_tasks([comparison("t", 0.1), comparison("u", 0.05)])
    assert (found.low, found.high, found.p_value) == (-1, 1, 0.5)


def check(suite: str, task: str, boost: float, bias: float) -> ContaminationRecord:
    return ContaminationRecord(
        id=f"{suite}::{task}::contamination", suite=suite, line=1, task=task, shots=0, base="base",
        extra="extra", test="test", boost=boost, boost_p=0.5, bias=bias, bias_p=0.5,
    )  # fmt: skip


def test_arms_of_one_name_in_other_suites_are_other_arms() -> None:
    tasks = [f"t{k}" for k in range(7)]
    first = [check("study/bert.yaml", task, 0.05, 0.0) for task in tasks]
    second = [
        check("study/gpt2.yaml", *each)
        for each in zip(tasks, DIFFERENCES, reversed(DIFFERENCES), strict=True)
    ]
    found = contamination_over_tasks([*first, *second])
    assert [each.suite for each in found] == ["study/bert.yaml", "study/gpt2.yaml"]
    assert [each.tasks for each in found] == [7, 7]
    assert found[0].boost == pytest.approx(0.05)
    assert found[0].boost_p == pytest.approx(1 / 2**7)
    alone = contamination_over_tasks(second)
    assert found[1:] == alone
    assert alone[0].boost == alone[0].bias == pytest.approx(sum(DIFFERENCES) / 7)
    report = run()
    report.contamination = [contamination()]
    report.contamination_over_tasks = found
    assert "`test`<br> of `bert.yaml`" in markdown(report)
    report.contamination_over_tasks = alone
    assert "of `gpt2.yaml`" not in markdown(report)
