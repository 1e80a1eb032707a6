"""One file of the ledger: read once and then what is new, appended to as a whole or not at all."""

from __future__ import annotations

import errno
import functools
import gc
import json
import os
import re
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError, LockError
from pytest_maxrandom.host.locks import held
from pytest_maxrandom.ledger.contents import Contents
from pytest_maxrandom.ledger.lines import blocks, parse, read_line, tries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Row

ATTRIBUTES = "*.jsonl merge=union\n"
_BINARY = getattr(os, "O_BINARY", 0)
_BEGINNING = b'{"kind":'
_OF_SETS = re.compile(rb'"kind"\s*:\s*"(?:set|test|opening)"')
_PADDING = b"\0 \r\t"  # a file that had grown when the power failed ends with zeros


class LedgerFile:
    """A file that other processes append to as well.

    Parameters
    ----------
    path : Path
        It need not exist.
    contents : Contents
        Takes what the lines say, each at least once.

    Attributes
    ----------
    torn : str or None
        What the user must know of the last line: that it was cut off.
    empty : bool
        Whether there was no line when it was last read.
    """

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path = path
        self.torn: str | None = None
        self.empty = True
        self._contents = contents
        self._offset = 0
        self._lines = 0
        self._identity: tuple[int, int] | None = None

    def read(self) -> None:
        """Take the rows that were added since the last time.

        Raises
        ------
        LedgerError
            If a line is none of a ledger, or the file cannot be opened.
        """
        # Locked, because what another process is writing would look like a torn line.
        with _locked(self.path), _opened(self.path, os.O_RDONLY) as file:
            if file is not None:
                self._read(file)

    def append(self, lines: Callable[[], list[bytes]]) -> None:
        """Add lines durably: all of them, or none.

        Parameters
        ----------
        lines : callable
            Called when everything in the file has been taken and nobody else can add to it.

        Raises
        ------
        LedgerError
            If a line of the file is none of a ledger.
        OSError
            If they cannot be written; the file is then as it was.
        LockError
            If it cannot be locked.
        """
        new = not self.path.exists()
        if new:
            make_folder(self.path.parent)
        with held("ledger", str(self.path.resolve())):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY
            file = os.open(self.path, flags, 0o666)
            try:
                tail = self._read(file)
                if added := lines():
                    self._write(file, tail, added)
            finally:
                os.close(file)
            if new:
                sync_folder(self.path.parent)

    def _read(self, file: int) -> bytes:
        """Take what is new, and return what stands behind the last end of a line."""
        status = os.fstat(file)
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity or not self._continues(file, status.st_size):
            self._identity, self._offset, self._lines = identity, 0, 0
        with open(file, "rb", closefd=False) as stream:
            stream.seek(self._offset)
            data = stream.read()
        whole = data.rfind(b"\n") + 1
        lines = data if whole == len(data) else data[:whole]
        with _uncollected():
            for block in blocks(lines):
                self._take_block(block)
        self._offset += whole
        tail = data[whole:]
        complete = whole_row(tail, self.path, self._lines + 1)
        self.empty = not self._offset and complete is None
        if complete is not None:
            self._contents.take(complete)
        elif tail.strip():
            self.torn = (
                f"{self.path}:{self._lines + 1}: the last line was cut off while it was written; "
                "it is not counted, and is removed before the next line is added"
            )
        return tail

    def _take_block(self, block: bytes) -> None:
        found = tries(block)
        if found is not None:
            self._contents.take_tries(found)
        else:
            for row in parse(block, self.path, self._lines + 1):
                self._contents.take(row)
        self._lines += block.count(b"\n")

    def _continues(self, file: int, size: int) -> bool:
        """Tell whether what was read is still there: version control may have put back less."""
        if not self._offset:
            return True
        if size < self._offset:
            return False
        with open(file, "rb", closefd=False) as stream:
            stream.seek(self._offset - 1)
            return stream.read(1) == b"\n"

    def _write(self, file: int, tail: bytes, added: list[bytes]) -> None:
        complete = whole_row(tail, self.path, self._lines + 1) is not None
        kept = len(tail.rstrip(_PADDING)) if complete else 0
        if kept < len(tail):
            os.ftruncate(file, self._offset + kept)
        before = os.fstat(file).st_size
        data = (b"\n" if complete else b"") + b"".join(added)
        try:
            if os.write(file, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, before)
            raise
        self._offset = before + len(data)
        self._lines += data.count(b"\n")


def whole_row(tail: bytes, path: Path, line: int) -> Row | None:
    """Return the row of a last line that lacks only its end, or None if it was cut off.

    Raises
    ------
    LedgerError
        If it is neither: no killed run leaves such a line.
    """
    text = tail.rstrip(_PADDING)
    if not text or _is_cut(text):
        return None
    try:
        return read_line(text)
    except ValueError as error:
        raise LedgerError(f"{path}:{line}: {error}") from error


def _is_cut(text: bytes) -> bool:
    """Tell the beginning of a line from a whole one, and from what nobody here has written."""
    if _BEGINNING.startswith(text):
        return True
    if not text.startswith(_BEGINNING):
        return False
    try:
        json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return True
    return False


def make_folder(folder: Path) -> None:
    """Make the folder, and tell git how its files are merged: as the union of their lines.

    Raises
    ------
    OSError
    """
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), (folder / ".gitattributes").open("x", newline="\n") as file:
        file.write(ATTRIBUTES)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_bytes(path: Path) -> bytes:
    """Read a file of the ledger.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage: a million lines hold no cycles, and looking for them takes a fifth."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int | None]:
    """Open a file; None where there is none."""
    try:
        file = os.open(path, flags | _BINARY)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file's lock; reading goes on without one where none can be made."""
    with ExitStack() as stack:
        with suppress(LockError):
            stack.enter_context(held("ledger", str(path.resolve())))
        yield


def _unreadable(path: Path, error: OSError) -> LedgerError:
    return LedgerError(
        f"{path}: cannot be read: {error.strerror or error}; expected a file of the ledger, so "
        "make it readable or restore it from version control"
    )


def read_sets(path: Path) -> Contents:
    """Return the validation set and the openings of a file, without the many other lines.

    What is returned is shared: only read it.

    Raises
    ------
    LedgerError
        If one of these lines is wrong, or the file does not say which examples it is about.
    """
    try:
        status = path.stat()
    except OSError:
        return _read_sets(path)  # which says what is wrong
    return _unchanged(path, status.st_size, status.st_mtime_ns, status.st_ino)


@functools.lru_cache(maxsize=1024)
def _unchanged(path: Path, size: int, changed: int, number: int) -> Contents:
    """Read a file once for what size, time and inode tell apart."""
    return _read_sets(path)


def _read_sets(path: Path) -> Contents:
    data = read_bytes(path)
    contents = Contents()
    for line, raw in lines_of_sets(data):
        if raw.endswith(b"\n"):
            rows = list(parse(raw, path, line))
        else:
            row = whole_row(raw, path, line)
            rows = [] if row is None else [row]
        for row in rows:
            contents.take(row)
    if len(contents.sets) > 1:
        raise LedgerError(
            f"{path}: found lines of {len(contents.sets)} validation sets, expected one set in a "
            "file; put the lines of each set into a file of its own"
        )
    if not contents.sets and b"\n" in data:
        raise LedgerError(
            f"{path}: found no line of kind set, expected one that names the examples; restore it "
            "from version control"
        )
    return contents


def lines_of_sets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of the lines of sets and openings, each once."""
    done = counted = 0
    line = 1
    words = (b'"set"', b'"test"', b'"opening"')
    for place in sorted(place for word in words for place in _places(data, word)):
        if place < done:
            continue
        start = data.rfind(b"\n", 0, place) + 1
        done = data.find(b"\n", place) + 1 or len(data)
        if _OF_SETS.search(data, start, done):
            line += data.count(b"\n", counted, start)
            counted = start
            yield line, data[start:done]


def _places(data: bytes, word: bytes) -> list[int]:
    """Return where a word stands; of a rare one this is known at once, unlike of a pattern."""
    found = []
    place = data.find(word)
    while place >= 0:
        found.append(place)
        place = data.find(word, place + 1)
    return found
