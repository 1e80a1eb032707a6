"""Max-T permutation test of the Nvr-X score of examples as they are.

Uniform guessers are not the hardest to beat without knowledge: where a label is rarely right, its
recall is a matter of luck, and whoever leans to the other labels has the rest for certain. A test
that holds the answers fixed and shuffles right answers has its level whatever is preferred, as
`pytest_maxrandom.stats.permutation` has for accuracies (Westfall and Young, "Resampling-Based
Multiple Testing", 1993).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.gold import membership, right_labels
from pytest_maxrandom.stats.labels.scores import never_score, shares
from pytest_maxrandom.stats.permutation import NOT_EVALUATED, count_exceedances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

_NEAR = 1e-12


def permutation_p_value(
    answers: NDArray[np.integer],
    gold: Gold,
    choices: Sequence[int],
    *,
    permutations: int = 9999,
    stop_after: int | None = None,
    seed: int = 0,
) -> float:
    """P(the best of these prompts has as high an Nvr-X score with shuffled right answers).

    Parameters
    ----------
    answers
        Shape (t, n): labels; `NOT_EVALUATED` where a prompt was not scored.
    gold
        The right label of each example, or several; shuffled, for all prompts together, among
        examples with as many choices.
    choices
        Number of labels of each example.
    permutations, stop_after, seed
        As of `pytest_maxrandom.stats.permutation.max_t_test`.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    shown, rights = np.asarray(answers), right_labels(gold)
    t, n = shown.shape
    if not n == len(rights) == len(choices):
        raise ValueError(
            f"found answers to {n} examples, gold of {len(rights)} and choices of {len(choices)}"
        )
    m = max(choices)
    member = membership(rights, m).astype(np.float32)
    said = [(shown == label).astype(np.float32).T for label in range(m)]
    # Most often all prompts were scored on the same examples, or a few sets of them.
    scored, place = np.unique(shown != NOT_EVALUATED, axis=0, return_inverse=True)
    evaluated = scored.astype(np.float32).T

    def best(order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best score with each order of the right answers, shape (orders, n)."""
        right = [member[:, label][order] for label in range(m)]
        hits = [each @ own for each, own in zip(right, said, strict=True)]
        seen = [(each @ evaluated)[:, place.ravel()] for each in right]
        # Counts are exact as single floats, their quotients would not be.
        counts = (np.stack(each, axis=-1).astype(np.float64) for each in (hits, seen))
        scores = never_score(shares(*counts))
        highest: NDArray[np.float64] = np.nan_to_num(scores, nan=-np.inf).max(axis=1)
        return highest

    observed = best(np.arange(n)[None])
    return count_exceedances(
        lambda order: best(order) >= observed - _NEAR,
        np.asarray(choices),
        cells=max(n, t * m),
        permutations=permutations,
        stop_after=stop_after,
        seed=seed,
    ).p_value
