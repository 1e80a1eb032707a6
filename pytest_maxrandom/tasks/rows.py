"""Examples from rows with named columns: what JSONL, CSV and hub data have in common."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.reading import Mistake, as_cluster, as_id, as_text, parse_json
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.spec import RowsSpec
    from pytest_maxrandom.tasks.reading import Findings

Slots: TypeAlias = "Sequence[str | None]"  # the choices; None where a row has no such choice

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads examples from rows.

    Attributes
    ----------
    spec : RowsSpec
        Which column holds what, and how answers name a choice.
    lists_as_json : bool
        Whether all values are texts, and a list is written as JSON in such a text (CSV).
    """

    spec: RowsSpec
    lists_as_json: bool = False

    @property
    def wanted(self) -> dict[str, str]:
        """The columns to read, each with the key of `columns` that names it."""
        columns = self.spec.columns
        named = [columns.choices] if isinstance(columns.choices, str) else columns.choices
        wanted = {column: "choices" for column in named if self.spec.choices is None}
        keys = ("input", "answer", "id", "cluster")
        return wanted | {name: key for key in keys if (name := getattr(columns, key)) is not None}

    def check_header(
        self, header: Collection[str], findings: Findings, place: int | None = None
    ) -> None:
        """Refuse rows without a column that is wanted.

        Raises
        ------
        SuiteError
            With a problem for each missing column, and what was found before.
        """
        missing = {column: key for column, key in self.wanted.items() if column not in header}
        for column, key in missing.items():
            findings.add(
                place,
                f"the column {quoted(column)} for `columns: {key}:` is missing; "
                f"found {listed(header)}{did_you_mean(column, header)}",
            )
        if missing:
            findings.raise_any()

    def examples(
        self, rows: Iterable[tuple[int, Mapping[str, object]]], findings: Findings
    ) -> Iterator[tuple[int, Example]]:
        """Yield an example with its place for each row (given with its place) that is whole."""
        for number, (place, row) in enumerate(rows, 1):
            text = findings.attempt(place, self._input, row)
            id_ = findings.attempt(place, self._id, row, number)
            slots = findings.attempt(place, self._slots, row)
            right = None if slots is None else findings.attempt(place, self._right, row, slots)
            cluster = findings.attempt(place, self._cluster, row)
            if text is None or id_ is None or slots is None or right is None:
                continue
            filled = [slot for slot, choice in enumerate(slots) if choice is not None]
            choices = tuple(choice for choice in slots if choice is not None)
            indices = tuple(index for index, slot in enumerate(filled) if slot in right)
            yield place, Example(id_, text, choices, indices, cluster=cluster)

    def _input(self, row: Mapping[str, object]) -> str:
        return as_text(_value(row, self.spec.columns.input), "the input")

    def _id(self, row: Mapping[str, object], number: int) -> str:
        if self.spec.columns.id is None and row.get("id") in (None, ""):
            return f"#{number}"
        return as_id(_value(row, self.spec.columns.id or "id"))

    def _cluster(self, row: Mapping[str, object]) -> str | None:
        column = self.spec.columns.cluster
        return None if column is None else as_cluster(row.get(column), column)

    def _slots(self, row: Mapping[str, object]) -> list[str | None]:
        if self.spec.choices is not None:
            return list(self.spec.choices)
        if isinstance(self.spec.columns.choices, str):
            return [*self._choice_list(row, self.spec.columns.choices)]
        values = [row.get(column) for column in self.spec.columns.choices]
        return [None if value in (None, "") else as_text(value, "a choice") for value in values]

    def _choice_list(self, row: Mapping[str, object], column: str) -> list[str]:
        given = _value(row, column)
        values = self._spelled(given)
        if not isinstance(values, list):
            raise Mistake(
                f"the column {quoted(column)} must hold a list of choices such as "
                f'["yes", "no"], found {described(given)}; with one column for each '
                "choice, list them under `columns: choices:`"
            )
        return [as_text(value, "a choice") for value in values]

    def _right(self, row: Mapping[str, object], slots: Slots) -> set[int]:
        answer = _value(row, self.spec.columns.answer)
        if answer not in slots:  # a choice may itself look like a list
            answer = self._spelled(answer)
        answers = answer if isinstance(answer, list) else [answer]
        return {self._right_slot(each, slots) for each in answers}

    def _spelled(self, value: object) -> object:
        """Return the list that a text spells, where lists are written so; else what is given."""
        if not self.lists_as_json or not isinstance(value, str) or value.lstrip()[:1] != "[":
            return value
        try:
            return parse_json(value)
        except Mistake:
            return value

    def _right_slot(self, answer: object, slots: Slots) -> int:
        """Return the position of the choice that an answer means: see `answer_is` of the spec."""
        match self.spec.answer_is:
            case "text":
                return _by_text(answer, slots)
            case "letter":
                return _by_letter(answer, slots)
            case "index":
                return _by_index(answer, slots)
        if isinstance(answer, bool):
            raise Mistake(
                f"the answer is {described(answer)}, which names no choice; write a choice's text, "
                "or say `answer_is: index` to read false as 0 and true as 1"
            )
        if not isinstance(answer, int):
            return _by_text(answer, slots)
        text = str(answer)
        if text in slots and slots.index(text) != answer:
            raise Mistake(
                f"the answer {answer} is the text of choice {slots.index(text)} (counted from 0), "
                "and may be an index too; say `answer_is: text` or `answer_is: index`"
            )
        return _by_index(answer, slots)


def _value(row: Mapping[str, object], column: str) -> object:
    if column not in row:
        raise Mistake(
            f"this row has no column {quoted(column)}, found {listed(row)}"
            f"{did_you_mean(column, row)}"
        )
    return row[column]


def _by_text(answer: object, slots: Slots) -> int:
    text = as_text(answer, "the answer")
    if text in slots:
        return slots.index(text)
    choices = [choice for choice in slots if choice is not None]
    hint = did_you_mean(text, choices)
    if not hint and _WHOLE_NUMBER.fullmatch(text):
        hint = "; if it is an index, say `answer_is: index`"
    if not hint and text.upper() in _letters(slots):
        hint = "; if it is a letter, say `answer_is: letter`"
    raise Mistake(f"the answer {quoted(text)} is none of the choices {listed(choices)}{hint}")


def _by_index(answer: object, slots: Slots) -> int:
    if isinstance(answer, str) and _WHOLE_NUMBER.fullmatch(answer.strip()):
        answer = int(answer)
    if not isinstance(answer, int) or not 0 <= answer < len(slots):
        found = int(answer) if isinstance(answer, int) else described(answer)
        raise Mistake(f"an index must be a whole number from 0 to {len(slots) - 1}, found {found}")
    return _filled(int(answer), slots, f"the index {int(answer)}")


def _by_letter(answer: object, slots: Slots) -> int:
    letters = _letters(slots)
    letter = answer.strip().upper() if isinstance(answer, str) else ""
    if letter not in letters:
        raise Mistake(f"a letter must be one from A to {letters[-1]}, found {described(answer)}")
    return _filled(letters.index(letter), slots, f"the letter {letter}")


def _letters(slots: Slots) -> list[str]:
    return list(string.ascii_uppercase[: len(slots)])


def _filled(slot: int, slots: Slots, what: str) -> int:
    if slots[slot] is None:
        raise Mistake(f"the answer is {what}, but that choice is empty in this row")
    return slot
