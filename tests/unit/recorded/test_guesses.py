"""What columns of a table seem to hold: by their names, and by what stands in them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.found import find_results

if TYPE_CHECKING:
    from pathlib import Path

PROMPTS, EXAMPLES = "abc", range(8)
GOLD = ["yes" if example % 3 else "no" for example in EXAMPLES]
SAID = {p: ["no" if (e * k) % 4 else "yes" for e in EXAMPLES] for k, p in enumerate(PROMPTS, 1)}


def rows() -> list[tuple[str, ...]]:
    """Prompt, example, answer and right answer."""
    return [(p, f"q{e}", SAID[p][e], GOLD[e]) for p in PROMPTS for e in EXAMPLES]


def write(path: Path, header: list[str], content: list[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *content])
    return path


def guessed(path: Path, **said: Any) -> dict[str, str]:
    found = find_results(path, {"columns": said}, {})
    assert found.guessed is not None
    return {role: each.column for role, each in found.guessed.columns.items()}


@pytest.mark.parametrize(
    "header",
    [
        ["prompt", "example", "prediction", "gold"],
        ["prompt_id", "example_id", "pred", "label"],
        ["Prompt Nr.", "Question ID", "Model Answer", "Gold Label (final)"],
        ["templateId", "questionId", "output", "y_true"],
        ["promt", "exmple", "predicton", "golds"],
        ["template", "item", "answer", "target"],  # an answer that differs between prompts
        ["template", "item", "response", "answer"],  # and one that does not
        ["variant", "id", "label", "truth"],  # a label that is said
        ["Vorlage", "Frage", "Antwort", "Richtig"],  # by content alone
    ],
)
def test_columns_are_told_by_their_names_and_contents(tmp_path: Path, header: list[str]) -> None:
    path = write(tmp_path / "a.csv", header, rows())
    roles = ["prompt", "example", "prediction", "gold"]
    assert guessed(path) == dict(zip(roles, header, strict=True))
    backwards = [row[::-1] for row in rows()]
    path = write(tmp_path / "b.csv", header[::-1], backwards)
    assert guessed(path) == dict(zip(roles, header, strict=True))


def test_a_number_of_the_row_is_no_example(tmp_path: Path) -> None:
    content = [(number, *row) for number, row in enumerate(rows())]
    path = write(tmp_path / "a.csv", ["id", "prompt", "text", "pred", "gold"], content)
    assert guessed(path)["example"] == "text"


def test_what_somebody_says_is_not_questioned(tmp_path: Path) -> None:
    content = [(*row, row[1], "") for row in rows()]
    header = ["prompt", "example", "prediction", "gold", "other", "cluster"]
    path = write(tmp_path / "a.csv", header, content)
    assert guessed(path, example="other", cluster="")["example"] == "other"
    assert "cluster" not in guessed(path, cluster="")


def test_further_columns_are_found_where_their_content_fits(tmp_path: Path) -> None:
    content = [
        (model, shots, *row, 2, f"p{int(row[1][1:]) // 2}", f"note {place}")
        for model in ("m", "n")
        for shots in (0, 4)
        for place, row in enumerate(rows())
    ]
    header = [
        "llm",
        "n_shots",
        "prompt",
        "example",
        "pred",
        "gold",
        "options",
        "passage",
        "hit",
    ]
    found = guessed(write(tmp_path / "a.csv", header, content))
    assert found["model"] == "llm"
    assert found["shots"] == "n_shots"
    assert found["choices"] == "options"
    assert found["cluster"] == "passage"
    assert "correct" not in found  # its cells are notes
    answers = find_results(tmp_path / "a.csv", {}, {}).answers
    assert [(each.model, each.shots) for each in answers] == [
        ("m", 0), ("m", 4), ("n", 0), ("n", 4)
    ]  # fmt: skip


def test_few_labels_that_come_again_are_the_choices_and_many_are_not(tmp_path: Path) -> None:
    header = ["prompt", "example", "prediction", "gold"]
    found = find_results(write(tmp_path / "a.csv", header, rows()), {}, {})
    assert found.chance == "1/2"
    free = [(p, e, f"{said} {e}", f"{gold} {e}") for p, e, said, gold in rows()]
    found = find_results(write(tmp_path / "b.csv", header, free), {}, {})
    assert found.chance is None
    assert [*found.missing] == ["chance"]


def test_a_column_for_each_prompt_and_scores_are_told(tmp_path: Path) -> None:
    wide = [(f"q{e}", GOLD[e], *(SAID[p][e] for p in PROMPTS)) for e in EXAMPLES]
    found = find_results(write(tmp_path / "a.csv", ["qid", "gold", *PROMPTS], wide), {}, {})
    assert "pandas.melt" in found.missing["columns.prompt"]
    scored = [(p, e, "0,5") for p, e, *_ in rows()]
    path = write(tmp_path / "b.csv", ["prompt", "example", "f1 score"], scored)
    assert (
        "'f1 score' holds scores, so write a suite with `columns: {score:}`"
        in find_results(path, {}, {}).missing["columns.gold"]
    )


def test_all_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ["one", "two", "three"], [(1, 2, 3), (4, 5, 6), (7, 8, 9)])
    found = find_results(path, {}, {})
    wanted = ["columns.prompt", "columns.example", "columns.prediction", "columns.gold", "chance"]
    assert [*found.missing] == wanted
    assert not found.answers


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "a,b,c\n", "the file has no rows"),
        ("a.xlsx", "PK", "found .xlsx ending, expected .csv"),
        ("a", "x", "found no ending, expected .csv"),
        ("results_2026.json", "{}", "give their folder, with the samples_"),
    ],
)
def test_what_holds_no_answers_is_told(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(RecordedError, match=told):
        find_results(tmp_path / name, {}, {})
