"""Claims on examples on which a search tried prompts: how many, and p-values however many.

A search proposes its next prompt from what it was told of the last ones. Which prompts it tries is
settled by these answers, so all searches that could have been are a tree: each prompt a node, each
possible answer a branch. The tree does not depend on the examples, so the best prompt on the path
that was gone is no better than the best of the whole tree, and p_max counts all of its prompts.
With one bit per prompt there are at most 2^steps. (Dwork et al., "The reusable holdout: Preserving
validity in adaptive data analysis", Science 349, 2015; Blum and Hardt, "The Ladder", 2015.)

Whoever learns which questions were answered rightly has no such tree: what comes next may be
written for these very questions.

With so many prompts only p-values count that are far below what right answers can be shuffled for.
`matches_p` has them exactly. A prompt that gives label l to a_l examples, of which g_l examples
have l as their right answer, has as many hits as a random permutation has points on the board of
the rectangles a_l x g_l. The rook numbers of that board are the products of those of its
rectangles, C(a, k) C(g, k) k!, and its factorial moments are r_k (n - k)! / n! (Riordan, "An
Introduction to Combinatorial Analysis", 1958, chapters 7 and 8). All is computed in integers. Of
more examples than that is quick for, a bound is given that always holds: with mu expected hits,
P(hits >= mu + d) <= exp(-d^2 / (4 mu + 2 d)) (Chatterjee, "Stein's method for concentration
inequalities", Probability Theory and Related Fields 138, 2007, proposition 1.1).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pytest_maxrandom.stats.best_of import MOST_OF_A_TREE
from pytest_maxrandom.stats.chances import integers
from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.maximum import Floats

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


_MOST_EXAMPLES = 1200
"""That are shuffled together exactly; seconds."""


def matches_p(answers: ArrayLike, gold: Gold, strata: ArrayLike | None = None) -> float | None:
    """Return P(at least as many hits where right answers are shuffled) of one prompt.

    Examples that the prompt was not scored on keep their right answers, which it may have shown.

    Parameters
    ----------
    answers
        Labels that one prompt gave, shape (n,); -1 where it was not scored.
    gold
        The right label of each example, or a set of labels.
    strata
        Which examples right answers are shuffled among, a number for each; None: all.

    Returns
    -------
    float or None
        None where an example has several right answers, of which no formula is known.

    Examples
    --------
    >>> round(matches_p([0, 0, 1, 1], [0, 0, 1, 1]), 6)  # 1 of 6 arrangements
    0.166667
    >>> matches_p([0, 0, 0, 0], [0, 0, 1, 1])  # a constant answer
    1.0
    """
    chosen, rights = integers("answers", answers, 1), right_labels(gold)
    if len(rights) != len(chosen):
        raise ValueError(f"gold names {len(rights)} examples, the answers {len(chosen)}")
    if any(len(right) > 1 for right in rights):
        return None
    right = np.array([min(each) for each in rights])
    parts = np.zeros(len(chosen), dtype=np.int64)
    if strata is not None:
        parts = integers("strata", strata, 1)
        if len(parts) != len(chosen):
            raise ValueError(f"strata names {len(parts)} examples, the answers {len(chosen)}")
    scored = chosen != NOT_EVALUATED
    observed = int(np.sum(chosen[scored] == right[scored]))
    shuffled = [scored & (parts == part) for part in np.unique(parts[scored])]
    if max((int(here.sum()) for here in shuffled), default=0) > _MOST_EXAMPLES:
        return _bound(observed, [(chosen[here], right[here]) for here in shuffled])
    masses = np.ones(1)
    for here in shuffled:
        masses = np.convolve(masses, hits_masses(chosen[here].tolist(), right[here].tolist()))
    return min(1.0, math.fsum(masses[observed:].tolist()))


def _bound(observed: int, parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> float:
    """Bound P(at least as many hits) by their expected number."""
    expected = 0.0
    for answers, right in parts:
        given, there = Counter(answers.tolist()), Counter(right.tolist())
        expected += sum(given[label] * there[label] for label in there) / len(right)
    above = observed - expected
    return 1.0 if above <= 0 else math.exp(-(above**2) / (4 * expected + 2 * above))


def hits_masses(answers: Sequence[int], gold: Sequence[int]) -> Floats:
    """Return P(k hits) for k = 0, 1, ..., where the right answers are shuffled among examples.

    Parameters
    ----------
    answers, gold
        Labels, one of each for every example.
    """
    n, given = len(answers), Counter(answers)
    rooks = [1]
    for label, there in Counter(gold).items():
        rectangle = [
            math.comb(given[label], k) * math.perm(there, k)
            for k in range(min(given[label], there) + 1)
        ]
        rooks = _product(rooks, rectangle)
    # sum_k r_k (n - k)! (x - 1)^k = sum_k N_k x^k, where N_k arrangements have exactly k hits.
    counts = [rook * math.factorial(n - k) for k, rook in enumerate(rooks)]
    for i in range(len(counts) - 1):
        for k in range(len(counts) - 2, i - 1, -1):
            counts[k] -= counts[k + 1]
    arrangements = math.factorial(n)
    return np.array([each / arrangements for each in counts])  # correctly rounded quotients


def _product(one: list[int], other: list[int]) -> list[int]:
    found = [0] * (len(one) + len(other) - 1)
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            found[i + j] += left * right
    return found
