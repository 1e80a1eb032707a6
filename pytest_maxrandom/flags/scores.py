"""Scores that tell nothing: constant, tied, or of texts that the model would not write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.wording import of_prompts, percent
from pytest_maxrandom.notation import count, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

_UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""
_ALIKE = 0.05
"""Share of equal pairs of examples from which on scores do not depend on the example."""
_FEWEST = 20
"""Examples that say something about all."""
_KNOWING = 4.0
"""Standard deviations above chance at which scores depend on the example, however few they are."""
_TIED = 0.1
"""Share of ties in the answers that scores in 16 bits may have."""
_FEW = 5
"""Ties from which on their share says something."""
_NAN = 0.01
"""Scores that are no numbers in so many answers are more than a few."""
_MASS = 0.01
"""Probability of all labels together below which a model does not mean them."""


def never_right(tried: Seen) -> Iterator[Flag]:
    """Find prompts that are right nowhere."""
    wrong = np.flatnonzero(~tried.correct.any(axis=1))
    if not len(wrong):
        return
    # The product of all 1 - chance is at most that power of their mean.
    most = (1 - float(tried.chance)) ** int(tried.sizes[wrong].min())
    if len(wrong) * most <= _UNLIKELY:
        t = len(tried.prompts)
        among = f" and any of {count(t)} with {p_value(min(1.0, t * most))}" if t > 1 else ""
        yield Flag(
            "never_right",
            f"{of_prompts(len(wrong), t, 'is', 'are')} right on no example, which one guesser is "
            f"with probability {p_value(most)} at most{among}: look whether their text was cut, "
            "their answers were not understood, or right and wrong were exchanged.",
        )


def constant(tried: Seen) -> Iterator[Flag]:
    """Find prompts whose scores are the same for many different examples.

    Counted are pairs of examples with equal scores. A text that was cut before the question has
    one value for each answer; scores that were rounded to 16 bits have hundreds.
    """
    if tried.log_likelihoods is None:
        return
    found, least = [], len(tried.examples)
    if _are_hard(tried.log_likelihoods[tried.evaluated]):
        return
    different = _different(tried.inputs, len(tried.examples))
    chance = float(tried.chance)
    for place, scores in enumerate(tried.log_likelihoods):
        there = ~np.isnan(scores).all(axis=1)
        scored = np.flatnonzero(tried.evaluated[place] & different & there)
        n = len(scored)
        if n < _FEWEST:
            continue
        excess = tried.correct[place, scored].sum() - n * chance
        if excess > _KNOWING * (n * chance * (1 - chance)) ** 0.5:
            continue
        times = _times(scores[scored])
        if (times * (times - 1)).sum() > _ALIKE * n * (n - 1):
            found.append(place)
            least = min(least, len(times))
    if found:
        one = found[0]
        yield Flag(
            "constant_scores",
            f"{of_prompts(len(found), len(tried.prompts), 'gives', 'give')} different examples the "
            f"same scores (as few as {count(least)} different ones for "
            f"{count(int((tried.evaluated[one] & different).sum()))} examples): look whether the "
            "text was cut before the question.",
        )


def _different(inputs: tuple[str, ...] | None, n: int) -> NDArray[np.bool_]:
    """Mark one example of each text, shape (n,)."""
    if inputs is None:
        return np.ones(n, dtype=np.bool_)
    marked = np.zeros(n, dtype=np.bool_)
    marked[[*{text: place for place, text in enumerate(inputs)}.values()]] = True
    return marked


def _are_hard(rows: NDArray[np.float64]) -> bool:
    """Tell whether rows are answers without scores, such as one 1 among zeros.

    With as many choices they are then the same numbers in different orders.
    """
    ordered = np.sort(rows, axis=1)
    choices = np.unique((~np.isnan(rows)).sum(axis=1))
    return len(_times(ordered)) == len(choices) < len(_times(rows))


def _times(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often each different row occurs."""
    return np.bincount(row_codes(rows))


def row_codes(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give equal rows the same number, from 0; scores that both lack (NaN) are equal."""
    # Zero is added because -0. and 0. are other bytes.
    rows = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows)) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    codes: NDArray[np.intp] = np.unique(whole, return_inverse=True)[1]
    return codes


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
    low = means < _MASS
    best = tried.outcome is not None and bool(low[rows == tried.outcome.best].any())
    if best or 2 * low.sum() > len(rows):
        yield Flag(
            "label_mass",
            f"{of_prompts(int(low.sum()), len(tried.prompts), 'gives', 'give')} all labels "
            f"together a probability below {percent(_MASS)} (as little as "
            f"{percent(float(means.min()))}, mean over the examples): the model would say "
            "something else; look at the text before the answer.",
        )
