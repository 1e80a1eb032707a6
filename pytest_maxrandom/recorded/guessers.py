"""The guessers beside recorded results: one for each prompt, on the examples it was scored on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.recorded.tables.summary import RecordedMaximum
from pytest_maxrandom.stats.chances import chance_groups, mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.sources import Results
    from pytest_maxrandom.stats.chances import Groups
    from pytest_maxrandom.suite.recorded import Chance
    from pytest_maxrandom.sweeps.answers import Answers


@dataclass(frozen=True, eq=False)
class Counts:
    """Right answers of each prompt; of published maxima there is the best prompt only.

    Attributes
    ----------
    correct, sizes : ndarray of int
        Shape (prompts,): right answers, and the number of examples.
    """

    correct: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, results: Results) -> Counts:
        """Count the right answers of results."""
        if isinstance(results, RecordedMaximum):
            return cls(np.array([results.best_correct]), np.array([results.n]))
        return cls(results.correct.sum(axis=1), results.evaluated.sum(axis=1))

    @property
    def _accuracies(self) -> NDArray[np.float64]:
        # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
        return self.correct / self.sizes

    @property
    def best(self) -> int:
        """Place of the first prompt with the highest accuracy."""
        return int(np.argmax(self._accuracies))

    @property
    def tied(self) -> int:
        """How many prompts have that accuracy."""
        return int((self._accuracies == self._accuracies.max()).sum())

    @property
    def n(self) -> int:
        """Number of examples of the best prompt."""
        return int(self.sizes[self.best])

    @property
    def best_correct(self) -> int:
        """Right answers of the best prompt."""
        return int(self.correct[self.best])

    @property
    def shared_n(self) -> bool:
        """Whether all prompts were scored on the same number of examples."""
        return bool((self.sizes == self.sizes[0]).all())


def chances_of(results: Results) -> Counter[Fraction] | None:
    """Return the number of examples with each chance of one guess, where results tell it."""
    if isinstance(results, RecordedMaximum):
        return None if results.chance is None else Counter({results.chance: results.n})
    return None if results.chances is None else Counter(results.chances)


def agrees(stated: Chance, told: Counter[Fraction]) -> bool:
    """Tell whether a chance is that of results."""
    if isinstance(stated, Fraction):
        return told.keys() == {stated}
    return {Fraction(1, choices): many for choices, many in stated.items()} == told


def alike(counts: Counts, chance: Chance, t: int) -> Guessers:
    """Return guessers of one chance, or one mix of chances, whatever example it is.

    Parameters
    ----------
    chance : Fraction or dict
        {number of choices: number of examples} needs prompts that share their number of examples.
    t : int
        Number of guessers, at least that of the prompts. What is not known of the others is as
        it is of the prompts: theirs are as good as the best.

    Raises
    ------
    ValueError
        If the mapping's number of examples is another than that of the prompts.
    """
    sizes, kinds = np.unique(counts.sizes, return_inverse=True)
    return _guessers([chance_groups(chance, int(n)) for n in sizes], kinds, counts, t)


def of_examples(sweep: Answers, counts: Counts, t: int) -> Guessers:
    """Return guessers by the chance of each example that a prompt was scored on.

    Parameters
    ----------
    sweep : Answers
        Must tell the chances.
    counts, t
        As in `alike`.
    """
    assert sweep.chances is not None
    values = sorted(set(sweep.chances))
    places = {value: place for place, value in enumerate(values)}
    one_hot = np.zeros((len(sweep.chances), len(values)), dtype=np.int64)
    one_hot[np.arange(len(sweep.chances)), [places[value] for value in sweep.chances]] = 1
    rows, kinds = np.unique(sweep.evaluated @ one_hot, axis=0, return_inverse=True)
    mixes = [
        tuple((value, size) for value, size in zip(values, row, strict=True) if size)
        for row in rows.tolist()
    ]
    return _guessers(mixes, kinds.ravel(), counts, t)


def mix_of(groups: Groups) -> Chance | list[Fraction]:
    """Return groups of examples in the shortest form that `BestOfPrompts` takes."""
    if all(chance.numerator == 1 for chance, _ in groups):
        return {chance.denominator: size for chance, size in groups}
    return [chance for chance, size in groups for _ in range(size)]


def _guessers(mixes: Sequence[Groups], kinds: NDArray[np.intp], counts: Counts, t: int) -> Guessers:
    copies = np.bincount(kinds, minlength=len(mixes)).tolist()
    means = [mean_of(groups) for groups in mixes]
    examples = [sum(size for _, size in groups) for groups in mixes]
    tried = len(kinds)
    total = sum((mean * many for mean, many in zip(means, copies, strict=True)), Fraction())
    # With the same chance, the fewer examples, the further the best guesser is above it.
    copies[max(range(len(mixes)), key=lambda kind: (means[kind], -examples[kind]))] += t - tried
    best = BestOfPrompts(list(zip(map(mix_of, mixes), copies, strict=True)))
    return Guessers(best, tuple(kinds.tolist()), counts.n, total / tried)
