"""Guessers who gave the same samples as the prompts: what they score, and the best of them.

The k samples of an answer are not independent: at a low temperature all are the same, and a model
may as well spread them over all choices. Formulas for k independent guesses are wrong for both. So
chance is taken from the answers that were given: they stay as they are, and the right answer of an
example is any of its m choices. A guesser with d different answers is right by *pass* with d/m, by
*all* with 1/m where d = 1 and else never, and on average each sample is right with 1/m, however
alike they are; their number says what the mean of an example may be. By *vote* it gives one answer,
and its chance is 1/m.

The score of an example has that law; the sum over examples is their convolution, by Fourier
transforms.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.maximum import Floats
    from pytest_maxrandom.stats.samples import Aggregate, Labels

_FINEST = 4096
"""Steps between 0 and 1 that a score may have; finer ones are rounded up, so that no p-value is too
small, and a baseline is too high by less than 1/4096."""
FLOOR = 1e-12
"""No p-value of a mean of samples is said to be smaller: sums by Fourier transforms are exact to
that."""
_NEAR = 1e-9
"""By how much a score may be off that was divided and multiplied again."""


@lru_cache(maxsize=65536)
def law_of_right(profile: tuple[int, ...], choices: int, right: int = 1) -> dict[int, Fraction]:
    """Return how many samples are right where any of the choices may be.

    Parameters
    ----------
    profile
        How often each different answer was given. Of more answers than there are choices, those
        that were given most often are taken to be the choices.
    choices, right
        Number of choices, and how many of them are right.

    Returns
    -------
    dict
        Numbers of right samples and their probabilities.

    Examples
    --------
    >>> law_of_right((3, 1), 4)
    {0: Fraction(1, 2), 1: Fraction(1, 4), 3: Fraction(1, 4)}
    """
    given = sorted((each for each in profile if each), reverse=True)[:choices]
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    for times in given:
        for (taken, total), many in list(ways.items()):
            if taken < right:
                ways[taken + 1, total + times] += many
    never = choices - len(given)
    law: Counter[int] = Counter()
    for (taken, total), many in ways.items():
        law[total] += many * math.comb(never, right - taken)
    all_ways = math.comb(choices, right)
    return {total: Fraction(law[total], all_ways) for total in sorted(law) if law[total]}


def earned_in_turn(
    turns: Sequence[Sequence[Fraction]], aggregate: Aggregate | None, spread: Labels | None
) -> list[Fraction]:
    """Return the scores of a rule that gives as many different answers as a prompt, as often.

    By *pass* each further answer helps. By all else nothing is above the first one each time.

    Parameters
    ----------
    turns : n sequences of Fraction
        Per example how probably each of the rule's answers is right, in the order in which it would
        give them. At most one of them is: of several right ones the first.
    aggregate : Aggregate, optional
        What samples come to; None of single answers.
    spread : array of int, shape (n, k), optional
        How often the prompt gave each of its different answers, descending, zeros behind. Where it
        gave none the rule gives one.

    Examples
    --------
    The second answer is right, and the prompt gave three alike and another one:

    >>> from pytest_maxrandom.stats.samples import Aggregate
    >>> turns, spread = [[Fraction(0), Fraction(1)]], np.array([[3, 1, 0, 0]])
    >>> earned_in_turn(turns, Aggregate("pass", 4), spread)
    [Fraction(1, 1)]
    >>> earned_in_turn(turns, Aggregate("pass", 4, asked=2), spread)
    [Fraction(1, 2)]
    >>> earned_in_turn(turns, Aggregate("mean", 4), spread)
    [Fraction(0, 1)]
    """
    if aggregate is None or aggregate.how != "pass":
        return [own[0] if own else Fraction(0) for own in turns]
    assert spread is not None
    k, unit = aggregate.samples, aggregate.unit
    credit = aggregate.credits(np.arange(k + 1)).tolist()
    earned = []
    for own, times in zip(turns, spread.tolist(), strict=True):
        given = times if times[0] else [k]
        chances = zip(own, given, strict=False)
        earned.append(sum((p * credit[many] for p, many in chances if p), Fraction()) / unit)
    return earned


class Kinds(NamedTuple):
    """Answers by how their samples are spread, and examples by their chances."""

    laws: list[dict[int, Fraction]]
    """Per kind the score of a guesser with these samples, in units, and the probabilities."""
    places: NDArray[np.intp]
    """The kind of each answer, shape (t, n)."""

    @classmethod
    def of(
        cls,
        aggregate: Aggregate,
        spread: Labels,
        choices: Sequence[int],
        right: Sequence[int],
    ) -> Kinds:
        """Return the kinds.

        Parameters
        ----------
        aggregate
            What is scored; no vote.
        spread
            As `pytest_maxrandom.stats.samples.profiles` returns it.
        choices, right
            Per example how many choices it has, and how many of these are right.
        """
        t, n, k = spread.shape
        sizes = np.array([choices, right], dtype=np.int64).T
        rows = np.concatenate(
            [spread, np.broadcast_to(sizes, (t, n, 2))], axis=2, dtype=np.int64
        ).reshape(t * n, k + 2)
        distinct, places = np.unique(rows, axis=0, return_inverse=True)
        laws = []
        for *profile, many, correct in distinct.tolist():
            law: dict[int, Fraction] = {}
            for c, p in law_of_right(tuple(profile), many, correct).items():
                score = int(aggregate.credits(np.array(c)))
                law[score] = law.get(score, Fraction()) + p
            laws.append(law)
        return cls(laws, places.reshape(t, n))

    def chances(self) -> list[list[Fraction]]:
        """Return the chance that a guesser is right on each example, a row for each prompt."""
        own = [law.get(1, Fraction()) for law in self.laws]
        return [[own[place] for place in row] for row in self.places.tolist()]


@dataclass(frozen=True, eq=False)
class BestOfSamples:
    """Best mean score of guessers who gave the same samples, each prompt's as they are.

    Prompts are scored on the same n examples. Of those that are not at hand nothing is known: they
    are taken to be as good as the best of the others.
    """

    t: int
    """Number of guessers, at least that of the prompts."""
    n: int
    """Number of examples."""
    steps: int
    """Of how many steps a score is made, between 0 and 1."""
    above: Floats
    """P(score of one guesser >= j / steps), j = 0, ..., steps; shape (prompts, steps + 1)."""
    means: Floats
    """Expected score of each prompt's guesser."""

    @classmethod
    def of(cls, kinds: Kinds, unit: int, t: int) -> Self:
        """Return the best of t guessers.

        Parameters
        ----------
        kinds
            Of the answers of the prompts at hand.
        unit
            What scores are units of.
        t
            Number of guessers.
        """
        prompts, n = kinds.places.shape
        fine = min(unit, _FINEST)
        masses = np.zeros((len(kinds.laws), fine + 1))
        exact = np.zeros(len(kinds.laws))
        for place, law in enumerate(kinds.laws):
            exact[place] = float(sum(score * p for score, p in law.items()) / unit)
            for score, p in law.items():
                masses[place, -(-score * fine // unit)] += float(p)
        counts = np.stack([np.bincount(row, minlength=len(masses)) for row in kinds.places]).astype(
            np.float64
        )
        steps = n * fine
        length = 1 << (steps + 1).bit_length()
        spectra = np.fft.rfft(masses, length, axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(spectra == 0, 1e-300, spectra))
        above = np.empty((prompts, steps + 1))
        for place, row in enumerate(counts):
            used = np.flatnonzero(row)
            sums = np.fft.irfft(np.exp(row[used] @ logs[used]), length)[: steps + 1]
            tail = np.cumsum(np.maximum(sums, 0.0)[::-1])[::-1]
            above[place] = np.minimum(tail, 1.0)
        above[:, 0] = 1.0
        return cls(whole_number("t", t, prompts), n, steps, above, counts @ exact / n)

    @cached_property
    def values(self) -> Floats:
        """All scores, ascending."""
        return np.arange(self.steps + 1) / self.steps

    @cached_property
    def _reached(self) -> Floats:
        """P(best score >= j / steps)."""
        with np.errstate(divide="ignore"):
            below = np.log1p(-np.minimum(self.above, 1.0))
        others = self.t - len(below)
        total = below.sum(axis=0)
        if others:
            total = total + others * below.min(axis=0)
        return np.asarray(-np.expm1(total))

    def _place(self, score: float) -> int:
        if not 0 <= score <= 1:
            raise ValueError(f"score must be from 0 to 1, found {score!r}")
        return min(self.steps, math.ceil(score * self.steps - _NEAR * self.steps))

    @cached_property
    def expected(self) -> float:
        """Expected best score: the maximum random baseline."""
        return math.fsum(self._reached[1:].tolist()) / self.steps

    @cached_property
    def standard_baseline(self) -> float:
        """Expected score of one guesser, mean over the prompts."""
        return float(self.means.mean())

    def p_standard(self, score: float, prompt: int) -> float:
        """P(this prompt's guesser scores at least this)."""
        return max(FLOOR, float(self.above[prompt, self._place(score)]))

    def p_value(self, score: float) -> float:
        """P(best score >= score)."""
        return max(FLOOR, float(self._reached[self._place(score)]))

    def union_p(self, score: float) -> float:
        """Bound of `p_value` that holds for every dependence between prompts."""
        own = self.above[:, self._place(score)]
        total = math.fsum(own.tolist()) + (self.t - len(own)) * float(own.max())
        return min(1.0, max(FLOOR, total))
