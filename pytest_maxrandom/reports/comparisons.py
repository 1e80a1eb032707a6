"""Two arms in words, on one task and over all of them; first minus second throughout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, count, equals, level, p_value, signed
from pytest_maxrandom.reports.text import listed
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from pytest_maxrandom.record import (
        ComparisonRecord,
        ContaminationOverTasks,
        ContaminationRecord,
        OverTasks,
        RunRecord,
    )

_LEVEL = 0.05
_NEW = {
    "examples": "new examples",
    "clusters": "new clusters of examples",
    "prompts": "new prompts",
    "replicates": "new replicates",
}


def compared(run: RunRecord) -> list[ComparisonRecord]:
    """List the comparisons that have a result."""
    return [record for record in run.comparisons if record.difference is not None]


def checked(run: RunRecord) -> list[ContaminationRecord]:
    """List the checks for contamination that have a result."""
    return [record for record in run.contamination if record.boost is not None]


def arms(record: ComparisonRecord | OverTasks) -> str:
    """Name the difference: ``nf4 - none``."""
    return f"{record.first} - {record.second}"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval: ``-.041 to +.012``.

    Empty where there are too few units for one, so that it holds every difference there can be.
    """
    if low is None or high is None or (low <= -1 and high >= 1):
        return ""
    return f"{signed(low)} to {signed(high)}"


def difference_interval(record: ComparisonRecord | OverTasks) -> str:
    """Write the interval of the mean difference with its confidence."""
    known = interval(record.low, record.high)
    return f"{known} ({confidence(record)})" if known else ""


def best_interval(record: ComparisonRecord) -> str:
    """Write the interval of the difference of the best of t."""
    return interval(record.best_low, record.best_high)


def confidence(record: ComparisonRecord | OverTasks | ContaminationOverTasks) -> str:
    """Write the confidence of the intervals: ``95 %``."""
    return f"{100 * record.confidence:.4g} %"


def shown_n(record: ComparisonRecord) -> str:
    """Write n, which is a mean where it differs between replicates."""
    if record.n is None:
        return NONE
    return count(int(record.n)) if record.n == int(record.n) else f"{record.n:,.1f}"


def required(record: ComparisonRecord) -> str:
    """Say what is asserted of a difference."""
    margin = record.asserted.get("better", record.asserted.get("not_worse_than"))
    if margin is None:
        return ""
    bound = f"{'-' if margin < 0 else ''}{level(abs(margin))}"
    return f"the difference is above {bound}, one-sided p at most {level(_level(record))}"


def assertion_is(record: ComparisonRecord) -> str:
    """Say what the p-value of the assertion is: ``p = .031``."""
    shown = p_value(record.assertion_p, level=_level(record))
    return "" if shown == NONE else f"p {equals(shown)}"


def _level(record: ComparisonRecord) -> float:
    return float(record.asserted.get("level", _LEVEL))


def adjusted_ps(record: ComparisonRecord) -> str:
    """Write the p-value adjusted over tasks, by both methods; empty where there is one task."""
    if record.adjusted_bh is None or record.adjusted_holm is None:
        return ""
    bh, holm = p_value(record.adjusted_bh), p_value(record.adjusted_holm)
    return f"q {equals(bh)} (Benjamini and Hochberg), {holm} (Holm)"


def differing(record: ComparisonRecord) -> str:
    """Say how many prompts the arms differ on, by McNemar's test after Holm: ``2 of 20``."""
    if not record.prompts:
        return NONE
    differ = sum(prompt.adjusted_p <= _LEVEL for prompt in record.prompts)
    return f"{count(differ)} of {count(len(record.prompts))}"


def units(record: ComparisonRecord) -> str:
    """Say what the signs are flipped of: ``60 examples``, ``20 replicates``.

    Earlier records do not count them. Different replicates may have different examples, so these
    are not counted then.
    """
    if record.units is None:
        return ""
    if record.units in record.sampled:
        return f"{count(record.sampled[record.units])} {record.units}"
    if record.units == "replicates":
        return f"{count(record.replicates)} replicates"
    return f"{shown_n(record)} examples" if record.replicates == 1 else "examples"


def generalizes(record: ComparisonRecord | ContaminationRecord) -> str:
    """Say what the result speaks for: ``new examples and new prompts``.

    Fewer than six prompts are no sample of others.
    """
    kinds = [words for units, words in _NEW.items() if units in record.sampled]
    if not kinds:
        return ""
    new = listed(kinds)
    return new if "prompts" in record.sampled else f"{new}, for these prompts only"


def difference_is(record: ComparisonRecord | OverTasks) -> str:
    """Say what the mean difference is, with its interval and p-value."""
    if record.difference is None:
        return ""
    known = interval(record.low, record.high)
    within = f"{confidence(record)} interval {known}" if known else "too few units for an interval"
    return f"{signed(record.difference)} ({within}, p {equals(p_value(record.p_value))})"


def best_is(record: ComparisonRecord) -> str:
    """Say what the difference of the best of t is, with its interval if there is one."""
    if record.best_difference is None:
        return ""
    known = best_interval(record)
    within = f" ({confidence(record)} interval {known})" if known else ""
    return f"{signed(record.best_difference)}{within}"


def boost_is(record: ContaminationRecord | ContaminationOverTasks) -> str:
    """Say what tuning on other text brings."""
    return _tested(record.boost, record.boost_p, record.level)


def bias_is(record: ContaminationRecord | ContaminationOverTasks) -> str:
    """Say what the benchmark's own text brings beyond that."""
    return _tested(record.bias, record.bias_p, record.level)


def has_boost(record: ContaminationRecord | ContaminationOverTasks) -> bool:
    """Tell whether tuning on other text helped; else only a significant bias says anything."""
    return record.boost_p is not None and not above(record.boost_p, record.level)


def way_to_boost(record: ContaminationRecord) -> str:
    """Say what may show a boost where there is none."""
    told = [*record.notes, *([record.cannot_tell] if record.cannot_tell else [])]
    trained = any(each.kind.endswith("_of_training") for each in told)
    further = "more texts, more `epochs`, a larger `learning_rate`, or " if trained else ""
    return f"{further}more examples or replicates"


def without_boost(run: RunRecord) -> str:
    """Say in one sentence how many checks cannot tell, and what may; empty if all can."""
    found = [record for record in checked(run) if record.finding == "cannot tell"]
    if not found:
        return ""
    one = len(found) == 1
    return (
        f"Neither a boost nor a bias in {count(len(found))} contamination "
        f"check{'' if one else 's'}, which cannot tell: use "
        f"{max(map(way_to_boost, found), key=len)}"
    )


def indicated(record: ContaminationRecord | ContaminationOverTasks) -> str:
    """Say what was found, and why where nothing can be."""
    if record.finding is None:
        return ""
    if record.finding == "cannot tell":
        return "cannot tell: without a boost, a bias that is not significant says nothing"
    if record.finding == "tuned on the text" and not has_boost(record):
        return "tuned on the scored text; other text teaches nothing"
    return record.finding


def _tested(value: float | None, p: float | None, bound: float) -> str:
    if value is None:
        return ""
    shown = p_value(p, level=bound)
    return signed(value) if shown == NONE else f"{signed(value)} (p {equals(shown)})"
