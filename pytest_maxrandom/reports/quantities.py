"""What reports say of a claim's numbers: its levels, its p-values, and what of it is not met."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import BASELINES, P_VALUES, Unmet, accuracies, equals, p_value
from pytest_maxrandom.record import SCORE, STANDINGS, ClaimRecord, Sampled
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.stats.sizes import Mix

OF_GUESSERS = ("p_max", "union_p")
"""P-values that compare the best prompt with guessers; its right answers alone decide them."""
_OF_SAMPLES = {
    "mean": "mean accuracy of {k} samples",
    "vote": "{metric} of votes of {k}",
    "pass": "pass@{asked}",
    "all": "all of {k}",
}
_OF_GRADES = {
    "mean": "mean of {k} scores",
    "vote": "score of votes of {k}",
    "pass": "maximum of {asked} scores",
    "all": "minimum of {k} scores",
}
"""What several samples of each answer come to, by how they are put together."""


def tested(claims: Iterable[ClaimRecord]) -> list[ClaimRecord]:
    """List the claims that have a result, whether guessers are compared with it or not."""
    return [each for each in claims if each.verdict is not None or each.best_accuracy is not None]


def unguessed(claims: Iterable[ClaimRecord]) -> bool:
    """Tell whether nothing that was tested is compared with guessers, as where all are scores."""
    found = tested(claims)
    return bool(found) and all(claim.standard_baseline is None for claim in found)


def levels_of(claim: ClaimRecord) -> dict[str, float]:
    """Return the level of each p-value that the claim bounds."""
    return {
        key: value
        for key, value in (claim.levels or claim.asserted).items()
        if key in P_VALUES and isinstance(value, float) and value > 0
    }


def metric_name(claim: ClaimRecord) -> str:
    """Name what the best prompt is best in."""
    if claim.sampled is not None:
        return of_samples(claim.sampled, claim.metric)
    return _of_metric(claim.metric)


def of_samples(sampled: Sampled, metric: str) -> str:
    """Name what several samples of each answer come to."""
    named = _OF_GRADES if metric == SCORE else _OF_SAMPLES
    return named[sampled.aggregate].format(
        k=sampled.samples, asked=sampled.asked or sampled.samples, metric=_of_metric(metric)
    )


def _of_metric(metric: str) -> str:
    if metric in ("accuracy", SCORE):
        return metric
    from pytest_maxrandom.record.metrics import METRICS  # it needs NumPy, which a summary does not

    known = METRICS.get(metric)
    return metric if known is None else str(known.words)


def shown_p(claim: ClaimRecord, key: str) -> str:
    """Write a p-value with the digits that it takes to see on which side of its level it is."""
    log_p = claim.log_p_max if key == "p_max" else None
    return p_value(getattr(claim, key), log_p, levels_of(claim).get(key))


def p_is(claim: ClaimRecord, key: str) -> str:
    """Say what a p-value is: ``p_max = .031``, or ``p_max > .999``.

    Where guessers are as good as constant answers, what they reach is said with it.
    """
    rates = rates_of_constants(claim) if key in OF_GUESSERS else None
    of = f" of guessers who are right with {accuracies(rates)}" if rates else ""
    return f"{P_VALUES[key]} {equals(shown_p(claim, key))}{of}"


def rates_of_constants(claim: ClaimRecord) -> tuple[float, float] | None:
    """Return between which rates guessers are right who are as good as constant answers.

    None where guessers take all choices alike.
    """
    for note in claim.notes:
        if note.kind == "constants":
            low, high = note.values["rates"]
            return low, high
    return None


def unmet(claim: ClaimRecord) -> list[Unmet]:
    """List the parts of a claim that are not met, the test set aside."""
    unmet_parts = []
    for key, bound in levels_of(claim).items():
        p: float | None = getattr(claim, key)
        if p is not None and above(p, bound):
            unmet_parts.append(Unmet(key, p=p, level=bound))
        elif p is None and key not in OF_GUESSERS:
            unmet_parts.append(Unmet(key))
    baseline = claim.asserted.get("beats")
    above_it = claim.verdict is None or baseline in STANDINGS[claim.verdict].is_above
    if baseline in BASELINES and not above_it:
        unmet_parts.append(Unmet("beats", baseline=baseline))
    return unmet_parts


def examples(claim: ClaimRecord) -> int | None:
    """Return how many examples the best prompt was scored on; n may be that of a publication."""
    if not claim.n or not claim.best_correct or not claim.best_accuracy:
        return claim.n
    found = claim.best_correct / claim.best_accuracy
    return round(found) if math.isfinite(found) else claim.n


def best_value(claim: ClaimRecord) -> float | None:
    """Return the best prompt's value of the metric, which the baselines are baselines of."""
    return claim.best_accuracy if claim.metric == "accuracy" else claim.best_score


def needed_score(claim: ClaimRecord) -> float | None:
    """Return the least value of the metric that would have passed, where that is known."""
    n = examples(claim)
    if claim.critical_score is not None or claim.metric != "accuracy":
        return claim.critical_score
    return claim.critical_count / n if claim.critical_count is not None and n else None


def sizes_by_chance(claim: ClaimRecord) -> dict[Fraction, int]:
    """Return the number of examples by the chance of one guess; empty where they are not known."""
    return {Fraction(text): size for text, size in claim.chances.items()}


def mix_of(claim: ClaimRecord) -> Mix:
    """Return the chances of a claim's examples; their mean where they mix and are no 1/m."""
    sizes = sizes_by_chance(claim)
    if len(sizes) == 1:
        return next(iter(sizes))
    if sizes and all(chance.numerator == 1 for chance in sizes):
        return {chance.denominator: size for chance, size in sizes.items()}
    return claim.standard_baseline or 0.0
