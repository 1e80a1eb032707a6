"""Which other models may be one with a model: a cheap look at all, before a thorough one at few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.kinds.identical_models import ALIKE, nearly_one
from pytest_maxrandom.stats.gold import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers


def may_be_one(own: NDArray[np.int8], others: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Tell of which models the answers may be found identical; all others surely are not.

    Two models that are one differ in few answers of all prompts together, or of those prompts
    that do not say nearly always one thing; so some such prompt differs in as few.

    Parameters
    ----------
    own : ndarray of int
        Shape (t, n): a code of each answer, NOT_EVALUATED where there is none.
    others : ndarray of int
        Shape (models, t, n).

    Returns
    -------
    ndarray of bool
        Shape (models,).
    """
    there = own != NOT_EVALUATED
    sizes = there.sum(axis=1)
    differ = ((others != own) & there).sum(axis=2)
    several = ~nearly_one(own, there)
    by_prompt = (differ <= ALIKE * sizes)[:, several].any(axis=1)
    return np.asarray(by_prompt | (differ.sum(axis=1) <= ALIKE * sizes.sum()))


def candidates(own: Answers, others: Sequence[Answers]) -> list[Answers]:
    """Return the answers of other models that are worth a thorough look."""
    alike = [
        other.identities == own.identities
        and other.examples == own.examples
        and other.labels == own.labels
        and (other.answers is None) == (own.answers is None)
        for other in others
    ]
    asked = [other for other, same in zip(others, alike, strict=True) if same]
    if not asked:
        return list(others)
    codes = np.stack([_codes(each) for each in asked])
    may_be = iter(may_be_one(_codes(own), codes).tolist())
    return [other for other, same in zip(others, alike, strict=True) if not same or next(may_be)]


def _codes(answers: Answers) -> NDArray[np.int8]:
    if answers.answers is None:
        return np.where(answers.evaluated, answers.correct, NOT_EVALUATED).astype(np.int8)
    return compact(answers.answers)


def compact(codes: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return codes of answers in a byte each; of very many some are the same, none are others."""
    return np.where(codes == NOT_EVALUATED, NOT_EVALUATED, codes % 127).astype(np.int8)
