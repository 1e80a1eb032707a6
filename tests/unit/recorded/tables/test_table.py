"""Tidy tables: what their rows mean."""

from __future__ import annotations

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
from tests.unit.recorded.tables.conftest import MEANT, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

    Write = Callable[[Sequence[dict[str, Any]]], Path]


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
