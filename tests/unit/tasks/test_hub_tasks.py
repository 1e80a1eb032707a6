"""Real datasets in local folders, read by the package `datasets` without a network."""

from __future__ import annotations

import sys
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.tasks.load import absent_data
from tests.unit.tasks.conftest import Folder, where

datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")


ROWS = [
    {"input": "1 + 1?", "choices": ["two", "three"], "answer": 0, "other": {"x": 1}},
    {"input": "1 + 2?", "choices": ["two", "three", "four"], "answer": 1, "other": {"x": 2}},
]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(cache))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def write(folder: Folder, name: str, rows: list[dict[str, Any]], features: Any = None) -> None:
    target = folder.path / "numbers"
    target.mkdir(exist_ok=True)
    data = datasets.Dataset.from_list(rows, features=features)
    if name.endswith(".parquet"):
        data.to_parquet(target / name)
    elif name.endswith(".csv"):
        data.to_csv(target / name, index=False)
    else:
        data.to_json(target / name)


@pytest.mark.parametrize("name", ["test.jsonl", "test.parquet"])
def test_a_local_folder_is_read_as_the_hub_would_be(folder: Folder, name: str) -> None:
    write(folder, name, ROWS)
    task = folder.load("hub", None, path="numbers", split="test")
    assert [(e.id, e.input, e.choices, e.right) for e in task.examples] == [
        ("#1", "1 + 1?", ("two", "three"), (0,)),
        ("#2", "1 + 2?", ("two", "three", "four"), (1,)),
    ]


def test_a_dataset_is_absent_until_a_cache_holds_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(**keys: str) -> str | None:
        said = {"name": "t", "format": "hub", "path": "nobody/numbers", "split": "test", **keys}
        return absent_data(TASKS.validate(said), folder.path, where)

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder.path / "hub"))
    told = "there is no folder nobody/numbers, and the hub's cache holds no such dataset"
    assert absent() == told
    write(folder, "test.parquet", ROWS)
    assert absent(path="numbers") is None
    folder.load("hub", None, path="numbers", split="test")
    cache = Path(datasets.config.HF_DATASETS_CACHE)
    (cache / "numbers").rename(cache / "nobody___numbers")  # as it keeps what comes from the hub
    assert absent() is None
    assert len(folder.load("hub", None, path="nobody/numbers", split="test").examples) == len(ROWS)
    assert absent(subset="other") == told
    downloaded = folder.path / "hub" / "datasets--nobody--more" / "snapshots" / "1"
    downloaded.mkdir(parents=True)
    (downloaded / "README.md").touch()
    assert absent(path="nobody/more") is not None
    (downloaded / "data.parquet").touch()
    assert absent(path="nobody/more") is None


def test_the_current_folder_may_be_the_one(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "test.jsonl", ROWS)
    monkeypatch.chdir(folder.path / "numbers")
    folder.path = folder.path / "numbers"
    assert len(folder.load("hub", None, path=".", split="test").examples) == len(ROWS)


def test_choices_may_stand_in_columns_of_a_csv_file(folder: Folder) -> None:
    rows = [{"n": 8, "q": "?", "a": "x", "b": "y", "c": None, "gold": "B"}]
    write(folder, "train.csv", rows)
    columns = {"input": "q", "choices": ["a", "b", "c"], "answer": "gold", "id": "n"}
    task = folder.load(
        "hub", None, path="numbers", split="train", columns=columns, answer_is="letter"
    )
    (example,) = task.examples
    assert (example.id, example.choices, example.right) == ("8", ("x", "y"), (1,))


def test_nested_columns_are_named_with_a_dot(folder: Folder) -> None:
    rows = [{"input": "?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answer": "B"}]
    write(folder, "test.parquet", rows)
    task = folder.load(
        "hub",
        None,
        path="numbers",
        split="test",
        columns={"choices": "choices.text"},
        answer_is="letter",
    )
    assert (task.examples[0].choices, task.examples[0].right) == (("x", "y"), (1,))


def test_the_names_of_the_answers_classes_are_the_choices_where_nothing_else_is(
    folder: Folder,
) -> None:
    features = datasets.Features(
        {"input": datasets.Value("string"), "answer": datasets.ClassLabel(names=["1", "0"])}
    )
    rows = [{"input": "x", "answer": 1}, {"input": "y", "answer": 0}]
    write(folder, "test.parquet", rows, features)
    task = folder.load("hub", None, path="numbers", split="test")
    assert [(e.choices, e.right) for e in task.examples] == [
        (("1", "0"), (1,)),
        (("1", "0"), (0,)),
    ]
    task = folder.load("hub", None, path="numbers", split="test", choices=["0", "1"])
    assert [(e.choices, e.right) for e in task.examples] == [
        (("0", "1"), (1,)),
        (("0", "1"), (0,)),
    ]
    write(folder, "test.parquet", [{"input": "x", "answer": -1}], features)
    assert folder.mistakes("hub", None, path="numbers", split="test") == [
        "suite.yaml:7: 'numbers', row 1: an index must be a whole number from 0 to 1, found -1"
    ]


def test_lists_of_classes_are_several_right_answers(folder: Folder) -> None:
    names = ["joy", "anger", "fear"]
    features = datasets.Features(
        {
            "input": datasets.Value("string"),
            "answer": datasets.List(datasets.ClassLabel(names=names)),
        }
    )
    write(folder, "test.parquet", [{"input": "x", "answer": [2, 0]}], features)
    (example,) = folder.load("hub", None, path="numbers", split="test").examples
    assert (example.choices, example.right) == (("joy", "anger", "fear"), (0, 2))
    assert example.chance == Fraction(2, 3)


def test_mistakes_are_told_in_the_suite_with_the_row(folder: Folder) -> None:
    write(folder, "test.jsonl", [*ROWS, ROWS[0] | {"answer": 5}, ROWS[0] | {"choices": ["a", "a"]}])
    columns = {"id": "input"}
    assert folder.mistakes("hub", None, path="numbers", split="test", columns=columns) == [
        "suite.yaml:7: 'numbers', row 3: an index must be a whole number from 0 to 1, found 5",
        "suite.yaml:7: 'numbers', row 4: choices must differ, found 'a' 2 times",
        "suite.yaml:7: 'numbers', row 4: row 1 already has the id '1 + 1?'; ids must differ",
    ]


def test_a_value_that_is_no_text_is_named_by_its_type(folder: Folder) -> None:
    write(folder, "test.parquet", [ROWS[0] | {"input": date(2024, 2, 29)}])
    assert folder.mistakes("hub", None, path="numbers", split="test") == [
        "suite.yaml:7: 'numbers', row 1: the input must be a text or a whole number, "
        "found a value of type date"
    ]


def test_a_missing_column_is_told_once_with_those_that_there_are(folder: Folder) -> None:
    write(folder, "test.jsonl", ROWS)
    columns = {"input": "imput"}
    assert folder.mistakes("hub", None, path="numbers", split="test", columns=columns) == [
        "suite.yaml:7: 'numbers', split test: the column 'imput' for `columns: input:` is missing; "
        "found 'input', 'choices', 'answer', 'other.x'; did you mean 'input'?"
    ]


def test_what_datasets_says_becomes_one_sentence(folder: Folder) -> None:
    write(folder, "test.jsonl", ROWS)
    (unknown_split,) = folder.mistakes("hub", None, path="numbers", split="validation")
    assert unknown_split.startswith(
        "suite.yaml:7: 'numbers', split validation: the dataset cannot be loaded: Unknown split "
        '"validation".'
    )
    (unknown_id,) = folder.mistakes("hub", None, path="no-one/nothing", split="test")
    assert unknown_id.startswith(
        "suite.yaml:7: 'no-one/nothing', split test: the dataset cannot be loaded: "
    )
    assert "\n" not in unknown_split + unknown_id


def test_a_local_folder_that_is_missing_is_not_looked_for_on_the_hub(folder: Folder) -> None:
    assert folder.mistakes("hub", None, path="./numbers", split="test") == [
        "suite.yaml:7: './numbers', split test: there is no folder 'numbers' "
        "(paths are relative to the suite file)"
    ]
    (too_long,) = folder.mistakes("hub", None, path="./" + "x" * 5000, split="test")
    assert ": there is no folder 'xxx" in too_long


def test_without_the_package_the_user_is_told_how_to_get_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert folder.mistakes("hub", None, path="numbers", split="test") == [
        "suite.yaml:7: 'numbers', split test: `format: hub` needs the package datasets; "
        'install it with `pip install "pytest-maxrandom[datasets]"`'
    ]
