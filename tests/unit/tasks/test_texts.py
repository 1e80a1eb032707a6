"""Files of texts, and when two texts are one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.tasks.task import Example
from pytest_maxrandom.tasks.texts import holding, normal, read_texts

if TYPE_CHECKING:
    from pathlib import Path


def where(folder: Path) -> object:
    return lambda *_: (folder / "s.yaml", 7)


def test_a_row_of_jsonl_may_have_several_lines_and_other_fields(tmp_path: Path) -> None:
    rows = [{"text": "one\ntwo", "source": 3}, {"text": " three"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    found = read_texts("a.jsonl", tmp_path, where(tmp_path))  # type: ignore[arg-type]
    assert found == ("one\ntwo", " three")


def test_each_line_of_another_file_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('one\n\n{"text": "two"}\n')
    found = read_texts("a.txt", tmp_path, where(tmp_path))  # type: ignore[arg-type]
    assert found == ("one", '{"text": "two"}')


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "a.jsonl",
            '{"text": "a"}\n{"txt": "b"}\n',
            [(2, "a row needs the key `text`, found")],
        ),
        ("a.jsonl", '{"text": ""}\n[]\n', [(1, "`text` must"), (2, "a row must be a JSON object")]),
        ("a.jsonl", '{"text": "a"}\n{\n', [(2, "not valid JSON")]),
        ("a.txt", "\n \n", [(None, "the file is empty")]),
        ("b.txt", None, [(7, "there is no file")]),
    ],
)
def test_all_mistakes_of_a_file_are_told_with_their_lines(
    tmp_path: Path, name: str, text: str | None, told: list[tuple[int | None, str]]
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SuiteError) as caught:
        read_texts(name, tmp_path, where(tmp_path))  # type: ignore[arg-type]
    found = [(one.line, one.message) for one in caught.value.problems]
    assert len(found) == len(told)
    for (line, message), (expected, begins) in zip(found, told, strict=True):
        assert line == expected
        assert message.startswith(begins)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A  b\n", "a b"),
        ("\ufb01ne", "FINE"),
        ("stra\u00dfe", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("no\u00adwi\u200bdth", "\ufeffNo width".replace(" ", "")),
    ],
)
def test_copies_differ_in_case_spaces_and_forms_of_characters(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("text", "example", "held"),
    [
        ("Is it red?", "is it  RED?", True),
        ("is it red? yes", "Is it red?", True),
        ("is it reddish", "is it red", False),
        ("what: is it red", "is it red", False),  # four words or fewer stand in many texts
        ("what: is it red or is it blue, yes", "is it red or is it blue", True),
        ("red", "blue", False),
    ],
)
def test_a_text_holds_an_example_that_it_begins_with(text: str, example: str, held: bool) -> None:
    asked = Example("1", example, ("a", "b"), (0,))
    assert holding(["zzz", text, "aaa"], [asked]) == held
