"""A ledger as a whole: found, checked, summarized and merged, without any model or suite."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.contents import Contents, linked
from pytest_maxrandom.ledger.digests import set_digest
from pytest_maxrandom.ledger.files import read_bytes, read_sets, whole_row
from pytest_maxrandom.ledger.lines import Claim, fact, line_of, parse, read_line
from pytest_maxrandom.ledger.overlap import related
from pytest_maxrandom.ledger.sets import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Row


@dataclass
class ClaimSummary:
    """What one file says of a claim.

    Attributes
    ----------
    t : int
        Its tries on this set, and on those that are the same, changed a little.
    own : int
        Those on this set.
    looked_at : int
        The greatest t that a look at it counted; 0 without any. A budget is more than was tried.
    best : tuple of (float, int, int)
        Highest accuracy, with its number of right answers and of examples.
    """

    claim: Claim
    t: int
    own: int
    looks: int
    looked_at: int
    best: tuple[float, int, int]


@dataclass
class FileSummary:
    """What one file says of its validation set.

    Attributes
    ----------
    chances : list of Fraction
        Of each example.
    tries : int
        Of any claim, on this set and on those that are the same.
    openings : dict
        Digest of a test set to the number of its openings.
    related : dict
        File of a set that is the same to the number of examples that it shares.
    """

    path: Path
    task: str
    chances: list[Fraction]
    claims: list[ClaimSummary] = field(default_factory=list)
    tries: int = 0
    openings: dict[str, int] = field(default_factory=dict)
    related: dict[Path, int] = field(default_factory=dict)


def files(path: Path) -> list[Path]:
    """Find ledger files: one itself, those beside a suite, or all below a folder.

    Raises
    ------
    LedgerError
        If there is nothing at that place.
    """
    if path.is_dir():
        folders = [path] if path.name == FOLDER else sorted(path.rglob(FOLDER))
        return [file for folder in folders for file in sorted(folder.glob("*.jsonl"))]
    if not path.is_file():
        raise LedgerError(
            f"{path}: there is no such file or folder; expected a ledger, a suite, or a folder"
        )
    if path.suffix == ".jsonl":
        return [path]
    return files(path.parent / FOLDER) if (path.parent / FOLDER).is_dir() else []


def rows(path: Path) -> list[Row]:
    """Read a whole file, without a last line that was cut off.

    Raises
    ------
    LedgerError
        With file and line, at the first line that is none of a ledger.
    """
    data = read_bytes(path)
    whole = data.rfind(b"\n") + 1
    found = list(parse(data[:whole], path))
    last = whole_row(data[whole:], path, data.count(b"\n") + 1)
    return found if last is None else [*found, last]


def mistakes(path: Path) -> list[str]:
    """Return all that is wrong with a file, each with its line, in their order."""
    data = read_bytes(path)
    lines = data.split(b"\n")
    found: list[tuple[int, str]] = []
    rows: list[tuple[int, Row]] = []
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        try:
            rows.append((number, read_line(raw)))
        except ValueError as error:
            cut = "the last line was cut off; the next run removes it"
            found.append((number, cut if number == len(lines) else str(error)))
    sets = {row["set"]: len(row["examples"]) for _, row in rows if row["kind"] == "set"}
    if len(sets) > 1:
        found.append((1, f"found {len(sets)} validation sets, expected a file for each"))
    if rows and not sets:
        found.append((1, "no line says which examples the file is about; restore that line"))
    found += [(number, wrong) for number, row in rows if (wrong := _mismatch(row, sets))]
    return [f"{path}:{number}: {text}" for number, text in sorted(found)]


def _mismatch(row: Row, sets: dict[str, int]) -> str:
    """Say where a line contradicts its own examples, or those of its file."""
    kind = row["kind"]
    if kind in ("set", "test") and row[kind] != (digest := set_digest(row["examples"])):
        return (
            f"found the digest {row[kind][:12]}, but the examples of the line give {digest[:12]}; "
            "restore the line from version control"
        )
    if row["kind"] == "prompt" and sets:
        if row["task_digest"] not in sets:
            names = ", ".join(name[:12] for name in sets)
            return (
                f"found a prompt on the set {row['task_digest'][:12]}, expected {names}; move the "
                "line to the file of its set"
            )
        if row["n"] > (examples := sets[row["task_digest"]]):
            return (
                f"found n = {row['n']}, expected at most the {examples} examples of the set; "
                "restore the line from version control"
            )
    return ""


def summary(path: Path) -> FileSummary:
    """Summarize a file, and what the others beside it count for the same claims.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    contents = Contents()
    best: dict[Claim, tuple[float, int, int]] = {}
    task, chances = path.stem, Counter[str]()
    for row in rows(path):
        contents.take(row)
        if row["kind"] == "set":
            task, chances = row["task"], Counter(row["chances"])
        elif row["kind"] == "prompt":
            claim = Claim(row["model"], row["shots"])
            found = (row["correct"] / row["n"], row["correct"], row["n"])
            best[claim] = max(best.get(claim, found), found)
    beside = _related(path, contents)
    files = [contents, *(other for other, _ in beside.values())]
    return FileSummary(
        path,
        task,
        sorted(Fraction(chance) for chance in chances.elements()),
        [_claim_summary(claim, best[claim], files) for claim in sorted(best)],
        len(set().union(*(each.all_tries for each in files))),
        {test: len(tries) for test, tries in sorted(contents.openings.items())},
        {other: common for other, (_, common) in beside.items()},
    )


def _claim_summary(
    claim: Claim, best: tuple[float, int, int], files: Sequence[Contents]
) -> ClaimSummary:
    of_shots = (
        (other, tries)
        for contents in files
        for other, tries in contents.tries.items()
        if other.shots == claim.shots
    )
    looks = {look: t for contents in files for look, t in contents.looks.get(claim, {}).items()}
    t = len(linked(of_shots, {claim.model}, set()))
    own = len(files[0].tries[claim])
    return ClaimSummary(claim, t, own, len(looks), max(looks.values(), default=0), best)


def _related(path: Path, own: Contents) -> dict[Path, tuple[Contents, int]]:
    """Return the other files of the folder that are about the same set, changed a little."""
    if not own.sets:
        return {}
    examples = next(iter(own.sets.values())).examples
    paths: dict[str, Path] = {}
    sets: dict[str, Sequence[str]] = {}
    for other in sorted(path.parent.glob("*.jsonl")):
        if other.name == path.name:
            continue
        for line in read_sets(other).sets.values():
            name = f"{line.digest} {other.name}"
            paths[name], sets[name] = other, line.examples
    found = {}
    for name, common in related(sets, examples).items():
        contents = Contents()
        for row in rows(paths[name]):
            contents.take(row)
        found[paths[name]] = contents, common
    return found


def merged(lines: Iterable[Row]) -> list[Row]:
    """Return the union: each fact once, as it was written first, in an order of its own.

    So neither the order of the lines nor that of the files that they come from matters, and what
    is merged twice is not counted twice.
    """
    chosen: dict[tuple[object, ...], tuple[str, bytes, Row]] = {}
    for row in lines:
        entry = (row.get("when", ""), line_of(row), row)
        name = fact(row)
        if name not in chosen or entry[:2] < chosen[name][:2]:
            chosen[name] = entry
    if len(sets := [kind for kind, *_ in chosen if kind == "set"]) > 1:
        raise LedgerError(
            f"these files are about {len(sets)} different validation sets; expected one, because "
            "each set has a file of its own: keep both side by side"
        )
    ordered = sorted(chosen.values(), key=lambda entry: entry[:2])
    return [row for _, _, row in ordered]
