"""From results, and what a suite states of them, to what a claim is judged by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.constants import constants
from pytest_maxrandom.claims.listed import shuffles_of_lists
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.publication import (
    PublishedGuessers,
    agrees,
    alike,
    of_examples,
    published,
)
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle, beside_orders
from pytest_maxrandom.claims.strata import by_places, strata
from pytest_maxrandom.claims.verdict import APPROXIMATE, COUNTED, EXACT
from pytest_maxrandom.notation import chances, span
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.suite.recorded import at_shots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.record import Published
    from pytest_maxrandom.suite.recorded import Chance, RecordedTaskSpec


class Contradiction(Exception):
    """What a suite states and what results tell do not agree, or neither says what is needed.

    Attributes
    ----------
    keys : tuple of str
        Which key of the task; empty where one is missing.
    """

    def __init__(self, keys: tuple[str, ...], message: str) -> None:
        self.keys = keys
        super().__init__(message)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a claim is judged by."""

    read: Answers
    results: Answers
    """As they were read, where prompts may repeat; and of distinct prompts."""
    null: Guessers
    """The guessers that they are compared with."""
    n: int
    """Number of examples that the claim is about."""
    stated: tuple[str, ...]
    """Which of n, t and chance were not counted in the results."""
    chances: tuple[Fraction, ...] | None
    """Per example the chance of one guess, where it is known of each."""
    declared_n: int | None
    """Number of examples that a publication states; what the suite itself states would have been
    refused if it were not what was found."""
    declared_chance: Chance | None
    """Chance that is stated."""
    notes: tuple[Remark, ...]
    """What a reader must know."""
    published: Published | None = None
    """The verdict of a publication."""
    chance: Fraction | None = None
    """Mean chance of one guess, all choices alike, where that of `null` is another."""

    @cached_property
    def shuffles(self) -> list[Shuffle] | NoPermutations:
        """How right answers can be shuffled, or why that is not known.

        Where there are several ways, the largest p-value counts.
        """
        return beside_orders(self._shuffles, self.results)

    @property
    def _shuffles(self) -> list[Shuffle] | NoPermutations:
        try:
            if self.results.offered is not None:
                return shuffles_of_lists(self.results)
            views = strata(self.results, self.chances)
        except NoPermutations as reason:
            return reason
        answers, gold = self.results.answers, self.results.gold
        assert answers is not None
        assert gold is not None
        return [Shuffle(answers, gold, None, view, self.results.groups) for view in views]

    @property
    def untestable(self) -> str | None:
        """Why there is no permutation p; None where there is one."""
        return str(self.shuffles) if isinstance(self.shuffles, NoPermutations) else None

    @property
    def usual(self) -> tuple[Mapping[str, Any], Remark | None]:
        """What is claimed by default, and why that can neither pass nor fail."""
        results = self.results
        if self.constants is not None:
            return COUNTED, None
        if results.answers is None or results.gold is None:
            return EXACT, Remark("only_right_and_wrong")
        if (why := self.untestable or self.unchanged) is not None:
            return EXACT, Remark("not_permutable", {"why": why})
        if self.by_places:
            return EXACT, Remark("only_places")
        return (EXACT if results.evaluated.all() else APPROXIMATE), None

    @property
    def by_places(self) -> bool:
        """Whether right answers are shuffled by letters or numbers whose texts nobody tells."""
        return self.untestable is None and by_places(self.results, self.chances)

    @cached_property
    def arrangements(self) -> int | None:
        """In how many ways right answers can be shuffled at least; None where that is not known."""
        if isinstance(self.shuffles, NoPermutations):
            return None
        return min(each.arrangements for each in self.shuffles)

    @property
    def unchanged(self) -> str | None:
        """Why right answers stay the same however they are shuffled; None where they do not."""
        if self.arrangements != 1 or self.results.clusters is not None:
            return None
        return "all right answers that could be shuffled are the same"

    @cached_property
    def constants(self) -> tuple[Fraction, ...] | None:
        """Per example the chance of a guess that is as good as the best constant answer.

        None where a permutation p can be computed, or where it is not known what constant answers
        there are: without right answers, lists of choices, or where clusters are declared.
        """
        results = self.results
        known = self.untestable is not None or self.unchanged is not None
        if not known or results.clusters is not None or type(self.null) is not Guessers:
            return None
        return constants(results, self.chances)

    def by_constants(self) -> Evidence:
        """Return the evidence by guessers who are as good as constant answers."""
        assert self.constants is not None
        rates = self.constants
        values = {
            "why": self.untestable or self.unchanged,
            "rates": [float(min(rates)), float(max(rates))],
        }
        return replace(
            self,
            null=of_examples(replace(self.results, chances=rates), self.null.t),
            chance=self.null.chance,
            notes=(*self.notes, Remark("constants", values)),
        )

    @property
    def clusters(self) -> tuple[int | None, float | None]:
        """Number of clusters of the best prompt's examples, and what these are worth at least."""
        if self.results.clusters is None:
            return None, None
        return summary(compress(self.results.clusters, self.results.evaluated[self.results.best]))

    @property
    def mix(self) -> dict[str, int]:
        """Number of the best prompt's examples by chance; empty where it is not known."""
        own = self.chances or ()
        if self.results.prompts:
            own = tuple(compress(own, self.results.evaluated[self.results.best]))
        mix = Counter(own)
        return {str(chance): mix[chance] for chance in sorted(mix, reverse=True)}


def evidence(read: Answers, task: RecordedTaskSpec, *, by_publication: bool) -> Evidence:
    """Return what a claim about these results is judged by.

    Parameters
    ----------
    read : Answers
        As they were read: prompts may repeat.
    task : RecordedTaskSpec
        What the suite states of them.
    by_publication : bool
        Whether the claim is about the n, t and chance of the publication.

    Raises
    ------
    Contradiction
        Where what is stated and what the results tell do not agree, or do not suffice.
    """
    given = _Given(read, read.distinct(), task)
    return given.by_publication() if by_publication else given.as_counted()


@dataclass(frozen=True, eq=False)
class _Given:
    """Results, their distinct prompts, and what is stated of them."""

    read: Answers
    results: Answers
    task: RecordedTaskSpec

    def as_counted(self) -> Evidence:
        self._check_n()
        results, t = self.results, self._t()
        null, publication = self._null(t), self._publication()
        if results.maximum is not None:
            stated, notes = ["n", "t", "chance"], [Remark("nothing_counted")]
        else:
            held = len(results.prompts)
            stated = ["t"] if t > held else []
            stated += ["chance"] if results.chances is None else []
            values = {"t": t, "prompts": held}
            notes = [Remark("t_stated", values) if t > held else Remark("t_of_results")]
        judged = None
        if publication is not None:
            judged = published(publication, null, self.read, results)
        chance = self._stated_chance
        return self._evidence(null, results.best_size, stated, chance, notes, judged)

    def by_publication(self) -> Evidence:
        null, spec = self._publication(), self.task.published
        assert null is not None
        assert spec is not None
        notes = [Remark("published_numbers", {"examples": self.results.best_size})]
        sizes, t = _sizes(self.results), len(self.results.prompts)
        if t and (*sizes, t) != (null.published_n, null.t):
            notes.append(Remark("counted_otherwise", {"sizes": sizes, "t": t}))
        return self._evidence(null, null.published_n, ["n", "t", "chance"], spec.chance, notes)

    def _evidence(
        self,
        null: Guessers,
        n: int,
        stated: list[str],
        chance: Chance | None,
        notes: list[Remark],
        published: Published | None = None,
    ) -> Evidence:
        publication = self.task.published
        return Evidence(
            read=self.read,
            results=self.results,
            null=null,
            n=n,
            stated=tuple(stated),
            chances=self._chances,
            declared_n=None if publication is None else at_shots(publication.n, self.read.shots),
            declared_chance=chance,
            notes=(*notes, *self.read.notes, *_notes(self.results)),
            published=published,
        )

    @property
    def _chances(self) -> tuple[Fraction, ...] | None:
        told, chance = self.results.chances, self._stated_chance
        if told is not None or not isinstance(chance, Fraction):
            return told
        return (chance,) * (len(self.results.examples) or self.results.best_size)

    @property
    def _stated_chance(self) -> Chance | None:
        publication = self.task.published
        if self.task.chance is not None or publication is None:
            return self.task.chance
        return publication.chance

    def _stated(self, keys: tuple[str, ...], number: int | dict[int, int]) -> int:
        found = at_shots(number, self.read.shots)
        if found is None:
            raise Contradiction(keys, f"has no number for {self.read.shots}-shot prompts; add it")
        return found

    def _check_n(self) -> None:
        if self.task.n is None:
            return
        stated, sizes = self._stated(("n",), self.task.n), self.results.sizes
        if (sizes != stated).any():
            raise Contradiction(
                ("n",),
                f"found {stated}, but the {self.read.shots}-shot prompts were scored on "
                f"{span(sizes.tolist())} examples; find out why, then remove it, or give it in "
                "`published` to compare both",
            )

    def _t(self) -> int:
        stated = None if self.task.t is None else self._stated(("t",), self.task.t)
        found = self.results.tried
        t = found if stated is None else stated
        if t is None:
            raise Contradiction((), "the results do not say how many prompts were tried; give `t`")
        if found is not None and t < found:
            raise Contradiction(
                ("t",),
                f"found {t}, but the results are of {found} {self.read.shots}-shot prompts; t is "
                "at least that, and more if the results cover only a part of the prompts",
            )
        return t

    def _null(self, t: int) -> Guessers:
        if self.results.chances is not None:
            told, stated = Counter(self.results.chances), self.task.chance
            if stated is not None and not agrees(stated, told):
                raise Contradiction(
                    ("chance",),
                    f"found {chances(stated)}, but the results have {chances(told)}; remove it, or "
                    "give it in `published` to compare both",
                )
            return of_examples(self.results, t)
        chance = self._stated_chance
        if chance is None:
            raise Contradiction(
                (), "the results do not give the chance of one guess; give `chance`, such as 1/4"
            )
        try:
            return alike(self.results, chance, t)
        except ValueError as error:
            raise Contradiction(("chance",), f"{error}; correct one of them") from error

    def _publication(self) -> PublishedGuessers | None:
        spec = self.task.published
        if spec is None:
            return None
        n = self._stated(("published", "n"), spec.n)
        t = self._stated(("published", "t"), spec.t)
        try:
            return PublishedGuessers.of(n, t, spec.chance, self.results)
        except ValueError as error:
            raise Contradiction(("published",), f"{error}; correct one of them") from error


def _notes(results: Answers) -> Iterator[Remark]:
    """Yield what a reader must know of prompts."""
    if not results.prompts:
        return
    if len(sizes := _sizes(results)) > 1:
        yield Remark("sizes_differ", {"sizes": sizes})
    best = {"prompt": results.prompts[results.best]}
    tied = int((results.accuracies == results.accuracies.max()).sum())
    if tied > 1:
        yield Remark("first_best_prompt", {**best, "tied": tied})
    else:
        yield Remark("best_prompt", best)


def _sizes(results: Answers) -> list[int]:
    """Return the least and the largest number of examples; one where they are the same."""
    return sorted({int(results.sizes.min()), int(results.sizes.max())})
