"""What large results take in memory while they are read, and that labels of any width are right."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.kept import of_answers
from pytest_maxrandom.recorded.npz import read_npz
from tests.unit.recorded.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SLACK = 8_000_000
"""Bytes for what is looked at at a time, whatever the size of the file."""


def drawn(t: int, n: int, labels: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    generator = np.random.default_rng(0)
    return generator.integers(0, labels, (t, n)), generator.integers(0, labels, n)


def archive(path: Path, said: np.ndarray[Any, Any], gold: np.ndarray[Any, Any], many: int) -> Path:
    t, n = said.shape
    arrays: dict[str, Any] = {"answers": said, "gold": gold, "choices": np.full(n, many)}
    arrays |= {"prompt_ids": np.arange(t), "example_ids": np.arange(n)}
    named: dict[str, Any] = {f"task__0__{name}": array for name, array in arrays.items()}
    np.savez(path, **named)
    return path


def peak(read: Callable[[], object]) -> int:
    """Return the most memory that a reader took, what it returned included."""
    tracemalloc.start()
    try:
        kept = read()
        assert kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("type_", [np.int8, np.int64])
def test_an_archive_takes_four_bytes_a_cell_beyond_its_labels(
    tmp_path: Path, type_: type[np.integer[Any]]
) -> None:
    said, gold = drawn(1_000, 4_000, 4)
    path = archive(tmp_path / "m.npz", said.astype(type_), gold, 4)
    # However wide they are in the file, labels of four choices take a byte each.
    assert peak(lambda: read_npz(path)) <= (1 + 4) * said.size + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("by_column", [False, True])
def test_a_table_takes_half_as_many_bytes_as_it_has(tmp_path: Path, *, by_column: bool) -> None:
    said, gold = drawn(200, 1_000, 4)
    cells = [(prompt, example) for prompt in range(200) for example in range(1_000)]
    if by_column:
        cells = [(prompt, example) for example in range(1_000) for prompt in range(200)]
    path = tmp_path / "m.csv"
    with path.open("w") as file:
        file.write("prompt,example,prediction,gold,choices\n")
        for prompt, example in cells:
            label, right = "ABCD"[said[prompt, example]], "ABCD"[gold[example]]
            file.write(f"prompt {prompt:03},example {example:04},{label},{right},4\n")
    assert peak(lambda: read_table(path, model="m", task="t", shots=0)) <= (
        path.stat().st_size // 2 + SLACK
    )
    [answers] = read_table(path, model="m", task="t", shots=0)
    assert answers.answers is not None
    assert answers.answers.dtype == np.int8
    columns = [int(name.split()[1]) for name in answers.examples]
    texts = np.array(answers.labels)[answers.answers]
    assert (texts == np.array([*"ABCD"])[said[:, columns]]).all()
    assert (answers.correct == (said == gold)[:, columns]).all()


@pytest.mark.parametrize("labels", [3, 128, 129, 40_000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_labels_of_any_width_are_those_of_the_file(tmp_path: Path, labels: int, order: Any) -> None:
    said, gold = drawn(3, 50, labels)
    said[0, 0], said[2, 4] = labels - 1, -1
    for type_ in (np.int64, np.uint64, ">i4"):
        written = np.where(said < 0, 0, said) if type_ is np.uint64 else said
        path = archive(tmp_path / "m.npz", written.astype(type_, order=order), gold, labels)
        [answers] = read_npz(path)
        assert answers.answers is not None
        assert (answers.answers == written).all()
        assert answers.answers.dtype.itemsize == (
            1 if labels <= 128 else 2 if labels < 2**15 else 4
        )
        assert (answers.correct == (written == gold)).all()
        assert answers.evaluated.sum() == (written >= 0).sum()


def test_rows_of_several_owners_are_theirs_however_they_are_mixed(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    rows = [
        (model, task, prompt, example, int(generator.integers(2)))
        for model in "ab" for task in "xyz" for prompt in range(4) for example in range(5)
    ]  # fmt: skip
    for mixed in (rows, [rows[place] for place in generator.permutation(len(rows))]):
        path = tmp_path / "m.csv"
        lines = [",".join(map(str, row)) for row in mixed]
        path.write_text("\n".join(["model,task,prompt,example,correct", *lines]) + "\n")
        for found in read_table(path, shots=0):
            for prompt, example in np.ndindex(4, 5):
                row = (found.model, found.task, int(found.prompts[prompt]))
                right = int(found.correct[prompt, example])
                assert (*row, int(found.examples[example]), right) in rows


def test_kept_answers_are_those_that_were_read(tmp_path: Path) -> None:
    said, gold = drawn(4, 9, 3)
    said[1, 2] = said[3, 0] = -1
    [answers] = read_npz(archive(tmp_path / "m.npz", said, gold, 3))
    kept = of_answers(answers)
    assert kept is not None
    told = np.where(said < 0, "-", np.where(said == gold, "1", "0"))
    assert kept.rows == tuple(map("".join, told.tolist()))
