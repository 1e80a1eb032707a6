"""Any number of looks at one claim while t grows."""

from __future__ import annotations

from pytest_maxrandom.stats.chances import proportion, whole_number


def spent(alpha: float, t: int) -> tuple[float, int]:
    """Return the level of a look at t prompts, and as the best of how many it is tested.

    The level is spent per doubling of t: a look belongs to doubling d = ceil(log2 t), is tested as
    the best of T = 2^d guessers, those at its end, at alpha / ((d + 1) (d + 2)). Looks within one
    doubling are all about the best of the same T, and the levels of all doublings add up to alpha.

    Examples
    --------
    >>> level, end = spent(0.05, 200)
    >>> f"{level:.2e}", end
    ('5.56e-04', 256)
    """
    level = proportion("alpha", alpha)
    doubling = (whole_number("t", t, 1) - 1).bit_length()
    return level / ((doubling + 1) * (doubling + 2)), 2**doubling
