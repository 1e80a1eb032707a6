"""Text files whose bytes may be wrong."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(path: Path, newline: str) -> Iterator[IO[str]]:
    """Open a file in UTF-8, with or without a byte order mark.

    Raises
    ------
    RecordedError
        If it cannot be read, or while it is read a byte is found that is not UTF-8 (with its line).
    """
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            yield file
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path, newline) from error


def _not_utf8(path: Path, newline: str) -> RecordedError:
    """Find the line again, because the decoder knows bytes of its own buffer only."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline=newline) as file:
        for number, line in enumerate(file, start=1):
            for letter in line:
                if "\udc80" <= letter <= "\udcff":
                    return RecordedError(
                        f"{path}:{number}: the byte 0x{ord(letter) - 0xDC00:02x} is not UTF-8; "
                        "save the file as UTF-8"
                    )
    return RecordedError(f"{path}: the file changed while it was read; read it again")
