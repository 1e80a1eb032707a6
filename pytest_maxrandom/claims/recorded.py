"""One claim about recorded results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.exchangeable import NoPermutations, strata
from pytest_maxrandom.claims.publication import PublishedGuessers
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.stats.clusters import summary

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_maxrandom.claims.nulls import Guessers
    from pytest_maxrandom.claims.publication import PromptScores
    from pytest_maxrandom.record import Note, Published
    from pytest_maxrandom.suite.recorded import Chance
    from pytest_maxrandom.sweeps.answers import Answers


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a claim is judged by.

    Attributes
    ----------
    read, results : Answers or None
        As they were read, where prompts may repeat; and of distinct prompts. None where only a
        maximum was published.
    shots : int
        Demonstrations per prompt.
    counts : PromptScores
        Right answers of the distinct prompts, or of the best.
    null : Guessers
        The guessers that they are compared with.
    published : Published or None
        The verdict of a publication.
    stated : tuple of str
        Which of n, t and chance were not counted in the results.
    chances : tuple of Fraction or None
        Per example the chance of one guess, where it is known of each.
    declared_n : int or None
        Number of examples that the suite or a publication states.
    declared_chance : Fraction or dict or None
        Chance that is stated.
    notes : tuple of str or Remark
        What a reader must know.
    """

    read: Answers | None
    results: Answers | None
    shots: int
    counts: PromptScores
    null: Guessers
    published: Published | None
    stated: tuple[str, ...]
    chances: tuple[Fraction, ...] | None
    declared_n: int | None
    declared_chance: Chance | None
    notes: tuple[Note, ...]

    @cached_property
    def shuffles(self) -> list[Shuffle] | NoPermutations:
        """How right answers can be shuffled, or why that is not known.

        Where there are several ways, the largest p-value counts.
        """
        try:
            views = strata(self.results, self.chances)
        except NoPermutations as reason:
            return reason
        assert self.results is not None
        answers, gold = self.results.answers, self.results.gold
        assert answers is not None
        assert gold is not None
        return [Shuffle(answers, gold, None, view, self.results.groups) for view in views]

    @property
    def untestable(self) -> str | None:
        """Why there is no permutation p; None where there is one."""
        return str(self.shuffles) if isinstance(self.shuffles, NoPermutations) else None

    @cached_property
    def arrangements(self) -> int | None:
        """In how many ways right answers can be shuffled at least; None where that is not known."""
        if isinstance(self.shuffles, NoPermutations):
            return None
        return min(each.arrangements for each in self.shuffles)

    @property
    def unchanged(self) -> str | None:
        """Why right answers stay the same however they are shuffled; None where they do not."""
        if self.arrangements != 1:
            return None
        same = "all right answers that could be shuffled are the same"
        if self.results is None or self.results.clusters is None:
            return same
        return (
            f"{same}, and clusters are shuffled whole among those with as many examples: clusters "
            "of equal size are needed"
        )

    @property
    def n(self) -> int:
        """Number of examples that the claim is about."""
        return self.null.published_n if isinstance(self.null, PublishedGuessers) else self.counts.n

    @property
    def clusters(self) -> tuple[int | None, float | None]:
        """Number of clusters of the best prompt's examples, and what these are worth at least."""
        if self.results is None or self.results.clusters is None:
            return None, None
        return summary(compress(self.results.clusters, self.results.evaluated[self.counts.best]))

    @property
    def mix(self) -> dict[str, int]:
        """Number of the best prompt's examples by chance; empty where it is not known."""
        if self.chances is None:
            return {}
        if self.results is None:
            return {str(self.chances[0]): self.counts.n}
        mix = Counter(compress(self.chances, self.results.evaluated[self.counts.best]))
        return {str(chance): mix[chance] for chance in sorted(mix, reverse=True)}
