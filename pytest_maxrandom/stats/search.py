"""Claims on examples on which a search tried prompts: as the best of how many one is judged.

A search proposes its next prompt from what it was told of the last ones. Which prompts it tries is
settled by these answers, so all searches that could have been are a tree: each prompt a node, each
possible answer a branch. The tree does not depend on the examples, so any weights of its nodes that
sum to at most one share the level between them (Bonferroni): a prompt passes if its own p, over its
weight, is at most the level. (Dwork et al., "The reusable holdout: Preserving validity in adaptive
data analysis", Science 349, 2015; Blum and Hardt, "The Ladder", 2015.) One over the weight is the
number of prompts as the best of which a prompt is judged. Two trees share the level, half each:

- All nodes alike. With one bit for each prompt there are at most 2^steps.
- Nodes by the number i of prompts that were better than all before them: 2^-(i + 1) of the level
  for each i, shared by the C(t, i + 1) nodes of which the t steps of a budget have so many. Few
  prompts are, so this is what most searches are judged by. The first prompt always is the best so
  far, which tells nothing, and is not counted.

Any p of a prompt's own will do that holds its level whatever the other prompts are: the permutation
p of accuracy, and the exact paired test beside an incumbent (`pytest_maxrandom.stats.incumbents`),
also of examples that belong together. The incumbent's answers to the examples are data as the right
answers are, and the tree does not depend on them, because no reply tells of them; only a verdict
does (`pytest_maxrandom.claims.searched`). What compares prompts with each other, such as examples
drawn anew, has no such p, since the other prompts of the tree have no answers.

Whoever learns which questions were answered rightly has no such tree: what comes next may be
written for these very questions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_maxrandom.stats.best_of import MOST_OF_A_TREE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Feedback = Literal["none", "accept", "improved", "score", "answers"]
"""What a search learns of a prompt: nothing; whether it is better than the best before; if so, how
many answers are right; how many are, for each prompt; which answers are right."""

WITHHELD: frozenset[Feedback] = frozenset(("none", "accept", "improved"))
"""Feedback with which a search must not see the score of each prompt."""

CLIMBS: frozenset[Feedback] = frozenset(("accept", "improved"))
"""Feedback whose tree has few branches that many searches take."""


class Searched(NamedTuple):
    """What one search has tried on a validation set."""

    feedback: Feedback
    """What it was told of each prompt."""
    steps: int
    """Distinct prompts of which it was told something."""
    n: int
    """Examples that a prompt is scored on."""
    budget: int | None = None
    """Steps that were declared before it began; None where none were."""


class Found(NamedTuple):
    """What searches were told before one prompt was tried.

    Where several searched, or the prompt is one of which none was told, all that the other searches
    were ever told counts: nobody knows in which order they took turns.
    """

    before: int
    """Prompts of which searches were told something."""
    better: int
    """Those of them that were better than all that their search had tried; without the first prompt
    of each search, which always is."""


class Look(NamedTuple):
    """A verdict that was seen: it told which prompt is best, and how many answers are right.

    The result of a prompt that no search tried is one of a single prompt, where searches can read
    it: such as that of a suite, before a search or while it is open.
    """

    t: int
    """Prompts of which one is best."""
    n: int
    """Examples that it is scored on."""


def likely_better(steps: int, tried: int = 0) -> int:
    """Return how many prompts before the best one are better than all before them, at most.

    That is the mean and two standard deviations for prompts in any order, where the k-th is the
    best of the first k with probability 1 / k; without the first prompt, and the best one.

    Parameters
    ----------
    steps, tried
        Prompts in the end, and those whose replies are known.
    """
    shares = [1 / k for k in range(max(2, tried + 1), steps + 1)]
    spread = math.sqrt(sum(share * (1 - share) for share in shares))
    return max(0, math.ceil(sum(shares) + 2 * spread) - 1)


def prompts_of(
    t: int,
    searches: Iterable[Searched] = (),
    *,
    looks: Iterable[Look] = (),
    found: Found | None = None,
) -> int | None:
    """Return as the best of how many prompts one of t prompts is judged.

    Parameters
    ----------
    t
        Distinct prompts that were tried without telling anybody anything.
    searches
        The searches on these examples. Whatever else was tried may have come from what they
        learned, so each answer that they were given multiplies it.
    looks
        Those before. Whatever else the searches are told, a look tells them too. Where a look comes
        in between, each node behind it is divided by what it may tell, so their weights still sum
        to at most one, whatever the program knew when it let the look happen.
    found
        Where the prompt stands among what searches were told; without it, the number holds for
        each prompt.

    Returns
    -------
    int or None
        None where no number is known, and where it is above 2**1000.

    Notes
    -----
    A search that declared no budget may stop wherever it likes. All nodes alike, it is judged at
    the end of the doubling of its steps, and the d-th doubling spends 1 / (d (d + 1)) of the level,
    as in `pytest_maxrandom.stats.looks`: here the number of prompts is multiplied instead. By the
    number of better prompts, a prompt that j others came before spends 1 / ((j + 1) (j + 2)).

    Whether a further search begins may depend on what those before it were told. After the k-th
    that is told who is better, the number is k times as large: with that, the weights of searches
    that follow each other, as many as are wanted, sum to at most one (enumerated in the tests). The
    other numbers take the searches, and t, for settled before.

    Examples
    --------
    >>> prompts_of(200)
    200
    >>> prompts_of(0, [Searched("accept", 20, n=200, budget=20)]) == 2**20 - 1
    True
    >>> climb = [Searched("accept", 200, n=200, budget=200)]
    >>> prompts_of(0, climb, found=Found(before=120, better=3))  # 2 * 2**4 * C(200, 4)
    2069918400
    >>> prompts_of(3, [Searched("answers", 3, n=200)]) is None
    True
    """
    given = list(searches)
    if any(one.feedback == "answers" for one in given):
        return None
    number = _alike(t, given)
    if found is not None and (by_better := _by_better(t, given, found)) is not None:
        number = 2 * by_better if number is None else _halved(number, by_better)
        number *= sum(map(_tells, given))
    for look in looks if given else ():
        if number is not None:
            number *= (look.n + 1) * max(1, look.t)
    return number if number is not None and number <= MOST_OF_A_TREE else None


def _halved(one: int, other: int) -> int:
    """Return what a prompt is judged as where each of two trees has half of the level."""
    return -(-2 * one * other // (one + other))


def _alike(t: int, given: Sequence[Searched]) -> int | None:
    """Count all prompts of a tree, and those that were tried besides."""
    leaves, learned, weight = 1, 0, 1
    # Searches may take turns; a tree is largest where the widest branches come first.
    for one in sorted(given, key=lambda one: -_branches(one)):
        branches = _branches(one)
        if branches == 1 or not one.steps:
            continue
        steps = max(one.steps, one.budget or 0)
        if _budget(one) is None:
            doubling = one.steps.bit_length()
            steps = 2**doubling - 1
            weight *= doubling * (doubling + 1)
        if steps * math.log2(branches) > MOST_OF_A_TREE.bit_length():
            return None
        nodes = (branches**steps - 1) // (branches - 1)
        learned = leaves * nodes + learned
        leaves *= branches**steps
    return (learned + leaves * t) * weight


def _branches(one: Searched) -> int:
    """Return how many different answers a search may get to one prompt."""
    return {"none": 1, "accept": 2, "improved": one.n + 2, "score": one.n + 1}[one.feedback]


def _tells(one: Searched) -> bool:
    """Return whether a search was told anything."""
    return one.feedback != "none" and one.steps > 0


def _budget(one: Searched) -> int | None:
    """Return what a search may try; None where it did not say so, or not keep to it."""
    return None if one.budget is None or one.steps > one.budget else one.budget


def _by_better(t: int, given: Sequence[Searched], estimate: Found) -> int | None:
    """Return one over the weight of a node of which so many before it were better.

    A node is what one search was told until then and the others were ever told; so several have as
    many nodes, at most, as one that makes all of their steps, times their number. Of searches that
    stopped early what is missing counts as told that nothing was better.

    Returns
    -------
    int or None
        None where a search learned something else.
    """
    telling = list(filter(_tells, given))
    if not telling or any(one.feedback not in CLIMBS for one in telling):
        return None
    number, better, before = len(telling), estimate.better, estimate.before
    budgets = [_budget(one) for one in telling]
    if None not in budgets:
        bits = sum(budget or 0 for budget in budgets) - number
        nodes = number * math.comb(bits + 1, better + 1) + t * math.comb(bits, better)
    else:
        ways = math.comb(before + number - 1, number - 1)  # to share the steps between searches
        nodes = (number + t) * math.comb(before - number + 1, better) * ways
        nodes *= (before + 1) * (before + 2)
    values = sum(one.n + 1 for one in telling if one.feedback == "improved")
    improved = sum(one.feedback == "improved" for one in telling)
    told_of = min(better + improved, values // 2)  # increasing numbers of right answers
    return (max(1, nodes) << (better + 1)) * math.comb(values, told_of)
