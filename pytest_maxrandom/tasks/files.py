"""Finding and reading the text file that holds a task."""

from __future__ import annotations

from pathlib import Path

from pytest_maxrandom.errors import did_you_mean, quoted
from pytest_maxrandom.tasks.findings import Mistake

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def shown(path: Path) -> Path:
    """Return `path` as a reader wants it: relative to the current folder if it lies below."""
    absolute, here = path.absolute(), Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


def find_file(path: str, base: Path) -> Path:
    """Return the file that `path` names, relative to the folder `base`.

    Raises
    ------
    Mistake
        If there is no such file.
    """
    file = shown(base / path)
    try:
        if file.is_file():
            return file
        if file.exists():
            raise Mistake(f"{quoted(path)} is not a file; give the file that holds the examples")
        if file.parent.is_dir():
            names = [entry.name for entry in file.parent.iterdir()]
            raise Mistake(
                f"there is no file {quoted(str(file), 200)} (paths are relative to the suite file)"
                f"{did_you_mean(file.name, names)}"
            )
        raise Mistake(
            f"there is no folder {quoted(str(file.parent), 200)} for the file "
            f"{quoted(file.name)} (paths are relative to the suite file)"
        )
    except OSError as error:
        raise Mistake(f"cannot look for {quoted(path)}: {error.strerror}") from None


def read_text(file: Path) -> str:
    """Return the text of a UTF-8 file, with its own line ends and without a byte order mark.

    Raises
    ------
    Mistake
        If the file cannot be read, is empty, or is not UTF-8 (with the line of the first bad byte).
    """
    try:
        data = file.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    except OSError as error:
        raise Mistake(f"cannot read the file: {error.strerror}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mistake(
            f"the file is not UTF-8: found the byte 0x{data[error.start]:02x}; save it as UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
        ) from None
    if not text.strip():
        raise Mistake("the file is empty; a task needs examples")
    return text
