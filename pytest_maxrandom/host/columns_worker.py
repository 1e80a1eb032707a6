"""The process in which a Parquet or Arrow file is unpacked to see how large it is.

What such a file says of its own size may be wrong, and a few of its bytes may stand for many: only
who unpacks it knows. This process has little more memory than that, and imports nothing of this
package.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROWS = 1_000
"""That are unpacked at once, so that little is where few bytes stand for many texts."""
_KEPT_ROWS = 1 << 16
"""That are where each text stands once, however many rows have it."""
_BESIDE = 1 << 28
"""Bytes of memory besides what libraries hold and what may be unpacked."""


def _limit_memory(bytes_: int) -> None:
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + bytes_
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):  # no limit on this system
        pass


def _groups(path: str, columns: list[str] | None, whole: list[str]) -> Iterator[Iterable[Any]]:
    """Yield the batches of each group of rows of a Parquet file, or those of an Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with Path(path).open("rb") as file:
        begin = file.read(6)
    if begin.startswith(b"PAR1"):
        rows = _KEPT_ROWS if columns and {*columns} <= {*whole} else _ROWS
        with pq.ParquetFile(path, read_dictionary=whole) as parquet:
            for group in range(parquet.num_row_groups):
                yield parquet.iter_batches(rows, [group], columns=columns, use_threads=False)
        return
    with pa.memory_map(path) as source:
        opened = pa.ipc.open_file if begin == b"ARROW1" else pa.ipc.open_stream
        reader = opened(source, options=pa.ipc.IpcReadOptions(use_threads=False))
        held = map(reader.get_batch, range(reader.num_record_batches)) if begin == b"ARROW1" else (
            reader
        )  # fmt: skip
        yield (
            batch.slice(first, _ROWS) for batch in held for first in range(0, batch.num_rows, _ROWS)
        )


def _size(values: Any, *, kept: bool) -> int:
    """Return how many bytes a column takes; where it is not kept so, without what packs it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not kept and pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    return int(values.nbytes)


def main(path: str, most: int, columns: list[str] | None, whole: list[str]) -> str:
    """Say whether a file unpacks to more than it may: "more", "fits" or "damaged".

    Before, a line is printed after each group of rows that fits with those before it.

    Parameters
    ----------
    most : int
        Bytes.
    columns : list of str or None
        Those that count; all if None.
    whole : list of str
        Columns that are read as dictionaries, in which each value stands once.
    """
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    _limit_memory(most + _BESIDE)
    found = 0
    try:
        for batches in _groups(path, columns, whole):
            for batch in batches:
                for name, values in zip(batch.schema.names, batch.columns, strict=True):
                    found += _size(values, kept=name in whole)
                    if found > most:
                        return "more"
            print("group", flush=True)
    except (MemoryError, pa.ArrowMemoryError):
        return "more"
    except (OSError, pa.ArrowException):
        return "damaged"
    return "fits"


if __name__ == "__main__":
    print(main(**json.loads(sys.argv[1])))
