"""Results beside what a publication says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.record import Published
from pytest_maxrandom.recorded.guessers import mix_of
from pytest_maxrandom.stats.chances import mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline

if TYPE_CHECKING:
    from pytest_maxrandom.recorded.guessers import Counts
    from pytest_maxrandom.suite.recorded import Chance


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
    def of(cls, n: int, t: int, chance: Chance, counts: Counts) -> PublishedGuessers:
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


def published(null: PublishedGuessers, counts: Counts, changes: list[str]) -> Published:
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
