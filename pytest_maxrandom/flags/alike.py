"""Prompts that all answer alike, where nothing tells answers from knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.wording import of_prompts
from pytest_maxrandom.notation import accuracy, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

_PROMPTS = 5
"""Prompts from which on it says something that they agree."""
_ALIKE = 0.8
"""Cohen's kappa from which on two prompts are right on nearly the same examples, or on the others.

In the results of Yauney and Mimno (2024) that are above guessers the median prompt has .77 at most
with the best one, but .86 and more where the best one gives nearly all examples one label.
"""
_PLAIN = 0.8
"""Accuracy up to which a constant answer is a likely reason, whatever the task.

Above it, right answers would have to be more unbalanced than four to one, and prompts of a model
that is nearly always right agree as much.
"""


def near_identical(tried: Seen) -> Iterator[Flag]:
    """Find a claim that passes by prompts that are right on nearly the same examples.

    If only right and wrong are known, one label for every example looks like that, and where right
    answers are unbalanced it is above chance.
    """
    outcome = tried.outcome
    if outcome is None or not outcome.passed or (outcome.p_max or 0) > outcome.level:
        return
    if tried.answers is not None and tried.gold is not None:
        return
    t = len(tried.prompts)
    if t < _PROMPTS or outcome.correct > _PLAIN * outcome.n:
        return
    kappas, apart = _compared(tried, outcome.best)
    near = kappas >= _ALIKE
    if 2 * near.sum() <= t - 1:
        return
    differ = apart[near].mean()
    yield Flag(
        "near_identical_prompts",
        f"{of_prompts(int(near.sum()), t, 'is', 'are')} right on the same examples as the best "
        f"one, or on exactly the others ({percent(float(differ))} of the answers differ), and its "
        f"accuracy is {accuracy(outcome.correct / outcome.n)}: one label for every example looks "
        "like that, and without labels nothing tells it from knowledge; give answers and right "
        "answers.",
    )


def _compared(tried: Seen, best: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare all prompts with the best one.

    Of two labels the other one is right where one is wrong, so that prompts count as alike too
    which are right on the other examples. One more difference is counted than there is, so that
    few examples say less.

    Returns
    -------
    Cohen's kappa, 0 of the best itself and where nothing is left to be explained, and the share of
    answers that differ, each of shape (t,).
    """
    both = (tried.evaluated & tried.evaluated[best]).astype(np.float64)
    sizes = np.maximum(both.sum(axis=1), 1)
    right, right_of_best = (
        (both * table).sum(axis=1) / sizes for table in (tried.correct, tried.correct[best])
    )
    same = (both * (tried.correct == tried.correct[best])).sum(axis=1)
    kappas = np.zeros_like(same)
    for agreeing, share in ((same, right), (both.sum(axis=1) - same, 1 - right)):
        chance = share * right_of_best + (1 - share) * (1 - right_of_best)
        beyond = agreeing / (sizes + 1) - chance
        kappa = np.divide(beyond, 1 - chance, where=chance < 1, out=np.zeros_like(chance))
        kappas = np.maximum(kappas, kappa)
    kappas[best] = 0.0
    return kappas, np.minimum(same, sizes - same) / sizes
