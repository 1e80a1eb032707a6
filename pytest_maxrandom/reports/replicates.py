"""A replicated claim in words: how its numbers spread, and what a single draw would have said."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.notation import NONE, accuracy, count, level, p_value
from pytest_maxrandom.reports.origins import five_numbers
from pytest_maxrandom.reports.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import ReplicatesRecord, RunRecord

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
    return f"{count(sum(one.passed for one in record.runs))} of {count(len(record.runs))}"


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
