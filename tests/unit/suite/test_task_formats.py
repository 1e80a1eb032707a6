"""Which keys a task may have, depending on its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.suite.tasks import TASKS
from tests.suites import having

if TYPE_CHECKING:
    from tests.unit.suite.conftest import SuiteText

ROWS = having(TASKS, "answer_is")


def mistakes(suite: SuiteText, keys: str) -> list[str]:
    return suite.mistakes(f"models: [{{name: m}}]\ntasks:\n- name: t\n  path: x\n{keys}")


def other(key: str, formats: str, found: str) -> str:
    return (
        f"`tasks[0].{key}` goes with `format: {formats}`, but this has `format: {found}`; remove "
        "one of the two"
    )


def test_keys_of_other_formats_are_all_told_each_in_its_line(suite: SuiteText) -> None:
    keys = "  format: bigbench\n  choices: [a, b]\n  answer_is: text\n  split: x\n  zzz: 1\n"
    *told, unknown = mistakes(suite, keys)
    assert told == [
        f"6: {other('choices', ROWS, 'bigbench')}",
        f"7: {other('answer_is', ROWS, 'bigbench')}",
        f"8: {other('split', having(TASKS, 'split'), 'bigbench')}",
    ]
    assert unknown.startswith("9: unknown key `tasks[0].zzz` (keys here: assert, xfail, marks, ")


@pytest.mark.parametrize("key", ["subset", "split", "revision"])
def test_keys_of_the_hub_go_with_no_file(suite: SuiteText, key: str) -> None:
    (told,) = mistakes(suite, f"  format: csv\n  {key}: x\n")
    formats = "hub | lm_eval" if key == "split" else "hub"
    assert told == f"6: {other(key, formats, 'csv')}"


def test_a_key_that_says_nothing_may_stand_with_any_format(suite: SuiteText) -> None:
    suite.load("models: [{name: m}]\ntasks: [{name: t, format: csv, path: x, split: }]\n")


def test_only_the_cluster_of_a_bigbench_example_has_a_column(suite: SuiteText) -> None:
    (told,) = mistakes(suite, "  format: bigbench\n  columns: {cluster: c, input: q}\n")
    assert told == f"6: {other('columns.input', ROWS, 'bigbench')}"


def test_a_task_of_the_hub_needs_a_split(suite: SuiteText) -> None:
    assert mistakes(suite, "  format: hub\n") == ["3: the key `tasks[0].split` is missing; add it"]


def test_a_task_without_a_format_is_told_that_alone_and_what_no_format_has(
    suite: SuiteText,
) -> None:
    told = mistakes(suite, "  split: x\n  separater: q\n")
    formats = " | ".join(TASKS.specs)
    assert told[0] == f"3: the key `tasks[0].format` is missing; add `format: {formats}`"
    assert told[1].startswith("6: unknown key `tasks[0].separater`; did you mean `separator`?")
    assert len(told) == 2


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            "format: csv\n  choices: [a, b]\n  columns: {choices: options}",
            "choices: these are the choices of every example, but `columns: choices:` names a "
            "column that holds them",
        ),
        (
            'format: csv\n  input: "{a} {b}"\n  columns: {input: a}',
            "input: this builds the text of every example, but `columns: input:` names a column "
            "that holds it",
        ),
        (
            "format: jsonl\n  answer_is: letter\n  columns: {labels: names}",
            "answer_is: `columns: labels:` already says that answers are labels",
        ),
    ],
)
def test_a_key_and_a_column_that_say_the_same_contradict_each_other(
    suite: SuiteText, keys: str, told: str
) -> None:
    assert mistakes(suite, f"  {keys}\n") == [f"6: tasks[0].{told}; remove one of the two"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{question}}", "columns in single braces, such as {question}"),
        ("{}", "only names of columns in braces, such as {question}"),
        ("{a!r}", "only names of columns in braces, such as {question}"),
        ("{a:>9}", "only names of columns in braces, such as {question}"),
        ("{a", "text with columns in braces, such as {question} (expected '}' before end of "
         "string)"),
        ("a}", "text with columns in braces, such as {question} (Single '}' encountered in format "
         "string)"),
    ],
)  # fmt: skip
def test_an_input_that_names_columns_wrongly_is_told(
    suite: SuiteText, text: str, expected: str
) -> None:
    assert mistakes(suite, f'  format: jsonl\n  input: "{text}"\n') == [
        f"6: `tasks[0].input`: found '{text}', expected {expected}"
    ]
