"""Runs in parts, and in one process to compare them with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_OF_PROCESSES = {
    "seconds", "batch_tokens", "peak_memory", "created", "reused_seconds", "servers",
}  # fmt: skip


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest_maxrandom.cli", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def in_one(
    suites: str, keep: Callable[[list[dict[str, Any]]], None] = lambda rows: None
) -> dict[str, Any]:
    """Run the suites in one process with a store of its own, and forget what it counted.

    `keep` is called with the lines of the ledger that count prompts.
    """
    before = {path: path.read_bytes() for path in Path(suites).rglob("*.jsonl")}
    words = ["-p", "no:cacheprovider", "--maxrandom-store=one.db", "--maxrandom-json=one.json"]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *words, suites], check=False)
    for path in Path(suites).rglob("maxrandom-ledger*/*.jsonl"):
        rows = map(json.loads, path.read_text().splitlines())
        keep([row for row in rows if row["kind"] == "prompt"])
        if path in before:
            path.write_bytes(before[path])
        else:
            path.unlink()
    found: dict[str, Any] = json.loads(Path("one.json").read_text())
    return found


def alike(found: Any) -> Any:
    """Return a report without what depends on the processes that computed it."""
    if isinstance(found, dict):
        return {key: alike(value) for key, value in found.items() if key not in _OF_PROCESSES}
    return [alike(each) for each in found] if isinstance(found, list) else found


def joined(*arguments: str) -> dict[str, Any]:
    words = ["--maxrandom-json=joined.json", "-p", "no:cacheprovider", *arguments]
    done = command("join", "parts", "--", *words)
    assert Path("joined.json").exists(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(Path("joined.json").read_text())
    return found


def tries(folder: str) -> list[tuple[str, int, str, str]]:
    """Return what the ledgers in a folder count, as often as they do."""
    rows = [
        json.loads(line)
        for file in Path(folder).rglob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    keys = ("model", "shots", "scoring", "prompt")
    return [tuple(row[key] for key in keys) for row in rows if row["kind"] == "prompt"]
