"""Runs of the demo's suite on a served model, in processes of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo"
_STILL = 300
"""Seconds in which a run finishes a prompt, also where the processor is busy."""


def write_suite(folder: Path, model: dict[str, Any], **changes: Any) -> None:
    """Write the demo's suite for another model."""
    suite = yaml.safe_load((DEMO / "demo.yaml").read_text(encoding="utf-8"))
    suite = {**suite, "models": [model], **changes}
    shutil.copytree(DEMO / "data", folder / "data")
    (folder / "s.maxrandom.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start pytest with a folder's suite, with a store and a ledger of its own."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "--maxrandom-store=store.sqlite", "--maxrandom-json=r.json",
         "--maxrandom-predictions=p.jsonl", *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], folder: Path) -> str:
    """Return what a run says, which may take as long as it gets on: others may use the processor.

    Raises
    ------
    subprocess.TimeoutExpired
        If no prompt is finished for a long time.
    """
    before: list[tuple[Path, int]] = []
    while True:
        try:
            return process.communicate(timeout=_STILL)[0]
        except subprocess.TimeoutExpired:
            files = sorted(folder.glob("maxrandom-ledger/*.jsonl"))
            if (now := [(file, file.stat().st_size) for file in files]) == before:
                process.kill()
                raise
            before = now


def finished(process: subprocess.Popen[str], folder: Path) -> tuple[list[Any], list[Any]]:
    """Return the claims of a run and what was predicted."""
    said = ended(process, folder)
    assert (folder / "r.json").is_file(), said
    claims = json.loads((folder / "r.json").read_text())["claims"]
    assert all(claim["verdict"] for claim in claims), said
    lines = (folder / "p.jsonl").read_text(encoding="utf-8").splitlines()
    return claims, [json.loads(line) for line in lines]


def sharded(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the commands by which a run is parted."""
    command = [sys.executable, "-m", "pytest_maxrandom.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
