"""Tables with references: open answers, and what is refused in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.recorded.tables.table import read_table
from pytest_maxrandom.suite.recorded import TableResults
from pytest_maxrandom.sweeps.samples import aggregated

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

HEADER = "prompt,example,prediction,reference,q\n"


def read(tmp_path: Path, rows: str, header: str = HEADER, **keys: object) -> Answers:
    path = tmp_path / "t.csv"
    path.write_text(header + rows)
    spec = TableResults.model_validate(
        {"path": "t.csv", "format": "table", "columns": {"input": "q"}} | keys
    )
    (found,) = read_table(path, spec, Meant(model="m", task="t", shots=0))
    return found


def test_answers_are_compared_with_all_spellings_by_the_stated_rule(tmp_path: Path) -> None:
    rows = (
        'a,1,the paris!,"[""Paris"", ""Lutetia""]",Capital?\n'
        'b,1,lutetia,"[""Paris"", ""Lutetia""]",Capital?\n'
        "a,2,3.5,35,How many?\n"
        "b,2,,35,How many?\n"
        "a,3,10.4,10,How long?\n"
        "b,3,Bob,10,How long?\n"
    )
    found = read(tmp_path, rows)
    assert found.correct.tolist() == [[True, False, False], [True, False, False]]
    assert found.open is not None
    assert found.open.roles == ("name", "number", "number")
    assert (found.answers, found.gold, found.chances) == (None, None, None)
    near = read(tmp_path, rows, tolerance=0.5)
    assert near.correct.tolist() == [[True, False, True], [True, False, False]]
    exact = read(tmp_path, rows, exact_match={"normalise": []})
    assert not exact.correct.any()


def test_f1_takes_an_empty_answer_for_one_that_holds_nothing(tmp_path: Path) -> None:
    header = "prompt,example,sample,prediction,reference,q\n"
    rows = "a,1,0,,red ball,?\na,1,1,,red ball,?\na,1,2,ball,red ball,?\n"
    found = read(tmp_path, rows, header, scoring="f1")
    assert found.scores is not None
    assert found.scores.tolist() == [[pytest.approx(2 / 9)]]
    # Nothing is no voice, however often it is there.
    voted = aggregated(found, "vote")
    assert voted.scores is not None
    assert voted.scores.tolist() == [[pytest.approx(2 / 3)]]


def test_examples_may_be_called_by_their_questions(tmp_path: Path) -> None:
    rows = [
        (p, f"Which is even: {e} or {e + 1}?", f"{e}", f"{e + e % 2}")
        for p in "ab"
        for e in range(4)
    ]
    text = "".join(",".join(row) + "\n" for row in rows)
    columns = {"example": "q", "input": "q"}
    found = read(tmp_path, text, "prompt,q,prediction,reference\n", columns=columns)
    assert found.inputs == found.examples == tuple(row[1] for row in rows[:4])
    assert found.open is not None
    assert set(found.open.roles) == {"offered (2)"}
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    columns_of_rows = map(list, zip(*rows, strict=True))
    table = dict(zip(("prompt", "q", "prediction", "reference"), columns_of_rows, strict=True))
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    spec = TableResults.model_validate({"path": "t", "format": "table", "columns": columns})
    (same,) = read_table(tmp_path / "t.parquet", spec, Meant(model="m", task="t", shots=0))
    assert same.inputs == found.inputs
    assert same.open is not None
    assert same.open.roles == found.open.roles


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (HEADER, "a,1,x, ,?\n", ":2: reference is empty; give every row a value"),
        (HEADER, "a,1,x,[],?\n", ":2: reference is an empty list; give at least one reference"),
        (
            HEADER.replace("prediction", "correct"),
            "a,1,1,x,?\n",
            ": the references in 'reference' tell nothing without the answers; name their column",
        ),
        (
            HEADER.replace("\n", ",gold\n"),
            "a,1,x,x,?,x\n",
            ": the column 'gold' is about choices, and 'reference' about answers without; leave",
        ),
        (
            HEADER.replace("\n", ",correct\n"),
            "a,1,x,x,?,1\na,2,x,y,?,1\n",
            ":3: t[m-0shot]: correct says right, but prediction is 'x' and the reference 'y'; say",
        ),
        (
            HEADER,
            "a,1,x,x,?\nb,1,x,y,?\n",
            "reference of example '1' is",
        ),
    ],
)
def test_what_contradicts_itself_is_told_in_one_sentence(
    tmp_path: Path, header: str, rows: str, message: str
) -> None:
    with pytest.raises(RecordedError) as error:
        read(tmp_path, rows, header)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
