"""Validation sets and prompts for the tests of the ledger, and a second process that reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_maxrandom.ledger import SetLedger, Subject, Try
from pytest_maxrandom.tasks.task import Example

ROOT = Path(__file__).parents[3]

OWN = Subject("tiny", "d1", "none", 4, "sum")
REVISED = replace(OWN, model_digest="d2")
OTHER = replace(OWN, model="large", model_digest="d3")


def examples(first: int = 0, last: int = 10) -> list[Example]:
    """Questions `first`, ..., `last - 1`; those with the same number are the same."""
    return [
        Example(f"id{number}", f"question {number}", ("yes", "no", "maybe"), (number % 3,))
        for number in range(first, last)
    ]


TESTED = examples(1000, 1020)
"""A test set."""


def ledger(folder: Path, of: list[Example] | None = None, task: str = "emoji") -> SetLedger:
    return SetLedger(folder, "run", task, examples() if of is None else of)


def fill(folder: Path, prompts: range = range(5), of: list[Example] | None = None) -> Path:
    """Count these prompts for `OWN`, and return the file."""
    made = ledger(folder, of)
    for number in prompts:
        made.evaluated(OWN, f"p{number}", 10, number % 10)
    assert made.problems == []
    return made.path


def tries(prompts: range | set[int], subject: Subject = OWN) -> set[Try]:
    return {Try(subject.model_digest, f"p{number}", subject.scoring) for number in prompts}


def rows(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The lines of a file, read by the standard library alone."""
    found = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    return [row for row in found if kind in (None, row["kind"])]


def run(program: str, *arguments: object) -> str:
    """Run a program in a process of its own, with the names of this module."""
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.unit.ledger.common import *\n{program}"]
        + [str(each) for each in arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
