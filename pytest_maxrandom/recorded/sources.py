"""Where a suite says that results are, and how they are read."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Protocol

from pytest_maxrandom.errors import MaxRandomError, RecordedError
from pytest_maxrandom.recorded.logs.inspect import read_inspect
from pytest_maxrandom.recorded.logs.lm_eval import read_lm_eval
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.predictions import read_predictions
from pytest_maxrandom.recorded.tables.summary import read_summary
from pytest_maxrandom.recorded.tables.table import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import ResultsSpec, WholeSweeps

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(:-(?P<default>[^}]*))?\}")


def locate(spec: ResultsSpec, base: Path) -> Path:
    """Return the path that a suite means; environment variables are filled in.

    Raises
    ------
    RecordedError
        If a variable is not set, and nothing is given in its place.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"]) or match["default"]
        if found is None:
            raise RecordedError(
                f"the environment variable {match['name']} is not set; set it, or write a default: "
                f"${{{match['name']}:-folder}}"
            )
        return found

    return base / _VARIABLE.sub(value, spec.path)


class Reader(Protocol):
    """Reads the results of one format.

    A new format needs a spec in `pytest_maxrandom.suite.recorded`, a reader, and its line in
    `READERS`. Each sweep in the file gives `Answers` with its model, task and shots, as each
    published maximum does (`Answers.published`). Nothing after that knows the format.
    """

    def __call__(self, path: Path, spec: Any, meant: Meant, /) -> Sequence[Answers]:
        """Return all results of a file or folder.

        Parameters
        ----------
        path : Path
            Where they are.
        spec : Spec
            That of the format: what else the suite says of them.
        meant : Meant
            What the suite is about.

        Raises
        ------
        RecordedError
            In one sentence with the file, the line and the way out, if they cannot be read or
            contradict themselves.
        """


def read_results(spec: ResultsSpec, path: Path, meant: Meant) -> list[Answers]:
    """Read all results of a file or folder, by the format that the suite names (see `Reader`).

    Raises
    ------
    RecordedError
        If they cannot be read, or contradict themselves.
    """
    try:
        return [*READERS[spec.format](path, spec, meant)]
    except MaxRandomError:
        raise
    except Exception as error:  # whatever the libraries raise that read files
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise RecordedError(
            f"{path} cannot be read as `format: {spec.format}` ({reason}); check that the file is "
            "complete and has that format"
        ) from error


def _whole(sweeps: list[Answers], spec: WholeSweeps) -> list[Answers]:
    """Refuse sweeps in which a prompt lacks more examples than it can have shown."""
    for sweep in sweeps if not spec.ragged else ():
        sizes = sweep.evaluated.sum(axis=1)
        most, least = int(sizes.argmax()), int(sizes.argmin())
        if sizes[most] - sizes[least] > sweep.shots:
            raise RecordedError(
                f"{sweep.path}: {sweep.claim}: prompt {sweep.prompts[least]!r} was scored on "
                f"{sizes[least]} examples and {sweep.prompts[most]!r} on {sizes[most]}, but "
                f"prompts that leave out their own demonstrations differ by at most {sweep.shots}; "
                "finish the interrupted run, leave its prompt out, or write `ragged: true` in "
                "`results`"
            )
    return sweeps


READERS: dict[str, Reader] = {
    "npz": lambda path, spec, _: _whole(read_npz(path), spec),
    "predictions": lambda path, spec, _: _whole(read_predictions(path), spec),
    "table": read_table,
    "summary": read_summary,
    "lm_eval": read_lm_eval,
    "inspect": read_inspect,
}
"""The reader of each format."""


def read(path: Path) -> list[Answers]:
    """Read all sweeps of a file that needs no suite; its name's ending tells the kind.

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
            return read_npz(path)
        case ".jsonl":
            return read_predictions(path)
        case ending:
            raise RecordedError(
                f"{path}: found the ending {ending!r}, expected .npz (arrays of right answers) or "
                ".jsonl (written by pytest --maxrandom-predictions)"
            )
