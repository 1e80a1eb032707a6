"""Clusters of examples, in every format, and what must stay together."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.tasks.load import set_aside
from pytest_maxrandom.tasks.task import Example, Task
from tests.notes import sentences

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.tasks.conftest import Folder

ROWS: list[dict[str, Any]] = [
    {"input": "Who?", "choices": ["a", "b"], "answer": "a", "passage": "p1"},
    {"input": "Where?", "choices": ["a", "b"], "answer": "b", "passage": "p1"},
    {"input": "When?", "choices": ["a", "b"], "answer": "b", "passage": "7"},
]


def written(format_: str, rows: list[dict[str, Any]]) -> str:
    if format_ == "csv":
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(rows[0])
        for row in rows:
            cells = [json.dumps(c) if isinstance(c, list) else c for c in row.values()]
            writer.writerow(cells)
        return text.getvalue()
    if format_ == "jsonl":
        return "\n".join(json.dumps(row) for row in rows)
    examples = [
        {
            "input": row["input"],
            "target_scores": {each: int(each == row["answer"]) for each in row["choices"]},
        }
        | {key: value for key, value in row.items() if key == "passage"}
        for row in rows
    ]
    return json.dumps({"examples": examples}, indent=1)


@pytest.mark.parametrize("format_", ["csv", "jsonl", "bigbench"])
def test_a_column_tells_the_cluster(folder: Folder, format_: str) -> None:
    task = folder.load(format_, written(format_, ROWS), columns={"cluster": "passage"})
    assert [example.cluster for example in task.examples] == ["p1", "p1", "7"]


def test_whole_numbers_are_clusters_too(folder: Folder) -> None:
    rows = [{**row, "passage": number} for number, row in enumerate(ROWS)]
    task = folder.load("jsonl", written("jsonl", rows), columns={"cluster": "passage"})
    assert [example.cluster for example in task.examples] == ["0", "1", "2"]


def test_a_dataset_of_the_hub_has_clusters(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")
    cache = str(tmp_path_factory.mktemp("cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (folder.path / "data").mkdir()
    nested = [{**row, "passage": {"id": row["passage"]}} for row in ROWS]
    datasets.Dataset.from_list(nested).to_parquet(folder.path / "data" / "test.parquet")
    keys: dict[str, Any] = {"path": "data", "split": "test"}
    task = folder.load("hub", None, columns={"cluster": "passage.id"}, **keys)
    assert [example.cluster for example in task.examples] == ["p1", "p1", "7"]


@pytest.mark.parametrize("format_", ["csv", "jsonl", "bigbench"])
def test_no_column_no_cluster_and_the_same_digest(folder: Folder, format_: str) -> None:
    without = folder.load(format_, written(format_, ROWS))
    with_ = folder.load(format_, written(format_, ROWS), columns={"cluster": "passage"})
    assert [example.cluster for example in without.examples] == [None] * 3
    assert with_.digest == without.digest


@pytest.mark.parametrize(
    ("format_", "place"),
    [
        ("csv", "task.csv:3: "),
        ("jsonl", "task.jsonl:2: "),
        ("bigbench", "task.bigbench:11: example 2: "),
    ],
)
def test_an_example_without_a_cluster_is_told_with_its_line(
    folder: Folder, format_: str, place: str
) -> None:
    rows = [ROWS[0], {**ROWS[1], "passage": ""}, ROWS[2]]
    (message,) = folder.mistakes(format_, written(format_, rows), columns={"cluster": "passage"})
    assert message == (
        f"{place}there is no cluster in 'passage', but with `columns: cluster:` every example "
        "needs one; give an unrelated example a cluster of its own"
    )


def test_a_cluster_is_a_text_or_a_whole_number(folder: Folder) -> None:
    rows = [ROWS[0], {**ROWS[1], "passage": 1.5}]
    (message,) = folder.mistakes("jsonl", written("jsonl", rows), columns={"cluster": "passage"})
    assert "the cluster in 'passage' must be a text or a whole number" in message


def test_a_column_that_is_not_there_is_told(folder: Folder) -> None:
    for format_, file in (("csv", "task.csv:1"), ("jsonl", "task.jsonl")):
        (message,) = folder.mistakes(
            format_, written(format_, ROWS), columns={"cluster": "passages"}
        )
        assert message.startswith(f"{file}: the column 'passages' for `columns: cluster:` is missi")
        assert message.endswith("did you mean 'passage'?")


def task_of(*clusters: str | None, repeats: dict[int, int] | None = None) -> Task:
    """Return a task whose examples have these clusters; some repeat the text of another."""
    texts = {place: place for place in range(len(clusters))} | (repeats or {})
    return Task(
        "t",
        tuple(
            Example(f"e{place}", f"question {texts[place]}", ("yes", "no"), (0,), cluster=cluster)
            for place, cluster in enumerate(clusters)
        ),
    )


def aside(task: Task, fraction: float, seed: int = 0) -> tuple[set[str], set[str]]:
    """Return the ids of the examples that are kept, and of those that are set aside."""
    spec = TASKS.validate(
        {
            "name": "t",
            "format": "jsonl",
            "path": "t.jsonl",
            "test": {"fraction": fraction, "seed": seed},
        }
    )
    kept, test = set_aside(task, spec, None, lambda *keys: (None, None))  # type: ignore[arg-type]
    return {example.id for example in kept.examples}, {example.id for example in test}


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_set_aside_whole(seed: int) -> None:
    task = task_of(*(f"p{place // 4}" for place in range(40)))
    kept, test = aside(task, 0.3, seed)
    assert (len(kept), len(test)) == (28, 12)
    clusters = {example.id: example.cluster for example in task.examples}
    assert not {clusters[name] for name in kept} & {clusters[name] for name in test}


@pytest.mark.parametrize("seed", range(5))
def test_what_repeats_an_example_of_a_cluster_takes_its_own_cluster_along(seed: int) -> None:
    # p0 and p1 share a text, p1 and p2 another: the three are one.
    task = task_of("p0", "p0", "p1", "p1", "p2", "p2", "p3", "p3", repeats={2: 1, 4: 3})
    _, test = aside(task, 0.25, seed)
    linked = {f"e{place}" for place in range(6)}
    assert test in (linked, {"e6", "e7"})


def test_a_test_file_takes_its_clusters_out_of_the_task(tmp_path: Path) -> None:
    lines = [{**row, "input": f"other {row['input']}", "passage": "p1"} for row in ROWS]
    (tmp_path / "test.jsonl").write_text(written("jsonl", lines))
    spec = TASKS.validate(
        {
            "name": "t",
            "format": "jsonl",
            "path": "task.jsonl",
            "columns": {"cluster": "passage"},
            "test": {"path": "test.jsonl"},
        }
    )
    kept, test = set_aside(
        task_of("p1", "p1", "p2"), spec, tmp_path, lambda *keys: (tmp_path, None)
    )
    assert [example.id for example in kept.examples] == ["e2"]
    assert len(test) == 3
    assert sentences(kept.notes)[-1] == (
        "Examples left out because they, or others of their cluster, are also in the test set: 2."
    )
