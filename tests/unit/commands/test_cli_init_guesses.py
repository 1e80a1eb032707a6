"""`maxrandom init --task`: own tables of questions, as people write them."""

from __future__ import annotations

import csv
import json
import random
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pytest_maxrandom.cli import main
from pytest_maxrandom.studies.plan import plan_file, sweeps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = [
    (f"Which thing is number {i}?", [f"thing {i} {mark}" for mark in "wxyz"],
     random.Random(i).randrange(4))
    for i in range(60)
]  # fmt: skip
LETTERS = "ABCD"
RIGHT = [choices[right] for _, choices, right in QUESTIONS]
LABELS = ["no" if right < 2 else "yes" for _, _, right in QUESTIONS]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(
    header: list[str], rows: Sequence[Sequence[Any]], delimiter: str = ",", first: str = ""
) -> None:
    with Path("own.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(first)
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def _init(*arguments: str) -> int:
    return main(["init", "--task", "own.csv", "--model", "mock", *arguments])


def _rows(*parts: str) -> list[list[Any]]:
    """Return rows of the questions with what is named of each."""
    rows = []
    for text, choices, right in QUESTIONS:
        cells: dict[str, list[Any]] = {
            "id": [f"q{text}"],
            "question": [text],
            "topic": ["things"],
            "choices": choices,
            "list": [json.dumps(choices)],
            "wrong": [each for each in choices if each != choices[right]],
            "text": [choices[right]],
            "index": [right],
            "number": [right + 1],
            "letter": [LETTERS[right]],
            "label": ["no" if right < 2 else "yes"],
        }
        rows.append([cell for part in parts for cell in cells[part]])
    return rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("header", "parts", "right"),
    [
        ("question A B C D answer", "question choices letter", RIGHT),
        ("Question OptionA OptionB OptionC OptionD CorrectAnswer", "question choices text", RIGHT),
        ("id prompt choice1 choice2 choice3 choice4 label", "id question choices index", RIGHT),
        ("text option_1 option_2 option_3 option_4 correct", "question choices number", RIGHT),
        ("input ending0 ending1 ending2 ending3 target", "question choices index", RIGHT),
        ("question opa opb opc opd cop topic", "question choices number topic", RIGHT),
        (
            "question distractor1 distractor2 distractor3 correct_answer",
            "question wrong text",
            RIGHT,
        ),
        ("question options answer_idx", "question list index", RIGHT),
        ("input choices answer", "question list letter", RIGHT),
        ("Frage A B C D Antwort", "question choices letter", RIGHT),
        ("review sentiment", "question label", LABELS),
        ("passage question answer", "topic question label", LABELS),
    ],
)
def test_a_table_of_questions_becomes_a_suite_at_the_first_try(
    header: str, parts: str, right: list[str], delimiter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(header.split(), _rows(*parts.split()), delimiter)
    assert _init() == 0
    said = capsys.readouterr().out
    suite = Path("eval_suites/own.yaml")
    (claim,) = sweeps_of(plan_file(suite))
    found = {each.input: each for each in claim.condition.task.examples}
    assert len(found) == len(QUESTIONS)
    for (text, _, _), expected in zip(QUESTIONS, right, strict=True):
        asked = f"things\n{text}" if header.startswith("passage") else text
        assert [found[asked].choices[place] for place in found[asked].right] == [expected]
    (task,) = yaml.safe_load(suite.read_text())["tasks"]
    for key in {*task.get("columns", {})} | {*task} & {"answer_is", "choices", "input"}:
        assert f"\n  {key} " in said
        assert f"    # {key}: " in suite.read_text()


def _pasted(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the arguments of the line that the last message told."""
    (line,) = (
        line for line in capsys.readouterr().err.splitlines() if line.startswith("  maxrandom")
    )
    return shlex.split(line)[1:]


def test_numbers_that_may_begin_with_0_or_with_1_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [[text, *choices, 1 + right % 3] for text, choices, right in QUESTIONS]
    _write(["question", "option1", "option2", "option3", "option4", "label"], rows)
    assert _init() == 2
    line = _pasted(capsys)
    assert line[-2:] == ["--set", "answer_is=index"]
    assert main(line) == 0
    (task,) = yaml.safe_load(Path("eval_suites/own.yaml").read_text())["tasks"]
    assert task["answer_is"] == "index"


def test_all_that_is_missing_is_told_at_once_with_a_line_that_then_works(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [[*row, row[0], "x y"] for row in _rows("question", "choices", "letter")]
    _write(["matter", "A", "B", "C", "D", "level", "again", "note"], rows)
    assert _init("--set", "columns.answer=level", "--t", "10") == 2
    line = _pasted(capsys)
    assert line[-2:] == ["--set", "columns.input=COLUMN"]
    assert main([*line[:-1], "columns.input=matter"]) == 0
    (task,) = yaml.safe_load(Path("eval_suites/own.yaml").read_text())["tasks"]
    assert task["columns"]["choices"] == [*LETTERS]


def test_one_wrong_answer_is_told_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _rows("question", "choices", "letter")
    rows[6][-1] = "E"
    _write(["question", *LETTERS, "answer"], rows)
    assert _init() == 2
    assert "own.csv:8: a letter must be one from A to D, found 'E'" in capsys.readouterr().err


def test_answers_without_choices_are_open_where_most_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write(["question", "answer"], _rows("question", "text"))
    assert _init() == 0
    told = capsys.readouterr().out
    assert "answer_is  open        60 different answers, and no column has choices" in told
    suite = Path("eval_suites/own.yaml").read_text()
    assert "scoring: exact_match" in suite
    assert "n = 40 of 60 examples; demonstrations come from the other 20" in suite
    assert "needed" not in suite  # what guessers reach is learnt from the answers
    assert main(["check", "eval_suites"]) == 0


def test_many_labels_that_come_again_are_no_open_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [(f"Which intent has message {row}?", f"intent {row % 20}") for row in range(60)]
    _write(["question", "answer"], rows)
    assert _init() == 2
    assert "--set answer_is=open where there are none" in capsys.readouterr().err
    assert _init("--set", "answer_is=open", "--n", "40") == 0


def test_what_a_model_said_makes_no_task(capsys: pytest.CaptureFixture[str]) -> None:
    _write(
        ["question", *LETTERS, "gold", "prediction"],
        _rows("question", "choices", "letter", "letter"),
    )
    assert _init() == 2
    said = capsys.readouterr().err
    assert "'prediction' seems to hold what a model said" in said
    assert "maxrandom init --results" in said


def test_wrong_answers_in_one_cell_are_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[*row, "one; two; three"] for row in _rows("question", "text")]
    _write(["question", "best answer", "incorrect answers"], rows)
    assert _init() == 2
    said = capsys.readouterr().err
    assert "  choices: no columns hold choices" in said
    assert "free are 'incorrect answers'" in said
