"""Where a suite says that results are, and how they are read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.refusals import refuse_cut_short
from pytest_maxrandom.suite.recorded import (
    InspectResults,
    LmEvalResults,
    NpzResults,
    PredictionsResults,
    ResultsSpec,
    SummaryResults,
    TableResults,
    WholeSweeps,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.summary import RecordedMaximum
    from pytest_maxrandom.sweeps.answers import Answers

    Results: TypeAlias = Answers | RecordedMaximum

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
                f"the environment variable {match['name']} is not set; set it, or write what "
                f"stands in for it: ${{{match['name']}:-folder}}"
            )
        return found

    return base / _VARIABLE.sub(value, spec.path)


@dataclass(frozen=True)
class Meant:
    """What results are about where they do not say it themselves."""

    model: str
    task: str | None
    shots: int | None


class Reader(Protocol):
    """Reads the results of one format.

    A new format needs a spec in `pytest_maxrandom.suite.recorded`, a reader, and its line in
    `READERS`. Each sweep in the file gives `Answers` with its model, task and shots; a published
    maximum gives a `RecordedMaximum`. Nothing after that knows the format.
    """

    def __call__(self, path: Path, spec: Any, meant: Meant) -> Sequence[Results]:
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


def read_results(spec: ResultsSpec, path: Path, meant: Meant) -> list[Results]:
    """Read all results of a file or folder, by the format that the suite names (see `Reader`).

    Raises
    ------
    RecordedError
        If they cannot be read, or contradict themselves.
    """
    read = READERS.get(type(spec))
    if read is None:
        raise RecordedError(f"{path}: no reader of the format {spec.format}")
    return [*read(path, spec, meant)]


def _npz(path: Path, spec: NpzResults, meant: Meant) -> list[Results]:
    from pytest_maxrandom.recorded.npz import read_npz

    return _whole(read_npz(path), spec)


def _predictions(path: Path, spec: PredictionsResults, meant: Meant) -> list[Results]:
    from pytest_maxrandom.recorded.predictions import read_predictions

    return _whole(read_predictions(path), spec)


def _table(path: Path, spec: TableResults, meant: Meant) -> Sequence[Results]:
    from pytest_maxrandom.recorded.tables.table import read_table

    return read_table(path, spec.columns, **vars(meant), ragged=spec.ragged)


def _summary(path: Path, spec: SummaryResults, meant: Meant) -> Sequence[Results]:
    from pytest_maxrandom.recorded.tables.summary import read_summary

    return read_summary(path, spec.columns, **vars(meant))


def _lm_eval(path: Path, spec: LmEvalResults, meant: Meant) -> Sequence[Results]:
    from pytest_maxrandom.recorded.logs.lm_eval import read_lm_eval

    return read_lm_eval(path, metric=spec.metric, cluster=spec.columns.cluster)


def _inspect(path: Path, spec: InspectResults, meant: Meant) -> Sequence[Results]:
    from pytest_maxrandom.recorded.logs.inspect import read_inspect

    cluster = spec.columns.cluster
    return read_inspect(path, scorer=spec.scorer, shots=spec.shots, cluster=cluster)


READERS: dict[type, Reader] = {
    NpzResults: _npz,
    PredictionsResults: _predictions,
    TableResults: _table,
    SummaryResults: _summary,
    LmEvalResults: _lm_eval,
    InspectResults: _inspect,
}
"""The reader of each format; it is imported where a suite needs it."""


def _whole(sweeps: list[Answers], spec: WholeSweeps) -> list[Results]:
    for sweep in sweeps if not spec.ragged else ():
        refuse_cut_short(sweep)
    return [*sweeps]
