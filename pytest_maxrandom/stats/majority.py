"""Constant answers: what a model reaches that says the same whatever it is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from pytest_maxrandom.stats.best_of import BestOf

Answer = TypeVar("Answer", bound="Hashable")


@dataclass(frozen=True)
class ConstantAnswer(Generic[Answer]):
    """One answer, given to every example.

    Attributes
    ----------
    answer
        Index or label of the choice.
    correct
        Examples for which it is right.
    n
        Number of examples.
    """

    answer: Answer
    correct: int
    n: int

    @property
    def rate(self) -> float:
        """Accuracy of the constant answer."""
        return self.correct / self.n

    def p_value(self, baseline: BestOf) -> float:
        """P(best of t guessers >= this rate): small where a constant answer would pass."""
        return baseline.p_value(self.correct, n=self.n)


def majority_answer(
    gold: Iterable[Answer | set[Answer] | frozenset[Answer]],
) -> ConstantAnswer[Answer]:
    """Return the best constant answer; the first seen where several are equally good.

    Parameters
    ----------
    gold
        The right answer of each example, or the set of right answers: choice indices to measure
        a preferred position, label texts to measure a preferred label.

    Raises
    ------
    ValueError
        If there is no example.
    """
    tally: Counter[Answer] = Counter()
    n = 0
    for right in gold:
        n += 1
        tally.update(right if isinstance(right, set | frozenset) else [right])
    if not tally:
        raise ValueError("gold names no right answer; at least 1 example is needed")
    [(answer, correct)] = tally.most_common(1)
    return ConstantAnswer(answer, correct, n)
