"""Files with the results of several arms, in both forms, and what is wrong with them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.studies.arms.recorded import RecordedArms, Unit, read_arms

if TYPE_CHECKING:
    from pathlib import Path

LONG = """task,replicate,arm,correct,n
snarks,0,base,26,50
snarks,0,tuned,31,50
snarks,1,base,28,50
snarks,1,tuned,29,50
"""
WIDE = """task,replicate,n,base,tuned,majority
snarks,0,50,0.52,0.62,0.5
snarks,1,50,0.56,0.58,0.5
"""


def read(folder: Path, text: str, *compare: str, **options: object) -> RecordedArms:
    path = folder / "results.csv"
    path.write_text(text, encoding="utf-8")
    return read_arms(path, compare or ["tuned-base"], **options)  # type: ignore[arg-type]


def refusal(folder: Path, text: str, *compare: str, **options: object) -> str:
    with pytest.raises(RecordedError) as caught:
        read(folder, text, *compare, **options)
    return str(caught.value).removeprefix(str(folder / "results.csv"))


@pytest.mark.parametrize("text", [LONG, WIDE], ids=["long", "wide"])
def test_both_forms_say_the_same(tmp_path: Path, text: str) -> None:
    recorded = read(tmp_path, text)
    assert recorded.comparisons == [("tuned", "base")]
    units = recorded.groups[()]
    first, second = (Unit("snarks", replicate, ()) for replicate in "01")
    assert [*units] == [first, second]
    assert units[first] == {"base": (26, 50), "tuned": (31, 50)}
    assert units[second] == {"base": (28, 50), "tuned": (29, 50)}


def test_a_file_may_be_packed_and_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "results.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + WIDE.encode()))
    assert len(read_arms(path, ["tuned-base"]).groups[()]) == 2


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    text = LONG.replace("task,replicate,arm,correct,n", "dataset,draw,method,right,size")
    columns = dict(zip(("task", "replicate", "n", "arm", "correct"),
                       ("dataset", "draw", "size", "method", "right"), strict=True))  # fmt: skip
    recorded = read(tmp_path, text, columns=columns)
    assert recorded.groups == read(tmp_path, LONG).groups


def test_a_column_of_arms_that_was_named_must_be_there(tmp_path: Path) -> None:
    said = refusal(tmp_path, WIDE, columns={"arm": "method"})
    assert said.startswith(":1: there is no column 'method', found 'task', ")


def test_replicates_may_be_called_subsamples(tmp_path: Path) -> None:
    text = WIDE.replace("replicate", "subsample")
    assert read(tmp_path, text).groups == read(tmp_path, WIDE).groups
    assert "no column 'draw'" in refusal(tmp_path, text, columns={"replicate": "draw"})


def test_groups_are_told_apart_and_pooled_rows_kept_beside_each_other(tmp_path: Path) -> None:
    text = "m,model,task,replicate,n,a,b\n" + "".join(
        f"{m},{model},snarks,0,10,0.5,0.{m}\n" for m in (4, 2) for model in ("bert", "gpt2")
    )
    apart = read(tmp_path, text, "a-b", by=["m", "model"])
    assert [*apart.groups] == [("4", "bert"), ("4", "gpt2"), ("2", "bert"), ("2", "gpt2")]
    pooled = read(tmp_path, text, "a-b", by=["m"], pool=["model"])
    assert [*pooled.groups] == [("4",), ("2",)]
    assert [unit.pooled for unit in pooled.groups["2",]] == [("bert",), ("gpt2",)]
    said = refusal(tmp_path, text, "a-b", by=["m"])
    assert said == (
        ":3: task 'snarks', replicate '0' already has the arm 'a' (from line 2 on); keep one, or "
        "name the column that distinguishes such rows as `--by` or `--pool`"
    )


@pytest.mark.parametrize("n", [1, 3, 50, 99, 200, 500, 1000])
def test_every_accuracy_gives_its_count_back(tmp_path: Path, n: int) -> None:
    """Cut off instead of rounded, 29 of 50 and others would lose an answer."""
    rows = [f"t,{k},{n},{k / n!r},{k / n:.{len(str(n))}f}\n" for k in range(n + 1)]
    recorded = read(tmp_path, "task,replicate,n,a,b\n" + "".join(rows), "a-b")
    found = [(arms["a"].correct, arms["b"].correct) for arms in recorded.groups[()].values()]
    assert found == [(k, k) for k in range(n + 1)]


@pytest.mark.parametrize(
    ("n", "accuracy"), [(50, "0.53"), (3, "0.5"), (100, "0.333"), (500, "0.3333"), (7, "0.5")]
)
def test_an_accuracy_that_n_examples_cannot_have_is_a_mistake(
    tmp_path: Path, n: int, accuracy: str
) -> None:
    said = refusal(tmp_path, f"task,replicate,n,a,b\nt,0,{n},0,1\nt,1,{n},1,{accuracy}\n", "a-b")
    assert said == (f":3: 'b' is {accuracy}, no multiple of 1/{n}; correct the accuracy or n")


def test_decimals_too_few_to_tell_the_count_must_be_exact(tmp_path: Path) -> None:
    """.33 of 150 might be 49 or 50, and neither is what it says."""
    said = refusal(tmp_path, "task,replicate,n,a,b\nt,0,150,0.33,0\n", "a-b")
    assert "'a' is 0.33, no multiple of 1/150" in said


@pytest.mark.parametrize("accuracy", ["1.01", "-0.1", "nan", "inf", "", "half", "1e999999999"])
def test_what_is_no_accuracy_is_a_mistake(tmp_path: Path, accuracy: str) -> None:
    said = refusal(tmp_path, f"task,replicate,n,a,b\nt,0,50,{accuracy},0\n", "a-b")
    assert said == f":2: 'a' is {accuracy!r}, expected an accuracy from 0 to 1"


@pytest.mark.parametrize(
    ("found", "put", "said"),
    [
        (",31,50", ",51,50", ":3: 'correct' is 51, expected at most n = 50"),
        (",31,50", ",31,0", ":3: 'n' is '0', expected a whole number from 1 on"),
        (",31,50", ",-1,50", ":3: 'correct' is '-1', expected a whole number from 0 on"),
        (",31,50", ",3.5,50", ":3: 'correct' is '3.5', expected a whole number from 0 on"),
        ("snarks,0,tuned", ",0,tuned", ":3: 'task' is empty; give every row a value"),
        ("0,tuned,31", "0,,31", ":3: 'arm' is empty; give every row a value"),
        (
            ",31,50",
            ",31",
            ":3: found 4 cells, expected 5 as in the header; complete the row, or remove it if an "
            "interrupted run left it unfinished",
        ),
        (
            "snarks,0,tuned,31,50\n",
            "",
            ":2: task 'snarks', replicate '0' has no arm 'tuned'; give every arm of each task and "
            "replicate, on the same examples",
        ),
        (
            "correct,n",
            "n,n",
            ":1: several columns are named 'n'; keep one",
        ),
        (
            "correct",
            "right",
            ":1: there is no column 'correct', found 'task', 'replicate', 'arm', 'right', 'n'; "
            "name the columns that hold the task, the replicate, n, and in long form also the arm "
            "and correct",
        ),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(
    tmp_path: Path, found: str, put: str, said: str
) -> None:
    assert found in LONG
    assert refusal(tmp_path, LONG.replace(found, put, 1)) == said


def test_counts_may_be_written_as_floats_are(tmp_path: Path) -> None:
    text = LONG.replace(",31,50", ",31.0,50.0")
    assert read(tmp_path, text).groups == read(tmp_path, LONG).groups


def test_the_arms_of_a_comparison_are_looked_for_where_they_stand(tmp_path: Path) -> None:
    assert refusal(tmp_path, LONG, "tuned-bas") == (
        ": found 'tuned-bas', expected two different arms with a hyphen between them, of: "
        "'base', 'tuned'"
    )
    assert refusal(tmp_path, WIDE, "tuned-n") == (
        ": found 'tuned-n', expected two different arms with a hyphen between them, of: "
        "'base', 'tuned', 'majority'"
    )


def test_arms_that_are_not_compared_need_not_be_complete(tmp_path: Path) -> None:
    text = LONG + "snarks,1,other,3,50\n"
    assert read(tmp_path, text).comparisons == [("tuned", "base")]
    wide = WIDE.replace(",0.5\n", ",0.1234567\n")
    assert read(tmp_path, wide).groups == read(tmp_path, WIDE).groups


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ":1: there is no column 'task', found nothing"),
        (WIDE.splitlines()[0].encode(), ": there are no rows after the header; give the results"),
        (
            b"task,replicate\n\xff\n",
            ":2: the byte 0xff is not UTF-8; save the file as UTF-8 (Excel: CSV UTF-8), or copy it "
            "again",
        ),
        (
            b'task,replicate,n,base,tuned\n"a"b,0,50,0,0\n',
            ":2: not valid CSV in the row that starts here: ",
        ),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    with pytest.raises(RecordedError) as caught:
        read_arms(path, ["tuned-base"])
    assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize("content", [None, b"no gzip", gzip.compress(WIDE.encode(), mtime=0)[:-20]])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "results.csv.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordedError) as caught:
        read_arms(path, ["tuned-base"])
    assert str(caught.value).startswith(f"{path}: cannot be read: ")


def test_a_wrong_byte_is_found_in_a_packed_file_too(tmp_path: Path) -> None:
    path = tmp_path / "results.csv.gz"
    path.write_bytes(gzip.compress(WIDE.encode() + b"\xff\n"))
    with pytest.raises(RecordedError) as caught:
        read_arms(path, ["tuned-base"])
    line = WIDE.count("\n") + 1
    assert str(caught.value) == (
        f"{path}:{line}: the byte 0xff is not UTF-8; save the file as UTF-8, or copy it again"
    )
