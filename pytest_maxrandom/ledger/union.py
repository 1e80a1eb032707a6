"""Files of one validation set put together: in memory, and where they stand."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.files import is_named, rows_of
from pytest_maxrandom.ledger.folder import (
    common_name,
    has_one_writer,
    name_of_writer,
    new_writer,
    part_of,
    sync_folder,
)
from pytest_maxrandom.ledger.lines import fact, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.ledger.opened import LedgerFiles

_SHORT = 16  # 128 bits: no two of a billion facts collide


def merged(rows: Iterable[Row], write: Callable[[bytes], object]) -> int:
    """Write the union: each fact once, as it was written first, in an order of its own.

    So neither the order of the lines nor that of the files that they come from matters, and what is
    merged twice is not counted twice. Lines lie on the disk meanwhile, so that a million of them
    take no more memory than a thousand. Return the number of lines.

    Raises
    ------
    LedgerError
        If they are about several sets, or the disk has no place for them; then nothing is written.
    """
    sets: set[str] = set()

    def entries() -> Iterator[tuple[bytes, str, bytes]]:
        for row in rows:
            sets.update([row["set"]] if row["kind"] == "set" else ())
            name = hashlib.sha256(repr(fact(row)).encode()).digest()[:_SHORT]
            yield name, row.get("when", ""), line_of(row)

    number = 0
    try:
        with closing(sqlite3.connect("")) as database:
            database.execute("CREATE TABLE lines (fact BLOB PRIMARY KEY, date TEXT, line BLOB)")
            database.executemany(
                "INSERT INTO lines VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                "SET date = excluded.date, line = excluded.line "
                "WHERE (excluded.date, excluded.line) < (date, line)",
                entries(),
            )
            if len(sets) > 1:
                raise LedgerError(
                    f"these files are about {len(sets)} different validation sets, expected one; "
                    "each set has a file of its own, so keep both files"
                )
            for (line,) in database.execute("SELECT line FROM lines ORDER BY date, line"):
                write(line)
                number += 1
    except sqlite3.Error as error:
        raise LedgerError(
            f"the lines cannot be put together in the folder for temporary files: {error}; nothing "
            "is lost; free some space there, or name another folder in SQLITE_TMPDIR, and run this "
            "again"
        ) from error
    return number


def by_set(paths: Sequence[Path], opened: LedgerFiles) -> list[list[Path]]:
    """Return files in groups: those of one set in one folder, the common one first.

    Raises
    ------
    LedgerError
        If one cannot be read, or does not say which examples it is about.
    """
    # An empty file, of a process that died early, goes by its name.
    sets = {common_name(path): digest for path in paths for digest in opened.outline(path).sets}
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        common = common_name(path)
        groups.setdefault((path.parent, sets.get(common, common.name)), []).append(path)
    return [sorted(group, key=_in_order) for group in groups.values()]


def _in_order(path: Path) -> tuple[bool, int]:
    return has_one_writer(path), part_of(path)


def to_unite(group: Sequence[Path]) -> list[Path]:
    """Return those files of a set that become one; earlier parts have their size already."""
    last = part_of(common_of(group))
    found = [path for path in group if has_one_writer(path) or part_of(path) == last]
    return found if len(found) > 1 or has_one_writer(found[0]) else []


def common_of(paths: Sequence[Path]) -> Path:
    """Return the file that gets the lines of a set in a folder, which need not exist.

    That is the last one of its parts.
    """
    shared = [path for path in paths if not has_one_writer(path)]
    return max(shared, key=part_of, default=common_name(paths[0]))


def unite(paths: Sequence[Path]) -> tuple[Path, int]:
    """Put the files of one set in a folder into one.

    Processes may go on writing meanwhile, on any host, and files may be united twice at once:
    whoever is killed here leaves every line in at least one file that is read. Each file first gets
    a name that nobody writes to, so that what is removed later is what was read; a process that
    added to it finds its name gone, and adds what it added to a new file (`LedgerFile.append`).
    Return the file, and its lines.

    Raises
    ------
    LedgerError
        With file and line, if one is not all lines of one set; then nothing is done. Else if files
        cannot be renamed or written, or another process unites them; nothing is lost.
    """
    common = common_of(paths)
    aside = []
    try:
        _union(paths, lambda line: None)
        for path in paths:
            other = name_of_writer(common, new_writer())
            path.rename(other)
            aside.append(other)
        united = name_of_writer(common, new_writer())
        with united.open("xb") as file:
            number = _union(aside, file.write)
            file.flush()
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
    return united, number


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


def _union(paths: Sequence[Path], write: Callable[[bytes], object]) -> int:
    """Write the lines of files as `merged`, and return their number.

    Raises
    ------
    FileNotFoundError
        If one is not there any more.
    """

    def rows() -> Iterator[Row]:
        for path in paths:
            try:
                yield from rows_of(path)
            except LedgerError:
                if os.path.lexists(path):
                    raise
                raise FileNotFoundError(path) from None

    return merged(rows(), write)
