"""Before a comparison: how often a loss of one prompt's accuracy would be found, and from what n.

An answer changes without anything being worse with a probability, `changed`, half of it to either
side; a loss comes on top. What is summed is exact for right or wrong answers of one prompt.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.stats.best_of import first_count
from pytest_maxrandom.stats.chances import proportion, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.judged_losses import look_share
from pytest_maxrandom.stats.regressions import LossTest, needed_units
from pytest_maxrandom.stats.sizes import POWERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SUMMED, _STEP = 3_000, 1.01
"""Examples up to which a power is summed to find their number, and by how much that then grows."""
_TAIL = 1e-9
"""Of the probability of a count, which is left out on either side."""


def power_of_worse(n: int, loss: float, changed: float, level: float) -> float:
    """Return how often "worse" is shown of a prompt that lost so much.

    Parameters
    ----------
    n
        Examples.
    loss, changed
        How much lower the accuracy is; in which share of examples the answer changes besides.
    level
        That of the test, with what Holm, looks and the choice of the base take of it.
    """
    gain, lost = changed / 2, changed / 2 + loss
    together = _binomial(n, gain + lost)
    share = lost / (gain + lost) if lost else 0.0
    total = 0.0
    for count in np.flatnonzero(together > _TAIL).tolist():
        tails = np.cumsum(_binomial(count, 0.5)[::-1])[::-1]  # P(at least so many of them are lost)
        passing = np.flatnonzero(tails <= level * (1 + 1e-12))
        if len(passing):
            total += float(together[count]) * float(_binomial(count, share)[passing[0] :].sum())
    return min(1.0, total)


def power_of_not_worse(n: int, changed: float, margin: float, level: float) -> float:
    """Return how often "not worse by more than the margin" is shown of what is as good.

    Parameters
    ----------
    n, changed, level
        As of `power_of_worse`.
    margin
        Below 0.
    """
    gains = _binomial(n, changed / 2)
    most, total = n, 0.0
    for gain in np.flatnonzero(gains > _TAIL).tolist():
        most = _most_losses(n, gain, margin, level)
        left = _binomial(n - gain, (changed / 2) / (1 - changed / 2))
        total += float(gains[gain]) * float(left[: most + 1].sum())
    return min(1.0, total)


def _most_losses(n: int, gains: int, margin: float, level: float) -> int:
    """Return the most losses that show it beside so many gains; -1 where none do."""

    def are_too_many(losses: int) -> bool:
        values = np.repeat([1.0, -1.0, 0.0], [gains, losses, n - gains - losses])
        return LossTest(values).p_not_worse(margin) > level

    most = min(n - gains, gains + math.ceil(-margin * n))
    return first_count(0, most + 1, are_too_many) - 1


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    """Return the probability of each count."""
    window = GuesserCount(((Fraction(p), n),)).window
    return np.pad(window.masses, (window.low, n - window.high))


def regression_plan(
    n: int | None,
    *,
    loss: float | None,
    margin: float,
    changed: float = 0.1,
    claims: int = 1,
    tried: int = 1,
    look: int = 1,
    alpha: float = 0.05,
) -> dict[str, Any]:
    """Answer what a comparison of one prompt with a base can show.

    Parameters
    ----------
    n
        Examples, if they are known: then powers are given for them, else only numbers of examples.
    loss
        A loss that is to be found, if that is asked.
    margin
        Below 0: what "not worse" allows.
    changed
        Share of answers that change though nothing is worse.
    claims
        As many are compared: the first of them has to pass Holm's least level.
    tried
        Of how many prompts the base was the best, on the same examples.
    look
        Which comparison on these examples it is, from 1.
    alpha
        How often any claim may be called worse, at any look.

    Raises
    ------
    TypeError, ValueError
        If a number is outside its domain.
    """
    proportion("alpha", alpha)
    proportion("changed", changed)
    if not -1 < margin < 0:
        raise ValueError(f"margin must be between -1 and 0, found {margin!r}")
    if loss is not None and not 0 < loss <= 1 - changed:
        raise ValueError(f"loss must be above 0 and at most {1 - changed:g}, found {loss!r}")
    share = alpha * look_share(look)
    of_worse = share / whole_number("claims", claims, 1) / whole_number("t", tried, 1)
    plan: dict[str, Any] = {
        "given": {"n": n, "loss": loss, "margin": margin, "changed": changed, "claims": claims,
                  "tried": tried, "look": look, "alpha": alpha},
        "level_worse": of_worse,
        "level_not_worse": share,
        "n_not_worse": {
            str(power): needed_units(math.sqrt(changed), margin, share, power) for power in POWERS
        },
    }  # fmt: skip
    if loss is not None:
        plan["n_worse"] = {
            str(power): _needed_for_worse(loss, changed, of_worse, power) for power in POWERS
        }
    if n is not None:
        whole_number("n", n, 1, 20_000)
        plan["power_not_worse"] = power_of_not_worse(n, changed, margin, share)
        if loss is not None:
            plan["power_worse"] = power_of_worse(n, loss, changed, of_worse)
    return plan


def _needed_for_worse(loss: float, changed: float, level: float, power: float) -> int:
    """Return about how many examples show it: by the normal distribution, and then exactly.

    What is exact is a saw-tooth in n, and below the smooth curve, which matters where n is small.
    """
    normal = NormalDist()
    variance = changed + loss
    null = normal.inv_cdf(1 - level) * math.sqrt(variance)
    other = normal.inv_cdf(power) * math.sqrt(variance - loss**2)
    n = math.ceil(((null + other) / loss) ** 2)
    while n < _SUMMED and power_of_worse(n, loss, changed, level) < power:
        n = math.ceil(n * _STEP)
    return n
