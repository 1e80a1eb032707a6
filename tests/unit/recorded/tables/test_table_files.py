"""Files that hold tables: what can be wrong with them before a row is looked at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.files import read_columns
from pytest_maxrandom.suite.recorded import TableColumns
from tests.unit.recorded.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

HEADER = "prompt,example,correct\n"
LINE = '{"prompt": "p", "example": "a", "correct": 1}\n'


@pytest.fixture(autouse=True, params=["csv module", "pyarrow"])
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large CSV files are read by pyarrow where it is installed, which shows in nothing."""
    if request.param == "pyarrow":
        monkeypatch.setattr("pytest_maxrandom.recorded.tables.files.FROM_BYTES", 0)
        monkeypatch.setattr("pytest_maxrandom.recorded.tables.arrow._PIECE", 100)


def read(path: Path, columns: TableColumns = TableColumns()) -> Answers:  # noqa: B008 (frozen)
    [sweep] = read_table(path, columns, model="m", task="t", shots=0)
    return sweep


def message(path: Path, content: str | bytes) -> str:
    """Return what is said about a file with such a content, without its name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RecordedError) as caught:
        read(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}:")
    return text.removeprefix(f"{path}:").strip()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_byte_order_marks_and_blank_lines_mean_nothing_in_csv(
    tmp_path: Path, end: str, mark: str
) -> None:
    path = tmp_path / "answers.csv"
    text = mark + HEADER + 'p,"a, ""b""",1\n\n\np,c,0\n\n'
    path.write_bytes(text.replace("\n", end).encode())
    sweep = read(path)
    assert sweep.examples == ('a, "b"', "c")
    assert sweep.correct.tolist() == [[True, False]]


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_spreadsheet_may_separate_cells_otherwise_and_write_decimal_commas(
    tmp_path: Path, sign: str
) -> None:
    path = tmp_path / "answers.csv"
    rows = [["prompt", "example", "correct"], ["p", "a", "1,0"], ["p", '"b;\tc"', "0,0"]]
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(["", *map(sign.join, rows)]).encode())
    sweep = read(path)
    assert sweep.examples == ("a", "b;\tc")
    assert sweep.correct.tolist() == [[True, False]]


def test_what_spreadsheets_write_around_a_table_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(b"\xef\xbb\xbfsep=;\r\nprompt;example;correct;;\r\np;a;1;;\r\n;;;;\r\np;b;?;;")
    with pytest.raises(RecordedError, match=r"answers.csv:5: correct is '\?'"):
        read(path)
    path.write_bytes(path.read_bytes().replace(b"?", b"0"))
    assert read(path).correct.tolist() == [[True, False]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_byte_order_marks_and_blank_lines_mean_nothing_in_jsonl(
    tmp_path: Path, end: str, mark: str
) -> None:
    path = tmp_path / "answers.jsonl"
    # U+2028 separates lines for str.splitlines, but not in JSON.
    text = mark + LINE + "\n\n" + LINE.replace('"a"', '"b\u2028c"') + "\n"
    path.write_bytes(text.replace("\n", end).encode())
    assert read(path).examples == ("a", "b\u2028c")


def test_lines_are_counted_through_cells_that_hold_several(tmp_path: Path) -> None:
    text = HEADER + 'p,"a\r\nb\nc",1\n\np,d,maybe\n'
    assert message(tmp_path / "answers.csv", text).startswith("6: correct is 'maybe'")


def test_lines_are_right_far_into_a_file(tmp_path: Path) -> None:
    rows = [f"p{prompt},e{example},1\n" for prompt in range(50) for example in range(100)]
    rows[4321] = rows[4321].replace(",1", ",2")
    text = HEADER + "".join(rows)
    assert message(tmp_path / "answers.csv", text).startswith("4323: correct is '2'")
    objects = [LINE.replace('"a"', str(example)) for example in range(5000)]
    objects[4321] = LINE.replace("1}", "2}")
    text = "".join(objects)
    assert message(tmp_path / "answers.jsonl", text).startswith("4322: correct is '2'")


@pytest.mark.parametrize("count", [1, 255, 256, 257, 512])
def test_no_row_is_lost_however_many_there_are(tmp_path: Path, count: int) -> None:
    ids = tuple(map(str, range(count)))
    (tmp_path / "a.csv").write_text(HEADER + "".join(f"p,{each},1\n" for each in ids))
    (tmp_path / "a.jsonl").write_text("".join(LINE.replace('"a"', each) for each in ids))
    for name in ("a.csv", "a.jsonl"):
        assert read(tmp_path / name).examples == ids


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the file is empty; give a table with a header and rows"),
        ("\n\n", "the file is empty; give a table with a header and rows"),
        ("\n" + HEADER, "the file has no rows; give a row for each answer"),
        (
            HEADER + "p,a,1\np,b\n",
            "3: found 2 cells, expected 3 as in the header; complete the row, or remove it if an "
            "interrupted run left it unfinished",
        ),
        (
            HEADER + "p,a,b,1\n",
            "2: found 4 cells, expected 3 as in the header; put a cell that holds a comma in "
            "double quotes",
        ),
        (
            HEADER + 'p,a,1\np,"b,1\np,c,1\n',
            "3: not valid CSV in the row that starts here: a double quote is not closed; write "
            "the file with a CSV library",
        ),
        (
            "prompt|example|correct\np|a|1\n",
            "1: found one column, 'prompt|example|correct', expected several columns "
            "separated by commas, semicolons or tabs; write the file with commas",
        ),
        (
            "prompt;example;correct\np;a;b;1\n",
            "2: found 4 cells, expected 3 as in the header; put a cell that holds a semicolon in "
            "double quotes",
        ),
        (
            "prompt,example,correct,correct\np,a,1,0\n",
            "1: several columns are named 'correct'; keep one",
        ),
        (
            HEADER.encode() + b"p,caf\xe9,1\n",
            "2: the byte 0xe9 is not UTF-8; save the file as UTF-8 (Excel: CSV UTF-8), "
            "or copy it again",
        ),
        (
            HEADER.encode() + b"".join(b"p,%d,1\n" % e for e in range(9999)) + b"p,\xff,1\n",
            "10001: the byte 0xff is not UTF-8; save the file as UTF-8 (Excel: CSV UTF-8), "
            "or copy it again",
        ),
        (
            HEADER.encode("utf-16"),
            "1: the byte 0xff is not UTF-8; save the file as UTF-8 (Excel: CSV UTF-8), "
            "or copy it again",
        ),
    ],
)
def test_what_is_no_csv_table_is_told(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert message(tmp_path / "answers.csv", content) == expected


WAY = "give one JSON object in each line, and remove a line that an interrupted run left unfinished"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the file is empty; give one JSON object in each line"),
        (
            LINE + '{"prompt": "p", "exam',
            f"2: not valid JSON: the quote that opens here is not closed (column 17); {WAY}",
        ),
        (LINE + "3\n", f"2: found the number 3, expected an object; {WAY}"),
        ("[]\n" + LINE, f"1: found a list, expected an object; {WAY}"),
        (
            LINE + "\n" + '{"prompt": "p", "exampleid": "b", "correct": 1}',
            "3: the key 'example' is missing, which earlier lines have; did you mean 'exampleid'?",
        ),
        (
            LINE + '{"prompt": "p", "example": "b", "correct": 1, "gold": "A"}',
            "2: the key 'gold' is new in this line; give every line the same keys, with null where "
            "there is no value",
        ),
        (
            LINE + '{"prompt": "p", "example": "b", "correct": 1, "correct": 0}',
            "2: cannot be read as JSON: the key 'correct' appears twice; keep one",
        ),
        (
            LINE.replace("1}", "NaN}"),
            "1: cannot be read as JSON: NaN is not valid JSON; write null where there is no value",
        ),
        (
            LINE + LINE.replace("1}", "[" * 100_000),
            f"2: cannot be read as JSON, because it is nested too deeply; {WAY}",
        ),
        (
            LINE + LINE.replace('"a"', '{"id": 1}'),
            "2: example holds an object, expected a text or a number",
        ),
        (
            LINE + LINE.replace('"a"', '"\\ud800"'),
            "2: example is '\\ud800', which is not valid Unicode; repair it",
        ),
        (
            LINE.encode() + b'{"a": "\xe9"}',
            "2: the byte 0xe9 is not UTF-8; save the file as UTF-8, or copy it again",
        ),
    ],
)
def test_what_is_no_jsonl_table_is_told(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    assert message(tmp_path / "answers.jsonl", content) == expected


def test_keys_that_are_not_read_may_differ_between_lines(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(LINE + LINE.replace('"a"', '"b"').replace("}", ', "seconds": 0.5}'))
    assert read(path).examples == ("a", "b")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        with pytest.raises(RecordedError, match=f"{name}: cannot be read: .*[Nn]o such file"):
            read(tmp_path / name)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RecordedError, match=r"found the ending '.xlsx', expected .csv, .jsonl or .parquet"
    ):
        read(tmp_path / "answers.xlsx")


def test_what_is_no_parquet_file_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    for content in (b"", b"prompt,example\n", b"PAR1" + bytes(40) + b"PAR1"):
        assert message(tmp_path / "answers.parquet", content)


def test_parquet_without_rows_is_told(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"prompt": [], "example": [], "correct": []}), path)
    with pytest.raises(RecordedError, match="the file has no rows; give a row for each answer"):
        read(path)


def test_parquet_dictionaries_and_row_groups_read_like_plain_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    path = tmp_path / "answers.parquet"
    prompts = pa.DictionaryArray.from_arrays([2, 0, 2, 0], ["q", "unused", "p"])
    table = pa.table(
        {"prompt": prompts, "example": [1, 1, 2, 2], "correct": [True, False, False, True]}
    )
    pq.write_table(table, path, row_group_size=3)
    sweep = read(path)
    assert (sweep.prompts, sweep.examples) == (("p", "q"), ("1", "2"))
    assert sweep.correct.tolist() == [[True, False], [False, True]]


def test_row_groups_whose_values_repeat_read_like_the_same_rows_of_a_csv_file(
    tmp_path: Path,
) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    # Groups of four rows: the same values again, in another order, others, and 0.0 beside -0.0.
    examples = [0.0, 1.0, 2.0, 3.0] * 2 + [3.0, 2.0, 1.0, -0.0] + [-0.0, 1.0, 2.0, 9.0]
    said = [*"ABAB", *"ABAB", *"BBAA", *"CABC"]
    rows = [
        {"prompt": f"p{place // 4}", "example": example, "prediction": one, "gold": one}
        for place, (example, one) in enumerate(zip(examples, said, strict=True))
    ]
    wanted = {name: (name, True) for name in rows[0]}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=4)
    lines = [",".join(wanted), *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    packed, plain = (read_columns(tmp_path / name, wanted) for name in ("a.parquet", "a.csv"))
    for role in wanted:
        assert packed.read(role, str).of_rows() == plain.read(role, str).of_rows()


def test_a_value_that_no_table_can_hold_is_told_with_its_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    path = tmp_path / "answers.parquet"
    columns = {"prompt": ["p", "p"], "example": ["a", "b"], "correct": [1, 1]}
    pq.write_table(pa.table(columns | {"gold": [b"A", b"B"]}), path)
    with pytest.raises(RecordedError, match=": row 1: gold holds a value of type bytes"):
        read(path)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert message(tmp_path / "answers.parquet", b"PAR1") == (
        "Parquet files are read with pyarrow, which is not installed; run pip install "
        '"pytest-maxrandom[parquet]"'
    )
