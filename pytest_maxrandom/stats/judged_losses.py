"""What is shown of claims that got worse, or did not, once chance has been paid for.

What is compared may have been chosen on these very examples. A base that was the best of t has luck
that the head has not, so its p-value of "worse" is multiplied by the number of ways to choose what
is compared (Bonferroni): t for the best of t, 1 where all that was tried is compared.

A gate looks at each push. The k-th look at other answers has the share 1/(k (k+1)) of the level:
all shares sum to 1, however many looks there are and whatever decides about the next one. Looks at
the same examples are no new evidence, so nothing is gained from multiplying over them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.multiplicity import above, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

Shown = Literal["worse", "not worse", "cannot tell"]
"""What two p-values show."""


def chosen(p: float, compared: int, tried: int, variants: int = 1) -> float:
    """Return a p-value that holds whichever of the prompts tried were chosen for it.

    Parameters
    ----------
    p
        Of the prompts that are compared.
    compared, tried
        How many these are, and of how many they may be the best. Bonferroni over all ways to choose
        them: `tried` times the p-value of one prompt, the p-value itself where all are compared.
    variants
        Of how many models that were tried in this way the best may have been taken.

    Examples
    --------
    >>> chosen(0.001, 1, 20), chosen(0.001, 20, 20), chosen(0.001, 2, 5)
    (0.02, 0.001, 0.01)
    """
    whole_number("compared", compared, 1)
    ways = _log_ways(max(tried, compared), compared) + math.log(
        whole_number("variants", variants, 1)
    )
    if p == 0 or math.log(p) + ways >= 0:
        return 0.0 if p == 0 else 1.0
    exact = ways < 30  # the count itself, without rounding
    count = math.comb(max(tried, compared), compared) * variants if exact else math.exp(ways)
    return min(1.0, p * count)


def _log_ways(tried: int, compared: int) -> float:
    least = min(compared, tried - compared)
    return math.lgamma(tried + 1) - math.lgamma(least + 1) - math.lgamma(tried - least + 1)


def look_share(look: int) -> float:
    """Return what share of the level the k-th look has; the shares of all looks sum to 1.

    Examples
    --------
    >>> look_share(1), look_share(2), round(sum(map(look_share, range(1, 10_000))), 3)
    (0.5, 0.16666666666666666, 1.0)
    """
    return 1 / (whole_number("look", look, 1) * (look + 1))


class Judged(NamedTuple):
    """What was shown of one claim among several."""

    shown: Shown
    """What can be said. "not worse" comes first: a loss that is certain may be within the
    margin."""
    holm: float
    """The p-value of "worse", adjusted for its look and, by Holm, for all claims; at most alpha
    where it is shown."""
    not_worse: float
    """The p-value of "not worse by more than the margin", adjusted for its look. What is asserted
    is that this holds of all claims, which is wrong only where it is wrong of one; so the number of
    claims makes nothing of it more likely (Berger, "Multiparameter Hypothesis Testing and
    Acceptance Sampling", 1982)."""


def judged(
    worse: Sequence[float], not_worse: Sequence[float], looks: Sequence[int], alpha: float
) -> list[Judged]:
    """Judge several claims together.

    Parameters
    ----------
    worse, not_worse
        P-values of each claim; see `chosen` where something was.
    looks
        Which look at its examples each one is, from 1.
    alpha
        How often any claim may be called worse, at any look, though none is.
    """
    spent = [
        [min(1.0, p / look_share(look)) for p, look in zip(ps, looks, strict=True)]
        for ps in (worse, not_worse)
    ]
    verdicts = []
    for adjusted, bounded in zip(holm(spent[0]), spent[1], strict=True):
        shown: Shown = "cannot tell"
        if not above(bounded, alpha):
            shown = "not worse"
        elif not above(adjusted, alpha):
            shown = "worse"
        verdicts.append(Judged(shown, adjusted, bounded))
    return verdicts
