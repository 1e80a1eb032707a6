"""Where a suite says that results are, and how they are read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.summary import RecordedMaximum
    from pytest_maxrandom.suite.base import Spec
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


def read_results(spec: ResultsSpec, path: Path, meant: Meant) -> list[Results]:
    """Read all results of a file or folder.

    Parameters
    ----------
    spec : ResultsSpec
        Tells the format, and what its reader needs to know.
    path : Path
        Where they are.
    meant : Meant
        What the suite is about.

    Raises
    ------
    RecordedError
        If they cannot be read, or contradict themselves.
    """
    match spec:
        case NpzResults():
            from pytest_maxrandom.recorded.npz import read_npz

            return _whole(read_npz(path), spec)
        case PredictionsResults():
            from pytest_maxrandom.recorded.predictions import read_predictions

            return _whole(read_predictions(path), spec)
        case TableResults():
            from pytest_maxrandom.recorded.tables.table import Columns, read_table

            columns = Columns(**_given(spec.columns))
            return [*read_table(path, columns, **vars(meant), ragged=spec.ragged)]
        case SummaryResults():
            from pytest_maxrandom.recorded.tables.summary import SummaryColumns, read_summary

            return [*read_summary(path, SummaryColumns(**_given(spec.columns)), **vars(meant))]
        case LmEvalResults():
            from pytest_maxrandom.recorded.logs.lm_eval import read_lm_eval

            return [*read_lm_eval(path, metric=spec.metric, cluster=spec.columns.cluster)]
        case InspectResults():
            from pytest_maxrandom.recorded.logs.inspect import read_inspect

            cluster = spec.columns.cluster
            return [*read_inspect(path, scorer=spec.scorer, shots=spec.shots, cluster=cluster)]
    raise RecordedError(f"{path}: no reader of the format {spec.format}")


def _whole(sweeps: list[Answers], spec: WholeSweeps) -> list[Results]:
    for sweep in sweeps if not spec.ragged else ():
        refuse_cut_short(sweep)
    return [*sweeps]


def _given(columns: Spec) -> dict[str, str]:
    return columns.model_dump(exclude_none=True)
