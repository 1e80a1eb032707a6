"""Guessers through every way in: the same answers come to the same verdict, whatever they are.

So the share of guessers that pass by one of them, in `test_type_one_error.py`, is that of all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.plugin.test_ways_in import Asked, Cell, as_inspect, as_lm_eval, as_npz, as_table
from tests.proof.guessers import GUESSERS, KNOWING, SHARED_PASSAGES, Sweep
from tests.proof.judging import as_run, verdict_on
from tests.proof.more_guessers import MORE
from tests.proof.scale import scaled
from tests.unit.recorded.suites import judged, planned, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 20
SWEEPS = scaled(3, 1)
ALL = {**GUESSERS, **MORE, **SHARED_PASSAGES}
SEVERAL = "one or two of four right, first preferred"


def asked(sweep: Sweep) -> Asked:
    """Return a sweep as the writers of files take it."""
    found = Asked("run" if sweep.clusters is None else "passages", "m")
    passages = [None] * sweep.sizes.size if sweep.clusters is None else sweep.clusters.tolist()
    rights = [np.flatnonzero(row).tolist() for row in sweep.right]
    for prompt, row in enumerate(sweep.answers.tolist()):
        cells = []
        for place, (chosen, size) in enumerate(zip(row, sweep.sizes.tolist(), strict=True)):
            texts = list(sweep.texts[place])
            # No two examples are alike to the model.
            scores = [-0.01 * place - (label != chosen) for label in range(size)]
            passage = None if passages[place] is None else f"passage {passages[place]}"
            cells.append(Cell(f"e{place}", texts, texts, chosen, rights[place], scores, passage))
        found.prompts[f"p{prompt}"] = [f"d{prompt}", f"c{prompt}"], cells
    return found


def as_csv(given: Asked, folder: Path) -> str:
    as_table(given, folder)
    rows = [json.loads(line) for line in (folder / "table.jsonl").read_text().splitlines()]
    write_csv(folder / "table.csv", rows)
    return "{path: table.csv, format: table}"


def as_predictions(given: Asked, folder: Path) -> str:
    lines = [
        {
            "schema_version": 1,
            "claim": "c",
            "task": given.task,
            "model": given.model,
            "shots": 2,
            "quantization": "none",
            "scoring": "mean_logprob",
            "prompt": prompt,
            "demonstration_ids": shown,
            "examples": [_line(cell) for cell in cells],
        }
        for prompt, (shown, cells) in given.prompts.items()
    ]
    (folder / "p.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return "{path: p.jsonl, format: predictions}"


def _line(cell: Cell) -> dict[str, Any]:
    return {
        "id": cell.id,
        "chosen": cell.chosen,
        "right": cell.right,
        "choices": len(cell.texts),
        "log_likelihoods": cell.scores,
        "tokens": [1] * len(cell.texts),
        "margin": 1.0,
        "labels": cell.texts,
        "listed": cell.texts,
        **({} if cell.passage is None else {"cluster": cell.passage}),
    }


WAYS: dict[str, Callable[[Asked, Path], str]] = {
    "JSONL": as_table,
    "CSV": as_csv,
    "npz": as_npz,
    "predictions": as_predictions,
    "lm-eval": as_lm_eval,
    "Inspect": as_inspect,
}


def by_way(way: str, sweep: Sweep, folder: Path) -> ClaimRecord:
    """Judge a sweep by the default claim of a suite that reads it from files."""
    folder.mkdir()
    given = asked(sweep)
    results = WAYS[way](given, folder)
    [claim] = planned(
        folder,
        f"models: [{{name: m, backend: recorded, results: {results}}}]\n"
        f"tasks: [{{name: {given.task}}}]\n",
    )
    return judged(claim)


def told(record: ClaimRecord) -> tuple[Any, ...]:
    return record.p_max, record.permutation_p, record.best_correct, record.passed


@pytest.mark.parametrize("name", [*ALL, "all prompts .60, rho = .8"])
def test_every_way_in_says_the_same_of_guessers(
    name: str, tmp_path: Path, measured: Measured
) -> None:
    generator = np.random.default_rng(23)
    draw = ALL[name] if name in ALL else KNOWING[name][0]
    ways = [way for way in WAYS if not (way == "Inspect" and name == SEVERAL)]
    for number in range(SWEEPS):
        sweep = draw(generator, T)
        expected = verdict_on(sweep)
        records = {way: by_way(way, sweep, tmp_path / f"{way} {number}") for way in ways}
        first, *others = map(told, records.values())
        assert all(other == first for other in others), records.keys()
        if name != SEVERAL:
            records["sweep"] = as_run(sweep)
            run = told(records["sweep"])
            if sweep.sets is not None:
                # A run shows choices in an order of its own, and labels count by place as well.
                run = (run[0], first[1], *run[2:])
            assert run == first
        assert first[:2] == (expected.p_max, expected.permutation_p)
        assert first[3] == expected.passed
    table = f"the same p-values and verdict by, t = {T} ({SWEEPS} sweeps each)"
    measured(table, "guessers | ways in", name, ", ".join(records))
