"""Answers that are never right, scores that are tied, or of texts that no model would write."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.accident import of_several
from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.wording import of_prompts
from pytest_maxrandom.notation import count, p_value, percent
from pytest_maxrandom.stats.labels import LITTLE_MASS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

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
_NAN = 0.01
"""Scores that are no numbers in so many answers are more than a few."""


def never_right(tried: Seen) -> Iterator[Flag]:
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
    p = p_value(math.exp(accident.log_p), accident.log_p)
    several = f"of {count(t)} guessers {count(accident.times)} or more are"
    who = "a guesser is" if t == 1 else several
    yield Flag(
        "never_right",
        f"{of_prompts(len(wrong), t, 'is', 'are')} right on no example; {who} with "
        f"probability {p} at most: look whether texts were cut, answers were not understood, or "
        "right and wrong were exchanged.",
    )


def tied(tried: Seen) -> Iterator[Flag]:
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
        yield Flag(
            "tied_scores",
            f"{part} have scores that are no numbers (NaN): look for overflow in the run.",
        )
    second, best = np.moveaxis(np.sort(np.where(there, scores, -np.inf), axis=2)[..., -2:], 2, 0)
    equal = tried.evaluated & (numbers > 1) & (best == second)
    if part := _more_than(_TIED, equal, tried, least=_FEW):
        yield Flag(
            "tied_scores",
            f"In {part} the highest score is exactly that of another choice: look whether the "
            "scored text tells the choices apart, and how scores are rounded.",
        )


def _more_than(
    share: float, marked: NDArray[np.bool_], tried: Seen, *, least: int = 1
) -> str | None:
    """Say of how many answers something holds, where it is more than a share of them.

    Returns
    -------
    str or None
        Of all prompts; of the best where it is that one only; None where it is neither.
    """
    rows = {"": np.arange(len(marked))}
    if tried.outcome is not None:
        best = tried.outcome.best
        rows[f" of prompt {tried.prompts[best]!r}, the best,"] = np.array([best])
    for whose, those in rows.items():
        part, whole = int(marked[those].sum()), int(tried.sizes[those].sum())
        if part >= least and part > share * whole:
            return f"{count(part)} of {count(whole)} answers ({percent(part / whole)}){whose}"
    return None


def label_mass(tried: Seen) -> Iterator[Flag]:
    """Find labels that the model gives hardly any probability."""
    if tried.log_likelihoods is None or tried.labelled is None or not tried.labelled.any():
        return
    rows = np.flatnonzero(tried.labelled)
    mass = np.nansum(np.exp(tried.log_likelihoods[rows]), axis=2)
    means = mass.sum(axis=1, where=tried.evaluated[rows]) / tried.sizes[rows]
    low = means < LITTLE_MASS
    best = tried.outcome is not None and bool(low[rows == tried.outcome.best].any())
    if best or 2 * low.sum() > len(rows):
        yield Flag(
            "label_mass",
            f"{of_prompts(int(low.sum()), len(tried.prompts), 'gives', 'give')} all labels "
            f"together a probability below {percent(LITTLE_MASS)} (the least is "
            f"{percent(float(means.min()))}, mean over the examples): the model would say "
            "something else; look at the text before the answer.",
        )
