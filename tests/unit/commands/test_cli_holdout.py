"""`maxrandom holdout`: one table, or JSON, and one sentence for a mistake."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def archive(folder: Path, model: str, accuracy: float, tasks: int = 2, n: int = 40) -> str:
    """Write sweeps of twelve prompts, of which each of the first four stands there three times."""
    generator = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for task in range(tasks):
        correct = np.tile(generator.random((4, n)) < accuracy, (3, 1))
        arrays |= {
            f"task{task}__1__correct": correct,
            f"task{task}__1__evaluated": np.ones_like(correct),
            f"task{task}__1__prompt_ids": np.arange(12),
            f"task{task}__1__example_ids": np.arange(n),
            f"task{task}__1__demonstration_ids": np.arange(12).reshape(12, 1) % 4,
        }
    path = folder / f"correct_{model}.npz"
    np.savez(path, **arrays)
    return str(path)


def summary(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["holdout", *arguments, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_the_table_has_two_rows_for_each_model_and_for_the_total(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [archive(tmp_path, "knowing", 1.0), archive(tmp_path, "guessing", 0.5)]
    assert main(["holdout", *files, "--choices", "2", "--splits", "10"]) == 0
    heading, _, header, *rows = capsys.readouterr().out.splitlines()
    assert heading == "4 sweeps, 10 splits each, 75% validation, seed 0, exact conventions"
    assert header.split()[:3] == ["model", "baseline", "trials"]
    names = [tuple(row.split()[:3]) for row in rows]
    assert names == [
        (model, baseline, trials)
        for model, trials in (("knowing", "20"), ("guessing", "20"), ("total", "40"))
        for baseline in ("standard", "maximum")
    ]
    assert rows[0].split()[3:7] == ["1.000"] * 4
    assert rows[0].split()[7:] == ["-"] * 4


def test_json_has_the_same_counts_unrounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = archive(tmp_path, "middling", 0.55)
    found = summary(capsys, file, "--choices", "2", "--splits", "30")
    assert (found["sweeps"], found["splits"], found["seed"]) == (2, 30, 0)
    assert found["models"] == {"middling": found["total"]}
    for baseline in ("standard", "maximum"):
        row = found["total"][baseline]
        assert row["tp"] + row["fp"] + row["tn"] + row["fn"] == found["total"]["trials"] == 60
        assert row["accuracy"] == (row["tp"] + row["tn"]) / 60
        assert found["total"]["test_above_chance"] == (row["tp"] + row["fn"]) / 60


def test_a_seed_repeats_the_figures_and_another_gives_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = archive(tmp_path, "middling", 0.55)
    first, again, other = (
        summary(capsys, file, "--choices", "2", "--seed", seed)["total"] for seed in "112"
    )
    assert first == again != other


def test_repeated_prompts_count_in_the_papers_conventions_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = archive(tmp_path, "guessing", 0.5, tasks=8)
    exact, paper = (
        summary(capsys, file, "--choices", "2", "--conventions", conventions)["total"]["maximum"]
        for conventions in ("exact", "paper")
    )
    assert exact["tp"] + exact["fp"] > paper["tp"] + paper["fp"]


def test_a_file_given_twice_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = archive(tmp_path, "demo", 0.9)
    assert main(["holdout", file, file, "--choices", "2"]) == 2
    message = capsys.readouterr().err
    assert f"task0[demo-1shot]: {file} has the same claim" in message
    assert message.startswith(f"maxrandom holdout: {file}: ")


def test_a_sweep_too_small_to_split_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = archive(tmp_path, "demo", 0.9, n=1)
    assert main(["holdout", file, "--choices", "2"]) == 2
    assert capsys.readouterr().err == (
        f"maxrandom holdout: {file}: task0[demo-1shot]: validation 0.75 of 1 examples leaves 0 for "
        "validation and 1 for the test; both need at least one\n"
    )


def test_without_scikit_learn_one_sentence_says_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert main(["holdout", archive(tmp_path, "demo", 0.9), "--choices", "2"]) == 2
    assert 'pip install "pytest-maxrandom[holdout]"' in capsys.readouterr().err
