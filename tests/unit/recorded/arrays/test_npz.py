"""NumPy archives of right and wrong answers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.sources import read, read_choices, with_choices

if TYPE_CHECKING:
    from pathlib import Path

CORRECT = np.array([[True, False, False], [True, True, False], [True, False, False]])
EVALUATED = np.array([[True, True, False], [True, True, True], [True, True, False]])


def arrays(task: str = "snarks", shots: int = 1, **changed: Any) -> dict[str, Any]:
    prefix = f"{task}__{shots}__"
    content = {
        "correct": CORRECT,
        "evaluated": EVALUATED,
        "prompt_ids": np.array([0, 1, 2]),
        "example_ids": np.array([7, 8, 9]),
        "demonstration_ids": np.array([[9], [4], [9]][:3]).repeat(shots, axis=1),
    } | changed
    return {prefix + name: value for name, value in content.items() if value is not None}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "correct_small-model.npz"


def test_an_archive_holds_several_sweeps_of_the_model_that_names_it(archive: Path) -> None:
    np.savez(archive, **arrays("snarks", 1), **arrays("a__b", 2))
    first, second = read(archive)
    assert (first.model, first.task, first.shots) == ("small-model", "snarks", 1)
    assert (second.model, second.task, second.shots) == ("small-model", "a__b", 2)
    assert first.prompts == ("0", "1", "2")
    assert first.examples == ("7", "8", "9")
    assert first.demonstration_ids == (("9",), ("4",), ("9",))
    assert second.demonstration_ids == (("9", "9"), ("4", "4"), ("9", "9"))
    assert (first.correct == CORRECT).all()
    assert (first.evaluated == EVALUATED).all()
    assert first.chances is None


def test_prompts_with_the_same_demonstrations_count_once(archive: Path) -> None:
    np.savez(archive, **arrays())
    [sweep] = read(archive)
    distinct = sweep.distinct()
    assert distinct.prompts == ("0", "1")
    assert distinct.demonstration_ids == (("9",), ("4",))
    assert (distinct.correct == CORRECT[:2]).all()
    assert (distinct.evaluated == EVALUATED[:2]).all()


def test_the_order_of_demonstrations_makes_another_prompt(archive: Path) -> None:
    shown = np.array([[1, 2], [2, 1], [1, 2]])
    np.savez(archive, **arrays(shots=2, demonstration_ids=shown))
    assert read(archive)[0].distinct().prompts == ("0", "1")


def test_prompts_without_demonstrations_are_told_apart_by_their_ids(archive: Path) -> None:
    np.savez(archive, **arrays(shots=0, demonstration_ids=None))
    [sweep] = read(archive)
    assert sweep.demonstration_ids == ((), (), ())
    assert sweep.distinct().prompts == ("0", "1", "2")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"evaluated": None}, "the array snarks__1__evaluated is missing"),
        ({"demonstration_ids": None}, "the array snarks__1__demonstration_ids is missing"),
        ({"correct": CORRECT.astype(float)}, "found values of the type float64, expected booleans"),
        ({"correct": CORRECT[0]}, r"found the shape \(3,\), expected 2 dimension"),
        (
            {"correct": CORRECT[..., None, None]},
            r"found the shape \(3, 3, 1, 1\), expected 2 dimensions, or a third one for samples",
        ),
        (
            {"correct": CORRECT[:2]},
            r"correct: found the shape \(2, 3\), expected \(3, 3\) from the numbers of prompt ids",
        ),
        ({"example_ids": np.array([7, 8, 7])}, "the example id '7' stands for more than one"),
        ({"example_ids": np.array([7.5, 8, 7])}, "float64, expected integers or text"),
        ({"demonstration_ids": np.array([[1, 2]] * 3)}, "found 2 demonstrations .* expected 1"),
        (
            {"demonstration_ids": np.array([[1]] * 2)},
            r"demonstration_ids: found the shape \(2,\), expected \(3,\) from the numbers of",
        ),
        ({"evaluated": EVALUATED & ~np.eye(3, dtype=bool)[[0]]}, "prompt '0' is right on example"),
        (
            {
                "correct": CORRECT & [[1], [1], [0]] > 0,
                "evaluated": EVALUATED & [[1], [1], [0]] > 0,
            },
            "prompt '2' was evaluated on no example",
        ),
    ],
)
def test_what_contradicts_itself_is_told_in_one_sentence(
    archive: Path, changed: dict[str, Any], message: str
) -> None:
    np.savez(archive, **arrays(**changed))
    with pytest.raises(RecordedError, match=message) as caught:
        read(archive)
    assert str(caught.value).startswith(f"{archive}: ")
    assert "\n" not in str(caught.value)


def test_an_archive_of_something_else_is_refused(archive: Path) -> None:
    np.savez(archive, weights=np.eye(2))
    with pytest.raises(
        RecordedError, match="no array is named TASK__SHOTS__correct, found weights"
    ):
        read(archive)


def test_objects_are_never_unpickled(archive: Path) -> None:
    np.savez(archive, **arrays(correct=np.array([[print]], dtype=object)))
    with pytest.raises(
        RecordedError,
        match="snarks__1__correct: found Python objects, which could run code and are not read",
    ):
        read(archive)


def test_a_file_that_is_no_archive_is_refused(archive: Path) -> None:
    archive.write_text("PK? no")
    with pytest.raises(RecordedError, match=r"not an .npz archive; write it with numpy.savez"):
        read(archive)


def test_a_damaged_archive_is_refused(archive: Path) -> None:
    np.savez(archive, **arrays())
    whole = bytearray(archive.read_bytes())
    place = whole.index(b"\x93NUMPY") + 130
    whole[place : place + 4] = bytes(255 - byte for byte in whole[place : place + 4])
    archive.write_bytes(whole)
    with pytest.raises(RecordedError, match=r"a damaged .npz archive"):
        read(archive)


@pytest.mark.parametrize("name", ["missing.npz", "missing.jsonl"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordedError, match=f"{name}: cannot be read: No such file"):
        read(tmp_path / name)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RecordedError, match=r"found the ending '.xlsx', expected .npz .* or .jsonl"
    ):
        read(tmp_path / "results.xlsx")


def test_choices_are_one_number_or_a_table(archive: Path, tmp_path: Path) -> None:
    np.savez(archive, **arrays())
    [sweep] = read(archive)
    table = tmp_path / "choices.csv"
    table.write_text("dataset,model,shots,num_choices\nsnarks,other,1,3\nsnarks,small-model,1,5\n")
    by_number, by_table = (
        with_choices(sweep, read_choices(source)).chances for source in ("4", str(table))
    )
    assert by_number == (Fraction(1, 4),) * 3
    assert by_table == (Fraction(1, 5),) * 3


@pytest.mark.parametrize("choices", [None, {("small-model", "snarks", 2): 4}])
def test_choices_that_nobody_tells_are_asked_for(archive: Path, choices: Any) -> None:
    np.savez(archive, **arrays())
    with pytest.raises(RecordedError, match="does not give the number of choices, and --choices"):
        with_choices(read(archive)[0], choices)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,shots,choices\na,1,2\n", ": no column task or dataset, found model, shots, choice"),
        ("", ": the file is empty; give a table with a header and rows"),
        (
            "model,task,shots,choices\na,b,1,many\n",
            ":2: choices is 'many', expected a whole number",
        ),
        (
            "model,task,shots,choices\na,b,1,1\n",
            ":2: choices is '1', expected a whole number from 2",
        ),
        ("model,task,shots,choices\na,b,1\n", ":2: found 3 cells, expected 4 as in the header"),
        (
            "model,task,shots,choices\na,b,1,2\na,b,1,3\n",
            ":3: 3 choices for .* but 2 in an earlier",
        ),
        ("a,b\n1,2\n", "no column model, found a, b"),
    ],
)
def test_a_table_of_choices_is_checked(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "choices.csv"
    table.write_text(text)
    with pytest.raises(RecordedError, match=message):
        read_choices(str(table))


@pytest.mark.parametrize("source", ["four", "-2", "missing.csv"])
def test_choices_that_are_neither_number_nor_file_are_refused(source: str) -> None:
    with pytest.raises(RecordedError, match="found neither a number nor a readable file"):
        read_choices(source)


def test_scores_stand_in_place_of_right_and_wrong(tmp_path: Path) -> None:
    scores = np.array([[0.25, 1.0, np.nan], [0.0, 0.5, 1.0]])
    ids: dict[str, Any] = {"t__0__prompt_ids": np.arange(2), "t__0__example_ids": np.arange(3)}
    np.savez(tmp_path / "m.npz", t__0__scores=scores, **ids)
    [sweep] = read_npz(tmp_path / "m.npz")
    assert np.array_equal(sweep.values, scores, equal_nan=True)
    assert sweep.evaluated.tolist() == [[True, True, False], [True, True, True]]
    assert sweep.correct.tolist() == [[False, True, False], [False, False, True]]
    np.savez(tmp_path / "m.npz", t__0__scores=np.rint(scores), **ids)
    [rounded] = read_npz(tmp_path / "m.npz")
    assert rounded.scores is None
    scores[1, 1] = 1.2
    np.savez(tmp_path / "m.npz", t__0__scores=scores, **ids)
    with pytest.raises(RecordedError, match=r"t__0__scores: found 1\.2 for prompt '1' and example"):
        read_npz(tmp_path / "m.npz")
