"""What the difference of two arms means: from numbers to a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record import PromptPair, Remark, note
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
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
    record.prompts = [
        PromptPair(each.only_first, each.only_second, each.p_value, each.adjusted_p)
        for each in found.prompts
    ]
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
