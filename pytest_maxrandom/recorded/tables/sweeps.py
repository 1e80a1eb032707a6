"""From the rows of a tidy table to recorded sweeps."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.errors import listed, quoted
from pytest_maxrandom.recorded.tables.cells import as_id, as_list, as_number
from pytest_maxrandom.recorded.tables.grid import Grid, shown
from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows, Values
    from pytest_maxrandom.recorded.tables.whose import Owner

T = TypeVar("T", bound="Hashable")

_CORRECT = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


class Table:
    """A whole file, with what its texts mean.

    Parameters
    ----------
    rows : Rows
        With the roles prompt and example, and correct or both of prediction and gold.

    Raises
    ------
    RecordedError
        If a text is not what its column should hold.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._prompt = rows.read("prompt", as_id)
        self._example = rows.read("example", as_id)
        self._correct = self._optional("correct", _as_correct)
        self._prediction = self._optional("prediction", _as_prediction)
        self._gold = self._optional("gold", _as_labels)
        self._choices = self._optional("choices", _as_choices)
        self._listed = self._optional("choices", _as_listed)
        self._counted = self._optional("choices", _is_number)
        self._cluster = self._optional("cluster", str)

    def _optional(self, role: str, parse: Callable[[str], T]) -> Values[T] | None:
        return self._rows.read(role, parse) if role in self._rows.columns else None

    def sweep(self, owner: Owner, members: NDArray[np.int64], *, ragged: bool) -> Answers:
        """Return the sweep of some rows.

        Parameters
        ----------
        members : ndarray of int
            The rows, ascending.
        ragged : bool
            Whether prompts may have been scored on different numbers of examples.

        Raises
        ------
        RecordedError
            If they contradict each other.
        """
        grid = Grid(self._rows, owner, members, self._prompt, self._example)
        least, most = grid.sizes(ragged=ragged)
        texts, answer_of_row = (
            ([], None) if self._prediction is None else grid.of_rows(self._prediction)
        )
        gold: Sequence[frozenset[str]] | None
        if self._gold is not None:
            gold = grid.of_examples(self._gold)
        else:
            gold = self._follows(grid, texts, answer_of_row)
        if gold is not None and self._correct is None:
            _refuse_strangers(grid, texts, frozenset().union(*gold))
        labels = sorted({*texts}.union(*(gold or ())), key=_natural)
        number = {label: place for place, label in enumerate(labels)}
        right = (
            None
            if gold is None
            else tuple(frozenset(number[label] for label in each) for each in gold)
        )
        answers = (
            None
            if answer_of_row is None
            else np.array([number[text] for text in texts])[answer_of_row]
        )
        return Answers(
            path=self._rows.path,
            claim=str(owner),
            model=owner.model,
            task=owner.task,
            shots=owner.shots,
            prompts=grid.prompts,
            examples=grid.examples,
            identities=grid.prompts,
            demonstration_ids=((),) * len(grid.prompts),
            correct=grid.filled(self._right(grid, answers, right, labels), empty=False),
            evaluated=grid.filled(np.ones(len(members), dtype=np.bool_), empty=False),
            chances=self._chances(grid, gold),
            choices_counted=self._counted is not None and self._counted.any_of(members),
            answers=None if answers is None else grid.filled(answers, empty=NOT_EVALUATED),
            gold=right,
            labels=tuple(labels),
            notes=_notes(least, most),
            clusters=self._clusters(grid),
            offered=self._offered(grid, gold),
        )

    def _follows(
        self, grid: Grid, texts: Sequence[str], answer_of_row: NDArray[np.int64] | None
    ) -> Sequence[frozenset[str]] | None:
        """Return the right answers that follow from rows that say which of two answers is right."""
        if answer_of_row is None or self._choices is None or len(texts) != 2:
            return None
        if set(grid.of_examples(self._choices)) != {2}:
            return None
        right = np.where(self._right(grid, None, None, ()), answer_of_row, 1 - answer_of_row)
        gold = np.zeros(len(grid.examples), dtype=np.int64)
        gold[grid.example] = right
        if (gold[grid.example] != right).any():
            return None
        return [frozenset({texts[each]}) for each in gold.tolist()]

    def _offered(
        self, grid: Grid, gold: Sequence[frozenset[str]] | None
    ) -> tuple[tuple[str, ...], ...] | None:
        """Return the lists of choices, sorted; None where they do not hold what is right."""
        if self._listed is None or gold is None:
            return None
        sets = grid.of_examples(self._listed)
        if not all(own and right <= own for right, own in zip(gold, sets, strict=True)):
            return None
        listed = {own: tuple(sorted(own or ())) for own in sets}
        return tuple(listed[own] for own in sets)

    def _right(
        self,
        grid: Grid,
        answers: NDArray[np.int64] | None,
        right: Sequence[frozenset[int]] | None,
        labels: Sequence[str],
    ) -> NDArray[np.bool_]:
        """Return whether each row is right: as it says, as its answer says, or as both do."""
        told = []
        if self._correct is not None:
            values, of_row = grid.of_rows(self._correct)
            told.append(np.array(values)[of_row])
        if answers is not None and right is not None:
            told.append(hits(answers, right, grid.example))
            contradicting = np.flatnonzero(told[0] != told[-1])
            if len(contradicting):
                row = contradicting[0]
                gold = frozenset(labels[each] for each in right[grid.example[row]])
                raise grid.error(
                    row,
                    f"correct says {'right' if told[0][row] else 'wrong'}, but prediction is "
                    f"{quoted(labels[answers[row]])} and gold {shown(gold)}; give what the run "
                    "gave, or leave the wrong column out by an empty name under `columns:`",
                )
        return told[0]

    def _clusters(self, grid: Grid) -> tuple[str, ...] | None:
        clusters = [] if self._cluster is None else grid.of_examples(self._cluster)
        if not any(clusters):
            return None
        if "" in clusters:
            raise grid.example_error(
                clusters.index(""),
                "has no cluster, but others have one; give one that stands alone a name of its own",
            )
        return tuple(clusters)

    def _chances(
        self, grid: Grid, gold: Sequence[frozenset[str]] | None
    ) -> tuple[Fraction, ...] | None:
        if self._choices is None:
            return None
        choices = grid.of_examples(self._choices)
        right = [1] * len(choices) if gold is None else [*map(len, gold)]
        for example, (count, number) in enumerate(zip(right, choices, strict=True)):
            if count >= number:
                raise grid.example_error(
                    example,
                    f"has {number} choices, of which {count} are right; at least one must be "
                    "wrong, so give the number of all choices",
                )
        return tuple(map(Fraction, right, choices))


def _refuse_strangers(grid: Grid, predictions: Sequence[str], gold: frozenset[str]) -> None:
    """Refuse letters where gold are numbers: nothing else would tell, and nothing be right."""
    if gold.isdisjoint(predictions):
        raise grid.error(
            0,
            f"no prediction is the gold label of any example: found {listed(predictions, 4)}, "
            f"expected such as {listed(sorted(gold), 4)}; call both alike, or add a column correct",
        )


def _as_correct(text: str) -> bool:
    try:
        return _CORRECT[text.strip().casefold()]
    except KeyError:
        raise ValueError(
            f"is {quoted(text)}, expected 0 or 1 (or false or true): an answer is right or wrong"
        ) from None


def _as_prediction(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; write a word such as 'none' where no answer could be read")
    try:
        several = as_list(text) is not None
    except ValueError:
        several = False
    if several:
        raise ValueError(f"is {quoted(text)}, a list, expected one label")
    return text


def _as_labels(text: str) -> frozenset[str]:
    """Read one label, or a list of labels in JSON."""
    labels = as_list(text)
    if labels == []:
        raise ValueError("is an empty list; give at least one right answer")
    return frozenset(map(as_id, [text] if labels is None else labels))


def _as_choices(text: str) -> int:
    """Read a number of choices, or count a list of them in JSON."""
    listed = as_list(text)
    return as_number(text if listed is None else str(len(listed)), 2)


def _as_listed(text: str) -> frozenset[str] | None:
    choices = as_list(text)
    return None if choices is None else frozenset(choices)


def _is_number(text: str) -> bool:
    return as_list(text) is None


def _natural(label: str) -> tuple[bool, int, str]:
    """Sort numbers by value, before other texts."""
    number = label.isascii() and label.isdecimal() and len(label) < 19
    return (not number, int(label) if number else 0, label)


def _notes(least: int, most: int) -> tuple[str, ...]:
    if least == most:
        return ()
    return (
        f"Prompts were scored on {least} to {most} examples each, as the suite allows with "
        "ragged: true.",
    )
