"""Files of one validation set put together: in memory, and where they stand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.files import is_named, rows_of
from pytest_maxrandom.ledger.folder import (
    common_name,
    has_one_writer,
    name_of_writer,
    new_writer,
    sync_folder,
)
from pytest_maxrandom.ledger.lines import fact, line_of
from pytest_maxrandom.ledger.opened import read_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row


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
    if len(sets := {row["set"] for _, _, row in chosen.values() if row["kind"] == "set"}) > 1:
        raise LedgerError(
            f"these files are about {len(sets)} different validation sets, expected one; each set "
            "has a file of its own, so keep both files"
        )
    ordered = sorted(chosen.values(), key=lambda entry: entry[:2])
    return [row for _, _, row in ordered]


def by_set(paths: Iterable[Path]) -> list[list[Path]]:
    """Return files in groups: those of one set in one folder, the common one first.

    Raises
    ------
    LedgerError
        If one cannot be read, or does not say which examples it is about.
    """
    files = [read_once(path) for path in paths]
    # An empty file, of a process that died early, goes by its name.
    sets = {common_name(file.path): digest for file in files for digest in file.sets}
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in (file.path for file in files):
        common = common_name(path)
        groups.setdefault((path.parent, sets.get(common, common.name)), []).append(path)
    return [sorted(group, key=has_one_writer) for group in groups.values()]


def common_of(paths: Sequence[Path]) -> Path:
    """Return the file that the files of one set in a folder become, which need not exist."""
    return next((path for path in paths if not has_one_writer(path)), common_name(paths[0]))


def unite(paths: Sequence[Path]) -> tuple[Path, int]:
    """Put the files of one set in a folder into one.

    Processes may go on writing meanwhile, on any host, and files may be united twice at once:
    whoever is killed here leaves every line in at least one file that is read. Each file first gets
    a name that nobody writes to, so that what is removed later is what was read; a process that
    added to it finds its name gone, and adds what it added to a new file (`LedgerFile.append`).

    Returns
    -------
    tuple of (Path, int)
        The file, and its lines.

    Raises
    ------
    LedgerError
        With file and line, if one is not all lines of one set; then nothing is done. Else if files
        cannot be renamed or written, or another process unites them; nothing is lost.
    """
    common = common_of(paths)
    aside = []
    try:
        _union(paths)
        for path in paths:
            other = name_of_writer(common, new_writer())
            path.rename(other)
            aside.append(other)
        union = _union(aside)
        united = name_of_writer(common, new_writer())
        with united.open("xb", buffering=0) as file:
            text = b"".join(map(line_of, union))
            if file.write(text) != len(text):
                raise OSError(f"no room for {united}")
            os.fsync(file.fileno())
            if not is_named(file, united):
                raise FileNotFoundError(united)
        united = _named(united, common)
        sync_folder(common.parent)
    except FileNotFoundError as error:
        raise LedgerError(
            f"{common.parent}: another process united these files at the same time; nothing is "
            "lost, so run `maxrandom ledger unite` again"
        ) from error
    except OSError as error:
        raise LedgerError(
            f"{common}: its files cannot be united: {error.strerror or error}; nothing is lost; "
            "make sure that files can be written and renamed there, and run this again"
        ) from error
    for path in aside:
        path.unlink(missing_ok=True)
    return united, len(union)


def _named(united: Path, common: Path) -> Path:
    """Give a file the common name, which a process without a file of its own may have taken."""
    try:
        os.link(united, common)
    except FileNotFoundError:
        raise
    except OSError:  # taken, or a file system without links
        return united
    united.unlink(missing_ok=True)
    return common


def _union(paths: Sequence[Path]) -> list[Row]:
    """Return the lines of files.

    Raises
    ------
    FileNotFoundError
        If one is not there any more.
    """
    rows: list[Row] = []
    for path in paths:
        try:
            rows += rows_of(path)
        except LedgerError:
            if os.path.lexists(path):
                raise
            raise FileNotFoundError(path) from None
    return merged(rows)
