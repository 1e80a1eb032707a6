"""The folder of a ledger: what its files are called, and how it is made and searched."""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "maxrandom-ledger"
"""Beside the suites."""
SIMULATED = f"{FOLDER}-simulated"
"""Beside it, of models that make their answers up."""
_ATTRIBUTES = "*.jsonl merge=union\n"
_WRITER = re.compile(r"\.writer-[0-9a-f]{12}$")
_PART = re.compile(r"\.part-(\d+)$")
LARGEST = 40 * 2**20
"""Bytes from which on a file gets no more lines: GitHub warns of files of 50 MiB, and refuses those
of 100."""
_SLUG = 40


def slug(task: str) -> str:
    """Return the beginning of the name of a task's file."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", task).strip("-.")[:_SLUG] or "task"


def has_one_writer(path: Path) -> bool:
    """Tell by its name whether one process alone adds to a file."""
    return bool(_WRITER.search(path.stem))


def new_writer() -> str:
    """Return what tells one writer from all others, on whatever host: 12 hexadecimal digits."""
    return uuid.uuid4().hex[:12]


def name_of_writer(path: Path, writer: str) -> Path:
    """Return the file that stands beside a common one for a writer."""
    return path.with_name(f"{common_name(path).stem}.writer-{writer}.jsonl")


def common_name(path: Path) -> Path:
    """Return the file that all processes of a host add to first, before it has parts."""
    return path.with_name(f"{_PART.sub('', _WRITER.sub('', path.stem))}.jsonl")


def part_of(path: Path) -> int:
    """Return which part of a set's lines a file that processes share has, the first of which is 1.

    Each part begins with the line of the set.
    """
    found = _PART.search(path.stem)
    return int(found[1]) if found else 1


def with_room(path: Path) -> Path:
    """Return the part of a set's lines that takes more: the next one, where that one is large."""
    try:
        full = path.stat().st_size >= LARGEST
    except OSError:
        full = False
    if not full:
        return path
    stem = common_name(path).stem
    return with_room(path.with_name(f"{stem}.part-{part_of(path) + 1}.jsonl"))


def is_beside(name: str, stem: str = "") -> bool:
    """Tell by its name whether a file has lines of a set beside the set's first file.

    `stem` is how the name of that one ends.
    """
    return any(f"{stem}{mark}" in name for mark in (".writer-", ".part-"))


def make_folder(folder: Path) -> None:
    """Make the folder, and tell git how its files are merged: as the union of their lines.

    What is simulated is nobody's data, so git ignores it.

    Raises
    ------
    OSError
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder.name == SIMULATED
    name, text = (".gitignore", "*\n") if ignored else (".gitattributes", _ATTRIBUTES)
    with suppress(FileExistsError), (folder / name).open("x", newline="\n") as file:
        file.write(text)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def ledger_files(path: Path) -> list[Path]:
    """Find ledger files: one itself, those beside a suite, or all below a folder.

    Those of simulated models are found where they, or their folder, are named.

    Raises
    ------
    LedgerError
        If there is nothing at that place.
    """
    if path.is_dir():
        named = path.name in (FOLDER, SIMULATED)
        folders = [path] if named else sorted(path.rglob(FOLDER))
        return [file for folder in folders for file in sorted(folder.glob("*.jsonl"))]
    if not path.is_file():
        raise LedgerError(
            f"{path}: there is no such file or folder; expected a ledger, a suite, or a folder"
        )
    if path.suffix == ".jsonl":
        return [path]
    return ledger_files(path.parent / FOLDER) if (path.parent / FOLDER).is_dir() else []
