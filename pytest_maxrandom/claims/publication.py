"""The guessers of recorded results, and what a publication says about the results.

There is one guesser for each prompt, on the examples that it was scored on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.record import Published, Remark
from pytest_maxrandom.stats.chances import Groups, chance_groups, mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.recorded import Chance


def agrees(stated: Chance, told: Counter[Fraction]) -> bool:
    """Tell whether a chance is that of results, of which `told` has the number of each."""
    if isinstance(stated, Fraction):
        return told.keys() == {stated}
    return {Fraction(1, choices): many for choices, many in stated.items()} == told


def alike(results: Answers, chance: Chance, t: int) -> Guessers:
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
    sizes, kinds = np.unique(results.sizes, return_inverse=True)
    return _guessers([chance_groups(chance, int(n)) for n in sizes], kinds, results, t)


def of_examples(results: Answers, t: int) -> Guessers:
    """Return guessers by the chance of each example that a prompt was scored on.

    The results must tell the chances; t is as in `alike`.
    """
    assert results.chances is not None
    values = sorted(set(results.chances))
    places = {value: place for place, value in enumerate(values)}
    place = np.array([places[value] for value in results.chances])
    scored = results.evaluated if results.prompts else np.ones((1, len(place)), dtype=np.bool_)
    times = [scored[:, place == each].sum(axis=1) for each in range(len(values))]
    rows, kinds = np.unique(np.stack(times, axis=1), axis=0, return_inverse=True)
    mixes = [
        tuple((value, size) for value, size in zip(values, row, strict=True) if size)
        for row in rows.tolist()
    ]
    return _guessers(mixes, kinds.ravel(), results, t)


def mix_of(groups: Groups) -> Chance | list[Fraction]:
    """Return groups of examples in the shortest form that `BestOfPrompts` takes."""
    if all(chance.numerator == 1 for chance, _ in groups):
        return {chance.denominator: size for chance, size in groups}
    return [chance for chance, size in groups for _ in range(size)]


def _guessers(
    mixes: Sequence[Groups], kinds: NDArray[np.intp], results: Answers, t: int
) -> Guessers:
    copies = np.bincount(kinds, minlength=len(mixes)).tolist()
    means = [mean_of(groups) for groups in mixes]
    examples = [sum(size for _, size in groups) for groups in mixes]
    tried = len(kinds)
    total = sum((mean * many for mean, many in zip(means, copies, strict=True)), Fraction())
    # With the same chance, the fewer examples, the further the best guesser is above it.
    copies[max(range(len(mixes)), key=lambda kind: (means[kind], -examples[kind]))] += t - tried
    best = BestOfPrompts(list(zip(map(mix_of, mixes), copies, strict=True)))
    return Guessers(best, tuple(kinds.tolist()), results.best_size, total / tried)


@dataclass(frozen=True)
class PublishedGuessers(Guessers):
    """Guessers by the n, t and chance of a publication.

    As in the tables of Yauney and Mimno (2024), the baseline is that of the published n, and the
    p-values are those of the best prompt's right answers among the examples it was scored on.
    """

    published_n: int
    """The number of examples that was published."""
    expected: float
    """The maximum random baseline with that many examples."""
    one: BestOfPrompts
    """One of the guessers."""

    @classmethod
    def of(cls, n: int, t: int, chance: Chance, results: Answers) -> PublishedGuessers:
        """Return t guessers.

        Raises
        ------
        ValueError
            If a mapping of chances has another number of examples than n.
        """
        nominal = MaxRandomBaseline(n, chance, t)
        # A mix of chances is known of the published examples only.
        mix = chance if isinstance(chance, dict) else mix_of(((chance, results.best_size),))
        return cls(
            best=BestOfPrompts([(mix, t)]),
            kinds=(0,) * len(results.sizes),
            n=results.best_size,
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


def published(
    publication: PublishedGuessers, null: Guessers, read: Answers, results: Answers
) -> Published:
    """Return the verdict by the publication's numbers, and which of these are others here.

    Parameters
    ----------
    publication, null : Guessers
        By the publication, and by the results.
    read, results : Answers
        As they were read, where prompts may repeat; and of distinct prompts.
    """
    correct, best = results.best_correct, results.best
    verdict = judge(Claim(), publication, correct, best)
    assert verdict.verdict is not None
    return Published(
        n=publication.published_n,
        t=publication.t,
        standard_baseline=publication.standard_baseline,
        max_random_baseline=publication.max_random_baseline,
        p_standard=publication.p_standard(correct, best),
        p_max=publication.p_max(correct),
        verdict=verdict.verdict,
        changes=_changes(publication, null, read, results),
    )


def _changes(
    publication: PublishedGuessers, null: Guessers, read: Answers, results: Answers
) -> list[Remark]:
    """Tell which of n, t and chance are not as they were published."""
    remarks = []
    sizes, n = set(results.sizes.tolist()), publication.published_n
    ids, prompts = len(read.examples), len(read.prompts)
    if sizes != {n}:
        kind = "other_n_of_fewer"
        if not prompts or max(sizes) > n:
            kind = "other_n"
        elif ids < n:
            kind = "other_n_of_ids"
        remarks.append(Remark(kind, {"sizes": sorted(sizes), "published": n, "ids": ids}))
    if null.t != publication.t:
        kind = "other_t_of_distinct" if null.t < prompts else "other_t"
        remarks.append(Remark(kind, {"t": null.t, "published": publication.t, "prompts": prompts}))
    if null.chance != publication.chance:
        values = {"chance": str(null.chance), "published": str(publication.chance)}
        remarks.append(Remark("other_chance", values))
    return remarks
