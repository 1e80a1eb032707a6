"""Whole tables of any order: every reader finds the answers that a plain dictionary has."""

from __future__ import annotations

import csv
import json
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.tables import arrow, codes, columns, files
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.recorded.tables.memory import Table
from pytest_maxrandom.recorded.tables.table import columns_of, sweeps_of
from pytest_maxrandom.suite.recorded import TableResults
from tests.unit.recorded.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_maxrandom.answers import Answers

pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")

LABELS = "ABCD"
CHOICES = 4
COLUMNS = ("model", "task", "shots", "prompt", "example", "prediction", "gold", "correct")
PROMPTS = ("p", "p,1", 'a "p"', "two\nlines", "é", "7")
"""Names that a CSV file writes with and without quotes."""


class Row(NamedTuple):
    model: str
    task: str
    prompt: str
    example: str
    prediction: str
    gold: str

    def cells(self, names: list[str]) -> dict[str, str]:
        """Return the cells of some columns."""
        right = str(int(self.prediction == self.gold))
        known = self._asdict() | {"shots": "0", "choices": str(CHOICES), "correct": right}
        return {name: known[name] for name in names}


class Drawn(NamedTuple):
    """A table, and how it is written and read."""

    rows: list[Row]
    names: list[str]
    rows_of_group: int
    as_dictionary: bool
    rows_at_once: int
    bytes_at_once: int


@st.composite
def drawn_tables(draw: st.DrawFn) -> Drawn:
    """Draw a regular table, and what disturbs its order anywhere."""
    models, tasks, t, n = (draw(st.integers(1, most)) for most in (2, 2, 5, 5))
    axes = draw(st.permutations(range(4)))
    sizes = [(models, tasks, t, n)[axis] for axis in axes]
    said = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9))
    golds = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=7))
    rows = []
    for place, number in enumerate(np.ndindex(*sizes)):
        model, task, prompt, example = (number[axes.index(axis)] for axis in range(4))
        gold = golds[(task * n + example) % len(golds)]
        own = f"m{model}", f"t{task}", PROMPTS[prompt], f"e{example}"
        rows.append(Row(*own, said[place % len(said)], gold))
    places = st.integers(0, len(rows) - 1)
    for kind, at, to in draw(
        st.lists(st.tuples(st.sampled_from(["drop", "swap", "move"]), places, places), max_size=4)
    ):
        first, second = at % len(rows), to % len(rows)
        if kind == "swap":
            rows[first], rows[second] = rows[second], rows[first]
        elif kind == "move":
            rows.insert(second, rows.pop(first))
        elif len(rows) > 1:
            del rows[first]
    order = draw(st.sampled_from(["as it is", "reversed", "shuffled"]))
    if order == "reversed":
        rows.reverse()
    elif order == "shuffled":
        draw(st.randoms()).shuffle(rows)
    if draw(st.integers(0, 5)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.sampled_from(rows)))
    names = ["model", "task", "shots", "prompt", "example"]
    of_answers = draw(st.sampled_from(["correct", "prediction gold choices", "all"]))
    names += (
        ["prediction", "gold", "choices", "correct"] if of_answers == "all" else of_answers.split()
    )
    return Drawn(
        rows,
        names,
        rows_of_group=draw(st.integers(1, len(rows) + 1)),
        as_dictionary=draw(st.booleans()),
        rows_at_once=draw(st.integers(1, 9)),
        bytes_at_once=draw(st.integers(20, 400)),
    )


def expected(rows: list[Row]) -> dict[tuple[str, str], dict[tuple[str, str], Row]]:
    """Return per model and task, in the order of their first rows, the row of each cell."""
    known: dict[tuple[str, str], dict[tuple[str, str], Row]] = {}
    for row in rows:
        known.setdefault((row.model, row.task), {}).setdefault((row.prompt, row.example), row)
    return known


def repeated(rows: list[Row]) -> Row | None:
    """Return the first row whose cell an earlier one has, if any."""
    cells = [row[:4] for row in rows]
    return next((row for place, row in enumerate(rows) if row[:4] in cells[:place]), None)


def check(answers: Answers, cells: dict[tuple[str, str], Row], names: list[str]) -> None:
    """Compare what was read of a sweep with its rows, cell by cell."""
    prompts = tuple(dict.fromkeys(prompt for prompt, _ in cells))
    examples = tuple(dict.fromkeys(example for _, example in cells))
    assert answers.prompts == prompts
    assert answers.examples == examples
    labels = answers.labels if "prediction" in names else ()
    for (i, prompt), (j, example) in (
        (one, other) for one in enumerate(prompts) for other in enumerate(examples)
    ):
        row = cells.get((prompt, example))
        assert answers.evaluated[i, j] == (row is not None)
        assert answers.correct[i, j] == (row is not None and row.prediction == row.gold)
        if labels:
            assert answers.answers is not None
            code = int(answers.answers[i, j])
            assert (None if code < 0 else called(labels[code])) == (row and row.prediction)
    if labels:
        gold = {row.example: row.gold for row in cells.values()}
        assert answers.gold is not None
        found = [{called(labels[code]) for code in right} for right in answers.gold]
        assert found == [{gold[example]} for example in examples]
        assert answers.chances == (Fraction(1, CHOICES),) * len(examples)


def called(label: str) -> str:
    """Return the letter of a label, which archives call by its place."""
    return LABELS[int(label)] if label.isdecimal() else label


def written(folder: Path, table: Drawn) -> Iterator[Path]:
    """Write the table as each kind of file, one after the other."""
    cells = [row.cells(table.names) for row in table.rows]
    path = folder / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, table.names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells)
    yield path
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in cells), encoding="utf-8")
    yield path
    path = folder / "x.parquet"
    content = pa.table({name: [row[name] for row in cells] for name in table.names})
    pq.write_table(
        content, path, row_group_size=table.rows_of_group, use_dictionary=table.as_dictionary
    )
    yield path


def archives(folder: Path, table: Drawn) -> Iterator[tuple[str, Path]]:
    """Write the sweeps of each model as an archive, which has a cell for every answer."""
    known = expected(table.rows)
    for model in dict.fromkeys(model for model, _ in known):
        arrays: dict[str, Any] = {}
        for (owner, task), cells in known.items():
            if owner != model:
                continue
            prompts = [*dict.fromkeys(prompt for prompt, _ in cells)]
            examples = [*dict.fromkeys(example for _, example in cells)]
            there = [[cells.get((prompt, each)) for each in examples] for prompt in prompts]
            own: dict[str, Any] = {"prompt_ids": prompts, "example_ids": examples}
            if "prediction" in table.names:
                gold = {row.example: LABELS.index(row.gold) for row in cells.values()}
                own["answers"] = [
                    [LABELS.index(row.prediction) if row else -1 for row in rows] for rows in there
                ]
                own["gold"] = [gold[example] for example in examples]
                own["choices"] = [CHOICES] * len(examples)
            else:
                own["evaluated"] = [[row is not None for row in rows] for rows in there]
                own["correct"] = [
                    [row is not None and row.prediction == row.gold for row in rows]
                    for rows in there
                ]
            arrays |= {f"{task}__0__{name}": np.array(each) for name, each in own.items()}
        np.savez(folder / f"{model}.npz", **arrays)
        yield model, folder / f"{model}.npz"


def unmeasured(*_: object) -> Iterator[str]:
    """Say at once that a file is small, which takes a process for each otherwise."""
    yield ""


@pytest.mark.slow
@given(drawn_tables())
def test_every_reader_has_the_answers_of_a_plain_dictionary(table: Drawn) -> None:
    known, twice = expected(table.rows), repeated(table.rows)
    labelled = "correct" not in table.names
    unlike = labelled and any(
        {row.prediction for row in cells.values()}.isdisjoint({row.gold for row in cells.values()})
        for cells in known.values()
    )

    def compare(read: Callable[[], list[Answers]]) -> None:
        try:
            found = read()
        except RecordedError as error:
            message = str(error)
        else:
            assert twice is None
            assert not unlike
            assert [(each.model, each.task) for each in found] == [*known]
            for answers, cells in zip(found, known.values(), strict=True):
                check(answers, cells, table.names)
            return
        if "no prediction is the gold label" in message:
            assert unlike
        else:
            assert twice is not None
            assert f"{twice.prompt!r} already has an answer to example {twice.example!r}" in message

    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(codes, "PIECE", table.rows_at_once)
        patch.setattr(columns, "_PIECE", table.rows_at_once)
        patch.setattr(arrow, "_PIECE", table.bytes_at_once)
        patch.setattr(files, "unpacked_groups", unmeasured)
        for path in written(folder, table):
            for least in (0, 10**9) if path.suffix == ".csv" else (0,):
                patch.setattr(files, "FROM_BYTES", least)
                compare(partial(read_table, path, ragged=True))
        held = Table([row.cells(table.names) for row in table.rows])
        spec = TableResults(path="x", format="table", ragged=True)
        compare(partial(sweeps_of, held.rows(columns_of(spec)), spec, Meant()))
        if twice is None:
            for model, path in archives(folder, table):
                for answers in read_npz(path):
                    check(answers, known[model, answers.task], table.names)
