"""What a check finds, and when that is no accident."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record.red_flags import RedFlagKind

UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A red flag; :mod:`pytest_maxrandom.reports` words it.

    Attributes
    ----------
    kind : str
        What is found.
    parameters : dict of str
        Numbers and names, of builtin types. Where a kind is found in several ways, `case` says how.
    mild : bool
        Whether it warns where others of its kind fail by default.
    """

    kind: RedFlagKind
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    mild: bool = False


class Accident(NamedTuple):
    """How likely it is that so many of t guessers do something, from `of_several`."""

    times: int
    """How many of them."""
    log_p: float
    """Logarithm of the probability at most that so many of t do."""


def of_several(singles: Sequence[float], t: int) -> Accident:
    """Judge what several of t prompts do by how many of them do it.

    Of t guessers k or more have p-values up to b with a probability of at most P(Bin(t, b) >= k)
    (Wilkinson 1951, "A statistical consideration in psychological research"). The least over all b
    counts (Bonferroni), so that one prompt with few examples, which says little, does not hide what
    others say.

    Parameters
    ----------
    singles
        For each prompt that does it, the probability at most that a guesser with its examples
        does: at least one.
    t
        Number of prompts.
    """
    ordered = sorted(singles)
    last = {single: times for times, single in enumerate(ordered, 1)}
    looks = math.log(len(last))
    accidents = []
    for single, times in last.items():
        log_p = GuesserCount(((Fraction(single), t),)).log_p_at_least(times)
        accidents.append(Accident(times, min(0.0, looks + log_p)))
    return min(accidents, key=lambda each: each.log_p)
