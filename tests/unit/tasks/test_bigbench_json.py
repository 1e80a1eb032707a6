from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.tasks import Layout
from tests.notes import sentences

if TYPE_CHECKING:
    from tests.unit.tasks.conftest import Folder

ONE = {"input": "2 + 2?", "target_scores": {"four": 1, "five": 0}}


def document(*examples: object, **keys: Any) -> str:
    """One example per line, the first in line 2."""
    rows = ",\n".join(json.dumps(example) for example in examples)
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in keys.items())
    return f'{{{head}"examples": [\n{rows}\n]}}'


def test_examples_keep_their_order_choices_and_right_answers(folder: Folder) -> None:
    task = folder.load(
        "bigbench",
        document(
            ONE,
            {"input": "pick", "target_scores": {"c": 0, "a": 1, "b": 1}},
            {"input": "yes?", "target_scores": {"yes": True, "no": False}},
        ),
    )
    assert [example.id for example in task.examples] == ["#1", "#2", "#3"]
    assert [example.choices for example in task.examples] == [
        ("four", "five"),
        ("c", "a", "b"),
        ("yes", "no"),
    ]
    assert [example.right for example in task.examples] == [(0,), (1, 2), (0,)]
    assert [example.chance for example in task.examples] == [
        Fraction(1, 2),
        Fraction(2, 3),
        Fraction(1, 2),
    ]
    assert sentences(task.notes) == ()


def test_the_texts_around_an_example_are_those_of_bigbench_where_the_file_is_silent(
    folder: Folder,
) -> None:
    layout = folder.load("bigbench", document(ONE)).layout
    assert layout == Layout("", "\nQ: ", "\nA: ", "\n  choice: ", "\n", append_choices=True)


def test_the_file_says_how_an_example_is_written_and_the_suite_has_the_last_word(
    folder: Folder,
) -> None:
    content = document(
        ONE,
        task_prefix="Add.\n",
        example_input_prefix="\nSum: ",
        example_output_prefix="\nIs: ",
        choice_prefix="\n- ",
        few_shot_example_separator="\n\n",
        append_choices_to_input=False,
    )
    task = folder.load("bigbench", content)
    assert task.layout == Layout(
        "Add.\n", "\nSum: ", "\nIs: ", "\n- ", "\n\n", append_choices=False
    )
    task = folder.load("bigbench", content, task_prefix="", separator="#", append_choices=True)
    assert task.layout == Layout("", "\nSum: ", "\nIs: ", "\n- ", "#", append_choices=True)


@pytest.mark.parametrize("key", ["_id", "id", "idx"])
def test_ids_are_kept_and_missing_ones_made_from_the_position(folder: Folder, key: str) -> None:
    task = folder.load("bigbench", document({key: "x1"} | ONE, {key: 7} | ONE, {key: None} | ONE))
    assert [example.id for example in task.examples] == ["x1", "7", "#3"]


def test_exact_duplicates_stay_and_are_counted(folder: Folder) -> None:
    task = folder.load("bigbench", document(ONE, {"_id": "again"} | ONE, ONE))
    assert len(task.examples) == 3
    assert task.duplicates == 2


def test_the_highest_graded_score_is_right_and_the_report_is_told(folder: Folder) -> None:
    graded = {"input": "", "target_scores": {"good": 0.6, "fair": 0.4, "bad": -1}}
    task = folder.load("bigbench", document(graded, ONE))
    assert task.examples[0].right == (0,)
    assert sentences(task.notes) == (
        "Graded scores in 1 of 2 examples: the choices with the highest score count as right.",
        "The input of 1 of 2 examples is empty (first: #1).",
    )


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Folder) -> None:
    assert folder.load("bigbench", b"\xef\xbb\xbf" + document(ONE).encode()).examples


def scored(scores: object) -> dict[str, object]:
    return {"input": "2 + 2?", "target_scores": scores}


def test_examples_with_a_target_have_no_choices(folder: Folder) -> None:
    sums = [{"input": f"2 + {i}?", "target": [str(2 + i), f"{2 + i}.0"]} for i in range(3)]
    task = folder.load("bigbench", document(*sums, {"input": "Who?", "target": "Ada Lovelace"}))
    assert task.is_open
    assert [each.choices for each in task.examples[:2]] == [("2", "2.0"), ("3", "3.0")]
    assert [each.open and each.open.kind for each in task.examples][2:] == ["number", "name"]
    mixed = folder.mistakes("bigbench", document(ONE, sums[0]))
    assert mixed == [
        "task.bigbench: some examples have choices, and '#2' has none; make two tasks of them"
    ]


EXAMPLE_MISTAKES = [
    ("hello", "an example must be a JSON object in braces, found 'hello'"),
    ({"target_scores": {"a": 1, "b": 0}}, 'there is no key "input"'),
    (
        {"inputs": "?", "target_scores": {"a": 1, "b": 0}},
        "there is no key \"input\"; did you mean 'inputs'?",
    ),
    (
        {"input": ["?"], "target_scores": {"a": 1, "b": 0}},
        '"input" must be a text or a whole number, found a list',
    ),
    (
        {"input": "?", "target": " "},
        "a reference is empty; give the right answer, or leave the row out",
    ),
    (
        {"input": "?", "target_score": {"a": 1}},
        "there is no key \"target_scores\"; did you mean 'target_score'?",
    ),
    (scored(["a", "b"]), '"target_scores" must map choices to scores, found a list'),
    (scored({}), "an example needs two or more choices, found 0"),
    (scored({"a": 1}), "an example needs two or more choices, found 1"),
    (
        scored({"a": 0, "b": 0}),
        "no choice is right; a task needs a right choice in each example",
    ),
    (
        scored({"a": 1, "b": 1}),
        "all 2 choices are right, so no guess can be wrong; remove the example",
    ),
    (scored({"a": 1, " ": 0}), "choice 2 is empty"),
    (scored({"a": "1", "b": 0}), "the score of 'a' must be a finite number, found '1'"),
    (
        scored({"a": float("nan"), "b": 0}),
        "the score of 'a' must be a finite number, found the number nan",
    ),
    (scored({"a": None, "b": 1}), "the score of 'a' must be a finite number, found null"),
    (
        scored({"a\ud800": 1, "b": 0}),
        r"no tokenizer can read 'a\ud800', because it holds half of a surrogate pair; repair the "
        r"text",
    ),
    (
        ONE | {"_id": 1.5},
        "an id must be a text or a whole number, found the number 1.5; store it as text",
    ),
    (ONE | {"_id": ""}, "an id must not be empty"),
]


@pytest.mark.parametrize(("example", "message"), EXAMPLE_MISTAKES)
def test_a_mistake_in_an_example_is_told_with_its_line_and_number(
    folder: Folder, example: object, message: str
) -> None:
    found = folder.mistakes("bigbench", document(ONE, ONE, example))
    assert found == [f"task.bigbench:4: example 3: {message}"]


def test_all_mistakes_are_told_at_once(folder: Folder) -> None:
    content = document(
        scored({"a": 0, "b": 0}), ONE, {"target": "x"}, task_prefix=3, append_choices_to_input="no"
    )
    assert folder.mistakes("bigbench", content) == [
        'task.bigbench: "task_prefix" must be a text, found the number 3',
        "task.bigbench: \"append_choices_to_input\" must be true or false, found 'no'",
        "task.bigbench:2: example 1: no choice is right; a task needs a right choice in each "
        "example",
        'task.bigbench:4: example 3: there is no key "input"',
    ]


def test_many_mistakes_are_cut_to_twenty_and_the_rest_counted(folder: Folder) -> None:
    found = folder.mistakes("bigbench", document(*[scored({})] * 50))
    assert len(found) == 21
    assert found[19].startswith("task.bigbench:21: example 20: ")
    assert found[20] == "task.bigbench: problems not shown: 30"


def test_colliding_ids_name_both_examples_even_in_a_file_of_one_line(folder: Folder) -> None:
    content = document({"_id": 5} | ONE, ONE, {"id": "5"} | ONE).replace("\n", " ")
    assert folder.mistakes("bigbench", content) == [
        "task.bigbench:1: example 3: example 1 (line 1) already has the id '5'; ids must differ"
    ]


def test_a_choice_written_twice_is_seen_though_json_would_drop_one(folder: Folder) -> None:
    content = '{"examples": [\n\n {"input": "?",\n "target_scores": {"a": 0, "b": 1, "a": 1}}]}'
    assert folder.mistakes("bigbench", content) == [
        "task.bigbench:3: example 1: choices must differ, but these appear more than once: 'a'"
    ]
    assert folder.mistakes("bigbench", '{"examples": [{"input": "?", "input": "!"}]}') == [
        "task.bigbench:1: example 1: keys must differ, but these appear more than once: 'input'"
    ]


def test_lines_are_right_whatever_stands_before_the_examples(folder: Folder) -> None:
    content = (
        '\n{"a": {"examples": [\n1]}, "b": "\\"examples\\": [", \n"c": [{}, [], "{"],\n'
        '"examples"\n:\n[ {"input": "?\\n", "target_scores": {"a": 1,\n "b": 0}}\n,\n\n {}]}'
    )
    assert folder.mistakes("bigbench", content) == [
        'task.bigbench:11: example 2: there is no key "input"',
        'task.bigbench:11: example 2: there is no key "target_scores"',
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": the file is empty; expected examples"),
        (" \n", ": the file is empty; expected examples"),
        (
            '{"examples": [\n1 2]}',
            ":2: not valid JSON: a comma, or a closing bracket, is missing here (column 3)",
        ),
        ("[1]", ":1: a BIG-bench file must be a JSON object in braces, found a list"),
        ("[" * 100_000, ": cannot be read as JSON, because it is nested too deeply"),
        ("9" * 5000, ": cannot be read as JSON, because a number has too many digits"),
        ('{"example": []}', ": there is no key \"examples\"; did you mean 'example'?"),
        (
            '{"examples": []}',
            ': "examples" must be a list with at least one example, found an empty list',
        ),
        (
            '{"examples": {}}',
            ': "examples" must be a list with at least one example, found an object',
        ),
        (
            '{"examples": [1], "examples": [2]}',
            ": keys must differ, but these appear more than once: 'examples'",
        ),
        (
            '{"subtasks": ["t:one", "t:two"]}',
            ": the file only lists subtasks ('t:one', 't:two'); give each subtask's own task.json "
            "as a task",
        ),
        (
            document(ONE, task_prefix="\ud800"),
            r""": no tokenizer can read the "task_prefix" '\ud800', because it holds half of a """
            "surrogate pair; repair the text",
        ),
        (
            b'{"examples":\n["\xe9"]}',
            ":2: the file is not UTF-8: found the byte 0xe9; save it as UTF-8",
        ),
        (
            document(ONE).encode("utf-16"),
            ":1: the file is not UTF-8: found the byte 0xff; save it as UTF-8",
        ),
    ],
)
def test_a_file_that_holds_no_task_is_told_in_one_sentence(
    folder: Folder, content: str | bytes, message: str
) -> None:
    assert folder.mistakes("bigbench", content) == [f"task.bigbench{message}"]
