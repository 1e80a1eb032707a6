from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import Remark
from pytest_maxrandom.tasks import Layout

if TYPE_CHECKING:
    from tests.unit.tasks.conftest import Folder


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def row(answer: object = "b", **others: object) -> dict[str, object]:
    return {"input": "?", "choices": ["a", "b", "c"], "answer": answer, **others}


def right(folder: Folder, answer: object, **keys: Any) -> tuple[int, ...]:
    return folder.load("jsonl", lines(row(answer)), **keys).examples[0].right


def test_an_answer_is_a_text_an_index_from_0_or_a_letter(folder: Folder) -> None:
    assert right(folder, "b") == (1,)
    assert right(folder, 1) == (1,)
    assert right(folder, 1, answer_is="index") == (1,)
    assert right(folder, "1", answer_is="index") == (1,)
    assert right(folder, "B", answer_is="letter") == (1,)
    assert right(folder, "c", answer_is="letter") == (2,)
    assert right(folder, True, answer_is="index") == (1,)


def test_several_answers_may_be_right(folder: Folder) -> None:
    assert right(folder, ["c", "a", "c"]) == (0, 2)
    assert right(folder, [2, 1]) == (1, 2)
    assert right(folder, ["A", "C"], answer_is="letter") == (0, 2)


def test_blank_lines_are_skipped_and_whole_numbers_are_texts(folder: Folder) -> None:
    task = folder.load(
        "jsonl",
        '\r\n{"input": 7, "choices": [10, 20], "answer": "20"}\r\n\r\n'
        '{"input": "\u2028", "choices": ["x", "y"], "answer": 0}',
    )
    assert [(e.id, e.input, e.choices, e.right) for e in task.examples] == [
        ("#1", "7", ("10", "20"), (1,)),
        ("#2", "\u2028", ("x", "y"), (0,)),
    ]
    assert task.layout == Layout()


def test_columns_have_the_names_that_the_suite_gives(folder: Folder) -> None:
    task = folder.load(
        "jsonl",
        lines({"q": "?", "options": ["x", "y"], "gold": "y", "n": 5}),
        columns={"input": "q", "choices": "options", "answer": "gold", "id": "n"},
        task_prefix="Say.",
    )
    (example,) = task.examples
    assert (example.id, example.choices, example.right) == ("5", ("x", "y"), (1,))
    assert task.layout == Layout(task_prefix="Say.")


def test_the_suite_may_give_all_examples_the_same_choices(folder: Folder) -> None:
    task = folder.load(
        "jsonl",
        lines({"input": "fine", "answer": 1}, {"input": "poor", "answer": "bad"}),
        choices=["bad", "good"],
    )
    assert [(e.choices, e.right) for e in task.examples] == [
        (("bad", "good"), (1,)),
        (("bad", "good"), (0,)),
    ]


def test_a_row_may_lack_some_choice_columns_and_an_index_counts_columns(folder: Folder) -> None:
    task = folder.load(
        "jsonl",
        lines(
            {"input": "1", "w": "a", "x": None, "y": "c", "z": "d", "answer": 2},
            {"input": "2", "w": "", "x": "b", "y": "c", "answer": 1},
        ),
        columns={"choices": ["w", "x", "y", "z"]},
    )
    assert [(e.choices, e.right) for e in task.examples] == [
        (("a", "c", "d"), (1,)),
        (("b", "c"), (0,)),
    ]


def test_an_empty_input_is_allowed_and_told(folder: Folder) -> None:
    (note,) = folder.load("jsonl", lines(row(input=""))).notes
    assert note == Remark("empty_inputs", {"empty": 1, "examples": 1, "first": ["#1"]})


ROW_MISTAKES: list[tuple[dict[str, object], dict[str, Any], str]] = [
    (
        row(3),
        {},
        "an index must be a whole number from 0 to 2, found 3; if answers count from 1, add "
        "`answer_is: number`",
    ),
    (row(-1), {}, "an index must be a whole number from 0 to 2, found -1"),
    (row("x"), {"answer_is": "index"}, "an index must be a whole number from 0 to 2, found 'x'"),
    (
        row("b"),
        {"answer_is": "index"},
        "an index must be a whole number from 0 to 2, found 'b'; it is the text of a choice, so "
        "remove `answer_is`",
    ),
    (row("D"), {"answer_is": "letter"}, "a letter must be one from A to C, found 'D'"),
    (row(1), {"answer_is": "letter"}, "a letter must be one from A to C, found the number 1"),
    (
        row(True),
        {},
        "the answer is true, which is not the text of a choice; write a choice's text, or "
        "`answer_is: index` to read false as 0 and true as 1",
    ),
    (
        row(True),
        {"answer_is": "text"},
        "the answer must be a text or a whole number, found true; store it as text",
    ),
    (row(None), {}, "the answer must be a text or a whole number, found null"),
    (
        row(0.5),
        {},
        "the answer must be a text or a whole number, found the number 0.5; store it as text",
    ),
    (row([]), {}, "no choice is right; a task needs a right choice in each example"),
    (
        row(["a", "b", "c"]),
        {},
        "all 3 choices are right, so no guess can be wrong; remove the example",
    ),
    (
        row(2, choices=[1, 2, 3]),
        {},
        "the answer 2 is the text of choice 1 (counted from 0), but could also be an index; add "
        "`answer_is: text` or `answer_is: index`",
    ),
    (
        row("pariss", choices=["Rome", "Paris"]),
        {},
        "the answer 'pariss' is none of the choices 'Rome', 'Paris'; did you mean 'Paris'?",
    ),
    (
        row("1"),
        {},
        "the answer '1' is none of the choices 'a', 'b', 'c'; if it is an index, add `answer_is: "
        "index`",
    ),
    (
        row("B", choices=["yes", "no"]),
        {},
        "the answer 'B' is none of the choices 'yes', 'no'; if it is a letter, add `answer_is: "
        "letter`",
    ),
    (row(choices=["a", "b", "b"]), {}, "choices must differ, found 'b' 2 times"),
    (row(choices=["b", ""]), {}, "choice 2 is empty"),
    (row(choices=["b"]), {}, "an example needs two or more choices, found 1"),
    (row(choices=[]), {}, "an example needs two or more choices, found 0"),
    (
        row(choices=["b", 0.1]),
        {},
        "a choice must be a text or a whole number, found the number 0.1; store it as text",
    ),
    (
        row(choices="a|b"),
        {},
        "the column 'choices' must hold a list of choices such as [\"yes\", \"no\"], found 'a|b'; "
        "with one column for each choice, list them under `columns: choices:`",
    ),
    (row(input=None), {}, "the input must be a text or a whole number, found null"),
    (
        row(input="\udc00"),
        {},
        r"no tokenizer can read '\udc00', because it holds half of a surrogate pair; repair the "
        r"text",
    ),
]


@pytest.mark.parametrize(("wrong", "keys", "message"), ROW_MISTAKES)
def test_a_mistake_in_a_row_is_told_with_its_line(
    folder: Folder, wrong: dict[str, object], keys: dict[str, Any], message: str
) -> None:
    assert folder.mistakes("jsonl", "\n\n" + lines(wrong), **keys) == [f"task.jsonl:3: {message}"]


def test_an_index_of_an_empty_choice_column_is_a_mistake(folder: Folder) -> None:
    content = lines({"input": "?", "x": "one", "y": "", "z": "three", "answer": 1})
    columns = {"choices": ["x", "y", "z"]}
    assert folder.mistakes("jsonl", content, columns=columns) == [
        "task.jsonl:1: the answer is the index 1, but this row has no such choice"
    ]
    content = content.replace(": 1}", ': "B"}')
    assert folder.mistakes("jsonl", content, columns=columns, answer_is="letter") == [
        "task.jsonl:1: the answer is the letter B, but this row has no such choice"
    ]


def test_a_column_that_no_row_has_is_told_once(folder: Folder) -> None:
    content = lines(*[{"question": "?", "a": "x", "b": "y", "answer": "x"}] * 30)
    columns = {"input": "qestion", "choices": ["a", "b", "c"], "id": "key"}
    have = "'question', 'a', 'b', 'answer'"
    assert folder.mistakes("jsonl", content, columns=columns) == [
        f"task.jsonl: the column 'c' for `columns: choices:` is missing; found {have} (named in "
        "suite.yaml:5)",
        f"task.jsonl: the column 'qestion' for `columns: input:` is missing; found {have} (named "
        "in suite.yaml:5); did you mean 'question'?",
        f"task.jsonl: the column 'key' for `columns: id:` is missing; found {have} (named in "
        "suite.yaml:5)",
    ]


def test_a_column_that_one_row_lacks_is_told_with_its_line(folder: Folder) -> None:
    content = lines(row(), {"input": "?", "choices": ["a", "b"], "anwser": "a"})
    assert folder.mistakes("jsonl", content) == [
        "task.jsonl:2: this row has no column 'answer', found 'input', 'choices', 'anwser'; "
        "did you mean 'anwser'?"
    ]


def test_colliding_ids_name_both_lines(folder: Folder) -> None:
    content = lines(row(id="k"), row(id=3)) + "\n" + lines(row(id="3"), row(id="k"))
    assert folder.mistakes("jsonl", content, columns={"id": "id"}) == [
        "task.jsonl:4: line 2 already has the id '3'; ids must differ",
        "task.jsonl:5: line 1 already has the id 'k'; ids must differ",
    ]


def test_all_mistakes_are_told_in_the_order_of_the_file(folder: Folder) -> None:
    content = lines(row("x"), row()) + '{"input": \n[1]\n' + lines(row(input=None, choices=3))
    assert folder.mistakes("jsonl", content) == [
        "task.jsonl:1: the answer 'x' is none of the choices 'a', 'b', 'c'",
        "task.jsonl:3: not valid JSON: the text ends too early; a bracket, a quote or a value is "
        "missing (column 11)",
        "task.jsonl:4: a line must be a JSON object in braces, found a list",
        "task.jsonl:5: the input must be a text or a whole number, found null",
        'task.jsonl:5: the column \'choices\' must hold a list of choices such as ["yes", "no"], '
        "found the number 3; with one column for each choice, list them under `columns: choices:`",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": the file is empty; expected examples"),
        ("\n\n", ": the file is empty; expected examples"),
        ('{"a": 1, "a": 2}', ":1: keys must differ, but these appear more than once: 'a'"),
        (
            '[\n{"input": "?"}\n]',
            ": the file is one JSON value over several lines, expected one object per line; for a "
            "BIG-bench task use `format: bigbench`",
        ),
        ("[]", ":1: a line must be a JSON object in braces, found a list"),
        (b"{}\n\xff", ":2: the file is not UTF-8: found the byte 0xff; save it as UTF-8"),
    ],
)
def test_a_file_that_holds_no_task_is_told_in_one_sentence(
    folder: Folder, content: str | bytes, message: str
) -> None:
    assert folder.mistakes("jsonl", content) == [f"task.jsonl{message}"]
