"""What the columns of a table of answers seem to hold, by their names and by what is in them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.recorded.free_texts import are_free
from pytest_maxrandom.recorded.names import MEANING, NAMED, called_so, last_known, plain
from pytest_maxrandom.recorded.roles import Guess, Guessed
from pytest_maxrandom.recorded.tables.cells import are_graded, can_be, is_list
from pytest_maxrandom.recorded.tables.codes import Column, by_first_row
from pytest_maxrandom.recorded.tables.columns import IF_NAMED, Rows
from pytest_maxrandom.recorded.wide import folded, prompt_columns
from pytest_maxrandom.suite.recorded import TableColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


_MOST_LABELS = 10
"""Labels of right answers up to which they seem to be the choices of every question."""
_NO_PAIR = "no two columns name a prompt and an example so that each pair stands in one row"
_ONE_ROW = (
    "each example stands in one row: if each prompt has a column, name all of these, such as --set "
    "columns.prediction='[A, B, C]'; if there is one prompt only, add a column `prompt`; else "
    "write the answers of all prompts below each other"
)
_UNTOLD = (
    "nothing else tells which answer is right (or name a column `correct` with 0 and 1, or "
    "`score` with numbers from 0 to 1)"
)
_ANSWERS = ("prediction", "gold")
_BY_SHAPE = ("prompt", "example", "sample", "score", "reference", "input")
"""Roles that more than a name decides."""


def guess(
    rows: Rows, said: Mapping[str, str | Sequence[str] | None], *, choices: bool = False
) -> Guessed:
    """Guess what each column holds.

    Parameters
    ----------
    rows : Rows
        All columns of a file, each with its own name as its role.
    said : mapping of str to str or sequence of str
        Columns that somebody named, by role; they are not questioned. An empty name says that
        there is none, and several are those of prompts.
    choices : bool
        Whether somebody said that each question has choices.
    """
    return _Guesser(rows, said, choices).found


class _Guesser:
    """Goes from what is surest to what is left."""

    def __init__(
        self, rows: Rows, said: Mapping[str, str | Sequence[str] | None], choices: bool
    ) -> None:
        self._count = rows.count
        self._said = {"gold"} if choices else {*said}
        self._columns = {name: rows.read(name, str) for name in rows.names}
        self._refused = {role for role, column in said.items() if column == ""}
        self.found = Guessed(
            {role: Guess.of_person(column) for role, column in said.items() if column}
        )
        if "reference" in self.found.columns:
            self._refused |= {"gold", "choices"}
        told = any(self._named("prediction"))
        for role in NAMED.keys() - _BY_SHAPE:  # of these the reader says what is wrong
            if role == "correct" and told and self._is_text(role):
                continue  # beside answers it is the correct one
            own = [(name, "its name") for name in self._free if plain(name) == role]
            self._take(role, own)
        for role in ("model", "task", "shots"):
            self._take(role, self._named(role))
        self._pair()
        self._take("cluster", (each for each in self._named("cluster") if self._groups(each[0])))
        self._take("choices", self._named("choices"))
        self._take("correct", self._named("correct"))
        self._scores()
        self._answers()
        self._labels()
        self.found.unread = tuple(
            role
            for role in TableColumns.model_fields
            if role in self._columns
            if role not in self.found.columns.keys() | {*IF_NAMED}
        )

    def _is_text(self, role: str) -> bool:
        """Tell whether the column that is called like a role cannot have it."""
        own = (name for name in self._columns if plain(name) == role)
        return any(not can_be(role, self._columns[name].distinct) for name in own)

    @property
    def _free(self) -> list[str]:
        taken = self.found.taken
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
        for _, column, why in called_so(role, NAMED[role], self._free):
            if can_be(role, self._columns[column].distinct):
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
        if not any(self._stands_once(p[0], e[0]) for p, e in pairs):
            self._sample(pairs)
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
        if known[0] is None and self._widely(named):
            return
        for role, each, candidates in zip(roles, known, named, strict=True):
            if each is None and candidates:
                self.found.columns[role] = Guess(*candidates[0])
            elif each is None:
                alone = role == "prompt" and self._examples == self._count
                self.found.missing[role] = _ONE_ROW if alone else _NO_PAIR

    def _widely(self, named: Sequence[Sequence[tuple[str, str]]]) -> bool:
        """Find the columns of prompts where each row is an example; tell whether there are any."""
        if not any(each.of_prompts for each in self.found.columns.values()):
            free = [name for name in self._free if name not in [each for each, _ in named[1]]]
            roles = ("gold", "reference")
            gold = [self.found.columns[role].column for role in roles if role in self.found.columns]
            gold += [name for role in roles for name, _ in self._named(role)]
            found = prompt_columns(self._columns, free, gold)
            if found is None or found.role in self.found.columns:
                return False
            if any(self._may_name(p) for p, _ in named[0] if p not in found.columns):
                return False
            why = f"{len(found.columns)} prompts: {found.why}"
            self.found.columns[found.role] = Guess(found.columns[0], why, found.columns)
            self._take("gold", (each for each in self._named("gold") if each[0] == found.gold))
        whole = "each of its texts stands in one row"
        others = (name for name in self._free if any(map(str.isalpha, self._first_cell(name))))
        apart = [*named[1], *((name, whole) for name in others)]
        self._take("example", (each for each in apart if self._tells_rows_apart(each[0])))
        return True

    def _first_cell(self, column: str) -> str:
        return self._columns[column].distinct[0]

    def _tells_rows_apart(self, column: str) -> bool:
        return len(self._columns[column].distinct) == self._count

    def _sample(self, pairs: Iterable[tuple[tuple[str, str], tuple[str, str]]]) -> None:
        """Find the column by which several rows of one prompt and example differ."""
        samples = [*self._named("sample")]
        for (prompt, _), (example, _) in pairs:
            for sample in samples:
                if sample[0] not in (prompt, example) and (
                    self._cells(prompt, example, sample[0])[1] == self._count
                ):
                    self._take("sample", [sample])
                    return

    def _may_name(self, column: str) -> bool:
        """Tell whether a column can name prompts or examples: values that come again."""
        return 1 < len(self._columns[column].distinct) < self._count

    def _cells(self, *columns: str) -> tuple[Column, int]:
        """Return per row its number by some columns, sweep and sample; and how many there are."""
        further = ("model", "task", "shots", "sample")
        of_sweep = (self.found.columns.get(role) for role in further)
        codes: Column = np.zeros(self._count, dtype=np.int64)
        size = 1
        for column in (*columns, *(each.column for each in of_sweep if each)):
            values = self._columns[column]
            firsts, codes = by_first_row(
                codes[:] * np.int64(len(values.distinct)) + values.codes[:],
                size * len(values.distinct),
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
            codes = codes * len(self._columns[key].distinct) + self._columns[key].codes[:]
        alone = len(np.unique(codes))
        values = self._columns[column]
        return len(np.unique(codes * len(values.distinct) + values.codes[:])) == alone

    def _groups(self, column: str) -> bool:
        """Tell whether several examples share a value of a column, and not all of them one."""
        several = 1 < len(self._columns[column].distinct) < self._examples
        return several and self._of_example(column)

    def _scores(self) -> None:
        """Find scores, where no column says what is right, and who gave them.

        Beside answers and right answers only a column that is called so holds them: others may be
        how sure a model was.
        """
        if "correct" in self.found.columns:
            return
        scores = [*self._named("score")]
        told = (role in self.found.columns or any(self._named(role)) for role in _ANSWERS)
        if all(told):
            scores = [each for each in scores if plain(each[0]) == "score"]
        self._take("score", scores)
        if (found := self.found.columns.get("score")) is not None:
            self.found.guessed_at = not are_graded(self._columns[found.column].distinct)
            self._take("judge", self._named("judge"))

    def _answers(self) -> None:
        """Find predictions and right answers: these are the same for each example."""
        gold = [each for each in self._named("gold") if self._of_example(each[0])]
        gold = (gold if "gold" not in self._refused else []) or self._references()
        columns = [each for each in self._named("prediction") if not self._of_example(each[0])]
        if not columns:  # of prompts that all answer alike
            columns = [each for each in self._named("prediction") if each not in gold[:1]]
        self._take("gold", gold)
        columns = [each for each in columns if each[0] in self._free]
        # What was read of an answer stands before the whole of it, which is no right answer.
        alike = [*self._alike("gold", fixed=False)]
        read = [each for each in columns if each[0] in dict(alike)]
        self._take("prediction", [*read, *alike, *columns])
        self._take("gold", self._alike("prediction", fixed=True))
        self._take_both()
        roles = self.found.columns
        if roles.keys() & {"correct", "score"} and "reference" not in roles:
            return
        for role in _ANSWERS:
            if role not in roles and not (role == "gold" and "reference" in roles):
                self.found.missing[role] = _UNTOLD + self._beyond

    def _alike(self, other: str, *, fixed: bool) -> Iterator[tuple[str, str]]:
        """Yield columns that have texts of a role's, and one for each example or not."""
        if (known := self.found.columns.get(other)) is None:
            return
        texts = folded(self._columns[known.column].distinct)
        one = ", and one for each example" if fixed else ""
        for name in self._free:
            own = folded(self._columns[name].distinct)
            if self._of_example(name) == fixed and not texts.isdisjoint(own):
                yield name, f"it has the texts of the {other}{one}"

    @property
    def _beyond(self) -> str:
        """Say that there are scores on another scale, if there are."""
        for column in self._free:
            if last_known(plain(column)) in ("score", *NAMED["score"]):
                return f"; not all cells of {quoted(column)} are numbers from 0 to 1"
        return ""

    def _references(self) -> list[tuple[str, str]]:
        """Take references for open answers; return them for right answers if there are choices."""
        if "score" in self.found.columns or "gold" in self.found.columns:
            return []
        found = [each for each in self._named("reference") if self._of_example(each[0])]
        if "choices" in self.found.columns or any(self._choices(name) for name, _ in found):
            return found
        self._take("reference", found)
        if "reference" in self.found.columns:
            self._without_choices()
        return []

    def _without_choices(self) -> None:
        """Take a column for the questions of open answers, whose chance no number tells."""
        self.found.guessed_at = False
        self._refused |= {"gold"}
        asked = [each for each in self._named("input") if self._of_example(each[0])]
        self._take("input", [*asked, *self._example_as_input()])

    def _example_as_input(self) -> Iterator[tuple[str, str]]:
        """Yield the column of examples if these are called by their questions, in several words."""
        example = self.found.columns.get("example")
        if example is not None and plain(example.column) in ("input", *NAMED["input"]):
            texts = self._columns[example.column].distinct
            if all(" " in text.strip() for text in texts):
                yield example.column, f"the name usually means {MEANING['input']}"

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
        """Take the labels of right answers for choices, if they are few and come again.

        Else right answers are references, if answers differ so much that no choices tell them.
        """
        roles = self.found.columns
        if (gold := roles.get("gold")) is None or "choices" in roles or not self.found.guessed_at:
            return
        self.found.labels = self._choices(gold.column)
        said, example = roles.get("prediction"), roles.get("example")
        alike = 2 * len(self._columns[gold.column].distinct) <= self._examples
        if said is None or alike or not self._said.isdisjoint(("gold", "reference")):
            return
        why = are_free(
            None if example is None or said.of_prompts else self._columns[example.column],
            [self._columns[name] for name in said.of_prompts or (said.column,)],
        )
        if why:
            roles["reference"] = Guess(roles.pop("gold").column, why)
            self._without_choices()

    def _choices(self, column: str) -> tuple[str, ...]:
        """Return the texts of a column if they are few and come again; else nothing."""
        texts = self._columns[column].distinct
        few = 2 <= len(texts) <= _MOST_LABELS and 2 * len(texts) <= self._examples
        told = few and all(each.strip() and not is_list(each) for each in texts)
        return tuple(sorted(texts)) if told else ()
