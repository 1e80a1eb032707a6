"""Rows that are written in each format of tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.recorded.suites import write_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

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
