"""Tidy tables: what their rows mean."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.codes import by_first_row
from pytest_maxrandom.suite.recorded import TableColumns
from tests.notes import sentences
from tests.unit.recorded.reading import read_table
from tests.unit.recorded.suites import write_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

    Write = Callable[[Sequence[dict[str, Any]]], Path]

MEANT: dict[str, Any] = {"model": "m", "task": "t", "shots": 2}


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


WRITERS: dict[str, Callable[[Path, Sequence[dict[str, Any]]], Path]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}


@pytest.fixture(params=list(WRITERS))
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    """Write rows in each of the formats, which must all mean the same."""
    ending: str = request.param
    return lambda rows: WRITERS[ending](tmp_path / f"answers.{ending}", rows)


def row(prompt: str, example: str, correct: Any = 1, **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "example": example, "correct": correct, **more}


def test_every_row_fills_one_cell_of_the_grid(write: Write) -> None:
    rows = [row("p", "a", 1), row("q", "a", 0), row("q", "b", 1), row("p", "b", 0)]
    [sweep] = read_table(write(rows), **MEANT)
    assert (sweep.model, sweep.task, sweep.shots, sweep.claim) == ("m", "t", 2, "t[m-2shot]")
    assert (sweep.prompts, sweep.examples) == (("p", "q"), ("a", "b"))
    assert sweep.correct.tolist() == [[True, False], [False, True]]
    assert sweep.evaluated.all()
    assert sweep.distinct().prompts == ("p", "q")
    assert sweep.demonstration_ids == ((), ())
    assert (sweep.chances, sweep.answers, sweep.gold) == (None, None, None)
    assert (sweep.labels, sentences(sweep.notes)) == ((), ())


def test_numbers_are_ids_too(write: Write) -> None:
    rows = [{"prompt": 10, "example": e, "correct": True} for e in (3, 1)]
    [sweep] = read_table(write(rows), **MEANT)
    assert (sweep.prompts, sweep.examples) == (("10",), ("3", "1"))


def test_rows_of_several_models_tasks_and_shots_make_several_sweeps(write: Write) -> None:
    owners = [("m2", "t1", 0), ("m1", "t1", 4), ("m1", "t1", 0), ("m1", "t2", 0)]
    # Interleaved, and with different ids: nothing may leak from one sweep into another.
    rows = [
        row(f"p{p}", f"{task}-{e}", int((p + e + place) % 2), model=model, task=task, shots=shots)
        for e, p in product(range(3), range(2))
        for place, (model, task, shots) in enumerate(owners)
    ]
    sweeps = read_table(write(rows))
    assert [(s.model, s.task, s.shots) for s in sweeps] == owners
    for place, sweep in enumerate(sweeps):
        assert sweep.examples == tuple(f"{sweep.task}-{e}" for e in range(3))
        expected = [[(p + e + place) % 2 == 1 for e in range(3)] for p in range(2)]
        assert sweep.correct.tolist() == expected


def test_a_column_of_the_file_counts_more_than_what_is_meant_without_one(write: Write) -> None:
    [sweep] = read_table(write([row("p", "a", model="other")]), **MEANT)
    assert (sweep.model, sweep.task) == ("other", "t")


def test_columns_may_be_called_otherwise(write: Write) -> None:
    names = TableColumns(
        prompt="prompt", example="doc", correct="acc", prediction="answer", gold="target",
        choices="m", model="lm", task="dataset", shots="k",
    )  # fmt: skip
    rows = [
        {"prompt": "p", "doc": "d", "acc": 1, "answer": "B", "target": "B", "m": 3}
        | {"lm": "x", "dataset": "y", "k": 5}
    ]
    [sweep] = read_table(write(rows), names)
    assert (sweep.model, sweep.task, sweep.shots) == ("x", "y", 5)
    assert (sweep.labels, sweep.gold, sweep.chances) == (
        ("B",),
        (frozenset({0}),),
        (Fraction(1, 3),),
    )


def test_a_column_with_an_empty_name_is_not_read(write: Write) -> None:
    rows = [row("p", "a", 1, prediction="A", gold="B", choices="many")]
    [sweep] = read_table(write(rows), TableColumns(prediction="", choices=""), **MEANT)
    assert sweep.answers is None
    assert sweep.chances is None
    assert sweep.correct.all()
    assert sweep.labels == ("B",)


def labelled(write: Write, *, correct: bool) -> Answers:
    gold = {"a": ["10"], "b": ["9", "x"], "c": ["x"]}
    said = {"p": {"a": "10", "b": "x", "c": "9"}, "q": {"a": "y", "b": "9", "c": "x"}}
    rows: list[dict[str, Any]] = []
    for p, e in product("pq", "abc"):
        cells: dict[str, Any] = {"prompt": p, "example": e}
        cells |= {"prediction": said[p][e], "gold": gold[e]}
        cells["choices"] = 4 if e == "a" else 3
        if correct:
            cells["correct"] = said[p][e] in gold[e]
        rows.append(cells)
    [sweep] = read_table(write(rows), **MEANT)
    return sweep


@pytest.mark.parametrize("correct", [True, False])
def test_predictions_are_right_where_they_are_one_of_the_gold_labels(
    write: Write, correct: bool
) -> None:
    sweep = labelled(write, correct=correct)
    assert sweep.correct.tolist() == [[True, True, False], [False, True, True]]
    assert sweep.labels == ("9", "10", "x", "y")
    assert sweep.gold == (frozenset({1}), frozenset({0, 2}), frozenset({2}))
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[1, 2, 0], [3, 0, 2]]
    assert sweep.chances == (Fraction(1, 4), Fraction(2, 3), Fraction(1, 3))


def test_a_prediction_may_look_like_a_list(write: Write) -> None:
    rows = [row("p", e, e == "a", prediction="[A", gold=f'["[{e.upper()}"]') for e in "ab"]
    [sweep] = read_table(write(rows), **MEANT)
    assert sweep.labels == ("[A", "[B")


def test_answers_that_are_all_wrong_are_believed_where_correct_says_so_too(write: Write) -> None:
    [sweep] = read_table(write([row("p", "a", 0, prediction="A", gold="B")]), **MEANT)
    assert not sweep.correct.any()


def test_choices_may_be_listed(write: Write) -> None:
    [sweep] = read_table(write([row("p", "a", choices=["yes", "no", "maybe"])]), **MEANT)
    assert not sweep.choices_counted
    [counted] = read_table(write([row("p", "a", choices=3)]), **MEANT)
    assert counted.choices_counted
    assert sweep.chances == (Fraction(1, 3),)


def test_listed_choices_are_told_in_their_order(write: Write) -> None:
    listed = {"a": ["Yes", "No"], "b": ["True", "False"], "c": ["No", "Yes"]}
    rows = [row("p", e, prediction=own[0], gold=own[0], choices=own) for e, own in listed.items()]
    [sweep] = read_table(write(rows), **MEANT)
    expected = ("Yes", "No"), ("True", "False"), ("No", "Yes")
    assert sweep.offered == expected
    assert sweep.distinct().offered == expected
    letters = [each | {"prediction": "A", "gold": "A"} for each in rows]
    [lettered] = read_table(write(letters), **MEANT)
    assert lettered.offered == expected
    others = [each | {"prediction": "yes", "gold": "yes"} for each in rows]
    [other] = read_table(write(others), **MEANT)
    assert other.offered is None
    again = [each | {"prompt": "q", "choices": each["choices"][::-1]} for each in rows]
    [reordered] = read_table(write([*rows, *again]), **MEANT)
    assert reordered.offered == tuple(tuple(sorted(own)) for own in expected)
    [counted] = read_table(write([each | {"choices": 2} for each in rows]), **MEANT)
    assert counted.offered is None


def test_right_answers_follow_where_rows_say_which_of_two_are_right(write: Write) -> None:
    said = {("p", "a"): "Yes", ("q", "a"): "No", ("p", "b"): "Yes", ("q", "b"): "Yes"}
    gold = {"a": "Yes", "b": "No"}
    rows = [
        row(p, e, int(gold[e] == answer), prediction=answer, choices=2)
        for (p, e), answer in said.items()
    ]
    [sweep] = read_table(write(rows), **MEANT)
    assert sweep.gold is not None
    assert [{sweep.labels[each] for each in own} for own in sweep.gold] == [{"Yes"}, {"No"}]
    for others in (
        [each | {"choices": 3} for each in rows],
        [{key: cell for key, cell in each.items() if key != "choices"} for each in rows],
        [*rows, row("p", "c", 0, prediction="none", choices=2), row("q", "c", choices=2)
         | {"prediction": "No"}],
        [*rows[:1], rows[1] | {"correct": 1}, *rows[2:]],
    ):  # fmt: skip
        [unknown] = read_table(write(others), **MEANT)
        assert unknown.gold is None


@pytest.mark.parametrize(
    ("wrong", "right"),
    [(0, 1), (False, True), ("false", "TRUE"), ("0", " 1"), (0.0, 1.0)],
)
def test_right_and_wrong_have_several_spellings(write: Write, wrong: Any, right: Any) -> None:
    [sweep] = read_table(write([row("p", "a", wrong), row("p", "b", right)]), **MEANT)
    assert sweep.correct.tolist() == [[False, True]]


def test_prompts_on_other_examples_leave_cells_empty(write: Write) -> None:
    rows = [
        row("p", "a", prediction="A"),
        row("p", "b", prediction="A"),
        row("q", "b", prediction="A"),
        row("q", "c", prediction="B"),
    ]
    [sweep] = read_table(write(rows), **MEANT)
    assert sweep.evaluated.tolist() == [[True, True, False], [False, True, True]]
    assert sweep.correct.tolist() == sweep.evaluated.tolist()
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[0, 0, -1], [-1, 0, 1]]


def test_prompts_may_differ_in_n_where_that_is_said(write: Write) -> None:
    rows = [row("p", "a"), row("p", "b"), row("q", "b")]
    with pytest.raises(
        RecordedError,
        match=r"prompt 'q' was scored on 1 examples, but prompt 'p' on 2, as in an interrupted "
        r"run; finish the run, or write `ragged: true`",
    ):
        read_table(write(rows), **MEANT)
    [sweep] = read_table(write(rows), **MEANT, ragged=True)
    assert sweep.evaluated.tolist() == [[True, True], [False, True]]
    assert len(sentences(sweep.notes)) == 1
    assert "1 to 2 examples" in sentences(sweep.notes)[0]


@given(
    cells=st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 7)),
        st.tuples(st.booleans(), st.sampled_from("ABC")),
        min_size=1,
    ),
    data=st.data(),
)
def test_the_grid_says_what_the_rows_say_whatever_their_order(
    tmp_path_factory: pytest.TempPathFactory, cells: dict[Any, Any], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(sorted(cells)))
    rows = [
        row(f"p{p}", f"e{e}", int(cells[m, p, e][0]), prediction=cells[m, p, e][1], model=f"m{m}")
        for m, p, e in order
    ]
    path = write_csv(tmp_path_factory.mktemp("table") / "answers.csv", rows)
    sweeps = read_table(path, task="t", shots=0, ragged=True)
    found = {
        (sweep.model, sweep.prompts[p], sweep.examples[e]): (
            bool(sweep.correct[p, e]),
            sweep.labels[answers[p, e]],
        )
        for sweep in sweeps
        for answers in [sweep.answers if sweep.answers is not None else np.zeros((0, 0), int)]
        for p, e in np.argwhere(sweep.evaluated)
    }
    expected = {(f"m{m}", f"p{p}", f"e{e}"): said for (m, p, e), said in cells.items()}
    assert found == expected


@pytest.mark.parametrize(
    ("rows", "place", "message"),
    [
        (
            [row("p", "a"), row("p", "b"), row("p", "a", 0)],
            3,
            "t[m-2shot]: prompt 'p' already has an answer to example 'a' in {line} 1; keep one row "
            "for each prompt and example, or name the column that tells samples apart as `columns: "
            "sample:`",
        ),
        ([row("p", "a"), row(" ", "a")], 2, "prompt is empty; give every row a value"),
        ([row("p", "a"), row("p", "")], 2, "example is empty; give every row a value"),
        (
            [row("p", "a", "1"), row("p", "b", "0.5")],
            2,
            "correct is '0.5', expected 0 or 1 (or false or true), because an answer is right or "
            "wrong; numbers between stand in a column `score`",
        ),
        (
            [row("p", "a", "1"), row("p", "b", None)],
            2,
            "correct is '', expected 0 or 1 (or false or true), because an answer is right or "
            "wrong; numbers between stand in a column `score`",
        ),
        (
            [row("p", "a", choices=4), row("p", "b", choices=1)],
            2,
            "choices is '1', expected a whole number from 2 on, or a list such as "
            '`["yes", "no"]`',
        ),
        (
            [row("p", "a", choices=4), row("q", "a", choices=3)],
            2,
            "t[m-2shot]: choices of example 'a' is 3, but 4 in {line} 1; give all rows of an "
            "example the same value",
        ),
        (
            [row("p", "a", gold="A"), row("q", "a", gold="B")],
            2,
            "t[m-2shot]: gold of example 'a' is 'B', but 'A' in {line} 1; give all rows of an "
            "example the same value",
        ),
        (
            [
                row("p", "a", 0, prediction="A", gold="B"),
                row("q", "a", 0, prediction="B", gold="B"),
            ],
            2,
            "t[m-2shot]: correct says wrong, but prediction is 'B' and gold 'B'; correct the "
            "table, or leave the wrong column out with an empty name under `columns:`",
        ),
        (
            [row("p", "a", 1, prediction="A", gold=["B", "C"])],
            1,
            "t[m-2shot]: correct says right, but prediction is 'A' and gold 'B' and 'C'; correct "
            "the table, or leave the wrong column out with an empty name under `columns:`",
        ),
        (
            [row("p", "a", gold=["A", "B"], choices=2)],
            1,
            "t[m-2shot]: example 'a' has 2 choices, of which 2 are right; at least one must be "
            "wrong, so give the total number of choices",
        ),
        (
            [row("p", "a", gold="A", prediction="A"), row("p", "b", gold="A", prediction="")],
            2,
            "prediction is empty; write a word such as 'none' where no answer could be read",
        ),
        (
            [row("p", "a", gold="[A]")],
            1,
            'gold is \'[A]\', which begins like a list but is not a JSON list such as ["A", "B"]',
        ),
        (
            [row("p", "a", gold="[]")],
            1,
            "gold is an empty list; give at least one right answer",
        ),
        (
            [{"prompt": "p", "example": e, "prediction": "A", "gold": 0} for e in "ab"],
            1,
            "t[m-2shot]: no prediction is the gold label of any example: found 'A', expected "
            "labels such as '0'; use the same labels for both, or add a column correct",
        ),
        (
            [row("p", "a", prediction=["A"], gold="A")],
            1,
            "prediction is '[\"A\"]', a list, expected one label",
        ),
        (
            [row("p", "a", gold="A"), row("p", "b", gold=["B", ""])][1:],
            1,
            "gold is empty; give every row a value",
        ),
        (
            [row("p", "a", shots="few")],
            1,
            "shots is 'few', expected a whole number from 0 on",
        ),
    ],
)
def test_what_contradicts_itself_is_told_in_one_sentence_with_its_place(
    write: Write, rows: list[dict[str, Any]], place: int, message: str
) -> None:
    path = write(rows)
    # A CSV file has a header line; a Parquet file has no lines.
    first = {".csv": f":{place + 1}", ".jsonl": f":{place}", ".parquet": f": row {place}"}
    line = "row 1" if path.suffix == ".parquet" else "line 2" if path.suffix == ".csv" else "line 1"
    with pytest.raises(RecordedError) as caught:
        read_table(path, **MEANT)
    expected = message.replace("{line} 1", line)
    assert str(caught.value) == f"{path}{first[path.suffix]}: {expected}"


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (
            TableColumns(),
            ("prompt_id", "example", "correct"),
            "there is no column 'prompt' for `columns: prompt:`; found 'prompt_id', 'example', "
            "'correct'; did you mean 'prompt_id'?",
        ),
        (
            TableColumns(),
            ("prompt", "example", "gold"),
            "there is no column 'correct' for `columns: correct:`, none with a `score`, and it "
            "cannot be computed without both prediction and gold; found 'prompt', 'example', "
            "'gold'",
        ),
        (
            TableColumns(gold="label"),
            ("prompt", "example", "correct", "labels"),
            "there is no column 'label' for `columns: gold:`; found 'prompt', 'example', "
            "'correct', 'labels'; did you mean 'labels'?",
        ),
        (
            TableColumns(correct="right"),
            ("prompt", "example", "gold", "prediction"),
            "there is no column 'right' for `columns: correct:`; found 'prompt', 'example', "
            "'gold', 'prediction'",
        ),
        (
            TableColumns(prompt="example"),
            ("example", "correct"),
            "the column 'example' cannot hold both the prompt and the example; name another "
            "under `columns:`",
        ),
        (
            TableColumns(),
            ("prompt", "example", "correct", "Model"),
            "the column 'Model' looks like 'model'; write `columns: model:` with its name, or with "
            "an empty name if the column is something else",
        ),
    ],
)
def test_columns_that_are_not_there_are_told(
    write: Write, columns: TableColumns, names: tuple[str, ...], message: str
) -> None:
    path = write([dict.fromkeys(names, "1")])
    with pytest.raises(RecordedError) as caught:
        read_table(path, columns, **MEANT)
    where = str(caught.value).removeprefix(f"{path}:")
    assert where.removeprefix("1:").removeprefix(" ") == message


@pytest.mark.parametrize("role", ["model", "task", "shots"])
def test_whose_results_they_are_must_be_said(write: Write, role: str) -> None:
    path = write([row("p", "a")])
    with pytest.raises(RecordedError, match=f"no column gives the {role}; name it as `columns: "):
        read_table(path, **MEANT | {role: None})


def test_columns_that_cannot_be_ids_are_refused_before_memory_runs_out(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    lines = "".join(f"p{number},e{number},1\n" for number in range(4000))
    path.write_text("prompt,example,correct\n" + lines)
    with pytest.raises(RecordedError, match="found 4000 prompts and 4000 examples in 4000 rows"):
        read_table(path, **MEANT)


@given(st.lists(st.integers(0, 40), min_size=1), st.sampled_from([41, 5000]))
def test_codes_are_numbered_anew_in_the_order_of_their_first_rows(
    codes: list[int], size: int
) -> None:
    distinct = list(dict.fromkeys(codes))
    firsts, renumbered = by_first_row(np.array(codes), size)
    assert firsts.tolist() == [codes.index(code) for code in distinct]
    assert renumbered[:].tolist() == [distinct.index(code) for code in codes]


def test_rows_of_models_that_the_suite_does_not_name_need_not_be_right(write: Write) -> None:
    def rows(model: str, correct: object) -> list[dict[str, Any]]:
        known: list[dict[str, Any]] = [
            {"model": model, "prompt": p, "example": e, "correct": str(int(p < e))}
            for p, e in product("ab", "bcd")
        ]
        return [*known[:-1], {**known[-1], "correct": correct}]

    said: dict[str, Any] = {"task": "t", "shots": 2}
    mine, others = rows("mine", "1"), rows("others", "maybe")
    for order in ([*mine, *others], [*others, *mine], [*others[:2], *mine, *others[2:]]):
        path = write(order)
        with pytest.raises(RecordedError, match="maybe"):
            read_table(path, **said)
        (found,) = read_table(path, models=(("lab/mine", "mine"),), **said)
        (alone,) = read_table(write(mine), **said)
        assert found.model == "mine"
        assert (found.prompts, found.examples) == (alone.prompts, alone.examples)
        assert (found.correct == alone.correct).all()


def test_a_mistake_behind_rows_that_are_left_out_has_its_own_line(write: Write) -> None:
    row = {"prompt": "p", "correct": "1"}
    rows = [{"model": "others", "example": str(i), **row} for i in range(4)]
    rows.insert(1, {"model": "mine", "example": "x", **row})
    path = write([*rows, {"model": "mine", "example": "y", **row, "correct": "maybe"}])
    place = "row 6" if path.suffix == ".parquet" else f"{7 if path.suffix == '.csv' else 6}: "
    with pytest.raises(RecordedError, match=place):
        read_table(path, task="t", shots=2, models=(("mine",),))
    # Where a model is not there, all are read, so that a message can name them.
    with pytest.raises(RecordedError):
        read_table(path, task="t", shots=2, models=(("mine",), ("missing",)))


def test_case_and_spaces_around_a_right_answer_tell_nothing_unless_two_differ_in_them(
    write: Write,
) -> None:
    def sweep(said: Sequence[str], gold: Sequence[str]) -> Answers:
        pairs = enumerate(zip(said, gold, strict=True))
        rows = [
            {"prompt": "p", "example": str(e), "prediction": one, "gold": right}
            for e, (one, right) in pairs
        ]
        [read] = read_table(write(rows), **MEANT)
        return read

    read = sweep(["Yes", " no", "NO ", "maybe"], ["yes", "no", "yes", "no"])
    assert read.correct.tolist() == [[True, True, False, False]]
    assert read.labels == ("maybe", "no", "yes")
    told = "3 answers are a right answer but for case or spaces around them, and count as it."
    assert told in sentences(read.notes)
    read = sweep(["US", "us", "Us"], ["US", "us", "US"])
    assert read.correct.tolist() == [[True, True, False]]
    assert not read.notes
