"""Whether few prompts are right on the same examples more often than on independent ones.

On many examples few prompts are right alike by accident. How many is told by a log-linear law of
which prompts are right (Bishop, Fienberg and Holland, "Discrete Multivariate Analysis", 1975): how
often each is on examples of each class, how often any two agree, and how often so many of them are,
which examples of unequal difficulty decide (Cressie and Holland, Psychometrika 48, 1983).

The law is fitted by maximum likelihood. The pairs of examples of a class on which the same prompts
are right, beyond those that the law expects, are compared with those of samples from it, each of
which is fitted anew (parametric bootstrap). Copies are pairs that no such law has. One prompt or
two tell nothing: such a law then fits whatever is observed.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MOST_KINDS = 512
"""Kinds of examples, by their class and by which prompts are right, that are told apart at most."""
_MOST_EXAMPLES = 1000
"""Of more, how far answers of a model depart from such a law is seen as well."""
_TERMS = 2 / 3
"""Terms of the law for each example at most."""
_SAMPLES = 199
_STEPS = 25
_NEAR = 1e-6


def repeats_p(
    right: NDArray[np.bool_], classes: Sequence[Hashable], *, level: float
) -> float | None:
    """Return the p-value of examples on which the same prompts are right.

    Parameters
    ----------
    right
        Which prompts are right on which examples, shape (t, n).
    classes
        Per example what examples with the same right answers have in common.
    level
        Once p must be above it, no more samples are drawn.

    Returns
    -------
    float or None
        None where any numbers are those of independent examples, or there are too many kinds of
        examples, or too many examples, to tell.
    """
    if len(classes) > _MOST_EXAMPLES:
        return None
    rows = np.unique(right, axis=0)
    t, n = rows.shape
    known = {each: place for place, each in enumerate(dict.fromkeys(classes))}
    if t < 3 or len(known) << t > _MOST_KINDS:
        return None
    terms = _terms(t, len(known))
    # Few examples fit a law of many terms whatever they are.
    if terms.shape[1] >= min(len(terms) - 1, _TERMS * n):
        return None
    kinds = np.array([known[each] for each in classes]) << t
    kinds += (rows.T << np.arange(t)).sum(axis=1)
    counts = np.bincount(kinds, minlength=len(terms)).astype(np.float64)
    weights, law = _fitted(counts, terms, np.zeros(terms.shape[1]))
    observed, generator, reached = _beyond(counts, law), np.random.default_rng(0), 0
    for drawn in range(_SAMPLES):
        sample = generator.multinomial(n, law).astype(np.float64)
        _, own = _fitted(sample, terms, weights)
        reached += _beyond(sample, own) >= observed - _NEAR
        if reached > level * (_SAMPLES + 1):
            return reached / (drawn + 1)
    return (1 + reached) / (_SAMPLES + 1)


def _terms(t: int, classes: int) -> Floats:
    """Return the terms of the law, a row for each kind of example; orthonormal, none constant."""
    numbers = np.arange(classes << t)
    signs = np.where(numbers[:, None] >> np.arange(t) & 1, 1.0, -1.0)
    is_class = (numbers[:, None] >> t) == np.arange(classes)
    total = signs.sum(axis=1) / t
    terms = [np.ones(len(numbers)), *is_class.T[1:].astype(float)]
    terms += [sign * own for sign in signs.T for own in is_class.T]
    terms += [one * other for one, other in combinations(signs.T, 2)]
    terms += [total**power for power in range(3, t + 1)]
    basis, sizes = np.linalg.qr(np.stack(terms, axis=1))
    found: Floats = basis[:, np.abs(np.diag(sizes)) > _NEAR][:, 1:] * np.sqrt(len(numbers))
    return found


def _fitted(counts: Floats, terms: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights of the terms and the law, by Newton's method from some weights on.

    Each kind counts a little more than was seen, so that none is impossible.
    """
    seen = counts + 1 / len(counts)
    wanted, size = terms.T @ seen, seen.sum()
    for _ in range(_STEPS):
        logs = terms @ weights
        law = np.exp(logs - logs.max())
        law /= law.sum()
        expected = terms.T @ law
        short = wanted - size * expected
        if np.abs(short).max() <= _NEAR * size:
            break
        spread = (terms * law[:, None]).T @ terms - np.outer(expected, expected)
        step = np.linalg.solve(size * spread + _NEAR * np.eye(len(spread)), short)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
    return weights, law


def _beyond(counts: Floats, law: Floats) -> float:
    """Return how many more pairs of the same kind there are than the law expects."""
    n = counts.sum()
    return float((counts * (counts - 1)).sum() - n * (n - 1) * (law**2).sum()) / 2
