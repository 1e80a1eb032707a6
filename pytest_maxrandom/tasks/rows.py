"""Examples from rows with named columns: what JSONL, CSV and hub data have in common."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.reading import (
    Findings,
    JsonObject,
    Mistake,
    as_cluster,
    as_id,
    as_object,
    as_reference,
    as_text,
    named_in,
    parse_json,
)
from pytest_maxrandom.tasks.references import Open, kind_of, number_of
from pytest_maxrandom.tasks.right_answers import (
    Slots,
    by_index,
    by_label,
    by_letter,
    by_multi_hot,
    by_text,
)
from pytest_maxrandom.tasks.task import Example, Where

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.tasks import RowsSpec

Parts: TypeAlias = "Sequence[tuple[str, str | None]]"  # texts, each with the column after it

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads examples from rows."""

    spec: RowsSpec
    """Which column holds what, and how answers name a choice."""

    @property
    def wanted(self) -> dict[str, str]:
        """The columns to read, each with the key of the task that names it."""
        columns = self.spec.columns
        named = [columns.choices] if isinstance(columns.choices, str) else columns.choices
        has_choices = self.spec.choices is None and not self.spec.is_open
        wanted = {column: "columns: choices" for column in named if has_choices}
        place = "columns: input" if self.spec.input is None else "input"
        wanted |= {column: place for _, column in self.spec.input_parts if column is not None}
        keys = ("answer", "labels", "id", "cluster", "kind")
        others = {getattr(columns, key): f"columns: {key}" for key in keys}
        return wanted | {column: key for column, key in others.items() if column is not None}

    def check_header(
        self,
        header: Collection[str],
        findings: Findings,
        place: int | None = None,
        where: Where | None = None,
    ) -> None:
        """Refuse rows without a column that is wanted; `where` tells which line names it.

        Raises
        ------
        SuiteError
            With a problem for each missing column, and what was found before.
        """
        missing = {
            column: key
            for column, key in self.wanted.items()
            if not any(holds(name, column) for name in header)
        }
        for column, key in missing.items():
            findings.add(
                place,
                f"the column {quoted(column)} for `{key}:` is missing; "
                f"found {listed(header)}{named_in(key, self.spec.columns.model_fields_set, where)}"
                f"{self._nearest(column, key, header)}",
            )
        if missing:
            findings.raise_any()

    def _nearest(self, column: str, key: str, header: Collection[str]) -> str:
        """Ask for the column that is spelled nearly so; the data are wrong if no suite names it."""
        near = did_you_mean(column, header)
        if key.removeprefix("columns: ") in self.spec.columns.model_fields_set:
            return near
        if near:
            return f"{near.replace('did you mean', 'is it')} Rename it, or name it by `{key}:`"
        same = (
            "; or write the choices of all rows as `choices: [TEXT, TEXT]`, or `answer_is: open` "
            "if there are none"
        )
        return f"; name yours by `{key}: NAME`{same if key == 'columns: choices' else ''}"

    def examples(
        self, rows: Iterable[tuple[int, Mapping[str, object]]], findings: Findings
    ) -> Iterator[tuple[int, Example]]:
        """Yield an example with its place for each row (given with its place) that is whole."""
        parts = self.spec.input_parts
        for number, (place, row) in enumerate(rows, 1):
            text = findings.attempt(place, self._input, row, parts)
            id_ = findings.attempt(place, self._id, row, number)
            if self.spec.is_open:
                open_ = findings.attempt(place, self._open, row)
                cluster = findings.attempt(place, self._cluster, row)
                if text is not None and id_ is not None and open_ is not None:
                    whole = Example.without_choices(id_, text, *open_)
                    yield place, replace(whole, cluster=cluster)
                continue
            slots = findings.attempt(place, self._several, row)
            right = None if slots is None else findings.attempt(place, self._right, row, slots)
            cluster = findings.attempt(place, self._cluster, row)
            if text is None or id_ is None or slots is None or right is None:
                continue
            filled = [slot for slot, choice in enumerate(slots) if choice is not None]
            choices = tuple(choice for choice in slots if choice is not None)
            indices = tuple(index for index, slot in enumerate(filled) if slot in right)
            yield place, Example(id_, text, choices, indices, cluster=cluster)

    def _input(self, row: Mapping[str, object], parts: Parts) -> str:
        if self.spec.input is None:
            return as_text(_value(row, self.spec.columns.input), "the input")
        return "".join(
            text if column is None
            else text + as_text(_value(row, column), f"the column {quoted(column)} in the input")
            for text, column in parts
        )  # fmt: skip

    def _id(self, row: Mapping[str, object], number: int) -> str:
        if self.spec.columns.id is None and row.get("id") in (None, ""):
            return f"#{number}"
        return as_id(_value(row, self.spec.columns.id or "id"))

    def _open(self, row: Mapping[str, object]) -> tuple[list[str], Open]:
        """Return the references of a row without choices, and how they are compared."""
        column, spec = self.spec.columns.answer, self.spec
        given = _value(row, column)
        spelled = _spelled(given)
        several = spelled if isinstance(spelled, list) else [given]
        references = [*dict.fromkeys(map(as_reference, several))]
        if not references:
            raise Mistake(
                "there is no reference; give the right answer, or a list of its spellings"
            )
        kind = kind_of(references[0])
        if spec.columns.kind is not None:
            kind = as_text(_value(row, spec.columns.kind), "the kind of a reference").strip()
            if not kind:
                raise Mistake(f"there is no kind in {quoted(spec.columns.kind)}; name one")
        tolerance, relative = spec.allowed
        if tolerance and all(number_of(each) is None for each in references):
            if spec.columns.kind is None or kind == "number":
                raise Mistake(
                    "`tolerance` is about numbers, and this reference is none; write numbers, or "
                    "name another kind in a column (`columns: {kind: NAME}`)"
                )
            tolerance = 0.0
        return references, Open(kind, tolerance, relative)

    def _cluster(self, row: Mapping[str, object]) -> str | None:
        column = self.spec.columns.cluster
        return None if column is None else as_cluster(_found(row, column), column)

    def _several(self, row: Mapping[str, object]) -> list[str | None]:
        slots = self._slots(row)
        if (found := len(slots) - slots.count(None)) < 2:
            raise Mistake(f"an example needs two or more choices, found {found}")
        return slots

    def _slots(self, row: Mapping[str, object]) -> list[str | None]:
        if self.spec.choices is not None:
            return list(self.spec.choices)
        if isinstance(self.spec.columns.choices, str):
            return [*self._choice_list(row, self.spec.columns.choices)]
        values = [_found(row, column) for column in self.spec.columns.choices]
        return [None if value in (None, "") else as_text(value, "a choice") for value in values]

    def _choice_list(self, row: Mapping[str, object], column: str) -> list[str]:
        given = _value(row, column)
        values = _spelled(given)
        if not isinstance(values, list):
            raise Mistake(
                f"the column {quoted(column)} must hold a list of choices such as "
                f'["yes", "no"], found {described(given)}; with one column for each '
                "choice, list them under `columns: choices:`"
            )
        return [as_text(value, "a choice") for value in values]

    def _right(self, row: Mapping[str, object], slots: Slots) -> set[int]:
        answer = _value(row, self.spec.columns.answer)
        if self.spec.answer_is == "multi_hot":
            return by_multi_hot(_spelled(answer), slots)
        labels = self._labels(row, slots)
        texts = slots if self.spec.answer_is in (None, "text") else ()
        answers = [answer]
        if answer not in (texts if labels is None else labels):  # one may itself look like a list
            spelled = _spelled(answer)
            answers = spelled if isinstance(spelled, list) else answers
        if labels is not None:
            return {by_label(each, labels) for each in answers}
        return {self._right_slot(each, slots) for each in answers}

    def _labels(self, row: Mapping[str, object], slots: Slots) -> list[str] | None:
        column = self.spec.columns.labels
        if column is None:
            return None
        given = _value(row, column)
        values = _spelled(given)
        if not isinstance(values, list) or len(values) != len(slots):
            found = f"{len(values)}" if isinstance(values, list) else described(given)
            raise Mistake(
                f"the column {quoted(column)} must hold a list of {len(slots)} labels, one for "
                f"each choice, found {found}"
            )
        labels = [as_text(value, "a label") for value in values]
        if repeated := [label for label, count in Counter(labels).items() if count > 1]:
            raise Mistake(
                f"labels must differ, but these appear more than once: {listed(repeated)}"
            )
        return labels

    def _right_slot(self, answer: object, slots: Slots) -> int:
        """Return the position of the choice that an answer means: see `answer_is` of the spec."""
        match self.spec.answer_is:
            case "text":
                return by_text(answer, slots)
            case "letter":
                return by_letter(answer, slots)
            case "index":
                return by_index(answer, slots)
            case "number":
                return by_index(answer, slots, first=1)
        if isinstance(answer, bool):
            raise Mistake(
                f"the answer is {described(answer)}, which is not the text of a choice; write a "
                "choice's text, or `answer_is: index` to read false as 0 and true as 1"
            )
        if not isinstance(answer, int):
            return by_text(answer, slots)
        text = str(answer)
        if text in slots and slots.index(text) != answer:
            raise Mistake(
                f"the answer {answer} is the text of choice {slots.index(text)} (counted from 0), "
                "but could also be an index; add `answer_is: text` or `answer_is: index`"
            )
        return by_index(answer, slots)


def columns_of(row: Mapping[str, object]) -> Iterator[str]:
    """Yield what a row's columns are called, nested ones with a dot."""
    for name, value in row.items():
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and inner:
            yield from (f"{name}.{each}" for each in columns_of(inner))
        else:
            yield name


def holds(name: str, column: str) -> bool:
    """Tell whether a column is the one that is meant, or it may be nested in that."""
    return column == name or column.startswith(f"{name}.")


def _value(row: Mapping[str, object], column: str) -> object:
    value = _found(row, column, _ABSENT)
    if value is _ABSENT:
        names = [*columns_of(row)]
        raise Mistake(
            f"this row has no column {quoted(column)}, found {listed(names)}"
            f"{did_you_mean(column, names)}"
        )
    return value


def _found(row: Mapping[str, object], column: str, default: object = None) -> object:
    """Return a column; a nested one of a list of objects is the list of theirs."""
    if column in row:
        return row[column]
    for name, value in row.items():
        if holds(name, column):
            below, rest = _spelled(value), column[len(name) + 1 :]
            if isinstance(below, dict):
                return _found(_as_plain(below), rest, default)
            if isinstance(below, list) and all(isinstance(each, dict) for each in below):
                found = [_found(_as_plain(each), rest, _ABSENT) for each in below]
                return default if _ABSENT in found else found
    return default


def _as_plain(value: Mapping[str, object]) -> Mapping[str, object]:
    return as_object(value, "an object") if isinstance(value, JsonObject) else value


def _spelled(value: object) -> object:
    """Return the list or object that a text spells, in JSON or in Python; else what is given."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return parse_json(value)
    except Mistake:
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escape sequences in what is no code
            return ast.literal_eval(value.strip())
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return value
