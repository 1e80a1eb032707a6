"""Suites of recorded results, and the archives that they are about."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.assessment import beside_verdict
from pytest_maxrandom.claims.recorded_claims import RecordedClaim, plan_recorded
from pytest_maxrandom.claims.verdict import judge
from pytest_maxrandom.claims.views import result_of_recorded, views_of_recorded
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.flags import Flag, find
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord


def save(path: Path, **sweeps: dict[str, Any]) -> None:
    """Write an archive; each sweep gives `correct` and what else is not as usual."""
    arrays: dict[str, Any] = {}
    for name, given in sweeps.items():
        correct = np.asarray(given["correct"], dtype=np.bool_)
        t, n = correct.shape
        shots = int(name.rsplit("__", 1)[1])
        demonstrations = np.arange(1000, 1000 + t * shots).reshape(t, shots)
        usual = {
            "evaluated": np.ones((t, n), dtype=np.bool_),
            "prompt_ids": np.arange(t),
            "example_ids": np.arange(n),
        } | ({"demonstration_ids": demonstrations} if shots else {})
        for key, value in (usual | given | {"correct": correct}).items():
            arrays[f"{name}__{key}"] = value
    np.savez(path, **arrays)


def rows(*counts: int, n: int) -> list[list[bool]]:
    """Return a row for each prompt with so many right answers, at other places in each."""
    return [[(place + number) % n < correct for place in range(n)]
            for number, correct in enumerate(counts)]  # fmt: skip


def write_csv(
    path: Path, table: Sequence[dict[str, Any]], delimiter: str = ",", encoding: str = "utf-8"
) -> Path:
    """Write rows, in which a list is JSON."""
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(table[0]), delimiter=delimiter)
        writer.writeheader()
        for row in table:
            lists = {name: json.dumps(cell) for name, cell in row.items() if isinstance(cell, list)}
            writer.writerow(row | lists)
    return path


def suite_text(task: str, rest: str = "", model: str = "m.npz, format: npz") -> str:
    """Return a suite of one model, in line 2, and one task, in line 4."""
    return (
        f"models:\n- {{name: m, backend: recorded, results: {{path: {model}}}}}\n"
        f"tasks:\n- {task}\n{rest}"
    )


def planned(folder: Path, text: str) -> list[RecordedClaim]:
    """Return the claims of a suite in a folder."""
    path = folder / "s.yaml"
    path.write_text(text)
    suite = load_any_suite(path)
    assert isinstance(suite, RecordedSuite)
    return plan_recorded(suite)


def mistakes(folder: Path, text: str) -> list[str]:
    """Return what is wrong, each as `line: message`."""
    with pytest.raises(SuiteError) as caught:
        planned(folder, text)
    shown = [str(problem) for problem in caught.value.problems]
    return [each.removeprefix(f"{folder / 's.yaml'}:").replace(str(folder), "") for each in shown]


def judged(claim: RecordedClaim) -> ClaimRecord:
    """Return the record of a claim that was judged."""
    record = result_of_recorded(claim).record(claim.record(f"s.yaml::{claim.name}", "s.yaml"))
    word(record)
    return record


def flags(
    claim: RecordedClaim, permutation_p: float | None = None, *others: RecordedClaim
) -> list[Flag]:
    """Return the red flags of a claim, in a run with other claims."""
    given = claim.evidence
    assert given is not None
    assert given.null is not None
    results = given.results
    verdict = judge(
        claim.claim, given.null, results.best_correct, results.best, permutation_p=permutation_p
    )
    (view,) = views_of_recorded(claim, claim.other_models(others))
    return find(beside_verdict(view, verdict, claim.claim, given.null))
