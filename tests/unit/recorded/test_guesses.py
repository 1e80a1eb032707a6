"""What columns of a table seem to hold: by their names, and by what stands in them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.found import find_results
from pytest_maxrandom.recorded.roles import shown

if TYPE_CHECKING:
    from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("header", "example", "more"),
    [
        (["qid", "gold", *PROMPTS], "qid", []),
        (["Frage", "Label", "Prompt 1", "Prompt 2", "Prompt 3"], "Frage", []),
        (["", "expected", "answer_1", "answer_2", "answer_3"], None, ["seconds"]),
    ],
)
def test_a_column_for_each_prompt_reads_as_a_row_for_each_answer(
    tmp_path: Path, header: list[str], example: str | None, more: list[str]
) -> None:
    name = str if example is None else "q{}".format
    wide = [
        (name(e), GOLD[e], *(SAID[p][e].upper() for p in PROMPTS), *(e / 9 for _ in more))
        for e in EXAMPLES
    ]
    found = find_results(write(tmp_path / "a.csv", header + more, wide), {}, {})
    assert not found.missing
    assert found.keys["columns"]["prediction"] == header[2:]
    assert found.keys["columns"].get("example") == example
    [sweep] = found.answers
    assert sweep.prompts == tuple(header[2:])
    one = {"prompt": "prompt", "example": "example", "prediction": "said", "gold": "gold"}
    long = find_results(write(tmp_path / "b.csv", [*one.values()], rows()), {}, {}).answers[0]
    assert (sweep.correct == long.correct).all()
    assert sweep.answers is not None
    assert long.answers is not None
    assert np.array_equal(sweep.answers, long.answers)
    assert found.chance == "1/2"
    del wide[3:]
    wide.append((name(9), "", *("yes" for _ in PROMPTS), *more))
    with pytest.raises(RecordedError, match=rf"a.csv:5: column '{header[2]}': gold is empty"):
        find_results(write(tmp_path / "a.csv", header + more, wide), found.keys, {})


@pytest.mark.parametrize(
    ("role", "cell"),
    [("correct", lambda right: int(right)), ("score", lambda right: 0.25 + right / 2)],
)
def test_a_column_for_each_prompt_may_hold_what_is_right_or_scores(
    tmp_path: Path, role: str, cell: Callable[[bool], float]
) -> None:
    content = [(e, *(cell(SAID[p][e] == GOLD[e]) for p in PROMPTS)) for e in EXAMPLES]
    path = write(tmp_path / "a.csv", ["id", "p1", "p2", "p3"], content)
    found = find_results(path, {}, {"chance": "1/2"})
    assert found.keys["columns"] == {"example": "id", role: ["p1", "p2", "p3"]}
    assert not found.missing
    graded = found.answers[0].scores
    right = found.answers[0].correct if graded is None else graded > 0.5
    assert right.tolist() == [[SAID[p][e] == GOLD[e] for e in EXAMPLES] for p in PROMPTS]


def test_a_column_for_each_prompt_is_taken_however_seldom_it_is_right(tmp_path: Path) -> None:
    header = ["id", "gold", "p1", "p2", "seconds", "p3", "p4", "note"]
    content = [
        (e, GOLD[e], *(SAID[p][e] for p in PROMPTS[:2]), e / 9, "not sure", f"sure of {e}", "hm")
        for e in EXAMPLES
    ]
    found = find_results(write(tmp_path / "a.csv", header, content), {}, {})
    assert found.keys["columns"]["prediction"] == ["p1", "p2", "p3", "p4"]
    assert found.free == ["seconds", "note"]
    assert found.guessed is not None
    told = {role: column for role, column, _ in shown(found.guessed, found.header)}
    assert told["prediction"] == "'p1' to 'p2', 'p3' to 'p4'"
    said = {"columns": {"prediction": ["p4", "p1", "p3"]}}
    found = find_results(tmp_path / "a.csv", said, {})
    assert found.guessed is not None
    told = {role: column for role, column, _ in shown(found.guessed, found.header)}
    assert told["prediction"] == "'p4', 'p1', 'p3'"


def test_references_of_a_table_with_a_column_for_each_prompt_are_all_that_is_to_be_said(
    tmp_path: Path,
) -> None:
    content = [
        (f"what is {e}?", f"it is {e}", *(f"it is {e if (e + p) % 3 else -1}" for p in range(3)))
        for e in EXAMPLES
    ]
    path = write(tmp_path / "a.csv", ["question", "gold", "terse", "polite", "long"], content)
    assert "(if none: --set columns.reference=gold)" in find_results(path, {}, {}).missing["chance"]
    found = find_results(path, {"columns": {"reference": "gold"}}, {})
    assert not found.missing
    assert found.keys["columns"]["prediction"] == ["terse", "polite", "long"]
    assert found.answers[0].open is not None


def test_columns_of_prompts_with_other_names_and_no_right_answer_are_to_be_said(
    tmp_path: Path,
) -> None:
    content = [(f"q{e}", *(int(SAID[p][e] == GOLD[e]) for p in PROMPTS)) for e in EXAMPLES]
    path = write(tmp_path / "a.csv", ["id", *PROMPTS], content)
    told = find_results(path, {}, {}).missing["columns.prompt"]
    assert "--set columns.prediction='[A, B, C]'" in told
    assert "if there is one prompt only, add a column `prompt`" in told
    said = {"columns": {"correct": [*PROMPTS]}}
    assert find_results(path, said, {"chance": "1/2"}).answers[0].prompts == tuple(PROMPTS)
    with pytest.raises(RecordedError, match="no column 'd' for"):
        find_results(path, {"columns": {"correct": ["a", "d"]}}, {})
    with pytest.raises(RecordedError, match="each prompt has a column of its own in `correct`"):
        find_results(path, {"columns": {"correct": ["a", "b"], "prompt": "c"}}, {})


def test_what_was_read_of_an_answer_stands_before_the_whole_of_it(tmp_path: Path) -> None:
    content = [(p, e, f"I think: {said}.", said, gold) for p, e, said, gold in rows()]
    path = write(tmp_path / "a.csv", ["prompt", "item", "output", "extracted", "label"], content)
    assert guessed(path)["prediction"] == "extracted"


def test_a_column_called_correct_may_hold_the_correct_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ["prompt", "example", "prediction", "correct"], rows())
    assert guessed(path)["gold"] == "correct"
    assert find_results(path, {}, {}).keys["columns"]["correct"] == ""


def test_scores_need_no_chance_and_no_right_answers(tmp_path: Path) -> None:
    scored = [(p, e, "0,5", "judge 1") for p, e, *_ in rows()]
    path = write(tmp_path / "a.csv", ["prompt", "example", "f1 score", "grader"], scored)
    found = find_results(path, {}, {})
    assert found.keys["columns"] == {"score": "f1 score", "judge": "grader"}
    assert not found.missing
    assert found.answers[0].is_graded
    assert found.answers[0].judge == "judge 1"
    marks = write(
        tmp_path / "b.csv", ["prompt", "example", "score"], [(*row[:2], 7) for row in rows()]
    )
    told = find_results(marks, {}, {}).missing["columns.gold"]
    assert "not all cells of 'score' are numbers from 0 to 1" in told
    right = [(p, e, int(said == gold)) for p, e, said, gold in rows()]
    found = find_results(write(tmp_path / "c.csv", ["prompt", "example", "score"], right), {}, {})
    assert [*found.missing] == ["chance"]  # each is right or wrong


def test_how_sure_a_model_was_is_no_score(tmp_path: Path) -> None:
    content = [(*row, 0.75) for row in rows()]
    header = ["prompt", "example", "prediction", "gold", "confidence score"]
    assert "score" not in guessed(write(tmp_path / "a.csv", header, content))


def test_references_are_open_answers_unless_few_come_again(tmp_path: Path) -> None:
    header = ["prompt", "qid", "question", "prediction", "reference"]
    few = [(p, e, f"what is {e}?", said, gold) for p, e, said, gold in rows()]
    found = find_results(write(tmp_path / "a.csv", header, few), {}, {})
    assert found.keys["columns"] == {"example": "qid", "gold": "reference", "reference": ""}
    assert found.chance == "1/2"
    free = [(p, e, q, f"{said} {e}", f"{gold} {e}") for p, e, q, said, gold in few]
    found = find_results(write(tmp_path / "b.csv", header, free), {}, {})
    assert found.keys["columns"] == {"example": "qid", "input": "question"}
    assert not found.missing
    assert found.answers[0].open is not None
    asked = [(p, q, said, gold) for p, _, q, said, gold in free]
    names = ["prompt", "question", "prediction", "reference"]
    found = find_results(write(tmp_path / "q.csv", names, asked), {}, {})
    assert found.keys["columns"] == {"example": "question", "input": "question"}
    assert found.answers[0].inputs == tuple(f"what is q{e}?" for e in EXAMPLES)
    ids = [(p, e, said, gold) for p, e, _, said, gold in free]
    found = find_results(write(tmp_path / "i.csv", names, ids), {}, {})
    assert found.keys["columns"] == {"example": "question"}  # ids, and not what was asked
    header[-1] = "gold"
    said = {"columns": {"reference": "gold"}}
    found = find_results(write(tmp_path / "c.csv", header, free), said, {})
    told = {"example": "qid", "gold": "", "input": "question", "reference": "gold"}
    assert found.keys["columns"] == told
    assert found.answers[0].open is not None


@pytest.mark.parametrize("wide", [False, True])
def test_right_answers_are_references_where_no_choices_can_tell_the_answers(
    wide: bool, tmp_path: Path
) -> None:
    def written(choices: int) -> Path:
        """Write 12 prompts that say the second answer to a question, or one of others."""
        said = [[f"to {e}: the {1 + (e + p) % choices}th" for e in EXAMPLES] for p in range(12)]
        gold = [f"to {e}: the 2th" for e in EXAMPLES]
        asked = [f"What is {e}?" for e in EXAMPLES]
        if wide:
            header = ["question", "expected", *(f"answer_{p}" for p in range(12))]
            content: list[tuple[Any, ...]] = [
                (asked[e], gold[e], *(row[e] for row in said)) for e in EXAMPLES
            ]
        else:
            header = ["prompt", "question", "answer", "expected"]
            content = [(p, asked[e], said[p][e], gold[e]) for p in range(12) for e in EXAMPLES]
        return write(tmp_path / f"{choices}.csv", header, content)

    said = {} if not wide else {"columns": {"prediction": [f"answer_{p}" for p in range(12)]}}
    free, few = (find_results(written(number), said, {}) for number in (6, 5))
    assert not free.missing
    columns = free.keys["columns"]
    assert (columns["reference"], columns["input"]) == ("expected", "question")
    assert free.answers[0].open is not None
    assert [*few.missing] == ["chance"]  # five answers may be those of a choice
    told = find_results(written(6), said, {"chance": "1/6"})
    assert (told.keys["columns"]["gold"], told.answers[0].open) == ("expected", None)


def test_samples_are_told_from_examples(tmp_path: Path) -> None:
    several = [(p, e, k, said, gold) for p, e, said, gold in rows() for k in range(3)]
    header = ["prompt", "example", "sample", "prediction", "gold"]
    found = find_results(write(tmp_path / "a.csv", header, several), {}, {})
    assert not found.keys["columns"]
    assert found.answers[0].sampled is not None
    header = ["prompt", "sample", "prediction", "gold"]
    found = find_results(write(tmp_path / "b.csv", header, rows()), {}, {})
    assert found.keys["columns"] == {"example": "sample", "sample": ""}
    assert found.answers[0].sampled is None


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
        ("a.xlsx", "PK", "found .xlsx ending, expected .csv.*; save it as CSV"),
        ("a.tsv", "a\tb", "found .tsv ending, .*; rename it to .csv"),
        ("many/a.csv", "a,b", "if each table is of one prompt, join them into one, with a column"),
        ("a", "x", "found no ending, expected .csv"),
        ("results_2026.json", "{}", "give their folder, with the samples_"),
    ],
)
def test_what_holds_no_answers_is_told(tmp_path: Path, name: str, content: str, told: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    with pytest.raises(RecordedError, match=told):
        find_results(path.parent if path.parent != tmp_path else path, {}, {})
