from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.unit.tasks.conftest import Folder

COLUMNS = {"choices": ["a", "b", "c"], "id": "key"}
HEADER = "key,input,a,b,c,answer\n"


def test_each_choice_may_have_its_column_and_a_quoted_cell_may_span_lines(folder: Folder) -> None:
    task = folder.load(
        "csv",
        HEADER + 'k1,"two\nlines, ""quoted""",x,y,z,y\r\n\n7,short,x,,z,z\n',
        columns=COLUMNS,
    )
    assert [(e.id, e.input, e.choices, e.right) for e in task.examples] == [
        ("k1", 'two\nlines, "quoted"', ("x", "y", "z"), (1,)),
        ("7", "short", ("x", "z"), (1,)),
    ]


def test_one_column_may_hold_the_choices_and_the_answers_as_json_lists(folder: Folder) -> None:
    task = folder.load(
        "csv",
        "\ufeffinput,choices,answer\n"
        '?,"[""x"", ""y, z""]","y, z"\n'
        '?,"[1, 2, 3]","[""1"", ""3""]"\n'
        '?,"[""[1]"", ""[2]""]",[2]\n'
        '?,"[""x"", ""y"", ""z""]","[0, 2]"\n',
    )
    assert [(e.choices, e.right) for e in task.examples] == [
        (("x", "y, z"), (1,)),
        (("1", "2", "3"), (0, 2)),
        (("[1]", "[2]"), (1,)),
        (("x", "y", "z"), (0, 2)),
    ]


@pytest.mark.parametrize(("answer_is", "answer"), [("index", " 2"), ("letter", "C"), ("text", "z")])
def test_an_answer_is_read_as_the_suite_says(folder: Folder, answer_is: str, answer: str) -> None:
    content = HEADER + f"k,?,x,,z,{answer}\n"
    task = folder.load("csv", content, columns=COLUMNS, answer_is=answer_is)
    assert task.examples[0].right == (1,)


def test_a_digit_is_a_text_unless_the_suite_says_index(folder: Folder) -> None:
    content = "input,answer\n?,1\n"
    assert folder.load("csv", content, choices=["1", "2"]).examples[0].right == (0,)
    task = folder.load("csv", content, choices=["1", "2"], answer_is="index")
    assert task.examples[0].right == (1,)


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("", [": the file is empty; expected examples"]),
        (HEADER, [": there are no examples; a task needs at least one"]),
        (
            "key,inptu,a,b,answer\n",
            [
                ":1: the column 'c' for `columns: choices:` is missing; "
                "found 'key', 'inptu', 'a', 'b', 'answer' (named in suite.yaml:5)",
                ":1: the column 'input' for `columns: input:` is missing; "
                "found 'key', 'inptu', 'a', 'b', 'answer'; is it 'inptu'? Rename it, or name it by "
                "`columns: input:`",
            ],
        ),
        (
            "\nkey,input,a,b,c,answer,a\n",
            [":2: columns must differ, but these appear more than once: 'a'"],
        ),
        (
            HEADER + 'k,"\n",x,y,z,x\nj,?,x,y,z\nl,?,x,y,z,w,x\nk,,x,y,z,x\n',
            [
                ":4: a row must have 6 cells like the header, found 5",
                ":5: a row must have 6 cells like the header, found 7; "
                "put a cell that holds a comma in double quotes",
                ":6: line 2 already has the id 'k'; ids must differ",
            ],
        ),
        (
            HEADER + 'k,?,x,y,z,x\nl,"?,x,y,z,x\nm,?,x,y,z,x\n',
            [":3: not valid CSV in the row that starts here: a double quote is not closed"],
        ),
        (
            HEADER + "k,?,x,y,z,Y\n",
            [":2: the answer 'Y' is none of the choices 'x', 'y', 'z'; did you mean 'y'?"],
        ),
        (
            HEADER + "k,?,x,,,x\n,?,x,y,y,x\n",
            [
                ":2: an example needs two or more choices, found 1",
                ":3: an id must not be empty",
            ],
        ),
        (
            HEADER + "k,?,x,y,z,[]\n",
            [":2: no choice is right; a task needs a right choice in each example"],
        ),
        (
            HEADER.encode() + b"k,?,x,y,z,x\nl,caf\xe9,x,y,z,x\n",
            [":3: the file is not UTF-8: found the byte 0xe9; save it as UTF-8"],
        ),
    ],
)
def test_mistakes_are_told_with_their_line(
    folder: Folder, content: str | bytes, messages: list[str]
) -> None:
    assert folder.mistakes("csv", content, columns=COLUMNS) == [f"task.csv{m}" for m in messages]


def test_a_cell_of_choices_that_is_no_json_list_tells_both_ways_out(folder: Folder) -> None:
    keys: dict[str, Any] = {"columns": {"choices": "options"}}
    for cell in ("x|y", "[x]", "{}"):
        assert folder.mistakes("csv", f"input,options,answer\n?,{cell},x\n", **keys) == [
            "task.csv:2: the column 'options' must hold a list of choices such as "
            f'["yes", "no"], found \'{cell}\'; with one column for each choice, list them under '
            "`columns: choices:`"
        ]


@pytest.mark.parametrize("first", ["", "sep={}\r\n"])
@pytest.mark.parametrize(("delimiter", "name"), [(";", "semicolon"), ("\t", "tab")])
def test_what_spreadsheets_write_is_read_as_if_it_had_commas(
    folder: Folder, delimiter: str, name: str, first: str
) -> None:
    rows = [["input", "a, b", "c", "answer", ""], ["is it, so?", "1,5", "2,5", "1,5", ""], [""] * 5]
    keys = {"columns": {"choices": ["a, b", "c"]}}
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    (example,) = folder.load("csv", first.format(delimiter) + text, **keys).examples
    assert (example.input, example.choices, example.right) == ("is it, so?", ("1,5", "2,5"), (0,))
    line = 4 if first else 3
    wrong = first.format(delimiter) + text + delimiter.join("123456") + "\r\n"
    assert folder.mistakes("csv", wrong, **keys) == [
        f"task.csv:{line + 1}: a row must have 5 cells like the header, found 6; put a cell that "
        f"holds a {name} in double quotes"
    ]
    unclosed = first.format(delimiter) + rows[0][0] + f'{delimiter}"a" b{delimiter}answer\r\n'
    assert "text follows after a closing double quote" in folder.mistakes("csv", unclosed)[0]


def test_vertical_bars_are_recognised(folder: Folder) -> None:
    assert folder.mistakes("csv", "input|choices|answer\n") == [
        "task.csv:1: the columns are separated by vertical bars ('input|choices|answer'), expected "
        "commas, semicolons or tabs; save the file with commas, or as JSONL"
    ]
