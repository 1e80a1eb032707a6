"""Constant answers: what a model reaches that says the same whatever it is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from pytest_maxrandom.stats.best_of import BestOf

Answer = TypeVar("Answer", bound="Hashable")


@dataclass(frozen=True)
class ConstantAnswer(Generic[Answer]):
    """One answer, given to every example."""

    answer: Answer
    """Index or label of the choice."""
    correct: int
    """Examples for which it is right."""
    n: int
    """Number of examples."""

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


class View(NamedTuple):
    """One way to say what the same answer is in different examples: by text, or by place."""

    gold: Sequence[Collection[Hashable]]
    """Per example its right answers."""
    strata: Sequence[Hashable]
    """Per example what tells the examples where the same answers mean the same: the set of its
    choices by text, their number by place."""


FEWEST = 5
"""Examples of a stratum from which on a constant answer is expected."""


def chances_of_constants(
    chances: Sequence[Fraction], views: Iterable[View]
) -> tuple[Fraction, ...]:
    """Return per example the chance of a guess, or the rate of the best constant answer above it.

    Where right answers are known and the answers given are not, nobody can shuffle right answers,
    and who says the most frequent label beats guessers that say all labels alike. Guessers with
    these chances are as good as anyone who answers each stratum without reading its questions. One
    rate for all would not do: half Yes/No and half True/False, of which Yes and True are right on
    .70, have no single word that is right on more than .35.

    For one stratum this is proved. With independent answers, whatever their frequencies, the number
    of right ones is a sum of independent indicators with a mean of at most n times the rate, and
    above that mean plus one, the upper tail of no such sum is larger than the binomial one
    (Hoeffding 1956, "On the distribution of the number of successes in independent trials"). For
    several strata, and prompts that depend on each other, `tests/proof/test_nulls.py` simulates it.

    Parameters
    ----------
    chances
        Of one guess, all choices alike, for each example, shape (n,).
    views
        What a constant answer may be; the largest rate counts. Strata of fewer than `FEWEST`
        are left as they are: one of few right answers is always the most frequent.

    Examples
    --------
    >>> half = [Fraction(1, 2)] * 20
    >>> words = [{"Yes"}] * 7 + [{"No"}] * 3 + [{"True"}] * 8 + [{"False"}] * 2
    >>> rates = chances_of_constants(half, [View(words, ["Yes/No"] * 10 + ["True/False"] * 10)])
    >>> str(rates[0]), str(rates[-1])
    ('7/10', '4/5')
    """
    highest = [*chances]
    for view in views:
        sizes = Counter(view.strata)
        rights = Counter(
            (stratum, answer)
            for right, stratum in zip(view.gold, view.strata, strict=True)
            for answer in set(right)
        )
        best: Counter[Hashable] = Counter()
        for (stratum, _), times in rights.items():
            best[stratum] = max(best[stratum], times)
        for place, (chance, stratum) in enumerate(zip(highest, view.strata, strict=True)):
            if sizes[stratum] >= FEWEST:
                highest[place] = max(chance, Fraction(best[stratum], sizes[stratum]))
    return tuple(highest)
