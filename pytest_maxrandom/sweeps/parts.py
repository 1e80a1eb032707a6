"""Prompts that are scored in parts: their examples in an order that all prompts share.

A part is stored by cells, whose size depends on the number of examples alone. So what was begun for
one verdict is read for another, and by the sweep that computes all the rest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.models.questions import both
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import Job, Scored, scored_digest, spent, total
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.record import SweepCost
    from pytest_maxrandom.sweeps.prompts.formats import Format
    from pytest_maxrandom.tasks.task import Example

    Read = Callable[[Sequence[Job]], Mapping[int, Scored]]

_CELLS = 25
"""A prompt is stopped at the end of a cell, so that at most 4 % of the examples are too many."""
_ORDER = "the order of examples in which a sweep is decided"


class _Piece(NamedTuple):
    places: tuple[int, ...]
    scored: Scored
    reused: bool


class BegunPrompt:
    """A prompt of which the first cells are scored.

    Parameters
    ----------
    cells : sequence of sequence of int
        The examples' places in the job.
    """

    def __init__(self, job: Job, cells: Sequence[tuple[int, ...]], parts: Parts) -> None:
        self.job = job
        self._parts = parts
        self._predictions: PromptPredictions | None = None
        self._cells = cells
        self._pieces: list[_Piece] = []

    def read(self, read: Read) -> None:
        """Take what is stored of the cells that come next."""
        while len(self._pieces) < len(self._cells):
            number = len(self._pieces)
            stored = read([self._cell(number)]).get(number)
            if stored is None:
                return
            self._pieces.append(_Piece(self._cells[number], stored, reused=True))

    def read_whole(self, stored: Scored) -> None:
        """Take what is stored of all of it."""
        places = tuple(range(len(self.job.examples)))
        self._pieces = [_Piece(places, stored, reused=True)]

    def rest(self, examples: int | None = None) -> Job:
        """Return the job that comes next: whole cells with so many examples at least, or all."""
        return self._parts.job(self.job, self._next(examples), self.job.number)

    def take(self, scored: Scored) -> None:
        """Take what computing `rest` gave, cell by cell; its cost is that of the first."""
        self._predictions = None
        answers = iter(scored.answers)
        left, cost = len(scored.answers), scored.cost
        while left:
            places = self._cells[len(self._pieces)]
            own = tuple(islice(answers, len(places)))
            full = sum(any(one.fills_context for one in each) for each in own)
            piece = replace(scored, answers=own, cost=replace(cost, full_texts=full))
            self._pieces.append(_Piece(places, piece, reused=False))
            left -= len(places)
            cost = replace(cost, tokens_forwarded=0, tokens_cached=0, trie_nodes=0, seconds=0.0)

    def new(self) -> list[tuple[Job, Scored]]:
        """Return the cells that are not stored yet, each with its answers."""
        return [
            (self._cell(number), piece.scored)
            for number, piece in enumerate(self._pieces)
            if not piece.reused
        ]

    @property
    def is_begun(self) -> bool:
        """Whether any example is scored."""
        return bool(self._pieces)

    @property
    def is_whole(self) -> bool:
        """Whether all examples are scored; there may be none, and then nothing was asked yet."""
        scored = sum(len(piece.places) for piece in self._pieces)
        return self.is_begun and scored == len(self.job.examples)

    @property
    def is_reused(self) -> bool:
        """Whether all that is scored of it was read."""
        return all(piece.reused for piece in self._pieces)

    def scored(self) -> Scored:
        """Return the answers in the order of the job's examples, with what they cost together."""
        answers = {
            place: own
            for piece in self._pieces
            for place, own in zip(piece.places, piece.scored.answers, strict=True)
        }
        first, costs = self._pieces[0].scored, [piece.scored.cost for piece in self._pieces]
        cost = replace(
            first.cost,
            tokens_forwarded=sum(cost.tokens_forwarded for cost in costs),
            tokens_cached=reduce(both, (cost.tokens_cached for cost in costs)),
            trie_nodes=sum(cost.trie_nodes for cost in costs),
            seconds=sum(cost.seconds for cost in costs),
            full_texts=sum(cost.full_texts for cost in costs),
        )
        return replace(first, answers=tuple(answers[place] for place in sorted(answers)), cost=cost)

    def spent(self) -> SweepCost:
        """Return what it cost in this run."""
        costs = [spent(piece.scored, reused=piece.reused) for piece in self._pieces]
        return replace(total(costs), reused=int(self.is_reused))

    def predictions(self) -> PromptPredictions:
        """Return the answers to the examples that are scored."""
        if self._predictions is None:
            places = sorted(place for piece in self._pieces for place in piece.places)
            examples = [self.job.examples[place] for place in places]
            answers = self.scored().answers
            self._predictions = predict(self.job.prompt, examples, answers, self.job.scoring)
        return self._predictions

    def _next(self, examples: int | None) -> list[int]:
        found: list[int] = []
        for places in self._cells[len(self._pieces) :]:
            if examples is not None and len(found) >= examples:
                break
            found += places
        return found

    def _cell(self, number: int) -> Job:
        """Return the job on the examples of one cell, numbered by its place here."""
        return self._parts.job(self.job, self._cells[number], number)


class Parts:
    """Cuts the prompts of a sweep into cells; most of them share their examples."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        self._digests: dict[tuple[Format, tuple[int, ...]], str] = {}

    def begin(
        self, job: Job, read: Read | None = None, stored: Scored | None = None
    ) -> BegunPrompt:
        """Return a prompt with what is stored of its cells, or of all of it."""
        key = tuple(map(id, job.examples))
        if key not in self._cells:
            self._cells[key] = _cells(job.examples)
        begun = BegunPrompt(job, self._cells[key], self)
        if stored is not None:
            begun.read_whole(stored)
        elif read is not None:
            begun.read(read)
        return begun

    def job(self, job: Job, places: Sequence[int], number: int) -> Job:
        """Return the job on some of the examples alone."""
        examples = [job.examples[place] for place in places]
        key = job.prompt.format, tuple(map(id, examples))
        if key not in self._digests:
            self._digests[key] = scored_digest(job.prompt.format, examples)
        return replace(job, number=number, examples=examples, task=self._digests[key])


def _cells(examples: Sequence[Example]) -> list[tuple[int, ...]]:
    """Return the places of the examples of each cell, by a seeded hash of what they hold."""
    ranks = [digest(_ORDER, repr(example.content)) for example in examples]
    order = sorted(range(len(examples)), key=lambda place: (ranks[place], place))
    size = max(1, -(-len(order) // _CELLS))
    bounds = [*range(0, len(order), size), len(order)]
    return [tuple(order[start:end]) for start, end in pairwise(bounds)]
