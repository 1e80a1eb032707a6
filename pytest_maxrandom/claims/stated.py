"""From results, and what a suite states of them, to what a claim is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.publication import (
    PromptScores,
    PublishedGuessers,
    agrees,
    alike,
    chances_of,
    changes,
    of_examples,
    published,
)
from pytest_maxrandom.claims.recorded import Evidence
from pytest_maxrandom.notation import chances, span
from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.recorded import at_shots
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.claims.nulls import Guessers
    from pytest_maxrandom.record import Note, Published
    from pytest_maxrandom.recorded.sources import Results
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


def evidence(
    results: Results, task: RecordedTaskSpec, shots: int, *, by_publication: bool
) -> Evidence:
    """Return what a claim about these results is judged by.

    Parameters
    ----------
    results : Answers or RecordedMaximum
        As they were read: prompts may repeat.
    task : RecordedTaskSpec
        What the suite states of them.
    shots : int
        Which of its numbers are meant.
    by_publication : bool
        Whether the claim is about the n, t and chance of the publication.

    Raises
    ------
    Contradiction
        Where what is stated and what the results tell do not agree, or do not suffice.
    """
    tried = results.distinct() if isinstance(results, Answers) else results
    given = _Given(results, tried, PromptScores.of(tried), task, shots)
    if by_publication:
        return given.by_publication()
    return given.as_counted()


@dataclass(frozen=True, eq=False)
class _Given:
    """Results, their distinct prompts, and what is stated of them."""

    results: Results
    tried: Results
    counts: PromptScores
    task: RecordedTaskSpec
    shots: int

    def as_counted(self) -> Evidence:
        self._check_n()
        t = self._t()
        null = self._null(t)
        stated = ["n", "t", "chance"]
        if isinstance(self.tried, Answers):
            stated = ["t"] if t > len(self.tried.prompts) else []
            stated += ["chance"] if self.tried.chances is None else []
        published = self._published(null)
        return self._evidence(null, published, stated, self._stated_chance, [self._note_on_t(t)])

    def by_publication(self) -> Evidence:
        null = self._publication()
        assert null is not None
        notes = [Remark("published_numbers", {"examples": self.counts.n})]
        if isinstance(self.tried, Answers):
            sizes, t = _sizes(self.counts), len(self.tried.prompts)
            if (*sizes, t) != (null.published_n, null.t):
                notes.append(Remark("counted_otherwise", {"sizes": sizes, "t": t}))
        assert self.task.published is not None
        chance = self.task.published.chance
        return self._evidence(null, None, ["n", "t", "chance"], chance, notes)

    def _evidence(
        self,
        null: Guessers,
        published: Published | None,
        stated: list[str],
        chance: Chance | None,
        notes: list[Remark],
    ) -> Evidence:
        said: list[Note] = [*notes]
        if isinstance(self.results, Answers) and isinstance(self.tried, Answers):
            said += self.results.notes
            said += _notes(self.tried, self.counts)
        return Evidence(
            read=self.results if isinstance(self.results, Answers) else None,
            results=self.tried if isinstance(self.tried, Answers) else None,
            shots=self.results.shots,
            counts=self.counts,
            null=null,
            published=published,
            stated=tuple(stated),
            chances=self._chances,
            declared_n=self._declared_n,
            declared_chance=chance,
            notes=tuple(said),
        )

    @property
    def _declared_n(self) -> int | None:
        """What the suite states would have been refused if it were not what was found."""
        publication = self.task.published
        return None if publication is None else at_shots(publication.n, self.shots)

    @property
    def _chances(self) -> tuple[Fraction, ...] | None:
        told, stated = self.tried, self._stated_chance
        if isinstance(told, Answers):
            one, n = None, len(told.examples)
            if told.chances is not None:
                return told.chances
        else:
            one, n = told.chance, 1
        chance = one or stated
        return (chance,) * n if isinstance(chance, Fraction) else None

    def _stated(self, keys: tuple[str, ...], number: int | dict[int, int]) -> int:
        found = at_shots(number, self.shots)
        if found is None:
            raise Contradiction(keys, f"names no number for {self.shots}-shot prompts; add it")
        return found

    def _check_n(self) -> None:
        if self.task.n is None:
            return
        stated = self._stated(("n",), self.task.n)
        if (self.counts.sizes != stated).any():
            raise Contradiction(
                ("n",),
                f"found {stated}, but the {self.shots}-shot prompts were scored on "
                f"{span(self.counts.sizes.tolist())} examples; look why, and remove it, or give it "
                "in `published` to have both compared",
            )

    def _t(self) -> int:
        stated = None if self.task.t is None else self._stated(("t",), self.task.t)
        if isinstance(self.tried, Answers):
            found: int | None = len(self.tried.prompts)
        else:
            found = self.tried.t
        t = found if stated is None else stated
        if t is None:
            raise Contradiction((), "the results do not tell how many prompts were tried; give `t`")
        if found is not None and t < found:
            raise Contradiction(
                ("t",),
                f"found {t}, but the results are of {found} {self.shots}-shot prompts; it "
                "is at least that, and more where the results are of a part of the prompts",
            )
        return t

    @property
    def _stated_chance(self) -> Chance | None:
        publication = self.task.published
        if self.task.chance is not None or publication is None:
            return self.task.chance
        return publication.chance

    def _null(self, t: int) -> Guessers:
        told = chances_of(self.tried)
        if told is not None and self.task.chance is not None and not agrees(self.task.chance, told):
            raise Contradiction(
                ("chance",),
                f"found {chances(self.task.chance)}, but by the results it is {chances(told)}; "
                "remove it, or give it in `published` to have both compared",
            )
        if isinstance(self.tried, Answers) and self.tried.chances is not None:
            return of_examples(self.tried, self.counts, t)
        told_alike = None if isinstance(self.tried, Answers) else self.tried.chance
        chance = told_alike or self._stated_chance
        if chance is None:
            raise Contradiction(
                (), "the results do not tell the chance of one guess; give `chance`, such as 1/4"
            )
        try:
            return alike(self.counts, chance, t)
        except ValueError as error:
            raise Contradiction(("chance",), f"{error}; correct one of them") from error

    def _publication(self) -> PublishedGuessers | None:
        spec = self.task.published
        if spec is None:
            return None
        n = self._stated(("published", "n"), spec.n)
        t = self._stated(("published", "t"), spec.t)
        try:
            return PublishedGuessers.of(n, t, spec.chance, self.counts)
        except ValueError as error:
            raise Contradiction(("published",), f"{error}; correct one of them") from error

    def _published(self, null: Guessers) -> Published | None:
        publication = self._publication()
        if publication is None:
            return None
        return published(
            publication,
            self.counts,
            changes(
                self.results if isinstance(self.results, Answers) else None,
                self.counts,
                null,
                publication,
            ),
        )

    def _note_on_t(self, t: int) -> Remark:
        if not isinstance(self.tried, Answers):
            return Remark("nothing_counted")
        held = len(self.tried.prompts)
        return Remark("t_stated", {"t": t, "prompts": held}) if t > held else Remark("t_of_results")


def _notes(tried: Answers, counts: PromptScores) -> Iterator[Remark]:
    """Yield what a reader must know of a sweep."""
    if not counts.shared_n:
        yield Remark("sizes_differ", {"sizes": _sizes(counts)})
    best = {"prompt": tried.prompts[counts.best]}
    if counts.tied > 1:
        yield Remark("first_best_prompt", {**best, "tied": counts.tied})
    else:
        yield Remark("best_prompt", best)


def _sizes(counts: PromptScores) -> list[int]:
    """Return the least and the largest number of examples; one where they are the same."""
    return sorted({int(counts.sizes.min()), int(counts.sizes.max())})
