"""Replicated claims, and two arms on one task or over all, in words.

Of two arms it is first minus second throughout.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.notation import NONE, accuracy, count, equals, level, p_value, signed
from pytest_maxrandom.reports.origins import five_numbers
from pytest_maxrandom.reports.text import listed
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import (
        ComparisonRecord,
        ContaminationOverTasks,
        ContaminationRecord,
        OverTasks,
        ReplicatesRecord,
        RunRecord,
    )

Quantity: TypeAlias = Literal["best_accuracy", "max_random_baseline", "p_max"]
"""What is shown as a distribution over replicates."""

MOST_BINS = 12
_BARS = "▁▂▃▄▅▆▇█"
"""For no replicate, and for ever more of them."""
_WRITTEN: dict[Quantity, Callable[[float | None], str]] = {
    "best_accuracy": accuracy,
    "max_random_baseline": accuracy,
    "p_max": p_value,
}


def replicated(run: RunRecord) -> list[ReplicatesRecord]:
    """List the replicated claims that have results."""
    return [record for record in run.replicates if record.runs]


def five(record: ReplicatesRecord, quantity: Quantity) -> list[str]:
    """Write minimum, quartiles and maximum over the replicates; dashes where there are none."""
    values = sorted(getattr(one, quantity) for one in record.runs)
    return list(map(_WRITTEN[quantity], five_numbers(values))) if values else [NONE] * 5


def median(record: ReplicatesRecord, quantity: Quantity) -> str:
    """Write the median over the replicates, by nearest rank."""
    return five(record, quantity)[2]


def extremes(record: ReplicatesRecord, quantity: Quantity) -> str:
    """Write the least and the greatest value: ``.583 to .717``; one if they are shown alike."""
    lowest, *_, highest = five(record, quantity)
    return lowest if lowest == highest else f"{lowest} to {highest}"


def spread_over(record: ReplicatesRecord, quantity: Quantity) -> str:
    """Say how a quantity spreads: ``.583 to .717 (quartiles .617, .633 and .667)``."""
    if not record.runs:
        return ""
    lowest, *quartiles, highest = five(record, quantity)
    if lowest == highest:
        return lowest
    return f"{extremes(record, quantity)} (quartiles {listed(quartiles)})"


def histogram(record: ReplicatesRecord) -> str:
    """Draw the best accuracies from the lowest to the highest, one bar for each of some bins."""
    values = [one.best_accuracy for one in record.runs]
    if len(set(values)) < 2:
        return ""
    low, high = min(values), max(values)
    bins = min(MOST_BINS, len(values))
    counts = Counter(min(bins - 1, int(bins * (one - low) / (high - low))) for one in values)
    most = max(counts.values())
    # The least bar stands for none, so that one replicate is never drawn as none.
    heights = ((len(_BARS) - 2) * counts[place] / most for place in range(bins))
    return "".join(
        _BARS[1 + round(height)] if counts[place] else _BARS[0]
        for place, height in enumerate(heights)
    )


def holding(record: ReplicatesRecord) -> str:
    """Say in how many replicates the claim holds: ``17 of 20``; empty where nothing is claimed."""
    if not record.asserted:
        return ""
    if not record.runs:
        return NONE
    return f"{count(sum(bool(one.passed) for one in record.runs))} of {count(len(record.runs))}"


def contradictions(record: ReplicatesRecord) -> str:
    """Say how many replicates contradict the verdict of most of them: ``3 of 20``."""
    if record.contradicting is None or not record.runs:
        return NONE
    return f"{count(round(record.contradicting * len(record.runs)))} of {count(len(record.runs))}"


def single_draws(record: ReplicatesRecord) -> str:
    """Say how often a single draw misleads."""
    share = contradictions(record)
    if share == NONE:
        return ""
    if not record.contradicting:
        return f"every single draw would have said the same, {count(len(record.runs))} of them"
    return f"a single draw would have said the opposite of the majority in {share}"


def winners(record: ReplicatesRecord) -> str:
    """Say how many prompts are the best of some replicate."""
    prompts = Counter(one.best_prompt for one in record.runs)
    if not prompts:
        return ""
    if len(prompts) == 1:
        return f"the same prompt is the best in all {count(len(record.runs))}"
    most = max(prompts.values())
    if most == 1:
        return "another prompt is the best in each"
    return f"{count(len(prompts))} prompts are the best of some, one of them in {count(most)}"


def demanded(record: ReplicatesRecord) -> str:
    """Say in which share of the replicates the claim must hold, if that is claimed."""
    share = record.asserted.get("in_replicates")
    return f"in at least {level(share)} of the replicates" if isinstance(share, float) else ""


_LEVEL = 0.05
_NEW = {
    unit: f"new {unit}{' of examples' * (unit == 'clusters')}"
    for unit in ("examples", "clusters", "prompts", "replicates")
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
    """Say what the signs are flipped of: ``60 examples``, ``20 replicates``."""
    if record.units is None or record.units not in record.sampled:
        return ""
    return f"{count(record.sampled[record.units])} {record.units}"


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
