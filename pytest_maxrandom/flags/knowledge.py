"""Whether answers to examples with equal scores show knowledge of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

KNOWING = 4.0
"""Standard deviations above ignorance from which on answers show knowledge."""
_NEARLY = 0.95
"""Share of right answers that no constant answer is expected to have."""
_MOST_LABELS = 100
"""With more labels, right answers are texts of their own, of which none is preferred."""
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Knowledge:
    """What tells whether answers depend on the example.

    Whoever does not see an example answers by its scores alone, so in each group of equal scores
    such a one is right as often as that answer is right elsewhere. Right answers that are
    unbalanced, or a constant answer that is above chance, therefore show nothing.

    Attributes
    ----------
    seen : Seen
        Whose answers they are; t prompts, n examples.
    widths : ndarray of int
        Length n: how many choices each example has scores of.
    answers : ndarray of int or None
        Shape (t, n): columns of `gold`; None where that is.
    gold : ndarray of float or None
        Shape (n, labels): 1 where a label that is given somewhere is right; None where that is
        not known.
    """

    seen: Seen
    widths: NDArray[np.int64]
    answers: NDArray[np.intp] | None
    gold: NDArray[np.float64] | None

    @classmethod
    def of(cls, seen: Seen) -> Knowledge:
        """Return that of a sweep with scores."""
        assert seen.log_likelihoods is not None
        widths = (~np.isnan(seen.log_likelihoods)).sum(axis=2).max(axis=0)
        said = _highest(seen) if seen.answers is None else seen.answers
        given, columns = np.unique(said, return_inverse=True)
        if len(given) > _MOST_LABELS:
            return cls(seen, widths, None, None)
        answers = columns.reshape(said.shape)
        if seen.answers is None or seen.gold is None:
            gold = _told(seen, answers, widths)
        else:
            gold = np.array([[label in right for label in given.tolist()] for right in seen.gold])
        if gold is None:
            return cls(seen, widths, None, None)
        return cls(seen, widths, answers, gold.astype(np.float64))

    def above_shuffled(self, parts: Sequence[tuple[int, NDArray[np.intp]]]) -> float:
        """Return how many standard deviations answers are above shuffled right answers.

        Mean and variance of Hoeffding's combinatorial statistic (Ann. Math. Statist. 22, 1951,
        eq. 10), over shuffles among the examples with as many choices. What several prompts say
        of an example stays together.

        Parameters
        ----------
        parts
            Per prompt its row, and the examples that count. Right answers must be known.
        """
        assert self.answers is not None
        assert self.gold is not None
        said = np.zeros_like(self.gold)
        counted = np.zeros(len(said), dtype=np.bool_)
        for row, examples in parts:
            for alike in self._strata(examples):
                given = self.answers[row, alike]
                said[alike, given] += 1
                said[alike] -= np.bincount(given, minlength=said.shape[1]) / len(alike)
            counted[examples] = True
        variance = 0.0
        for alike in self._strata(np.flatnonzero(counted)):
            one, other = (table[alike] - table[alike].mean(axis=0) for table in (said, self.gold))
            variance += float(((one.T @ one) * (other.T @ other)).sum()) / max(1, len(alike) - 1)
        return _in_deviations(float((said * self.gold).sum()), variance)

    def above_elsewhere(
        self, row: int, part: NDArray[np.intp], whole: NDArray[np.intp]
    ) -> tuple[float, float]:
        """Compare a prompt's answers to a part of its examples with the same answers to all.

        Returns
        -------
        Mean rate of being right with them elsewhere (chance, where right answers are not known),
        and how many standard deviations the prompt is above it.
        """
        if self.answers is None or self.gold is None:
            rates = np.full(len(part), float(self.seen.chance))
        else:
            everywhere = np.zeros_like(self.gold)
            for alike in self._strata(whole):
                everywhere[alike] = self.gold[alike].mean(axis=0)
            rates = everywhere[part, self.answers[row, part]]
        excess = float(self.seen.correct[row, part].sum() - rates.sum())
        return float(rates.mean()), _in_deviations(excess, float((rates * (1 - rates)).sum()))

    def shows(self, row: int, part: NDArray[np.intp], whole: NDArray[np.intp]) -> bool:
        """Tell whether answers err at most half as often as the same ones do elsewhere.

        Where right answers are not known, nearly all of them must be right: a constant answer may
        be above chance.
        """
        rate, deviations = self.above_elsewhere(row, part, whole)
        needed = _NEARLY if self.gold is None else (1 + rate) / 2
        return deviations > KNOWING and bool(self.seen.correct[row, part].mean() >= needed)

    def _strata(self, examples: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        widths = self.widths[examples]
        return [examples[widths == width] for width in np.unique(widths)]


def _highest(seen: Seen) -> NDArray[np.intp]:
    """Return the choices with the highest scores, shape (t, n)."""
    assert seen.log_likelihoods is not None
    scores = np.where(np.isnan(seen.log_likelihoods), -np.inf, seen.log_likelihoods)
    places: NDArray[np.intp] = scores.argmax(axis=2)
    return places


def _told(
    seen: Seen, answers: NDArray[np.intp], widths: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Return which answers are right by what prompts are right with, shape (n, labels).

    Returns None where that is not told for nearly all examples: where it is told only of what a
    prompt is right with, it would seem to know. Of two choices the other one is right.
    """
    labels = np.arange(answers.max() + 1)
    given = np.stack([(answers == label) & seen.evaluated for label in labels], axis=2)
    right, wrong = (
        np.any(given & hits[..., np.newaxis], axis=0) for hits in (seen.correct, ~seen.correct)
    )
    if len(labels) == 2:
        right |= (wrong & (widths == 2)[:, np.newaxis])[:, ::-1]
    told = right.any(axis=1).mean() >= _NEARLY and not np.any(right & wrong)
    return right if told else None


def _in_deviations(excess: float, variance: float) -> float:
    return excess / max(variance, _ROUNDING) ** 0.5 if excess > _ROUNDING else 0.0
