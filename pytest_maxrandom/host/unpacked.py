"""To how much a file of data unpacks, found out before a library unpacks it whole."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.host import workers
from pytest_maxrandom.host.limits import limits, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator

_CELL = 8
"""Bytes that a cell of a table takes at least where it is worked with."""
_STREAMS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
"""What unpacks a file that begins so, bit by bit."""
_UNMEASURED = {
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x04\x22\x4d\x18": "LZ4",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
"""How an Arrow file begins, and a stream."""
_WORKER = Path(__file__).with_name("columns_worker.py")
_LONGEST = 8
_PART = 1 << 20


def too_large_unpacked(path: Path) -> str:
    """Say why a file must not be unpacked; nothing if it may, or is not packed.

    What is damaged is for its reader to tell.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(_LONGEST)
        if begin.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                return too_large(sum(member.file_size for member in archive.infolist()))
        if begin.startswith(b"PAR1"):
            return _of_parquet(path) or unpacked_columns(path)
        if begin.startswith(_ARROW):
            return unpacked_columns(path)
        for start, kind in _UNMEASURED.items():
            if begin.startswith(start):
                return (
                    f"it is packed with {kind}, which does not tell how large it is; unpack it, or "
                    "pack it with gzip"
                )
        for start, opened in _STREAMS.items():
            if begin.startswith(start):
                return too_large(_unpacked(path, opened))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        return ""
    return ""


def _unpacked(path: Path, opened: Callable[[Path], Any]) -> int:
    """Return how many bytes come out, or more than may."""
    most, found = limits().data_mb * 1_000_000, 0
    with opened(path) as file:
        while found <= most and (part := file.read(_PART)):
            found += len(part)
    return found


def _of_parquet(path: Path) -> str:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:  # then nobody here can read it
        return ""
    try:
        with pq.ParquetFile(path) as file:
            return too_large(parquet_bytes(file.metadata))
    except pa.ArrowException:
        return ""


def unpacked_columns(path: Path, columns: Collection[str] = (), whole: Collection[str] = ()) -> str:
    """Say why a Parquet or Arrow file must not be read; nothing if it may, or is damaged.

    See `unpacked_groups`.
    """
    return "".join(unpacked_groups(path, columns, whole))


def unpacked_groups(
    path: Path, columns: Collection[str] = (), whole: Collection[str] = ()
) -> Generator[str, None, None]:
    """Yield after each group of rows, and in the end, why a file must not be read so far.

    It is nothing if it may, or is damaged. The file is unpacked in a process with little memory,
    which goes on while who asks reads the group: pages may contradict what the file says of
    itself, one text may stand for many, and only Parquet says anything.

    Parameters
    ----------
    columns : collection of str
        Those that are read; all if none are given.
    whole : collection of str
        Those of them that are read as dictionaries, so that a text that repeats counts once.
    """
    if find_spec("pyarrow") is None:  # then nobody here can read it
        return
    most = limits().data_mb * 1_000_000
    asked = {"path": str(path), "most": most, "columns": [*columns] or None, "whole": [*whole]}
    memory = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    with workers.started(_WORKER, json.dumps(asked), **memory) as process:
        assert process.stdout
        word = ""
        try:
            for line in process.stdout:
                word = line.decode().strip()
                if word == "group":
                    yield ""
        finally:
            process.kill()
    # A process that ends without a word had too little memory, where no library says so.
    yield "" if word in {"fits", "damaged"} else too_large(most + 1)


def parquet_bytes(metadata: Any, columns: Collection[str] = ()) -> int:
    """Return to how much a Parquet file unpacks at least, by what it says of itself.

    Few bytes can stand for many rows, whose cells then take memory.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
    columns : collection of str
        Those that are read; all if none are given.
    """
    paths = [f"{metadata.schema.column(place).path}." for place in range(metadata.num_columns)]
    read = [
        place
        for place, path in enumerate(paths)
        if not columns or any(path.startswith(f"{name}.") for name in columns)
    ]
    packed: int = sum(
        group.column(place).total_uncompressed_size
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for place in read
    )
    cells: int = metadata.num_rows * len(read)
    return max(packed, cells * _CELL)
