"""What is wrong in a table is told in one sentence with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.suite.recorded import TableColumns
from tests.unit.recorded.reading import read_table
from tests.unit.recorded.tables.conftest import MEANT, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Write = Callable[[Sequence[dict[str, Any]]], Path]


@pytest.mark.parametrize(
    ("rows", "place", "message"),
    [
        (
            [row("p", "a"), row("p", "b"), row("p", "a", 0)],
            3,
            "t[m-2shot]: prompt 'p' already has an answer to example 'a' in {line} 1; keep one row "
            "for each prompt and example, or name the column that tells samples apart as `columns: "
            "sample:`",
        ),
        ([row("p", "a"), row(" ", "a")], 2, "prompt is empty; give every row a value"),
        ([row("p", "a"), row("p", "")], 2, "example is empty; give every row a value"),
        (
            [row("p", "a", "1"), row("p", "b", "0.5")],
            2,
            "correct is '0.5', expected 0 or 1 (or false or true), because an answer is right or "
            "wrong; numbers between stand in a column `score`",
        ),
        (
            [row("p", "a", "1"), row("p", "b", None)],
            2,
            "correct is '', expected 0 or 1 (or false or true), because an answer is right or "
            "wrong; numbers between stand in a column `score`",
        ),
        (
            [row("p", "a", choices=4), row("p", "b", choices=1)],
            2,
            "choices is '1', expected a whole number from 2 on, or a list such as "
            '`["yes", "no"]`',
        ),
        (
            [row("p", "a", choices=4), row("q", "a", choices=3)],
            2,
            "t[m-2shot]: choices of example 'a' is 3, but 4 in {line} 1; give all rows of an "
            "example the same value",
        ),
        (
            [row("p", "a", gold="A"), row("q", "a", gold="B")],
            2,
            "t[m-2shot]: gold of example 'a' is 'B', but 'A' in {line} 1; give all rows of an "
            "example the same value",
        ),
        (
            [
                row("p", "a", 0, prediction="A", gold="B"),
                row("q", "a", 0, prediction="B", gold="B"),
            ],
            2,
            "t[m-2shot]: correct says wrong, but prediction is 'B' and gold 'B'; correct the "
            "table, or leave the wrong column out with an empty name under `columns:`",
        ),
        (
            [row("p", "a", 1, prediction="A", gold=["B", "C"])],
            1,
            "t[m-2shot]: correct says right, but prediction is 'A' and gold 'B' and 'C'; correct "
            "the table, or leave the wrong column out with an empty name under `columns:`",
        ),
        (
            [row("p", "a", gold=["A", "B"], choices=2)],
            1,
            "t[m-2shot]: example 'a' has 2 choices, of which 2 are right; at least one must be "
            "wrong, so give the total number of choices",
        ),
        (
            [row("p", "a", gold="A", prediction="A"), row("p", "b", gold="A", prediction="")],
            2,
            "prediction is empty; write a word such as 'none' where no answer could be read",
        ),
        (
            [row("p", "a", gold="[A]")],
            1,
            'gold is \'[A]\', which begins like a list but is not a JSON list such as ["A", "B"]',
        ),
        (
            [row("p", "a", gold="[]")],
            1,
            "gold is an empty list; give at least one right answer",
        ),
        (
            [{"prompt": "p", "example": e, "prediction": "A", "gold": 0} for e in "ab"],
            1,
            "t[m-2shot]: no prediction is the gold label of any example: found 'A', expected "
            "labels such as '0'; use the same labels for both, or add a column correct",
        ),
        (
            [row("p", "a", prediction=["A"], gold="A")],
            1,
            "prediction is '[\"A\"]', a list, expected one label",
        ),
        (
            [row("p", "a", gold="A"), row("p", "b", gold=["B", ""])][1:],
            1,
            "gold is empty; give every row a value",
        ),
        (
            [row("p", "a", shots="few")],
            1,
            "shots is 'few', expected a whole number from 0 on",
        ),
    ],
)
def test_what_contradicts_itself_is_told_in_one_sentence_with_its_place(
    write: Write, rows: list[dict[str, Any]], place: int, message: str
) -> None:
    path = write(rows)
    # A CSV file has a header line; a Parquet file has no lines.
    first = {".csv": f":{place + 1}", ".jsonl": f":{place}", ".parquet": f": row {place}"}
    line = "row 1" if path.suffix == ".parquet" else "line 2" if path.suffix == ".csv" else "line 1"
    with pytest.raises(RecordedError) as caught:
        read_table(path, **MEANT)
    expected = message.replace("{line} 1", line)
    assert str(caught.value) == f"{path}{first[path.suffix]}: {expected}"


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (
            TableColumns(),
            ("prompt_id", "example", "correct"),
            "there is no column 'prompt' for `columns: prompt:`; found 'prompt_id', 'example', "
            "'correct'; did you mean 'prompt_id'?",
        ),
        (
            TableColumns(),
            ("prompt", "example", "gold"),
            "there is no column 'correct' for `columns: correct:`, none with a `score`, and it "
            "cannot be computed without both prediction and gold; found 'prompt', 'example', "
            "'gold'",
        ),
        (
            TableColumns(gold="label"),
            ("prompt", "example", "correct", "labels"),
            "there is no column 'label' for `columns: gold:`; found 'prompt', 'example', "
            "'correct', 'labels'; did you mean 'labels'?",
        ),
        (
            TableColumns(correct="right"),
            ("prompt", "example", "gold", "prediction"),
            "there is no column 'right' for `columns: correct:`; found 'prompt', 'example', "
            "'gold', 'prediction'",
        ),
        (
            TableColumns(prompt="example"),
            ("example", "correct"),
            "the column 'example' cannot hold both the prompt and the example; name another "
            "under `columns:`",
        ),
        (
            TableColumns(),
            ("prompt", "example", "correct", "Model"),
            "the column 'Model' looks like 'model'; write `columns: model:` with its name, or with "
            "an empty name if the column is something else",
        ),
    ],
)
def test_columns_that_are_not_there_are_told(
    write: Write, columns: TableColumns, names: tuple[str, ...], message: str
) -> None:
    path = write([dict.fromkeys(names, "1")])
    with pytest.raises(RecordedError) as caught:
        read_table(path, columns, **MEANT)
    where = str(caught.value).removeprefix(f"{path}:")
    assert where.removeprefix("1:").removeprefix(" ") == message


@pytest.mark.parametrize("role", ["model", "task", "shots"])
def test_whose_results_they_are_must_be_said(write: Write, role: str) -> None:
    path = write([row("p", "a")])
    with pytest.raises(RecordedError, match=f"no column gives the {role}; name it as `columns: "):
        read_table(path, **MEANT | {role: None})


def test_a_mistake_behind_rows_that_are_left_out_has_its_own_line(write: Write) -> None:
    row = {"prompt": "p", "correct": "1"}
    rows = [{"model": "others", "example": str(i), **row} for i in range(4)]
    rows.insert(1, {"model": "mine", "example": "x", **row})
    path = write([*rows, {"model": "mine", "example": "y", **row, "correct": "maybe"}])
    place = "row 6" if path.suffix == ".parquet" else f"{7 if path.suffix == '.csv' else 6}: "
    with pytest.raises(RecordedError, match=place):
        read_table(path, task="t", shots=2, models=(("mine",),))
    # Where a model is not there, all are read, so that a message can name them.
    with pytest.raises(RecordedError):
        read_table(path, task="t", shots=2, models=(("mine",), ("missing",)))
