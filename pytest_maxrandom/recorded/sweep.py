"""A sweep whose answers are known: which prompt was right on which example."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class RecordedSweep:
    """The answers of t prompts to n examples.

    Attributes
    ----------
    path : Path
        The file that they were read from.
    claim : str
        What tells the sweep from others: the claim's id, or task, model and shots.
    model : str
        Name of the model, with its quantization if it has one.
    prompt_ids, example_ids : tuple of str
        Lengths t and n.
    identities : tuple of str
        Per prompt what makes it the prompt that it is: its digest or its demonstrations.
    demonstration_ids : tuple of tuple of str
        Per prompt, in the order of its text.
    correct, evaluated : ndarray of bool
        Shape (t, n): whether the answer is right; whether there is one.
    chances : tuple of Fraction or None
        Per example the chance of one guess; None where the file does not tell.
    choices_counted : bool
        Whether those come from numbers of choices that somebody wrote, without the choices.
    answers : ndarray of int or None
        Shape (t, n): which label was answered, NOT_EVALUATED (-1) where none was; None where the
        file does not tell.
    gold : tuple of frozenset of int or None
        Per example the labels of its right choices; None where the file does not tell.
    labels : tuple of str
        What the labels are called; empty where they are places of choices.
    unshown : bool
        Whether those are places in the task's file, which no model sees and which may tell the
        right answer.
    log_likelihoods : ndarray of float or None
        Shape (t, n, most choices), in nats, NaN where an example has fewer choices; None where the
        file does not tell.
    notes : tuple of str
        What a reader must know of the file, one sentence each.
    clusters : tuple of str or None
        Per example what it shares with others, such as its passage; None where none are stated.
    offered : tuple of int or None
        Per example a number that it shares with those that have the same choices; None where the
        file does not list them.

    Raises
    ------
    RecordedError
        If ids repeat where they must not, the shapes disagree, a prompt was evaluated on no
        example, or an answer is right that does not exist.
    """

    path: Path
    claim: str
    model: str
    task: str
    shots: int
    prompt_ids: tuple[str, ...]
    example_ids: tuple[str, ...]
    identities: tuple[str, ...]
    demonstration_ids: tuple[tuple[str, ...], ...]
    correct: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    chances: tuple[Fraction, ...] | None
    choices_counted: bool = False
    answers: NDArray[np.int64] | None = None
    gold: tuple[frozenset[int], ...] | None = None
    labels: tuple[str, ...] = ()
    unshown: bool = False
    log_likelihoods: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None
    offered: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.prompt_ids), len(self.example_ids))
        if 0 in shape:
            raise self._error(f"holds {shape[0]} prompts and {shape[1]} examples; give a sweep")
        for name, cells in (("correct", self.correct), ("evaluated", self.evaluated)):
            if cells.shape != shape:
                raise self._error(
                    f"'{name}' has the shape {cells.shape}, but there are {shape[0]} prompt ids "
                    f"and {shape[1]} example ids; write the three from the same run"
                )
        if len(self.demonstration_ids) != shape[0]:
            raise self._error(
                f"demonstrations of {len(self.demonstration_ids)} prompts, but there are "
                f"{shape[0]} prompt ids; write both from the same run"
            )
        if self.clusters is not None and len(self.clusters) != shape[1]:
            raise self._error(
                f"clusters of {len(self.clusters)} examples, but there are {shape[1]} example "
                "ids; write both from the same run"
            )
        if len(set(self.example_ids)) < shape[1]:
            twice = next(each for each, size in Counter(self.example_ids).items() if size > 1)
            raise self._error(
                f"the example id {twice!r} stands for more than one column; give every example "
                "an id of its own"
            )
        empty = np.flatnonzero(~self.evaluated.any(axis=1))
        if len(empty):
            raise self._error(
                f"prompt {self.prompt_ids[empty[0]]!r} was evaluated on no example; leave it out, "
                "or finish the run"
            )
        ghosts = np.argwhere(self.correct & ~self.evaluated)
        if len(ghosts):
            prompt, example = ghosts[0]
            raise self._error(
                f"prompt {self.prompt_ids[prompt]!r} is right on example "
                f"{self.example_ids[example]!r}, on which it was not evaluated; 'correct' must "
                "be False wherever 'evaluated' is"
            )

    def _error(self, message: str) -> RecordedError:
        return RecordedError(f"{self.path}: {self.claim}: {message}")

    def distinct(self) -> RecordedSweep:
        """Return the sweep without prompts that repeat an earlier one."""
        first = {identity: place for place, identity in reversed([*enumerate(self.identities)])}
        kept = sorted(first.values())
        return replace(
            self,
            prompt_ids=tuple(self.prompt_ids[place] for place in kept),
            identities=tuple(self.identities[place] for place in kept),
            demonstration_ids=tuple(self.demonstration_ids[place] for place in kept),
            correct=self.correct[kept],
            evaluated=self.evaluated[kept],
            answers=None if self.answers is None else self.answers[kept],
            log_likelihoods=(None if self.log_likelihoods is None else self.log_likelihoods[kept]),
        )
