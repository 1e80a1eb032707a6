"""What the difference of two arms means, on one task and over several: from numbers to records."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_maxrandom.record import ContaminationOverTasks, OverTasks, Remark, note
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.multiplicity import above, benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord
    from pytest_maxrandom.record.designs import Indication
    from pytest_maxrandom.stats.differences import SignFlip
    from pytest_maxrandom.studies.arms.reduction import Difference
    from pytest_maxrandom.suite.arms import DifferenceSpec


def record_difference(
    record: ComparisonRecord, difference: Difference, claim: DifferenceSpec | None
) -> None:
    """Write down what was found, and whether what is claimed of it holds."""
    record.t, record.n = difference.t, difference.n
    record.first_accuracy = difference.first_accuracy
    record.second_accuracy = difference.second_accuracy
    record.difference = difference.mean
    record.low, record.high = difference.interval(record.confidence)
    record.p_value, record.units = difference.p_value(), difference.units
    record.sampled = dict(difference.counted.items())
    record.first_best, record.second_best = difference.first_best, difference.second_best
    record.best_difference = difference.best_difference
    best = difference.best_interval(record.confidence)
    record.best_low, record.best_high = best or (None, None)
    record.prompts = difference.prompts
    record.by_replicate = list(difference.by_replicate)
    note(record, *_signs_flipped(difference))
    margin = None if claim is None else claim.margin
    if claim is None or margin is None:
        record.passed = True
        return
    record.assertion_p = difference.p_greater(margin)
    record.passed = not above(record.assertion_p, claim.level)


def _signs_flipped(found: Difference) -> list[Remark]:
    """Say how the numbers came about, where signs were flipped of several units."""
    if len(found.tests) == 1:
        return []
    return [Remark("signs_flipped", {"units": [*found.counted], "largest": found.units})]


def record_contamination(
    record: ContaminationRecord,
    boost: Difference,
    bias: Difference,
    *,
    allow_inconclusive: bool,
    trained: bool = False,
) -> None:
    """Write down what three arms tell: that they cannot tell is neither a pass nor a failure.

    A significant bias is a finding, whatever the boost. Arms that are trained here can be trained
    otherwise, which is said where neither is significant.
    """
    record.boost, record.boost_p = boost.mean, boost.p_greater()
    record.bias, record.bias_p = bias.mean, bias.p_greater()
    record.sampled = dict(bias.counted.items())
    note(record, *_signs_flipped(bias))
    record.finding = _indication(record.boost_p, record.bias_p, record.level)
    if record.finding != "cannot tell":
        record.passed = record.finding == "no sign of it"
        return
    names = {"base": record.base, "extra": record.extra, "test": record.test}
    if allow_inconclusive:
        kind = "no_boost_of_training" if trained else "no_boost"
        note(record, Remark(kind, names))
    else:
        kind = "no_effect_of_training" if trained else "no_effect"
        record.cannot_tell = Remark(kind, names)


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
    differences = []
    for group in _groups(comparisons):
        test = _over_tasks((each.task, each.difference) for each in group)
        if test.units < 2:
            continue
        low, high = test.interval(CONFIDENCE)
        differences.append(
            OverTasks(
                first=group[0].first,
                second=group[0].second,
                shots=group[0].shots,
                tasks=test.units,
                difference=test.mean,
                # Differences of accuracies, and so their mean, lie there.
                low=max(low, -1.0),
                high=min(high, 1.0),
                confidence=CONFIDENCE,
                p_value=test.p_value(),
            )
        )
    return differences


def contamination_over_tasks(
    checks: Iterable[ContaminationRecord],
) -> list[ContaminationOverTasks]:
    """Return each check that a suite makes on at least two tasks, over all of them.

    Tasks weigh the same, and their differences are taken for symmetric, as in `over_tasks`. Suites
    are never pooled: arms of one name are trained from other models there.
    """
    groups: defaultdict[tuple[str, str, str, str, int], list[ContaminationRecord]]
    groups = defaultdict(list)
    for check in checks:
        if check.boost is not None and check.bias is not None:
            groups[check.suite, check.base, check.extra, check.test, check.shots].append(check)
    contaminations = []
    for (suite, base, extra, test, shots), group in groups.items():
        boost = _over_tasks((each.task, each.boost) for each in group)
        bias = _over_tasks((each.task, each.bias) for each in group)
        if bias.units < 2:
            continue
        low, high = bias.interval(CONFIDENCE)
        level = min(each.level for each in group)
        boost_p, bias_p = boost.p_greater(), bias.p_greater()
        contaminations.append(
            ContaminationOverTasks(
                base=base,
                extra=extra,
                test=test,
                shots=shots,
                tasks=bias.units,
                boost=boost.mean,
                boost_p=boost_p,
                bias=bias.mean,
                bias_low=max(low, -1.0),
                bias_high=min(high, 1.0),
                confidence=CONFIDENCE,
                bias_p=bias_p,
                level=level,
                finding=_indication(boost_p, bias_p, level),
                suite=suite,
            )
        )
    return contaminations


def _over_tasks(values: Iterable[tuple[str, float | None]]) -> SignFlip:
    """Return the test over tasks: of the mean of each, which may stand in several suites."""
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    for task, value in values:
        assert value is not None
        by_task[task].append(value)
    return sign_flip([math.fsum(each) / len(each) for each in by_task.values()])


def _indication(boost_p: float, bias_p: float, level: float) -> Indication:
    # Where tuning on other text changes nothing, only a bias that is not significant says nothing:
    # whoever memorised the scored answers learned no rule that would help on other questions.
    if not above(bias_p, level):
        return "tuned on the text"
    return "cannot tell" if above(boost_p, level) else "no sign of it"


def _groups(comparisons: Iterable[ComparisonRecord]) -> Iterable[Sequence[ComparisonRecord]]:
    """Group what was compared by the arms, what they change, and the number of shots."""
    groups: defaultdict[tuple[str, str, str, int], list[ComparisonRecord]] = defaultdict(list)
    for each in comparisons:
        if each.difference is not None and each.p_value is not None:
            groups[each.first, each.second, each.changed, each.shots].append(each)
    return groups.values()
