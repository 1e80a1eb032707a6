"""Files of Inspect: a log's header and its samples, in an object of JSON or in an archive."""

from __future__ import annotations

import re
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.host.limits import too_large
from pytest_maxrandom.recorded.files import Fields, parse, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_ZSTANDARD = 93
"""The number of the method in an archive."""

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)


def open_log(path: Path) -> tuple[Fields, Iterable[Fields]]:
    """Return a log's header, and each of its samples once; the name's ending tells its kind."""
    if path.suffix == ".eval":
        return _open_archive(path)
    header = read_json(path)
    listed = enumerate(header.find(list, "samples") or ())
    return header, (_listed(f"{header.where}: samples[{place}]", each) for place, each in listed)


def _listed(where: str, sample: object) -> Fields:
    if not isinstance(sample, dict):
        raise RecordedError(f"{where}: expected an object; give the log as Inspect wrote it")
    return Fields(where, sample)


def _open_archive(path: Path) -> tuple[Fields, Iterable[Fields]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise RecordedError(
            f"{path}: not an archive ({error}); the run may still be going on, so wait for its "
            "end, or copy the log again"
        ) from error
    if why := too_large(sum(member.file_size for member in members)):
        raise RecordedError(f"{path}: {why}")
    names = [member.filename for member in members]
    headers = [name for name in ("header.json", "_journal/start.json") if name in names]
    if not headers:
        raise RecordedError(
            f"{path}: not an Inspect log, because it has no header.json; copy it again"
        )
    zstandard = any(member.compress_type == _ZSTANDARD for member in members)
    [header] = _members(path, headers[:1], zstandard=zstandard)
    if headers[0] != "header.json":
        header.data["status"] = "started"
    wanted = [name for name in names if _SAMPLE.fullmatch(name)]
    return header, _members(path, wanted, zstandard=zstandard)


def _members(path: Path, names: Sequence[str], *, zstandard: bool) -> Iterator[Fields]:
    library: Any = zipfile
    damage: tuple[type[Exception], ...] = (zlib.error, EOFError, ValueError, NotImplementedError)
    if zstandard and sys.version_info < (3, 14):
        try:
            from backports import zstd
            from backports.zstd import zipfile as library
        except ImportError as error:
            raise RecordedError(
                f"{path}: compressed with Zstandard, which this Python cannot read; install the "
                'extra with pip install "pytest-maxrandom[inspect]"'
            ) from error
        damage = (*damage, zstd.ZstdError)
    with library.ZipFile(path) as archive:
        for name in names:
            where = f"{path}: {name}"
            try:
                content = archive.read(name)
            except (*damage, library.BadZipFile) as error:
                raise RecordedError(f"{where}: damaged: {error}; copy the log again") from error
            yield parse(content, where)
