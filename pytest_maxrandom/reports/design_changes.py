"""What changed of a record that is no claim, in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, count, level, p_value, signed
from pytest_maxrandom.record import (
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.comparisons import difference_is, indicated, required, shown_n
from pytest_maxrandom.reports.label_bias import bias_found, bias_numbers, required_score
from pytest_maxrandom.reports.replicates import (
    contradictions,
    demanded,
    extremes,
    holding,
    median,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.reports.summary import Design

WEAKER_IF_LESS = frozenset({"in_replicates", "not_worse_than", "better"})
"""Bounds from below: the smaller, the less is claimed. All others are bounds from above."""


def numbers(record: Design) -> dict[str, str]:
    """Name the numbers of a record that a reader compares, as they are written."""
    match record:
        case ReplicatesRecord():
            return {
                "holds in": holding(record),
                "contradicting the majority": contradictions(record),
                "median best accuracy": median(record, "best_accuracy"),
                "median p_max": median(record, "p_max"),
            }
        case LabelBiasRecord():
            return bias_numbers(record)
        case ComparisonRecord():
            return {
                "n": shown_n(record),
                "t": count(record.t),
                "replicates": count(record.replicates),
                "difference": signed(record.difference),
                "p": p_value(record.p_value),
                "best of t": signed(record.best_difference),
            }
        case ContaminationRecord():
            return {
                "boost": signed(record.boost),
                "bias": signed(record.bias),
                "finding": record.finding or NONE,
            }


def claimed_of(record: Design) -> str:
    """Say what is claimed of a record."""
    match record:
        case ReplicatesRecord():
            return demanded(record) and f"the claim holds {demanded(record)}"
        case LabelBiasRecord():
            return required_score(record)
        case ComparisonRecord():
            return required(record)
        case ContaminationRecord():
            return f"no sign of the benchmark's text at level {level(record.level)}"


def design_differences(now: Design, before: Design) -> tuple[str, ...]:
    """Say in what the numbers of a record are not what they were, one clause each."""
    return tuple(_differences(now, before))


def summarized(record: Design) -> str:
    """Say what a record tells, in one phrase for a table of all kinds."""
    match record:
        case ReplicatesRecord():
            if not record.runs:
                return ""
            shares = f"holds in {holding(record)}, {contradictions(record)} contradict the majority"
            return f"{shares}; best accuracy {extremes(record, 'best_accuracy')}"
        case LabelBiasRecord():
            return bias_found(record)
        case ComparisonRecord():
            return difference_is(record)
        case ContaminationRecord():
            if record.boost is None:
                return ""
            return f"boost {signed(record.boost)}, bias {signed(record.bias)}: {indicated(record)}"


def _differences(now: Design, before: Design) -> Iterable[str]:
    claims, claimed = claimed_of(now), claimed_of(before)
    if claims != claimed:
        yield f"claims: {claims or 'nothing'}, before: {claimed or 'nothing'}"
    earlier = numbers(before)
    for name, shown in numbers(now).items():
        was = earlier.get(name)
        if was is not None and NONE not in (shown, was) and shown != was:
            yield f"{name} from {was} to {shown}"
