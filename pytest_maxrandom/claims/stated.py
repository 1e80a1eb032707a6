"""From results, and what a suite states of them, to what a claim is judged by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.evidence import Evidence, of_best
from pytest_maxrandom.claims.nulls import Guessers, LearntGuessers
from pytest_maxrandom.claims.publication import (
    PublishedGuessers,
    agrees,
    alike,
    of_examples,
    published,
)
from pytest_maxrandom.notation import chances, span
from pytest_maxrandom.record import Published, Remark
from pytest_maxrandom.suite.recorded import Chance, RecordedTaskSpec, at_shots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.answers import Answers


class Contradiction(Exception):
    """What a suite states and what results tell do not agree, or neither says what is needed.

    `keys` say which key of the task; they are empty where one is missing.
    """

    def __init__(self, keys: tuple[str, ...], message: str) -> None:
        self.keys = keys
        super().__init__(message)


def evidence(
    read: Answers, task: RecordedTaskSpec, *, by_publication: bool, guessed: bool = True
) -> Evidence:
    """Return what a claim about these results is judged by.

    Parameters
    ----------
    read : Answers
        As they were read: prompts may repeat.
    task : RecordedTaskSpec
        What the suite states of them.
    by_publication : bool
        Whether the claim is about the n, t and chance of the publication.
    guessed : bool
        Whether what is claimed needs guessers, so that results which do not tell the chance of a
        guess are refused where nobody states it. Scores between 0 and 1 have none.

    Raises
    ------
    Contradiction
        Where what is stated and what the results tell do not agree, or do not suffice.
    """
    if read.open is not None and read.open.told and (task.chance or task.published):
        read = replace(read, open=None)  # whoever states a chance knows the choices
    given = _Given(read, read.distinct(), task, guessed)
    if read.without_guessers:
        given.check_graded(by_publication=by_publication)
    return given.by_publication() if by_publication else given.as_counted()


@dataclass(frozen=True, eq=False)
class _Given:
    """Results, their distinct prompts, and what is stated of them."""

    read: Answers
    results: Answers
    task: RecordedTaskSpec
    guessed: bool

    def check_graded(self, *, by_publication: bool) -> None:
        """Refuse what is stated of guessers, of whom there are none."""
        keys = [key for key in ("chance", "published") if getattr(self.task, key) is not None]
        if keys or by_publication:
            raise Contradiction(
                (*keys[:1],),
                f"the answers in {self.read.path} have scores between 0 and 1, which no random "
                "guesser is compared with; remove what is stated of guessers (`chance`, "
                "`published`, `judge: published`)",
            )

    def as_counted(self) -> Evidence:
        self._check_n()
        results, t = self.results, self._t()
        null, publication = self._null(t), self._publication()
        if results.maximum is not None:
            stated, notes = ["n", "t", "chance"], [Remark("nothing_counted")]
        else:
            held = len(results.prompts)
            stated = ["t"] if t > held else []
            known = results.chances is not None or results.open is not None
            stated += [] if known or null is None else ["chance"]
            values = {"t": t, "prompts": held}
            notes = [Remark("t_stated", values) if t > held else Remark("t_of_results")]
        judged = None
        if publication is not None and null is not None:
            judged = published(publication, null, self.read, results)
        chance = self._stated_chance
        return self._evidence(null, t, results.best_size, stated, chance, notes, judged)

    def by_publication(self) -> Evidence:
        null, spec = self._publication(), self.task.published
        assert null is not None
        assert spec is not None
        notes = [Remark("published_numbers", {"examples": self.results.best_size})]
        sizes, t = _sizes(self.results), len(self.results.prompts)
        if t and (*sizes, t) != (null.published_n, null.t):
            notes.append(Remark("counted_otherwise", {"sizes": sizes, "t": t}))
        stated = ["n", "t", "chance"]
        return self._evidence(null, null.t, null.published_n, stated, spec.chance, notes)

    def _evidence(
        self,
        null: Guessers | None,
        t: int,
        n: int,
        stated: list[str],
        chance: Chance | None,
        notes: list[Remark],
        published: Published | None = None,
    ) -> Evidence:
        publication = self.task.published
        if publication is not None and self.results.open is not None:
            raise Contradiction(
                ("published",),
                "there are no choices, so that no chance can be published; remove it",
            )
        return Evidence(
            read=self.read,
            results=self.results,
            null=null,
            t=t,
            n=n,
            stated=tuple(stated),
            chances=self._chances,
            declared_n=None if publication is None else at_shots(publication.n, self.read.shots),
            declared_chance=chance,
            notes=(*notes, *self.read.notes, *_notes(self.results)),
            of_best=of_best(self.results, self.results.accuracies.tolist()),
            published=published,
            score_null=LearntGuessers(n, t) if self.results.open is not None else None,
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

    def _null(self, t: int) -> Guessers | None:
        if self.results.without_guessers:
            return None
        if self.results.open is not None:
            if self.task.chance is not None:
                raise Contradiction(
                    ("chance",),
                    "there are no choices, so that the chance of a guess is learnt; remove it",
                )
            return alike(self.results, Fraction(0), t)
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
        if chance is None and not self.guessed:
            return None
        if chance is None:
            raise Contradiction(
                (),
                "the results do not give the chance of one guess; give `chance`, such as 1/4, or "
                "claim what needs none, such as `beats` with a number",
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
    if results.prompts and len(sizes := _sizes(results)) > 1:
        yield Remark("sizes_differ", {"sizes": sizes})


def _sizes(results: Answers) -> list[int]:
    """Return the least and the largest number of examples; one where they are the same."""
    return sorted({int(results.sizes.min()), int(results.sizes.max())})
