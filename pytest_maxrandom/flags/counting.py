"""How many prompts or answers something is so of, and when that is no accident."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.kind import JudgedAnswers, Parts

UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""
OF_ANSWERS = "{told:,} of {answers:,} answers ({part:percent}){of_best}"
"""How sentences say what `part_of_answers` returns."""
PARTS_OF_ANSWERS: Parts = {
    "part": lambda of: of["told"] / of["answers"],
    "of_best": lambda of: "" if of["best"] is None else f" of prompt {of['best']!r}, the best,",
}


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


def part_of_answers(
    share: float, marked: NDArray[np.bool_], judged: JudgedAnswers, *, least: int = 1
) -> dict[str, Any] | None:
    """Count the answers of which something holds, where it is more than a share of them.

    It is looked for in all prompts together, and in the best prompt, which is what is claimed.

    Parameters
    ----------
    marked : ndarray of bool
        Shape (t, n): of which answers it holds.
    least : int
        How many are few, whatever their share.

    Returns
    -------
    dict of str, or None
        Of all prompts; of the best where it is that one only; None where it is neither.
    """
    tried = judged.answers
    rows: dict[str | None, NDArray[np.intp]] = {None: np.arange(len(marked))}
    if judged.result is not None:
        best = judged.result.best
        rows[tried.prompts[best]] = np.array([best])
    for prompt, those in rows.items():
        part, whole = int(marked[those].sum()), int(tried.sizes[those].sum())
        if part >= least and part > share * whole:
            return {"told": part, "answers": whole, "best": prompt}
    return None


def row_codes(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give equal rows the same number, from 0; scores that both lack (NaN) are equal."""
    # Zero is added because -0. and 0. are other bytes.
    rows = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows)) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    codes: NDArray[np.intp] = np.unique(whole, return_inverse=True)[1]
    return codes
