"""NumPy archives of right and wrong answers, several sweeps in one file.

For each sweep the archive has the arrays ``TASK__SHOTS__correct`` and ``__evaluated`` (booleans,
shape (t, n)), ``__prompt_ids`` (t), ``__example_ids`` (n) and, with demonstrations,
``__demonstration_ids`` (t, shots). The file is named after the model: ``correct_MODEL.npz``.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.sweep import RecordedSweep

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_KEY = re.compile(r"(?P<task>.+)__(?P<shots>\d+)__correct")


def read_npz(path: Path) -> list[RecordedSweep]:
    """Read all sweeps of an archive, in its order.

    Raises
    ------
    RecordedError
        If it cannot be read, or does not hold what the module's documentation says.
    """
    arrays = _arrays(path)
    sweeps = [
        _sweep(path, match["task"], int(match["shots"]), match.group()[: -len("correct")], arrays)
        for match in map(_KEY.fullmatch, arrays)
        if match
    ]
    if not sweeps:
        found = ", ".join(list(arrays)[:4]) or "nothing"
        raise RecordedError(
            f"{path}: no array is named TASK__SHOTS__correct, found {found}; name the arrays of "
            "each sweep after its task and number of shots"
        )
    return sweeps


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise RecordedError(f"{path}: not an .npz archive; write it with numpy.savez")
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecordedError(f"{path}: a damaged .npz archive: {error}; copy it again") from error


def _sweep(
    path: Path, task: str, shots: int, prefix: str, arrays: Mapping[str, NDArray[np.generic]]
) -> RecordedSweep:
    model = path.stem.removeprefix("correct_")
    prompt_ids = _ids(path, prefix + "prompt_ids", arrays, 1)
    shown = np.empty((len(prompt_ids), 0), dtype=np.str_)
    if shots:
        shown = _ids(path, prefix + "demonstration_ids", arrays, 2)
        if shown.shape[1] != shots:
            raise RecordedError(
                f"{path}: {prefix}demonstration_ids: found {shown.shape[1]} demonstrations for "
                f"each prompt, expected {shots} as the name says"
            )
    demonstrations = tuple(tuple(row) for row in shown.tolist())
    ids = tuple(prompt_ids.tolist())
    return RecordedSweep(
        path=path,
        claim=f"{task}[{model}-{shots}shot]",
        model=model,
        task=task,
        shots=shots,
        prompt_ids=ids,
        example_ids=tuple(_ids(path, prefix + "example_ids", arrays, 1).tolist()),
        identities=tuple(map(repr, demonstrations)) if shots else ids,
        demonstration_ids=demonstrations,
        correct=_flags(path, prefix + "correct", arrays),
        evaluated=_flags(path, prefix + "evaluated", arrays),
        chances=None,
    )


def _array(
    path: Path, name: str, arrays: Mapping[str, NDArray[np.generic]], dimensions: int
) -> NDArray[np.generic]:
    if name not in arrays:
        raise RecordedError(f"{path}: the array {name} is missing; write it with the others")
    if arrays[name].ndim != dimensions:
        raise RecordedError(
            f"{path}: {name}: found the shape {arrays[name].shape}, expected {dimensions} "
            "dimension(s)"
        )
    return arrays[name]


def _ids(
    path: Path, name: str, arrays: Mapping[str, NDArray[np.generic]], dimensions: int
) -> NDArray[np.str_]:
    ids = _array(path, name, arrays, dimensions)
    if ids.dtype.kind not in "iuU":
        raise RecordedError(
            f"{path}: {name}: found values of the type {ids.dtype}, expected integers or text"
        )
    return ids.astype(np.str_)


def _flags(path: Path, name: str, arrays: Mapping[str, NDArray[np.generic]]) -> NDArray[np.bool_]:
    flags = _array(path, name, arrays, 2)
    if flags.dtype != np.bool_:
        raise RecordedError(
            f"{path}: {name}: found values of the type {flags.dtype}, expected booleans"
        )
    return flags.astype(np.bool_)
