"""Recorded predictions of any known kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.sweeps.answers import Answers


def read(path: Path) -> list[Answers]:
    """Read all sweeps of a file; its name's ending tells the kind.

    Parameters
    ----------
    path : Path
        An ``.npz`` archive (see `pytest_maxrandom.recorded.npz`), or a ``.jsonl`` file that
        ``pytest --maxrandom-predictions`` wrote.

    Raises
    ------
    RecordedError
        If it cannot be read, contradicts itself, or is of no known kind.
    """
    match path.suffix.lower():
        case ".npz":
            from pytest_maxrandom.recorded.npz import read_npz

            return read_npz(path)
        case ".jsonl":
            from pytest_maxrandom.recorded.predictions import read_predictions

            return read_predictions(path)
        case ending:
            raise RecordedError(
                f"{path}: found the ending {ending!r}, expected .npz (arrays of right answers) or "
                ".jsonl (written by pytest --maxrandom-predictions)"
            )
