"""Run all cells of the proofs whose tables are large, and write the page that shows them.

``make tables`` calls it. What ran is kept in ``benchmarks/tables.jsonl``, a test a line with the
commit that it ran on, so that a run that was stopped goes on where it stopped, on any machine:
remove lines to run their tests again. The page names what has not run. ``--write`` writes the page
of what is kept, and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "tables.jsonl"
ASKED = ROOT / "build" / "tables.txt"
PAGE = ROOT / "docs" / "explanation" / "larger-tables.md"
PROOFS = (
    "samples",
    "open_answers",
    "incumbent",
    "regressions",
    "scores",
    "best_models",
    "nulls",
    "dependent",
    "decided",
)
"""Proofs with cells that take long and only enlarge a table."""
HEAD = """\
# Larger tables

`make tables` writes this page: the proofs behind
[what a green run means](what-a-green-run-means.md), with the cells that `make proof` leaves out,
because they take long and state the same laws. Each proof, `tests/proof/test_*.py`, says what is
drawn, and fails if a share of guessers is above its level by more than three standard errors.
"""


class Ran(TypedDict):
    """What a test said of itself."""

    id: str
    passed: bool
    rows: list[tuple[str, str, str]]
    """The title of a table, its columns, and a row of it."""
    commit: str


def main() -> int:
    """Run what has not run, and write the page; return 1 where a cell failed or did not run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page, and run nothing")
    asked = parser.parse_args()
    ids = _collected()
    kept = kept_of()
    if not asked.write:
        _run([each for each in ids if each not in kept])
        kept = kept_of()
    PAGE.write_text("\n".join(page_of(ids, kept)), encoding="utf-8")
    passed = [each for each in ids if each in kept and kept[each]["passed"]]
    print(f"{PAGE.relative_to(ROOT)}: {len(passed)} of {len(ids)} tests passed")
    return int(len(passed) < len(ids))


def _collected() -> list[str]:
    """Return the tests of the proofs, in their order; end where they cannot be collected."""
    files = [f"tests/proof/test_{name}.py" for name in PROOFS]
    found = _pytest(["--collect-only", "--quiet", *files], stdout=subprocess.PIPE)
    if found.returncode:
        raise SystemExit(f"{found.stdout}the page stays as it is: its tests cannot be collected")
    return [line for line in found.stdout.splitlines() if "::" in line]


def _run(ids: Sequence[str]) -> None:
    """Run tests; an interrupt ends that, and what ran is kept."""
    if not ids:
        return
    ASKED.parent.mkdir(exist_ok=True)
    ASKED.write_text("\n".join(ids), encoding="utf-8")
    try:
        _pytest(["-n", "auto", "--dist", "worksteal", f"@{ASKED}"])
    except KeyboardInterrupt:
        print("stopped: the next `make tables` goes on from here")


def _pytest(words: Sequence[str], stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "MAXRANDOM_PROOF": "tables", "MAXRANDOM_TABLES": str(KEPT)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, env=environ, stdout=stdout, text=True, check=False)


def kept_of(path: Path = KEPT) -> dict[str, Ran]:
    """Return what ran, by test."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found: list[Ran] = [json.loads(line) for line in lines]
    return {each["id"]: each for each in found}


def page_of(ids: Sequence[str], kept: dict[str, Ran]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    yield f"Of {len(ids)} tests, {len([each for each in ids if each in kept])} have run.\n"
    tables: dict[tuple[str, str], list[str]] = {}
    for each in ids:
        for title, columns, row in kept[each]["rows"] if each in kept else ():
            tables.setdefault((title, columns), []).append(row)
    for (title, columns), rows in sorted(tables.items()):
        yield f"## {title[:1].upper()}{title[1:]}\n"
        yield f"| {columns} |"
        yield "| --- " * (1 + columns.count("|")) + "|"
        yield from (f"| {row} |" for row in rows)
        yield ""
    failed = [each for each in ids if each in kept and not kept[each]["passed"]]
    for title, named in (
        ("Failed", failed),
        ("Not run", [each for each in ids if each not in kept]),
    ):
        if named:
            yield f"## {title}\n"
            for test, times in Counter(each.partition("[")[0] for each in named).items():
                own = ", ".join(_cell(each) for each in named if each.partition("[")[0] == test)
                yield f"- `{test}`, {times}: {own or 'whole'}"
            yield ""


def _cell(test: str) -> str:
    parameters = test.partition("[")[2].removesuffix("]")
    return f"`{parameters}`" if parameters else ""


if __name__ == "__main__":
    sys.exit(main())
