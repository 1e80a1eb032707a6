"""The readers, as tests call them: with what a suite would say of the results as arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.recorded.logs import inspect, lm_eval
from pytest_maxrandom.recorded.tables import summary, table
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.suite.recorded import (
    InspectResults,
    LmEvalResults,
    LogFields,
    SummaryColumns,
    SummaryResults,
    TableColumns,
    TableResults,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers


def read_table(
    path: Path, columns: TableColumns | None = None, *, ragged: bool = False, **meant: Any
) -> list[Answers]:
    columns = columns or TableColumns()
    spec = TableResults(path=str(path), format="table", columns=columns, ragged=ragged)
    return table.read_table(path, spec, Meant(**meant))


def read_summary(path: Path, columns: SummaryColumns | None = None, **meant: Any) -> list[Answers]:
    spec = SummaryResults(path=str(path), format="summary", columns=columns or SummaryColumns())
    return summary.read_summary(path, spec, Meant(**meant))


def read_lm_eval(path: Path, *, cluster: str | None = None, **said: Any) -> list[Answers]:
    columns = LogFields(cluster=cluster)
    spec = LmEvalResults(path=str(path), format="lm_eval", columns=columns, **said)
    return lm_eval.read_lm_eval(path, spec, Meant())


def read_inspect(path: Path, *, cluster: str | None = None, **said: Any) -> list[Answers]:
    columns = LogFields(cluster=cluster)
    spec = InspectResults(path=str(path), format="inspect", columns=columns, **said)
    return inspect.read_inspect(path, spec, Meant())
