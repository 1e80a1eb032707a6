"""Answers that are never right or cannot be read, scores that are tied, or of unlikely texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import Unread
from pytest_maxrandom.flags.flag import Flag, of_several
from pytest_maxrandom.stats.labels import LITTLE_MASS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.flag_input import FlagInput

_NEVER = 1e-4
"""What all guessers of a sweep do with at most this probability is no accident.

In the results of Yauney and Mimno (2024), where texts were cut, the least of these is one prompt in
200 that is right on none of 56 examples of four choices (2e-5); of the 144 sweeps there, .014 would
be told by accident.
"""
_TIED = 0.1
"""Share of ties in the answers that scores in 16 bits may have."""
_FEW = 5
"""Ties from which on their share says something."""
_UNREAD = 0.05
"""Share of generated answers that may name no choice before an accuracy tells more of them."""
_NAN = 0.01
"""Scores that are no numbers in so many answers are more than a few."""


def never_right(tried: FlagInput) -> Iterator[Flag]:
    """Find prompts that are right nowhere, and more of them than guessers are."""
    wrong = np.flatnonzero(~tried.correct.any(axis=1))
    if not len(wrong):
        return
    t = len(tried.prompts)
    # The product of all 1 - chance is at most that power of their mean.
    singles = (1 - float(tried.chance)) ** tried.sizes[wrong]
    accident = of_several(singles.tolist(), t)
    if accident.log_p > math.log(_NEVER):
        return
    parameters = {
        "told": len(wrong),
        "prompts": t,
        "guessers": accident.times,
        "log_p": accident.log_p,
    }
    yield Flag("never_right", parameters)


def unread(tried: FlagInput) -> Iterator[Flag]:
    """Find generated answers in which no choice could be read.

    They are looked for in all prompts together, and in the best prompt, which is what is claimed.
    """
    if tried.unread is None:
        return
    why = np.where(tried.evaluated, tried.unread, Unread.NOT)
    if part := _more_than(_UNREAD, why != Unread.NOT, tried):
        those = why if part["best"] is None else why[tried.prompts.index(part["best"])]
        counts = {one.name.lower(): int((those == one).sum()) for one in Unread if one}
        yield Flag("unread_answers", {**part, **counts})


def tied(tried: FlagInput) -> Iterator[Flag]:
    """Find best scores that several choices share, and scores that are no numbers.

    Both are looked for in all prompts together, and in the best prompt, which is what is claimed.
    """
    scores = tried.log_likelihoods
    if scores is None or scores.shape[2] < 2:
        return
    there = ~np.isnan(scores)
    numbers = there.sum(axis=2)
    lacking = tried.evaluated & ((numbers < numbers.max(axis=0)) | (numbers == 0))
    if part := _more_than(_NAN, lacking, tried):
        yield Flag("tied_scores", {"case": "no_numbers", **part})
    second, best = np.moveaxis(np.sort(np.where(there, scores, -np.inf), axis=2)[..., -2:], 2, 0)
    equal = tried.evaluated & (numbers > 1) & (best == second)
    if part := _more_than(_TIED, equal, tried, least=_FEW):
        yield Flag("tied_scores", {"case": "equal", **part})


def _more_than(
    share: float, marked: NDArray[np.bool_], tried: FlagInput, *, least: int = 1
) -> dict[str, Any] | None:
    """Count the answers of which something holds, where it is more than a share of them.

    Returns
    -------
    dict of str, or None
        Of all prompts; of the best where it is that one only; None where it is neither.
    """
    rows: dict[str | None, NDArray[np.intp]] = {None: np.arange(len(marked))}
    if tried.outcome is not None:
        best = tried.outcome.best
        rows[tried.prompts[best]] = np.array([best])
    for prompt, those in rows.items():
        part, whole = int(marked[those].sum()), int(tried.sizes[those].sum())
        if part >= least and part > share * whole:
            return {"told": part, "answers": whole, "best": prompt}
    return None


def label_mass(tried: FlagInput) -> Iterator[Flag]:
    """Find labels that the model gives hardly any probability."""
    if tried.log_likelihoods is None or tried.labelled is None or not tried.labelled.any():
        return
    rows = np.flatnonzero(tried.labelled)
    mass = np.nansum(np.exp(tried.log_likelihoods[rows]), axis=2)
    means = mass.sum(axis=1, where=tried.evaluated[rows]) / tried.sizes[rows]
    low = means < LITTLE_MASS
    best = tried.outcome is not None and bool(low[rows == tried.outcome.best].any())
    if best or 2 * low.sum() > len(rows):
        parameters = {
            "told": int(low.sum()),
            "prompts": len(tried.prompts),
            "below": LITTLE_MASS,
            "least": float(means.min()),
        }
        yield Flag("label_mass", parameters)
