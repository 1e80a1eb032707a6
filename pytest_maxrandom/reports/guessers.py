"""A claim's guessers, made again from its record: their baseline at other t, and how a gate errs.

A gate errs where what passes does so by luck, and where what fails is good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import accuracy
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.quantities import (
    OF_GUESSERS,
    metric_name,
    mix_of,
    sizes_by_chance,
)
from pytest_maxrandom.reports.summary import names
from pytest_maxrandom.reports.tables import Column, Name, tabulate
from pytest_maxrandom.stats.best_of import first_count
from pytest_maxrandom.stats.chances import Groups, chance_groups
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.selection import expected_maximum
from pytest_maxrandom.stats.sizes import baseline_for, mix_for, true_accuracy_for_power

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.record import ClaimRecord, RunRecord

_CLOSE = 0.002
"""Difference of two baselines that nobody sees."""
_POINTS = 60
"""Of a curve, at most."""
POWER = 0.8
"""Probability of passing that a true accuracy is sought for."""
_LEGEND = (
    "Of t independent guessers on n new questions; red flags and a test set let less pass. The "
    "permutation p is taken as that of prompts that answer independently: the more alike prompts "
    "answer, the fewer right answers it needs, and a pass by luck stays at most as probable as its "
    "level."
)


def guessers(
    claim: ClaimRecord, n: int, t: int, standard: float, maximum: float
) -> tuple[MaxRandomBaseline | None, str]:
    """Return the guessers of a claim, if theirs is its baseline; else why they are unknown.

    Parameters
    ----------
    n, t : int
        As the claim has them.
    standard, maximum : float
        The claim's standard and maximum random baseline.
    """
    if claim.metric != "accuracy":
        return None, f"whose metric is {metric_name(claim)}"
    if claim.roles:
        return None, "whose chance is learnt from its answers"
    if claim.sampled is not None and claim.sampled.aggregate != "vote":
        return None, "whose guessers give several answers to each example"
    groups = _groups(claim, n, standard)
    found = None if groups is None else MaxRandomBaseline.of_groups(groups, t)
    if found is not None and abs(found.expected_accuracy - maximum) <= _CLOSE:
        return found, ""
    if found is not None and claim.chances:
        return None, "whose prompts were scored on different numbers of examples"
    return None, "without every example's chance"


def curve(claim: ClaimRecord) -> dict[str, Any] | None:
    """Return the best of 1 ... t prompts, and of as many guessers; None where that is unknown.

    Returns
    -------
    dict
        `t`: numbers of prompts. `maximum`: the maximum random baseline of each. `expected`: the
        expected best accuracy of so many of this run's prompts (U-statistic, Dodge et al. 2021),
        None beyond these. `first`: the best of the first so many, in the order of the sweep.
        `standard`, `best`: of the claim.
    """
    n, t, standard, maximum = claim.n, claim.t, claim.standard_baseline, claim.max_random_baseline
    if claim.metric != "accuracy" or n is None or t is None or standard is None or maximum is None:
        return None
    baseline, _ = guessers(claim, n, t, standard, maximum)
    counts = claim.correct_counts
    if baseline is None or not counts or max(counts) > n:
        return None
    points = _spread(max(t, len(counts)))
    return {
        "t": points,
        "maximum": [round(baseline.with_t(each).expected_accuracy, 5) for each in points],
        "expected": [
            round(expected_maximum(counts, each) / n, 5) if each <= len(counts) else None
            for each in points
        ],
        "first": [round(max(counts[:each]) / n, 5) for each in points],
        "of": len(counts),
        "standard": standard,
        "best": claim.best_accuracy,
        "at": t,
    }


def _spread(most: int) -> list[int]:
    """Return whole numbers from 1 to `most`, each about as many times the one before."""
    steps = max(1, min(most, _POINTS) - 1)
    return sorted({round(math.exp(math.log(most) * step / steps)) for step in range(steps + 1)})


def _groups(claim: ClaimRecord, n: int, standard: float) -> Groups | None:
    sizes = sizes_by_chance(claim)
    if not sizes:
        return chance_groups(standard, n)
    if len(sizes) == 1:
        return chance_groups(next(iter(sizes)), n)
    if sum(sizes.values()) == n:
        return chance_groups([chance for chance, size in sizes.items() for _ in range(size)])
    # Prompts that leave out their own demonstrations have nearly the mix of the whole set.
    if any(chance.numerator != 1 for chance in sizes):
        return None
    return mix_for({chance.denominator: size for chance, size in sizes.items()}, n)


@dataclass(frozen=True, slots=True)
class Odds:
    """What a claim errs with, as far as its p-values tell."""

    claim: ClaimRecord
    needed: int | None
    """Right answers of n from which on it passes; None where none suffice."""
    by_luck: float
    """Probability that the best of t independent guessers has so many."""
    true_accuracy: float | None
    """What one prompt must really have to get there with probability `POWER`."""


def odds(run: RunRecord) -> Iterator[Odds]:
    """Yield the odds of each claim on accuracy that asserts a p-value."""
    for claim in run.claims:
        levels = {
            name: float(claim.levels.get(name, asserted))
            for name, asserted in claim.asserted.items()
            if name in (*OF_GUESSERS, "permutation_p")
        }
        if claim.metric != "accuracy" or not levels or not claim.n or not claim.t:
            continue
        n, mix = claim.n, mix_of(claim)
        baseline = baseline_for(n, mix, claim.t)
        needed = first_count(0, n + 1, partial(_passes, baseline, levels))
        if needed > n:
            yield Odds(claim, None, 0.0, None)
            continue
        by_luck = baseline.p_value(needed)
        # The level at which p_max alone asks for as many.
        true = true_accuracy_for_power(n, mix, claim.t, POWER, by_luck)
        if levels.keys() == {"permutation_p"}:
            # Its needed count follows the answers, so that its level is used up.
            by_luck = levels["permutation_p"]
        yield Odds(claim, needed, by_luck, true)


def odds_section(run: RunRecord) -> str:
    """Say in Markdown what the run's claims err with; empty where none can be told of."""
    chances = list(odds(run))
    if not chances:
        return ""
    expected = math.fsum(each.by_luck for each in chances)
    text = (
        f"If the model only guessed, this claim would pass with probability {_rate(expected)}."
        if len(chances) == 1
        else f"If all models only guessed, {_rate(expected)} of these {len(chances):,} claims "
        f"would pass on average, and at least one with probability "
        f"{_rate(min(1.0, expected))} at most."
    )
    if wanted := sorted(each.true_accuracy for each in chances if each.true_accuracy is not None):
        least, most = accuracy(wanted[0]), accuracy(wanted[-1])
        text += (
            f" A claim passes with probability {_rate(POWER)} (power), and fails by bad luck with "
            f"{_rate(1 - POWER)}, where the best prompt's true accuracy is {least}"
            f"{f' to {most}, depending on the claim' if most != least else ''}."
        )
    shown = names(run)
    columns: list[Column[Odds]] = [
        Column("claim", lambda each: Name(shown[each.claim.id])),
        Column("n", "claim.n", "count"),
        Column("t", "claim.t", "count"),
        Column("needed", _needed, "right"),
        Column("passes by luck", lambda each: _rate(each.by_luck), "right"),
        Column(f"true accuracy for power {_rate(POWER)}", "true_accuracy", "score"),
    ]
    table = f"{MARKDOWN.table(tabulate('Odds', columns, chances))}{_LEGEND}\n"
    return f"\n**What this gate can tell.** {text}\n\n{MARKDOWN.fold(table, 'Of each claim')}"


def _needed(each: Odds) -> str:
    return "impossible" if each.needed is None else f"{each.needed}/{each.claim.n}"


def _passes(baseline: MaxRandomBaseline, levels: Mapping[str, float], correct: int) -> bool:
    # On shuffled right answers, independent guessers of balanced labels are what p_max counts.
    level = min(levels.get("p_max", 1), levels.get("permutation_p", 1))
    return baseline.p_value(correct) <= level and baseline.union_p(correct) <= levels.get(
        "union_p", 1
    )


def _rate(value: float) -> str:
    """Write a probability, or an expected number, with two figures."""
    return accuracy(value, 3) if value < 0.1 else accuracy(value, 2)
