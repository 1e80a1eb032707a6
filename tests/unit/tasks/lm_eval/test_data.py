"""Rows of a task's data are what the package `datasets` reads, and mistakes in them are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.tasks.lm_eval.config import Config
from pytest_maxrandom.tasks.lm_eval.data import Rows, read_rows
from pytest_maxrandom.tasks.reading import Mistake
from tests.needs import needs

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, path: str, files: object, split: str = "test", **kwargs: object) -> Rows:
    values = {"dataset_path": path, "dataset_kwargs": {"data_files": files, **kwargs}}
    return read_rows(Config(folder / "task.yaml", values), split, [folder])


ROWS: list[list[dict[str, Any]]] = [
    [{"q": "a", "n": 1}, {"q": "b"}],
    [{"q": "a", "n": 1}, {"q": "b", "n": 2.5}],
    [{"q": {"x": 1}}, {"q": {"y": "b"}}, {"q": None}],
    [{"q": {"text": ["a", "b"], "label": ["A", "B"]}}, {"q": {"text": ["c"], "label": ["A"]}}],
    [{"q": [{"x": 1}, {"y": 2.5}]}, {"q": []}, {"q": None}],
    [{"q": [1, 2]}, {"q": [3, 4.5]}],
    [{"q": True}, {"q": False}],
    [{"q": 1}, {"q": "a"}, {"q": [2]}],
    [{"q": {"y": 1, "x": [1]}}, {"q": {"x": [2.5], "y": 2}}],
    [{"q": {}}, {"q": {"x": 1}}, {"q": {"x": 2.5}}],
    [{"q": [[1], [2.5]]}, {"q": [[], None]}],
    [{"q": " ünï \n\u2028x", "n": ""}],
]


@needs("datasets")
@pytest.mark.parametrize("rows", ROWS, ids=str)
@pytest.mark.parametrize("lines", [True, False], ids=["lines", "list"])
def test_json_is_read_as_datasets_reads_it(
    tmp_path: Path, rows: list[dict[str, Any]], lines: bool
) -> None:
    import datasets

    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    (tmp_path / "data.json").write_text(text)
    theirs = datasets.load_dataset(
        "json",
        data_files=str(tmp_path / "data.json"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    ours = read(tmp_path, "json", {"test": "data.json"})
    assert ours.columns == theirs.column_names
    assert repr(ours.rows) == repr(list(theirs))


@needs("datasets")
def test_other_kinds_go_through_datasets(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("q,label\na,1\nb,0\n")
    cache = str(tmp_path / "cache")
    found = read(tmp_path, "csv", {"test": "data.csv"}, cache_dir=cache)
    assert found == Rows(["q", "label"], [{"q": "a", "label": 1}, {"q": "b", "label": 0}])
    (tmp_path / "data.txt").write_text("a\nb\n")
    found = read(tmp_path, "text", {"test": ["data.txt"]}, cache_dir=cache)
    assert found.rows == [{"text": "a"}, {"text": "b"}]


def test_files_may_be_several_or_a_pattern_or_below_a_field(tmp_path: Path) -> None:
    for name in ("a1", "a2"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"q": name}))
    (tmp_path / "b.json").write_text(json.dumps({"data": [{"q": "b"}], "version": 1}))
    both = [{"q": "a1"}, {"q": "a2"}]
    assert read(tmp_path, "json", {"test": ["a1.jsonl", "a2.jsonl"]}).rows == both
    assert read(tmp_path, "json", {"test": "a*.jsonl"}).rows == both
    assert read(tmp_path, "json", "a1.jsonl", split="train").rows == both[:1]
    assert read(tmp_path, "json", {"test": "b.json"}, field="data").rows == [{"q": "b"}]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"test": "none.jsonl"}, "there is no file 'none.jsonl' in "),
        ({"dev": "data.jsonl"}, "`dataset_kwargs: data_files` has no split 'test', found 'dev'"),
        ("data.jsonl", "names no splits, so its only split is train, not 'test'"),
        ({"test": []}, "`dataset_kwargs: data_files` must name files"),
        ({"test": 3}, "`dataset_kwargs: data_files` must name files"),
    ],
)
def test_what_names_no_data_is_told(tmp_path: Path, files: object, message: str) -> None:
    (tmp_path / "data.jsonl").write_text("{}")
    with pytest.raises(Mistake) as caught:
        read(tmp_path, "json", files)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": 1}\n{"q": }', "data.jsonl:2: not valid JSON"),
        ('{"q": 1}\n3', "data.jsonl:2: a row must be a JSON object, found the number 3"),
        ("[1]", "a row must be a JSON object, found the number 1"),
        ("\ufffe", "not valid JSON"),
    ],
)
def test_mistakes_in_data_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data.jsonl").write_text(text)
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, "json", {"test": "data.jsonl"})
    assert message in str(caught.value)


@needs("datasets")
def test_a_dataset_that_cannot_be_loaded_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("none")
    with pytest.raises(Mistake, match="`dataset_path: parquet`, split 'test': the dataset"):
        read(tmp_path, "parquet", {"test": "x.parquet"}, cache_dir=str(tmp_path / "cache"))


def test_pickles_are_never_read(tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes(
        b"cbuiltins\nopen\n(V" + bytes(tmp_path / "ran") + b"\nVw\ntR."
    )
    with pytest.raises(Mistake, match="`dataset_path: pandas` may run code; expected json, csv"):
        read(tmp_path, "pandas", {"test": "x.pkl"})
    assert not (tmp_path / "ran").exists()
