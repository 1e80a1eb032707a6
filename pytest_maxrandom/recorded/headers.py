"""What archives of arrays say of their sizes, read before their contents are."""

from __future__ import annotations

import math
import zipfile
import zlib
from typing import TYPE_CHECKING

from numpy.lib import format as npy

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.host.limits import too_large

if TYPE_CHECKING:
    from pathlib import Path


def check_arrays(path: Path) -> None:
    """Refuse an archive that takes more memory than it may, or than it has content for.

    Raises
    ------
    RecordedError
        In one sentence with the array.
    zipfile.BadZipFile
        If it is no archive.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if why := too_large(sum(member.file_size for member in members)):
            raise RecordedError(f"{path}: {why}")
        for member in members:
            with archive.open(member) as file:
                name = member.filename.removesuffix(".npy")
                try:
                    version = npy.read_magic(file)
                    read = (
                        npy.read_array_header_1_0 if version[0] == 1 else npy.read_array_header_2_0
                    )
                    shape, _, dtype = read(file)
                except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
                    raise
                except Exception as error:  # whatever its tokens and types make of the text
                    raise RecordedError(
                        f"{path}: {name}: the header is damaged; write it with numpy.savez"
                    ) from error
                claimed = math.prod(shape) * dtype.itemsize
                if not dtype.hasobject and claimed > member.file_size:
                    raise RecordedError(
                        f"{path}: {name}: the header claims {claimed:,} bytes, but the file has "
                        f"{member.file_size:,}; write it with numpy.savez"
                    )
