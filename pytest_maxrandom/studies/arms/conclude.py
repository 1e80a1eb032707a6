"""What the difference of two arms means, on one task and over several: from numbers to records."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_maxrandom.record import OverTasks, Remark, note
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.multiplicity import above, benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord
    from pytest_maxrandom.studies.arms.reduction import Difference
    from pytest_maxrandom.suite.arms import DifferenceSpec


def conclude(record: ComparisonRecord, found: Difference, claim: DifferenceSpec | None) -> None:
    """Write down what was found, and whether what is claimed of it holds."""
    record.t, record.n = found.t, found.n
    record.first_accuracy, record.second_accuracy = found.first_accuracy, found.second_accuracy
    record.difference = found.mean
    record.low, record.high = found.interval(record.confidence)
    record.p_value, record.units = found.p_value(), found.units
    record.sampled = dict(found.counted.items())
    record.first_best, record.second_best = found.first_best, found.second_best
    record.best_difference = found.best_difference
    best = found.best_interval(record.confidence)
    record.best_low, record.best_high = best or (None, None)
    record.prompts = found.prompts
    record.by_replicate = list(found.by_replicate)
    note(record, *_signs_flipped(found))
    margin = None if claim is None else claim.margin
    if claim is None or margin is None:
        record.passed = True
        return
    record.assertion_p = found.p_greater(margin)
    record.passed = not above(record.assertion_p, claim.level)


def _signs_flipped(found: Difference) -> list[Remark]:
    """Say how the numbers came about, where signs were flipped of several units."""
    if len(found.tests) == 1:
        return []
    return [Remark("signs_flipped", {"units": [*found.counted], "largest": found.units})]


def conclude_contamination(
    record: ContaminationRecord, boost: Difference, bias: Difference, *, allow_inconclusive: bool
) -> None:
    """Write down what three arms tell; a bias means nothing where tuning changes nothing."""
    record.boost, record.boost_p = boost.mean, boost.p_greater()
    record.bias, record.bias_p = bias.mean, bias.p_greater()
    record.sampled = dict(bias.counted.items())
    note(record, *_signs_flipped(bias))
    if above(record.boost_p, record.level):
        record.finding = "inconclusive"
        record.passed = allow_inconclusive
    elif above(record.bias_p, record.level):
        record.finding, record.passed = "no sign of it", True
    else:
        record.finding, record.passed = "tuned on the text", False


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
