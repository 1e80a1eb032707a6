"""What the columns of a table of answers seem to hold, by their names and by what is in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import did_you_mean, quoted
from pytest_maxrandom.recorded.names import MEANING, NAMED, last_known, plain
from pytest_maxrandom.recorded.tables.columns import as_list, as_number
from pytest_maxrandom.recorded.tables.grid import by_first_row
from pytest_maxrandom.recorded.tables.table import as_correct
from pytest_maxrandom.suite.recorded import TableColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows

_NEAR = 0.8
"""How near a name must come to one of these, by difflib's ratio."""
_MOST_LABELS = 10
"""Labels of right answers up to which they seem to be the choices of every question."""
_NO_PAIR = "no two columns name a prompt and an example so that each pair stands in one row"
_ONE_ROW = (
    "each example stands in one row, but a table has a row for each prompt and example: write the "
    "answers of all prompts below each other (as pandas.melt does), and name the prompt in a column"
)
_UNTOLD = "without it nothing tells which answer is right (or name a column `correct` with 0 and 1)"


@dataclass(frozen=True, slots=True)
class Guess:
    """Which column has a role, and why it seems so."""

    column: str
    why: str


@dataclass(slots=True)
class Guessed:
    """What the columns of a table seem to hold.

    Attributes
    ----------
    columns : dict of str to Guess
        By their roles, the keys of `columns` in a suite.
    missing : dict of str to str
        What is needed and was not found, by roles, with the reason.
    labels : tuple of str
        The labels of right answers, where they seem to be the choices of every question.
    """

    columns: dict[str, Guess] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    def keys(self) -> dict[str, str]:
        """Return `columns` of a suite: those that are called otherwise than their role."""
        roles = TableColumns.model_fields
        return {
            role: self.columns[role].column
            for role in roles
            if role in self.columns and self.columns[role].column != role
        }


def guess(rows: Rows, said: Mapping[str, str | None]) -> Guessed:
    """Guess what each column holds.

    Parameters
    ----------
    rows : Rows
        All columns of a file, each with its own name as its role.
    said : mapping of str to str
        Columns that somebody named, by role; they are not questioned. An empty name says that
        there is none.
    """
    return _Guesser(rows, said).found


class _Guesser:
    """Goes from what is surest to what is left."""

    def __init__(self, rows: Rows, said: Mapping[str, str | None]) -> None:
        self._count = rows.count
        self._columns = {name: rows.read(name, str) for name in rows.names}
        self._refused = {role for role, column in said.items() if column == ""}
        self.found = Guessed(
            {role: Guess(column, "you said so") for role, column in said.items() if column}
        )
        for role in NAMED.keys() - {"prompt", "example"}:  # of these the reader says what is wrong
            own = [(name, "its name") for name in self._free if plain(name) == role]
            self._take(role, own)
        for role in ("model", "task", "shots"):
            self._take(role, self._named(role))
        self._pair()
        self._take("cluster", (each for each in self._named("cluster") if self._groups(each[0])))
        self._take("choices", self._named("choices"))
        self._take("correct", self._named("correct"))
        self._answers()
        self._labels()

    @property
    def _free(self) -> list[str]:
        taken = {each.column for each in self.found.columns.values()}
        return [name for name in self._columns if name not in taken]

    @property
    def _examples(self) -> int:
        """How many examples there are, at most."""
        example = self.found.columns.get("example")
        return self._count if example is None else len(self._columns[example.column].distinct)

    def _take(self, role: str, candidates: Iterable[tuple[str, str]]) -> None:
        """Let a role have the first of some columns, each with the reason, if it has none."""
        if role in self._refused or role in self.found.columns:
            return
        for column, why in candidates:
            self.found.columns[role] = Guess(column, why)
            return

    def _named(self, role: str) -> Iterator[tuple[str, str]]:
        """Yield free columns whose names mean a role and whose content can, best names first."""
        meant = (role, *NAMED[role])
        ranked: list[tuple[tuple[int, int], str, str]] = []
        for column in self._free:
            name = plain(column)
            if name in meant:
                why = "its name" if name == role else f"the name usually means {MEANING[role]}"
                ranked.append(((0, meant.index(name)), column, why))
            elif (word := last_known(name)) in meant:
                ranked.append(((1, meant.index(word)), column, f"{word!r} is in its name"))
            elif word:
                continue
            elif near := did_you_mean(name, meant, str, _NEAR):
                word = near.removeprefix("; did you mean ").removesuffix("?")
                ranked.append(((2, meant.index(word)), column, f"its name is nearly {word!r}"))
        fits = _FITS.get(role, lambda _: True)
        for _, column, why in sorted(ranked):
            if all(map(fits, self._columns[column].distinct)):
                yield column, why

    def _pair(self) -> None:
        """Find the columns of prompts and of examples: each pair of them stands in one row."""
        roles = ("prompt", "example")
        known = [self.found.columns.get(role) for role in roles]
        named = [
            [(each.column, each.why)] if each else [*self._named(role)]
            for role, each in zip(roles, known, strict=True)
        ]
        pairs = [(p, e) for p in named[0] for e in named[1] if p[0] != e[0]]
        whole = "with it each pair of prompt and example stands in one row"
        others = [(name, whole) for name in self._free if self._may_name(name)]
        pairs += [(p, e) for p in named[0] for e in others if p[0] != e[0]]
        pairs += [(p, e) for e in named[1] for p in others if p[0] != e[0]]
        if not any(named):
            by_size = sorted(others, key=lambda each: len(self._columns[each[0]].distinct))
            pairs += [(p, e) for p, e in permutations(by_size, 2) if self._fills(p[0], e[0])]
        for prompt, example in pairs:
            if self._stands_once(prompt[0], example[0]):
                self.found.columns |= {
                    role: Guess(*each)
                    for role, each in zip(roles, (prompt, example), strict=True)
                    if role not in self.found.columns
                }
                return
        for role, each, candidates in zip(roles, known, named, strict=True):
            if each is None and candidates:
                self.found.columns[role] = Guess(*candidates[0])
            elif each is None:
                alone = role == "prompt" and self._examples == self._count
                self.found.missing[role] = _ONE_ROW if alone else _NO_PAIR

    def _may_name(self, column: str) -> bool:
        """Tell whether a column can name prompts or examples: values that come again."""
        return 1 < len(self._columns[column].distinct) < self._count

    def _cells(self, *columns: str) -> tuple[NDArray[np.int64], int]:
        """Return per row its number by some columns, and its sweep; and how many there are."""
        of_sweep = (self.found.columns.get(role) for role in ("model", "task", "shots"))
        codes, size = np.zeros(self._count, dtype=np.int64), 1
        for column in (*columns, *(each.column for each in of_sweep if each)):
            values = self._columns[column]
            firsts, codes = by_first_row(
                codes * len(values.distinct) + values.codes, size * len(values.distinct)
            )
            size = len(firsts)
        return codes, size

    def _stands_once(self, prompt: str, example: str) -> bool:
        """Tell whether a pair stands in one row, and not because a column numbers the rows."""
        sizes = [len(self._columns[name].distinct) for name in (prompt, example)]
        numbers = self._count in sizes and min(sizes) > 1
        return not numbers and self._cells(prompt, example)[1] == self._count

    def _fills(self, prompt: str, example: str) -> bool:
        """Tell whether every prompt was asked every example, as far as the numbers tell."""
        return self._cells(prompt)[1] * len(self._columns[example].distinct) == self._count

    def _of_example(self, column: str) -> bool:
        """Tell whether a column has one value for each example, and not the same for all."""
        example = self.found.columns.get("example")
        if example is None:
            return True
        task = self.found.columns.get("task")
        keys = [example.column] if task is None else [example.column, task.column]
        codes = np.zeros(self._count, dtype=np.int64)
        for key in keys:
            codes = codes * len(self._columns[key].distinct) + self._columns[key].codes
        alone = len(np.unique(codes))
        values = self._columns[column]
        return len(np.unique(codes * len(values.distinct) + values.codes)) == alone

    def _groups(self, column: str) -> bool:
        """Tell whether several examples share a value of a column, and not all of them one."""
        several = 1 < len(self._columns[column].distinct) < self._examples
        return several and self._of_example(column)

    def _answers(self) -> None:
        """Find predictions and right answers: these are the same for each example."""
        gold = [each for each in self._named("gold") if self._of_example(each[0])]
        said = [each for each in self._named("prediction") if not self._of_example(each[0])]
        if not said:  # of prompts that all answer alike
            said = [each for each in self._named("prediction") if each not in gold[:1]]
        self._take("gold", gold)
        self._take("prediction", (each for each in said if each[0] in self._free))
        for role, other, fixed in (("gold", "prediction", True), ("prediction", "gold", False)):
            if (known := self.found.columns.get(other)) is None:
                continue
            texts = set(self._columns[known.column].distinct)
            one = ", and one for each example" if fixed else ""
            alike = (
                (name, f"it has the texts of the {other}{one}")
                for name in self._free
                if self._of_example(name) == fixed
                and not texts.isdisjoint(self._columns[name].distinct)
            )
            self._take(role, alike)
        self._take_both()
        roles = self.found.columns
        if "correct" not in roles and not {"prediction", "gold"} <= roles.keys():
            for role in ("prediction", "gold"):
                if role not in roles:
                    self.found.missing[role] = _UNTOLD + self._graded

    @property
    def _graded(self) -> str:
        """Say that there are scores, which are neither right nor wrong, if there are."""
        for column in self._free:
            cells = self._columns[column].distinct
            if last_known(plain(column)) == "score" and all(map(_is_share, cells)):
                return (
                    f"; {quoted(column)} holds scores, so write a suite with `columns: {{score:}}`"
                )
        return ""

    def _take_both(self) -> None:
        """Take for answers and right answers the only two columns that have the same few texts."""
        if not self.found.columns.keys().isdisjoint(("prediction", "gold", "correct")):
            return
        texts = {name: set(self._columns[name].distinct) for name in self._free}
        fixed = {name: self._of_example(name) for name in texts}
        pairs = [
            (said, gold)
            for said, gold in permutations(texts, 2)
            if fixed[gold] and not fixed[said]
            if 1 < len(texts[gold]) < self._examples and texts[gold] <= texts[said]
        ]
        if len(pairs) == 1:
            said, gold = pairs[0]
            self._take("prediction", [(said, f"it has the texts of {quoted(gold)}")])
            self._take("gold", [(gold, f"it has texts of {quoted(said)}, one for each example")])

    def _labels(self) -> None:
        """Take the labels of right answers for choices, if they are few and come again."""
        gold = self.found.columns.get("gold")
        if gold is None or "choices" in self.found.columns:
            return
        texts = self._columns[gold.column].distinct
        few = 2 <= len(texts) <= _MOST_LABELS and 2 * len(texts) <= self._examples
        if few and all(each.strip() and not _is_list(each) for each in texts):
            self.found.labels = tuple(sorted(texts))


def _is_list(text: str) -> bool:
    try:
        return as_list(text) is not None
    except ValueError:
        return False


def _is_share(text: str) -> bool:
    """Tell whether a text is a number from 0 to 1, perhaps with a decimal comma."""
    try:
        return 0 <= float(text.replace(",", ".")) <= 1
    except ValueError:
        return False


def _reads(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return fits


_FITS: dict[str, Callable[[str], bool]] = {
    "correct": _reads(as_correct),
    "shots": _reads(lambda text: as_number(text, 0)),
    "choices": lambda text: _is_list(text) or _reads(lambda text: as_number(text, 2))(text),
}
"""What every cell of a column must be, so that it can have a role."""


def shown(guessed: Guessed) -> list[tuple[str, str, str]]:
    """Return role, column and reason of each guess, in the order of the suite's keys."""
    return [
        (role, quoted(guessed.columns[role].column), guessed.columns[role].why)
        for role in NAMED
        if role in guessed.columns
    ]
