"""Exact p-values of one prompt, however many prompts it is the best of.

With as many prompts as a search can try only p-values count that are far below what right answers
can be shuffled for. `matches_p` has them exactly. A prompt that gives label l to a_l examples, of
which g_l examples have l as their right answer, has as many hits as a random permutation has points
on the board of the rectangles a_l x g_l. The rook numbers of that board are the products of those
of its rectangles, C(a, k) C(g, k) k!, and its factorial moments are r_k (n - k)! / n! (Riordan, "An
Introduction to Combinatorial Analysis", 1958, chapters 7 and 8). All is computed in integers. Of
more examples than that is quick for, a bound is given that always holds: with mu expected hits,
P(hits >= mu + d) <= exp(-d^2 / (4 mu + 2 d)) (Chatterjee, "Stein's method for concentration
inequalities", Probability Theory and Related Fields 138, 2007, proposition 1.1).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import integers
from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.maximum import Floats

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
    found = _hits(answers, gold, strata)
    return None if found is None else found[1](found[0])


def fewest_hits(
    answers: ArrayLike, gold: Gold, strata: ArrayLike | None, level: float
) -> int | None:
    """Return how many hits `matches_p` needs to be at most a level, for answers like these.

    They give each label as often, and other ones of them are right.

    Returns
    -------
    int or None
        One more than there are examples where no number does; None where there is no formula.
    """
    found = _hits(answers, gold, strata)
    if found is None:
        return None
    return bisect_left(range(len(np.ravel(answers)) + 1), True, key=lambda k: found[1](k) <= level)


def _hits(
    answers: ArrayLike, gold: Gold, strata: ArrayLike | None
) -> tuple[int, Callable[[int], float]] | None:
    """Return the hits, and the probability of at least so many where right answers are shuffled."""
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
        large = [(chosen[here], right[here]) for here in shuffled]
        return observed, lambda hits: _bound(hits, large)
    masses = np.ones(1)
    for here in shuffled:
        masses = np.convolve(masses, hits_masses(chosen[here].tolist(), right[here].tolist()))
    return observed, lambda hits: min(1.0, math.fsum(masses[hits:].tolist()))


def likely_answers(gold: Sequence[int], strata: Sequence[int], correct: int) -> list[int]:
    """Return answers of which so many are right, each label as often as it is right.

    Each stratum has its share of what is wrong, which is one of each label in turn and gets the
    next label: so far as the rarest label allows, the labels are given as often as they are right.

    Parameters
    ----------
    gold
        The right label of each example.
    strata
        Which examples right answers are shuffled among, a number for each.
    correct
        How many are right.
    """
    n, answers = len(gold), list(gold)
    order = sorted(range(n), key=lambda place: strata[place])
    wrong = Counter(
        strata[order[(2 * each + 1) * n // (2 * (n - correct))]] for each in range(n - correct)
    )
    for part, times in wrong.items():
        turns, seen = [], Counter[int]()
        for place in range(n):
            if strata[place] == part:
                turns.append((seen[gold[place]], gold[place], place))
                seen[gold[place]] += 1
        there = sorted(seen)
        # One of each label in turn, the rarest first: what is left over prefers the commonest.
        turns.sort(key=lambda each: (each[0], seen[each[1]], each[1]))
        for _, label, place in turns[:times]:
            after = there.index(label) + 1
            answers[place] = there[after % len(there)] if len(there) > 1 else label + 1
    return answers


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
    rooks = np.array([1], dtype=object)  # of whole numbers, however large
    for label, there in Counter(gold).items():
        rectangle = [
            math.comb(given[label], k) * math.perm(there, k)
            for k in range(min(given[label], there) + 1)
        ]
        rooks = np.convolve(rooks, np.array(rectangle, dtype=object))
    # sum_k r_k (n - k)! (x - 1)^k = sum_k N_k x^k, where N_k arrangements have exactly k hits.
    counts = [rook * math.factorial(n - k) for k, rook in enumerate(rooks)]
    for i in range(len(counts) - 1):
        for k in range(len(counts) - 2, i - 1, -1):
            counts[k] -= counts[k + 1]
    arrangements = math.factorial(n)
    return np.array([each / arrangements for each in counts])  # correctly rounded quotients
