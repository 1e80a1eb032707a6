"""The guessers beside recorded results, and what a publication says of the results.

There is one guesser for each prompt, on the examples that it was scored on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.notation import count, span
from pytest_maxrandom.record import Published
from pytest_maxrandom.recorded.tables.summary import RecordedMaximum
from pytest_maxrandom.stats.chances import chance_groups, mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.sources import Results
    from pytest_maxrandom.stats.chances import Groups
    from pytest_maxrandom.suite.recorded import Chance
    from pytest_maxrandom.sweeps.answers import Answers


@dataclass(frozen=True, eq=False)
class PromptScores:
    """Right answers of each prompt; of published maxima there is the best prompt only.

    Attributes
    ----------
    correct, sizes : ndarray of int
        Shape (prompts,): right answers, and the number of examples.
    """

    correct: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, results: Results) -> PromptScores:
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


def alike(counts: PromptScores, chance: Chance, t: int) -> Guessers:
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


def of_examples(sweep: Answers, counts: PromptScores, t: int) -> Guessers:
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


def _guessers(
    mixes: Sequence[Groups], kinds: NDArray[np.intp], counts: PromptScores, t: int
) -> Guessers:
    copies = np.bincount(kinds, minlength=len(mixes)).tolist()
    means = [mean_of(groups) for groups in mixes]
    examples = [sum(size for _, size in groups) for groups in mixes]
    tried = len(kinds)
    total = sum((mean * many for mean, many in zip(means, copies, strict=True)), Fraction())
    # With the same chance, the fewer examples, the further the best guesser is above it.
    copies[max(range(len(mixes)), key=lambda kind: (means[kind], -examples[kind]))] += t - tried
    best = BestOfPrompts(list(zip(map(mix_of, mixes), copies, strict=True)))
    return Guessers(best, tuple(kinds.tolist()), counts.n, total / tried)


@dataclass(frozen=True)
class PublishedGuessers(Guessers):
    """Guessers by the n, t and chance of a publication.

    As in the tables of Yauney and Mimno (2024), the baseline is that of the published n, and the
    p-values are those of the best prompt's right answers among the examples it was scored on.

    Attributes
    ----------
    published_n : int
        The number of examples that was published.
    expected : float
        The maximum random baseline with that many examples.
    one : BestOfPrompts
        One of the guessers.
    """

    published_n: int
    expected: float
    one: BestOfPrompts

    @classmethod
    def of(cls, n: int, t: int, chance: Chance, counts: PromptScores) -> PublishedGuessers:
        """Return t guessers.

        Raises
        ------
        ValueError
            If a mapping of chances has another number of examples than n.
        """
        nominal = MaxRandomBaseline(n, chance, t)
        # A mix of chances is known of the published examples only.
        mix = chance if isinstance(chance, dict) else mix_of(((chance, counts.n),))
        return cls(
            best=BestOfPrompts([(mix, t)]),
            kinds=(0,) * len(counts.correct),
            n=counts.n,
            chance=mean_of(nominal.chance_groups),
            published_n=n,
            expected=nominal.expected_accuracy,
            one=BestOfPrompts([(mix, 1)]),
        )

    @property
    def max_random_baseline(self) -> float:
        """Expected accuracy of the best guesser on the published number of examples."""
        return self.expected

    def p_standard(self, result: float, prompt: int) -> float:
        """P(one guesser has at least this accuracy)."""
        return self.one.p_value(int(result), self.n)


def published(null: PublishedGuessers, counts: PromptScores, changes: list[str]) -> Published:
    """Return the verdict by the publication's numbers."""
    verdict = judge(Claim(), null, counts.best_correct, counts.best)
    return Published(
        n=null.published_n,
        t=null.t,
        standard_baseline=verdict.standard_baseline,
        max_random_baseline=verdict.max_random_baseline,
        p_standard=null.p_standard(counts.best_correct, counts.best),
        p_max=null.p_max(counts.best_correct),
        verdict=verdict.verdict,
        changes=changes,
    )


def changes(
    read: Answers | None, counts: PromptScores, null: Guessers, publication: PublishedGuessers
) -> list[str]:
    """Return one clause for each of n, t and chance that is not as it was published.

    Parameters
    ----------
    read : Answers or None
        As they were read: prompts may repeat. None of a published maximum.
    counts : PromptScores
        Of the distinct prompts.
    null, publication : Guessers
        By the results, and by the publication.
    """
    found = []
    sizes, n = set(counts.sizes.tolist()), publication.published_n
    if sizes != {n}:
        found.append(f"n is {span(sorted(sizes))}, not {count(n)}{_why_n(read, sizes, n)}")
    if null.t != publication.t:
        found.append(f"t is {count(null.t)}, not {count(publication.t)}{_why_t(read, null.t)}")
    if null.chance != publication.chance:
        found.append(f"chance is {null.chance}, not {publication.chance}")
    return found


def _why_n(read: Answers | None, sizes: set[int], n: int) -> str:
    if read is None or max(sizes) > n:
        return ""
    ids = len(read.examples)
    if ids < n:
        return f": the results hold {count(ids)} example ids, so ids collide or fewer were scored"
    return ": fewer examples were scored"


def _why_t(read: Answers | None, t: int) -> str:
    if read is None or t >= len(read.prompts):
        return ""
    return f": of {count(len(read.prompts))} prompts so many are distinct"
