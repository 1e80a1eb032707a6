"""The files of a ledger: read once and then what is new, appended to as a whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from dataclasses import replace
from sys import intern
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import LedgerError, LockError
from pytest_maxrandom.host.machine import held
from pytest_maxrandom.ledger.folder import has_one_writer, make_folder, sync_folder
from pytest_maxrandom.ledger.lines import (
    CUT,
    PADDING,
    Answered,
    ClaimKey,
    Looked,
    Named,
    Shown,
    Told,
    Try,
    read_lines,
)
from pytest_maxrandom.record import Fingerprint, Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import BufferedWriter, FileIO
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row

_PIECE = 2**22
"""Bytes that are read at a time."""

Fingerprinted = tuple[float | str, ...]
"""What a model answered, by which it is known again."""


class LedgerFile:
    """A file that other processes append to as well, and what its lines say, whatever their order.

    Parameters
    ----------
    path : Path
        It need not exist.
    local : bool
        Whether processes of this host alone see it: its status then tells whether it has changed,
        so that it is neither locked nor opened where it has not.
    """

    def __init__(self, path: Path, *, local: bool = False) -> None:
        self.path = path
        self._local = local
        self.sets: dict[str, tuple[str, ...]] = {}
        """Digests of the examples of the validation set by its digest; in a right file there is
        one."""
        self.tries: dict[ClaimKey, set[Try]] = {}
        """Claim to its tries."""
        self.models: dict[ClaimKey, set[str]] = {}
        """Claim to the digests of the models of its tries."""
        self.claims: dict[str, set[ClaimKey]] = {}
        """Digest of a model to the claims that it has tries of."""
        self.questions: dict[str, str] = {}
        """Digest of an example, of whatever set, to that of its question, where lines say it."""
        self.joins: dict[tuple[str, str], dict[str, str]] = {}
        """Digests of a set and of the one before to which questions are examples of that in other
        words."""
        self.undone: dict[tuple[str, str], str] = {}
        """Digests of such sets to why their questions are others nevertheless."""
        self.different = 0
        """How many tries there are of all claims, each counted once."""
        self.looks: dict[ClaimKey, dict[str, Looked]] = {}
        """Claim to its looks, by their digests."""
        self.answered: dict[ClaimKey, set[Answered]] = {}
        """Claim to the digests of its looks, each with those of the answers that it compared, of
        the incumbent's prompt, and of its model."""
        self.tests: dict[str, tuple[str, ...]] = {}
        """Digests of the examples of a test set by its digest."""
        self.openings: dict[str, set[Try]] = {}
        """Digest of a test set to the tries that opened it."""
        self.searches: dict[str, dict[Try, Told]] = {}
        """Digest of a search to the tries that it was told of, each with what it was told."""
        self.replied: dict[str, str] = {}
        """When searches were told something, to the digest of one of them."""
        self._shown: tuple[int, dict[tuple[Try, str, str], Shown]] = (0, {})
        self.closed: set[str] = set()
        """Digests of the searches whose results may be read."""
        self.served: dict[str, dict[Fingerprinted, Fingerprint]] = {}
        """By what models behind an address are known, by their digests."""
        self.torn: Remark | None = None
        """That the last line was cut off."""
        self.empty = True
        """Whether there was no line when it was last read."""
        self.read_rows = 0
        """How many lines were read; what this process adds itself is none of them."""
        self._begun: dict[ClaimKey, set[Try]] = {}
        self._wrong = ""
        self._offset = 0
        self._lines = 0
        self._identity: tuple[int, int] | None = None
        self._version: tuple[int, ...] | None = None

    def take(self, row: Row) -> None:
        """Add what a row says; a second time adds nothing."""
        known, name, value = self._place(row)
        for example, question in zip(
            row.get("examples", ()), row.get("questions", ()), strict=False
        ):
            self.questions.setdefault(example, question)
        if row["kind"] == "prompt":
            self.models.setdefault(claim_of(row), set()).add(row["model_digest"])
            self.claims.setdefault(row["model_digest"], set()).add(claim_of(row))
            self.different += not self.tried(name)
            begun = self._begun.setdefault(claim_of(row), set())
            if row["correct"] is not None:
                begun.discard(name)
            elif name not in known:
                begun.add(name)
        if row["kind"] == "feedback":
            self.replied[row["when"]] = row["search"]
        if row["kind"] == "look":
            self.answered.setdefault(claim_of(row), set()).add(_answered(row))
        if isinstance(value, Looked) and isinstance(known, dict):
            value = min(known.get(name, value), value, key=lambda look: look.when)
        if isinstance(value, Told) and isinstance(known, dict):
            # Copies that went on apart may each have told of it: what says more is counted.
            value = max(known.get(name, value), value, key=lambda told: told.accepted)
        known.update({name: value})

    def has(self, row: Row) -> bool:
        """Tell whether a row would add nothing."""
        known, name, _ = self._place(row)
        if row["kind"] == "look":
            return _answered(row) in self.answered.get(claim_of(row), ())
        if row["kind"] == "prompt" and row["correct"] is not None:
            return name in known and name not in self._begun.get(claim_of(row), ())
        return name in known

    def shown(self) -> Mapping[tuple[Try, str, str], Shown]:
        """Return the results that a search could read, but those that were kept from one.

        By the try, the set's digest and the run that evaluated it. They are read when they are
        asked for, since few ledgers know of a search, and each may have a million results.

        Raises
        ------
        LedgerError
            If the file cannot be read.
        """
        read, lines = self._shown
        if read != self._offset:
            lines = {
                (tried_of(row), row["task_digest"], row["run"]): Shown(row["n"], row["when"])
                for row in rows_of(self.path)
                if row["kind"] == "prompt" and row["correct"] is not None and "withheld" not in row
            }
            self._shown = self._offset, lines
        return lines

    def tried(self, tried: Try) -> bool:
        """Tell whether it is a try of any claim."""
        return any(tried in tries for tries in self.tries.values())

    def shows(self, tried: Try) -> bool:
        """Tell whether a line says how many answers of a try are right."""
        begun = any(tried in tries for tries in self._begun.values())
        return self.tried(tried) and not begun

    def _place(self, row: Row) -> tuple[dict[Any, Any] | set[Any], Any, Any]:
        """Return where a row belongs, what it is called there, and what is kept by that name."""
        match row["kind"]:
            case "set":
                return self.sets, row["set"], tuple(row["examples"])
            case "test":
                return self.tests, row["test"], tuple(row["examples"])
            case "reworded":
                return self.joins, (row["set"], row["before"]), row["pairs"]
            case "apart":
                return self.undone, (row["set"], row["before"]), row["why"]
            case "closed":
                return self.closed, row["search"], None
            case "served":
                served = self.served.setdefault(row["model_digest"], {})
                answered = (*row["values"], *row["texts"], row["content"])
                return served, answered, fingerprint_of(row)
            case "look":
                look = Looked(*(row[name] for name in Looked._fields))
                return self.looks.setdefault(claim_of(row), {}), row["look"], look
            case "prompt":
                return self.tries.setdefault(claim_of(row), set()), tried_of(row), None
            case "feedback":
                told = Told(*(row[name] for name in Told._fields))
                return self.searches.setdefault(row["search"], {}), tried_of(row), told
        return self.openings.setdefault(row["test"], set()), tried_of(row), None

    def read(self) -> None:
        """Take the rows that were added since the last time; see `check` for the other lines.

        Raises
        ------
        LedgerError
            If the file cannot be opened.
        """
        if self._local and self.is_as_read:
            return
        _check_regular(self.path)
        try:
            with ExitStack() as stack:
                # What another process is writing would look like a torn line; where it has a file
                # of its own, it may be on another host, which no lock reaches.
                if not has_one_writer(self.path):
                    with suppress(LockError):
                        stack.enter_context(held("ledger", str(self.path.resolve())))
                self._read(stack.enter_context(self.path.open("rb", buffering=0)))
        except FileNotFoundError:
            return
        except OSError as error:
            raise unreadable(self.path, error) from error

    @property
    def is_as_read(self) -> bool:
        """Whether all that the file has was taken, and it has not changed since, by its status."""
        try:
            status = self.path.stat()
        except OSError:
            return False
        # Whoever appends makes it longer.
        whole = self.torn is None and status.st_size == self._offset
        return whole and version_of(status) == self._version

    def check(self) -> None:
        """Refuse a file that has been read and is not all lines of a ledger.

        Raises
        ------
        LedgerError
            With file and line, at the first that is none.
        """
        if self._wrong:
            raise LedgerError(self._wrong)

    def check_set(self) -> None:
        """Refuse a file that has been read and is not about one validation set.

        Raises
        ------
        LedgerError
            If it is so.
        """
        if not self.empty and len(self.sets) != 1:
            self.check()
            raise LedgerError(f"{self.path}: {wrong_sets(len(self.sets))}")

    def may_begin(self, status: os.stat_result | None) -> bool:
        """Tell whether a file begins with all that was read of this one, as far as that shows.

        `status` is None where there is no file.
        """
        if self._identity is None or status is None:
            return self._identity is None
        same = (status.st_dev, status.st_ino) == self._identity
        return same and status.st_size >= self._offset

    def append(self, lines: Callable[[], list[bytes]]) -> None:
        """Add lines durably: all of them, or none.

        `lines` is called when everything in the file has been taken and nobody else can add to it.

        Raises
        ------
        LedgerError
            If a line of the file is none of a ledger.
        OSError
            If they cannot be written; the file is then as it was.
        LockError
            If it cannot be locked.
        """
        _check_regular(self.path)
        with held("ledger", str(self.path.resolve())):
            there = False
            while not there:
                new = not self.path.exists()
                if new:
                    make_folder(self.path.parent)
                with self.path.open("a+b", buffering=0) as file:
                    kept = self._read(file)
                    self.check()
                    if added := lines():
                        self._write(file, kept, added)
                    # Whoever unites files takes them away, and may have read this one before.
                    there = is_named(file, self.path)
                if new:
                    sync_folder(self.path.parent)

    def _read(self, file: FileIO) -> int:
        """Take what is new, and return the bytes of a last line that lacks only its end."""
        status = os.fstat(file.fileno())
        self._version = version_of(status)
        identity = (status.st_dev, status.st_ino)
        file.seek(max(0, self._offset - 1))
        # Version control may have put back another file, or less of this one.
        if identity != self._identity or (self._offset and file.read(1) != b"\n"):
            self._identity, self._offset, self._lines, self._wrong = identity, 0, 0, ""
        file.seek(self._offset)
        self.torn = None
        complete, tail = False, b""
        for data in in_pieces(file):
            whole = data.endswith(b"\n")
            tail = b"" if whole else data.rstrip(PADDING)
            complete = self._take_lines(data) and not whole
            self._offset += len(data) if whole else 0
            self._lines += data.count(b"\n")
        self.empty = not self._offset and not complete
        return len(tail) if complete else 0

    def _take_lines(self, data: bytes) -> bool:
        """Take the rows of lines, and tell whether the last one is a row."""
        taken = False
        for number, line in read_lines(data, self._lines + 1):
            taken = not isinstance(line, str)
            if not isinstance(line, str):
                self.take(line)
                self.read_rows += 1
            elif line == CUT:
                self.torn = Remark("cut_off", {"file": str(self.path), "line": number})
            else:
                self._wrong = self._wrong or f"{self.path}:{number}: {line}"
        return taken

    def _write(self, file: FileIO, kept: int, added: list[bytes]) -> None:
        before = self._offset + kept
        file.truncate(before)
        data = (b"\n" if kept else b"") + b"".join(added)
        try:
            if file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(before)
            raise
        self._version = version_of(os.fstat(file.fileno()))
        self._offset = before + len(data)
        self._lines += data.count(b"\n")


def version_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what tells apart how a file is now and how it was."""
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


def is_named(file: FileIO | BufferedWriter, path: Path) -> bool:
    """Tell whether an open file still has this name."""
    try:
        # Opening asks the server, where hosts share files; the status of a name may be remembered.
        with path.open("rb", buffering=0) as other:
            return os.path.samestat(os.fstat(file.fileno()), os.fstat(other.fileno()))
    except FileNotFoundError:
        return False


def claim_of(row: Row) -> ClaimKey:
    """Return whose prompts a row is counted with."""
    return ClaimKey(row["model"], row["shots"])


def _answered(row: Row) -> Answered:
    return Answered(row["look"], row.get("answers", ""), named_in(row))


def named_in(row: Row) -> Named:
    """Return which incumbent the line of a look names."""
    return Named(row.get("incumbent", ""), row.get("incumbent_model", ""))


def tried_of(row: Row) -> Try:
    """Return what a row counts."""
    return Try(intern(row["model_digest"]), row["prompt"], intern(row["scoring"]))


def fingerprint_of(row: Row) -> Fingerprint:
    """Return by what a model behind an address is known, from a line of kind `served`."""
    found = Fingerprint(row["server"], row["when"], row["values"], texts=row["texts"])
    return replace(found, content=row["content"])


def in_pieces(file: FileIO) -> Iterator[bytes]:
    """Yield the lines that follow, some megabytes at a time; by itself one that lacks its end."""
    left = b""
    while piece := file.read(_PIECE):
        whole = piece.rfind(b"\n") + 1
        if whole:
            yield left + piece[:whole]
            left = b""
        left += piece[whole:]
    if left:
        yield left


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield what a file holds; see `in_pieces`.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    _check_regular(path)
    try:
        with path.open("rb", buffering=0) as file:
            yield from in_pieces(file)
    except OSError as error:
        raise unreadable(path, error) from error


def read_file(path: Path) -> Iterator[tuple[int, Row | str]]:
    """Read a whole file as `read_lines` does.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    first = 1
    for data in lines_of(path):
        yield from read_lines(data, first)
        first += data.count(b"\n")


def _check_regular(path: Path) -> None:
    """Refuse what has no end, such as a link to /dev/zero, or waits for who writes it.

    Raises
    ------
    LedgerError
        If it is such a file.
    """
    with suppress(OSError):  # which opening it tells
        if path.exists() and not path.is_file() and not path.is_dir():
            raise LedgerError(f"{path}: is no regular file; restore it from version control")


def unreadable(path: Path, error: OSError) -> LedgerError:
    """Say why a file cannot be read."""
    return LedgerError(
        f"{path}: cannot be read: {error.strerror or error}; expected a ledger file; make it "
        "readable, or restore it from version control"
    )


def rows_of(path: Path) -> Iterator[Row]:
    """Read a whole file, without a last line that was cut off.

    Raises
    ------
    LedgerError
        With file and line, at the first line that is none of a ledger.
    """
    for number, found in read_file(path):
        if not isinstance(found, str):
            yield found
        elif found != CUT:
            raise LedgerError(f"{path}:{number}: {found}")


def wrong_sets(found: int) -> str:
    """Say what is wrong with a file that is about so many validation sets and not about one."""
    return (
        f"found lines of {found} validation sets, expected one set per file; move the lines of "
        "each set into a file of its own"
        if found
        else "found no line of kind set, expected one that names the examples; restore it from "
        "version control"
    )
