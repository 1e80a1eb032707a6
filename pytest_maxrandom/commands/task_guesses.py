"""What a data file's columns seem to hold, for a first suite: input, choices and answer."""

from __future__ import annotations

import csv
import io
import json
import string
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.commands.asked import asked_for
from pytest_maxrandom.errors import Problem, SuiteError, listed, quoted
from pytest_maxrandom.host.delimiters import delimiter_of
from pytest_maxrandom.notation import count
from pytest_maxrandom.recorded.names import (
    ANSWERS,
    CONTEXTS,
    OPTION,
    QUESTIONS,
    SAID_BY_MODELS,
    WRONG,
    called_so,
    plain,
)
from pytest_maxrandom.suite.tasks import CsvSpec, JsonlSpec
from pytest_maxrandom.tasks.reading import file_findings
from pytest_maxrandom.tasks.rows import RowReader, columns_of, holds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.tasks.found import FoundTask

    Reading: TypeAlias = str | None  # `answer_is` of a task
    Rows: TypeAlias = Sequence[dict[str, Any]]

_MOST_CHOICES = 10
_READINGS = {
    "text": "each answer is the text of a choice",
    "letter": "each answer is the letter of a choice",
    "index": "answers are numbers of choices that begin with 0",
    "number": "answers are numbers of choices that begin with 1",
}
_ANY: tuple[Reading, ...] = (None, "letter", "index", "number")
_LISTS = "it holds lists"
_WAYS = {
    "choices": (
        "--set columns.choices='[COLUMN, COLUMN]' where each choice has a column",
        "--set choices='[TEXT, TEXT]' where all rows have the same choices",
        "--set answer_is=open where there are none",
    ),
    "answer_is": ("--set answer_is=number where they count from 1",),
}


@dataclass(frozen=True, slots=True)
class Guess:
    """A key of a task, its value, and why that seems so."""

    key: str
    value: str
    why: str


def completed(task: FoundTask, command: Sequence[str]) -> tuple[FoundTask, list[Guess]]:
    """Return a task with what its columns seem to hold, where nobody said it.

    Parameters
    ----------
    command : sequence of str
        What was asked for, as words of a shell, for a message that asks for more.

    Raises
    ------
    SuiteError
        If columns are missing that nobody named, and are not told with certainty: with a command
        that names them.
    """
    spec = task.spec
    if not isinstance(spec, CsvSpec | JsonlSpec):
        return task, []
    rows = _rows(task.base / Path(spec.path).expanduser(), spec.format)
    header = [*dict.fromkeys(column for row in rows for column in columns_of(row) if column)]
    missing = {
        key.removeprefix("columns: "): column
        for column, key in RowReader(spec).wanted.items()
        if not any(holds(name, column) for name in header)
    }
    if not spec.columns.model_fields_set.isdisjoint(missing):
        place = 1 if spec.format == "csv" else None
        RowReader(spec).check_header(header, file_findings(task.path), place)
    if not rows or len(header) == 1 or "labels" in missing:
        return task, []  # its own reader says what is wrong
    if not missing and (spec.answer_is or len(_right(task.path, spec, rows)) == len(rows)):
        return task, []
    taken = RowReader(spec).wanted
    for name in header:
        if name not in taken and plain(name) in SAID_BY_MODELS:
            keys = " ".join(f"--set columns.{key}=COLUMN" for key in missing)
            told = (
                f"{quoted(name)} seems to hold what a model said, which no task has: such answers "
                "go with `maxrandom init --results FILE`; for a task, name "
                + (f"all of its columns: {keys}" if missing else "`--set answer_is=...`")
            )
            raise SuiteError([Problem(task.path, None, told)])
    guesser = _Guesser(task, spec, rows, header, missing)
    if not guesser.missing:
        return replace(task, spec=guesser.spec), guesser.guesses
    raise SuiteError([Problem(task.path, None, _all_missing(guesser, command))])


class _Guesser:
    """Goes from names to what the rows say of them."""

    def __init__(
        self,
        found: FoundTask,
        spec: CsvSpec | JsonlSpec,
        rows: Rows,
        header: list[str],
        wanted: dict[str, str],
    ) -> None:
        self._path, self._rows, self._wanted = found.path, rows, wanted
        self.header, self.spec = header, spec
        self.guesses: list[Guess] = []
        self.missing: dict[str, str] = {}
        self._taken = {name for name in header if name in RowReader(spec).wanted}
        self._options = [*self._choices()]
        if "input" in wanted:
            self._input()
        self._answers()

    @property
    def free(self) -> list[str]:
        """The columns that have no part yet."""
        return [name for name in self.header if name not in self._taken]

    def _input(self) -> None:
        """Take the one column that is called as questions are, with the one of their passages."""
        named = _best(called_so("input", QUESTIONS, self.free))
        passages = [name for name in self.free if plain(name) in CONTEXTS]
        if not named:
            options = {name for columns, _ in self._options for name in columns}
            answers = {name for _, name, _ in called_so("gold", ANSWERS, self.free)}
            free = [name for name in self.free if name not in options | answers]
            several = (name for name in free if self._has_words(name))
            named = [(name, "the only column with several words in each row") for name in several]
            named = [] if passages else named
        unwritable = passages and set("{}:!") & set("".join([*passages, *(n for n, _ in named)]))
        if len(named) != 1 or len(passages) > 1 or unwritable:
            found = f"; it may be {listed([name for name, _ in named])}" if named else ""
            self.missing["input"] = f"no one column is called as questions are{found}"
            return
        ((column, why),) = named
        self._taken |= {column, *passages}
        if passages:
            template = f"{{{passages[0]}}}\n{{{column}}}"
            why = f"{why}, and {quoted(passages[0])} is what it is about"
            self._say({"input": template}, "input", template.replace("\n", r"\n"), why)
        else:
            self._name("input", column, why)

    def _answers(self) -> None:
        """Take for answers and choices what reads every row in one way alone."""
        choices = self._options
        free = [name for name in self.free if all(name not in each for each, _ in choices)]
        named = [(self.spec.columns.answer, "")]
        if by_shape := "answer" in self._wanted:
            named = _best(called_so("gold", ANSWERS, free))
            by_shape = not named
            if not named and (choices or len(free) == 1):
                named = [(name, "no other column answers all rows") for name in free]
        ways = [way for answer, why in named for way in self._ways(answer, why, choices, by_shape)]
        read = [(_right(self._path, way[0], self._rows), way) for way in ways]
        most = max((len(right) for right, _ in read), default=0)
        best = [each for each in read if len(each[0]) == most]
        # Of a column with the right name, the reader says what is wrong with some rows.
        enough = most == len(self._rows) if by_shape else 2 * most > len(self._rows)
        if enough and all(right == best[0][0] for right, _ in best):
            self.spec, guesses = best[0][1]
            self.guesses += guesses
            self._taken |= RowReader(self.spec).wanted.keys()
            return
        self._tell(choices, named, by_shape)
        if "answer" in self._wanted and (
            by_shape or len({way[0].columns.answer for _, way in best}) > 1
        ):
            told = [name for name, _ in named]
            found = "" if by_shape else f"; it may be {listed(told)}"
            self.missing["answer"] = f"no one column is called as right answers are{found}"
        if "choices" in self._wanted and (not choices or len(choices) > 1):
            self.missing["choices"] = "no columns hold choices, nor do few answers come again"
        if not {"answer", "choices"} & self.missing.keys():
            self.missing["answer_is"] = (
                "answers can be read in several ways" if enough
                else "answers are neither texts, letters nor numbers of choices"
            )  # fmt: skip

    def _tell(
        self, choices: list[tuple[list[str], str]], named: list[tuple[str, str]], by_shape: bool
    ) -> None:
        """Add what is known although something else is missing."""
        if len(choices) == 1:
            ((columns, why),) = choices
            self._taken |= {*columns}
            self.guesses.append(Guess("choices", listed(columns), why))
        if "answer" in self._wanted and len(named) == 1 and not by_shape:
            ((column, why),) = named
            self._taken.add(column)
            self.guesses.append(Guess("answer", quoted(column), why))

    def _choices(self) -> Iterator[tuple[list[str], str]]:
        """Yield the columns that may hold choices: one with lists, or one for each choice."""
        if "choices" not in self._wanted:
            return
        for name in self.free:
            if all(_is_list(row.get(name)) for row in self._rows):
                yield [name], _LISTS
        parts = [(match, name) for name in self.free if (match := OPTION.fullmatch(plain(name)))]
        parts.sort(key=lambda each: (each[0][1] or "", each[0][2].isdigit()))
        for (_, counted), group in groupby(
            parts, key=lambda each: (each[0][1], each[0][2].isdigit())
        ):
            places = {_place(match[2]): name for match, name in group}
            first = min(places)
            together = len(places) > 1 and max(places) - first == len(places) - 1
            if together and first in ((0, 1) if counted else (0,)):
                yield [places[place] for place in sorted(places)], "one column for each choice"

    def _ways(
        self, answer: str, why: str, choices: list[tuple[list[str], str]], by_shape: bool
    ) -> Iterator[tuple[CsvSpec | JsonlSpec, list[Guess]]]:
        """Yield what a task may be with a column of answers, with the reasons."""
        keys: dict[str, Any] = {"answer": answer} if "answer" in self._wanted else {}
        guesses = [Guess("answer", quoted(answer), why)] if keys else []
        readings: tuple[Reading, ...] = ("text", "letter") if by_shape else _ANY
        if "choices" not in self._wanted:
            yield from self._read(keys, {}, guesses, readings)
            return
        for columns, reason in choices:
            named: str | list[str] = columns[0] if reason == _LISTS else columns
            guess = Guess("choices", listed(columns), reason)
            yield from self._read({**keys, "choices": named}, {}, [guess, *guesses], readings)
        if choices:
            return
        if wrong := [name for name in self.free if WRONG.fullmatch(plain(name))]:
            guess = Guess("choices", listed([answer, *wrong]), "the right answer and wrong ones")
            columns = [answer, *wrong]
            yield from self._read({**keys, "choices": columns}, {}, [guess, *guesses], (None,))
        elif texts := self._labels(answer):
            guess = Guess("choices", listed(texts), f"the texts of {quoted(answer)} come again")
            yield from self._read(keys, {"choices": texts}, [guess, *guesses], (None,))
        elif not (by_shape or self.spec.answer_is) and (number := self._differ(answer)):
            why = f"{count(number)} different answers, and no column has choices"
            open_ = {"answer_is": "open"}
            yield from self._read(keys, open_, [*guesses, Guess("answer_is", "open", why)], (None,))

    def _read(
        self,
        columns: dict[str, Any],
        keys: dict[str, Any],
        told: list[Guess],
        readings: Sequence[Reading],
    ) -> Iterator[tuple[CsvSpec | JsonlSpec, list[Guess]]]:
        """Yield the task with each way to read its answers."""
        if self.spec.answer_is or self.spec.columns.labels:
            readings = (self.spec.answer_is,)
        for reading in readings:
            new = dict(keys)
            guesses = [*told]
            if columns:
                new["columns"] = self.spec.columns.model_copy(update=columns)
            if reading not in (None, self.spec.answer_is):
                new["answer_is"] = reading
                guesses.append(Guess("answer_is", str(reading), _READINGS[str(reading)]))
            yield self.spec.model_copy(update=new), guesses

    def _labels(self, answer: str) -> list[str]:
        """Return the texts of answers if they are few and come again; letters may be no texts."""
        texts = _distinct(self._rows, answer)
        others = [name for name in self.free if name != answer]
        letters = len(others) >= len(texts) and all(len(text) == 1 for text in texts)
        return [] if letters else texts

    def _differ(self, answer: str) -> int:
        """Return how many texts answers have if these seem to be free ones; else 0.

        Most differ, they are no letters, and no other column may hold the choices in its texts.
        """
        if any(self._has_words(name) for name in self.free if name != answer):
            return 0
        values = [row.get(answer) for row in self._rows]
        texts = {value for value in values if isinstance(value, str) and value.strip()}
        words = any(len(text) > 1 for text in texts) and not any(map(_is_list, values))
        return len(texts) if words and 2 * len(texts) > len(values) else 0

    def _has_words(self, column: str) -> bool:
        texts = [row.get(column) for row in self._rows]
        return all(isinstance(text, str) and " " in text.strip() for text in texts)

    def _name(self, role: str, column: str, why: str) -> None:
        columns = self.spec.columns.model_copy(update={role: column})
        self._say({"columns": columns}, role, quoted(column), why)

    def _say(self, update: dict[str, Any], key: str, value: str, why: str) -> None:
        self.spec = self.spec.model_copy(update=update)
        self.guesses.append(Guess(key, value, why))


def _all_missing(guesser: _Guesser, command: Sequence[str]) -> str:
    """Say all that is missing, what was found, and which line says it."""
    told = [f"{each.value} is {each.key}" for each in guesser.guesses]
    words = [*command]
    for key in guesser.missing:
        words += ["--set", "answer_is=index" if key == "answer_is" else f"columns.{key}=COLUMN"]
    ways = [f"  or {way}" for key in guesser.missing for way in _WAYS.get(key, ())]
    return asked_for("a task", guesser.missing, told, guesser.free, words, ways)


def _best(ranked: list[tuple[int, str, str]]) -> list[tuple[str, str]]:
    """Return the columns whose names mean a role as plainly as any."""
    return [(column, why) for rank, column, why in ranked if rank == ranked[0][0]]


def _place(mark: str) -> int:
    return int(mark) if mark.isdigit() else string.ascii_lowercase.index(mark)


def _right(path: Path, spec: CsvSpec | JsonlSpec, rows: Rows) -> dict[int, frozenset[str]]:
    """Return the right answers of the rows that can be read, by their places."""
    findings = file_findings(path)
    alone = spec.model_copy(update={"input": "-"})  # whatever the question is
    read = RowReader(alone).examples(enumerate(rows), findings)
    return {
        place: frozenset(example.choices[index] for index in example.right)
        for place, example in read
    }


def _rows(file: Path, form: str) -> list[dict[str, Any]]:
    """Return the rows of a file that is as it should be; else none."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        if form == "csv":
            stream = io.StringIO(text, newline="")
            delimiter, _ = delimiter_of(stream)
            read = csv.DictReader(stream, delimiter=delimiter)
            return [row for row in read if None not in row and any(row.values())]
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError, csv.Error):
        return []
    return rows if all(isinstance(row, dict) for row in rows) else []


def _is_list(value: object) -> bool:
    return isinstance(value, list) or (isinstance(value, str) and value.lstrip().startswith("["))


def _distinct(rows: Rows, column: str) -> list[str]:
    """Return the few texts that stand in a column again and again, sorted; else none."""
    values = [row.get(column) for row in rows]
    texts = {value for value in values if isinstance(value, str) and value.strip()}
    usable = all(
        isinstance(value, str) and value.strip() and not _is_list(value) for value in values
    )
    few = 2 <= len(texts) <= _MOST_CHOICES and 2 * len(texts) <= len(values)
    return sorted(texts) if usable and few else []
