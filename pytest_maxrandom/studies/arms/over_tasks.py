"""The same comparison on several tasks: over all of them, and adjusted for their number."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_maxrandom.record import OverTasks
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.multiplicity import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.record import ComparisonRecord

CONFIDENCE = 0.95


def adjust_over_tasks(comparisons: Iterable[ComparisonRecord]) -> None:
    """Adjust each p-value for all tasks with the same comparison; what has none does not count."""
    for group in _groups(comparisons):
        ps = [each.p_value for each in group if each.p_value is not None]
        adjusted = zip(group, benjamini_hochberg(ps), holm(ps), strict=True)
        for each, by_rank, familywise in adjusted:
            each.adjusted_bh, each.adjusted_holm = by_rank, familywise


def over_tasks(comparisons: Iterable[ComparisonRecord]) -> list[OverTasks]:
    """Return each comparison that was made on at least two tasks, over all of them.

    Tasks weigh the same. One that stands in several suites is one unit, with its mean. Their
    differences are taken for symmetric: tasks are too few to allow for one that is wholly lost, and
    nothing is claimed of them.
    """
    found = []
    for group in _groups(comparisons):
        by_task: defaultdict[str, list[float]] = defaultdict(list)
        for each in group:
            assert each.difference is not None
            by_task[each.task].append(each.difference)
        if len(by_task) < 2:
            continue
        test = sign_flip([math.fsum(values) / len(values) for values in by_task.values()])
        low, high = test.interval(CONFIDENCE)
        found.append(
            OverTasks(
                first=group[0].first,
                second=group[0].second,
                shots=group[0].shots,
                tasks=len(by_task),
                difference=test.mean,
                # Differences of accuracies, and so their mean, lie there.
                low=max(low, -1.0),
                high=min(high, 1.0),
                confidence=CONFIDENCE,
                p_value=test.p_value(),
            )
        )
    return found


def _groups(comparisons: Iterable[ComparisonRecord]) -> Iterable[Sequence[ComparisonRecord]]:
    """Group what was compared by the arms, what they change, and the number of shots."""
    groups: defaultdict[tuple[str, str, str, int], list[ComparisonRecord]] = defaultdict(list)
    for each in comparisons:
        if each.difference is not None and each.p_value is not None:
            groups[each.first, each.second, each.changed, each.shots].append(each)
    return groups.values()
