"""How many prompts a search could have tried, by what it learned of those that it did try.

A search proposes its next prompt from what it was told of the last ones. Which prompts it tries is
settled by these answers, so all searches that could have been are a tree: each prompt a node, each
possible answer a branch. The tree does not depend on the examples, so the best prompt on the path
that was gone is no better than the best of the whole tree, and p_max counts all of its prompts.
With one bit per prompt there are at most 2^steps. (Dwork et al., "The reusable holdout: Preserving
validity in adaptive data analysis", Science 349, 2015; Blum and Hardt, "The Ladder", 2015.)

Whoever learns which questions were answered rightly has no such tree: what comes next may be
written for these very questions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_maxrandom.stats.best_of import MOST_OF_A_TREE

if TYPE_CHECKING:
    from collections.abc import Iterable

Feedback = Literal["none", "accept", "score", "answers"]
"""What a search learns of a prompt: nothing; whether it is better than the best before; how many
answers are right; which answers are right."""


class Searched(NamedTuple):
    """What one search has tried on a validation set.

    Attributes
    ----------
    feedback
        What it was told of each prompt.
    steps
        Distinct prompts of which it was told something.
    n
        Examples that a prompt is scored on.
    budget
        Steps that were declared before it began; None where none were.
    """

    feedback: Feedback
    steps: int
    n: int
    budget: int | None = None


class Look(NamedTuple):
    """A verdict that was seen: it told which prompt is best, and how many answers are right.

    Attributes
    ----------
    t
        Prompts of which one is best.
    n
        Examples that it is scored on.
    """

    t: int
    n: int


def prompts_of(
    t: int, searches: Iterable[Searched] = (), *, looks: Iterable[Look] = ()
) -> int | None:
    """Return the best of how many prompts the best of t prompts may be.

    Parameters
    ----------
    t
        Distinct prompts that were tried without telling anybody anything.
    searches
        The searches on these examples. Whatever else was tried may have come from what they
        learned, so each answer that they were given multiplies it.
    looks
        Those before. Whatever else the searches are told, a look tells them too.

    Returns
    -------
    int or None
        None where no number is known, and where it is above 2**1000.

    Notes
    -----
    A search that declared no budget may stop wherever it likes. It is judged at the end of the
    doubling of its steps, and the d-th doubling spends 1 / (d (d + 1)) of the level, as in
    `pytest_maxrandom.stats.looks`: here the number of prompts is multiplied instead.

    Examples
    --------
    >>> prompts_of(200)
    200
    >>> prompts_of(0, [Searched("accept", 20, n=200, budget=20)]) == 2**20 - 1
    True
    >>> prompts_of(3, [Searched("answers", 3, n=200)]) is None
    True
    """
    leaves, learned, weight = 1, 0, 1
    given = list(searches)
    if any(_branches(one) is None for one in given):
        return None
    # Searches may take turns; a tree is largest where the widest branches come first.
    for one in sorted(given, key=lambda one: -(_branches(one) or 0)):
        branches = _branches(one) or 1
        if branches == 1 or not one.steps:
            continue
        steps = max(one.steps, one.budget or 0)
        if one.budget is None or one.steps > one.budget:
            doubling = one.steps.bit_length()
            steps = 2**doubling - 1
            weight *= doubling * (doubling + 1)
        if steps * math.log2(branches) > MOST_OF_A_TREE.bit_length():
            return None
        nodes = (branches**steps - 1) // (branches - 1)
        learned = leaves * nodes + learned
        leaves *= branches**steps
    found = (learned + leaves * t) * weight
    for look in looks if given else ():
        found *= (look.n + 1) * max(1, look.t)
        if found > MOST_OF_A_TREE:
            return None
    return found if found <= MOST_OF_A_TREE else None


def _branches(one: Searched) -> int | None:
    """Return how many different answers a search may get to one prompt."""
    return {"none": 1, "accept": 2, "score": one.n + 1, "answers": None}[one.feedback]
