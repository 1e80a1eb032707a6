"""Prompts that are right on nearly the same examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers


_ENOUGH = 5
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


def _check(judged: JudgedAnswers) -> Found:
    """Find a claim that passes by prompts that are right on nearly the same examples.

    If only right and wrong are known, one label for every example looks like that, and where right
    answers are unbalanced it is above chance.
    """
    tried, result = judged.answers, judged.passing
    if result is None or (result.p_max or 0) > result.level:
        return
    if tried.answers is not None and tried.gold is not None:
        return
    t = len(tried.prompts)
    if t < _ENOUGH or result.reached > _PLAIN:
        return
    kappas, apart = _agreement(tried, result.best)
    near = kappas >= _ALIKE
    if 2 * near.sum() <= t - 1:
        return
    differ = apart[near].mean()
    parameters = {
        "told": int(near.sum()),
        "prompts": t,
        "differing": float(differ),
        "reached": result.reached,
    }
    yield Flag("near_identical_prompts", parameters)


def _agreement(tried: Answers, best: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare all prompts with the best one.

    Of two labels the other one is right where one is wrong, so that prompts count as alike too
    which are right on the other examples. One more difference is counted than there is, so that few
    examples say less. Return Cohen's kappa, 0 of the best itself and where nothing is left to be
    explained, and the share of answers that differ, each of shape (t,).
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


RED_FLAG = RedFlagKind(
    kind="near_identical_prompts",
    rank=150,
    topic="knowledge",
    default="fail",
    description="Prompts that are all right on the same examples, without labels that could "
    "distinguish them from constant answers.",
    sentences="{who} {told:is/are} right on the same examples as the best one, or on exactly the "
    "others ({differing:percent} of the answers differ), and its accuracy is {reached:accuracy}: "
    "one label for every example looks like that, and only labels could distinguish it from "
    "knowledge; give answers and right answers.",
    brief="prompts look like one constant answer",
    remedy="give answers and right answers",
    check=_check,
)
