"""Log files of Inspect, opened: a header, and samples that are read one by one.

A ``.json`` log is one object. An ``.eval`` log is a ZIP archive of JSON files, compressed by
Zstandard since 2025, which Python knows from 3.14 on.
"""

from __future__ import annotations

import re
import sys
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.json_files import optional, parse, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.recorded.logs.json_files import Object

_ZSTANDARD = 93
"""The number of the method in an archive."""

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InspectLog:
    """One log file.

    Attributes
    ----------
    path : Path
        Where it is.
    header : dict
        All but the samples.
    samples : callable
        Yields each sample with where it stands.
    """

    path: Path
    header: Object
    samples: Callable[[], Iterator[tuple[str, Object]]]


def open_log(path: Path) -> InspectLog:
    """Open a log file; its name's ending tells the kind.

    Raises
    ------
    RecordedError
        If it cannot be read.
    """
    return _open_archive(path) if path.suffix == ".eval" else _open_json(path)


def _open_json(path: Path) -> InspectLog:
    header = read_json(path)

    def samples() -> Iterator[tuple[str, Object]]:
        for place, sample in enumerate(optional(header, "samples", list, str(path)) or ()):
            where = f"{path}: samples[{place}]"
            if not isinstance(sample, dict):
                raise RecordedError(
                    f"{where}: expected an object; give the log as Inspect wrote it"
                )
            yield where, sample

    return InspectLog(path, header, samples)


def _open_archive(path: Path) -> InspectLog:
    names = _names(path)
    finished = "header.json" in names
    beginning = "header.json" if finished else "_journal/start.json"
    if beginning not in names:
        raise RecordedError(f"{path}: not an Inspect log, it has no header.json; copy it again")
    [(_, header)] = _members(path, [beginning])
    if not finished:
        header["status"] = "started"

    def samples() -> Iterator[tuple[str, Object]]:
        yield from _members(path, [name for name in names if _SAMPLE.fullmatch(name)])

    return InspectLog(path, header, samples)


def _names(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise RecordedError(
            f"{path}: not an archive ({error}), as a log is while its run goes on; finish the run "
            "or copy the log again"
        ) from error


def _members(path: Path, names: list[str]) -> Iterator[tuple[str, Object]]:
    with zipfile.ZipFile(path) as archive:
        compressed = {info.compress_type for info in archive.infolist()}
    library: Any = zipfile
    damage: tuple[type[Exception], ...] = (zlib.error, EOFError, ValueError, NotImplementedError)
    if _ZSTANDARD in compressed and sys.version_info < (3, 14):
        try:
            from backports import zstd
            from backports.zstd import zipfile as library
        except ImportError as error:
            raise RecordedError(
                f"{path}: compressed by Zstandard, which this Python cannot read alone; install "
                'it with pip install "pytest-maxrandom[inspect]"'
            ) from error
        damage = (*damage, zstd.ZstdError)
    with library.ZipFile(path) as archive:
        for name in names:
            where = f"{path}: {name}"
            try:
                content = archive.read(name)
            except (*damage, library.BadZipFile) as error:
                raise RecordedError(f"{where}: damaged: {error}; copy the log again") from error
            yield where, parse(content, where)
