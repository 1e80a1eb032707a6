"""The records of a run, gathered in the process that writes the reports."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_maxrandom.record import (
    ALLOWED,
    BY_HAND,
    LISTS,
    UNREADABLE,
    Adjustment,
    Outcome,
    Record,
    RunRecord,
    adapter_of,
    plain,
)

RECORDS = pytest.StashKey[Sequence[Record]]()
"""The records of a pytest item: one for an item of a suite."""

_RUN = pytest.StashKey[str]()

CELLS = pytest.StashKey[str]()
"""The answers of a claim, packed, where a page is asked for."""


def run_name(config: pytest.Config) -> str:
    """Return what the session is called in ledgers, the same in all of its processes."""
    name: str = getattr(config, "workerinput", {}).get("testrunuid", "")
    return config.stash.setdefault(_RUN, name or uuid.uuid4().hex)


def attach(item: pytest.Item, report: pytest.TestReport) -> None:
    """Let the item's records travel with its report, as plain dictionaries."""
    decisive = report.when == "call" or not report.passed
    if decisive and RECORDS in item.stash:
        from pytest_maxrandom.reports.wording import word_remarks

        for record in item.stash[RECORDS]:
            word_remarks(record)
        kinds = {kind: name for name, kind in LISTS.items()}
        found = [(kinds[type(record)], plain(record)) for record in item.stash[RECORDS]]
        # A worker of pytest-xdist would send each of its values by itself.
        sent = hasattr(item.config, "workerinput")
        vars(report)["maxrandom"] = json.dumps(found) if sent else found
        if CELLS in item.stash:
            vars(report)["maxrandom_cells"] = {item.nodeid: item.stash[CELLS]}


def attached(report: pytest.TestReport) -> Sequence[tuple[str, dict[str, Any]]]:
    """Return the names of the lists, and the records, that travelled with a report."""
    found = getattr(report, "maxrandom", ())
    if isinstance(found, str):
        vars(report)["maxrandom"] = found = json.loads(found)
    return found


class Run:
    """Accumulates what the reports of a run say of claims.

    Attributes
    ----------
    cells : dict of str to str
        By the ids of claims their answers, packed, where a page is asked for.
    """

    def __init__(self, adjustment: Adjustment = "holm") -> None:
        self._adjustment = adjustment
        self._found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in LISTS}
        self._selected: dict[str, None] = {}
        self.cells: dict[str, str] = {}
        self.interrupted = False
        self.broken: list[str] = []

    def select(self, node_ids: Iterable[str]) -> None:
        """Take note of the claims that are to be tested."""
        self._selected.update(dict.fromkeys(node_ids))

    def add(self, report: pytest.TestReport) -> None:
        """Take over the records that travelled with a report."""
        for name, record in attached(report):
            self._found[name][record["id"]] = {**record, "outcome": _outcome(report, record)}
        self.cells |= getattr(report, "maxrandom_cells", {})

    def __bool__(self) -> bool:
        return bool(any(self._found.values()) or self._selected or self.broken)

    def leaks(self) -> bool:
        """Tell whether arms are tuned on the scored text, as all tasks together show."""
        if not self._found["contamination"]:
            return False
        from pytest_maxrandom.reports.summary import leaks

        return bool(leaks(self.record()))

    def record(self) -> RunRecord:
        """Return the run as the reports show it, in the order of collection."""
        from pytest_maxrandom.reports.gathering import adjust, computing, versions

        order = {node_id: place for place, node_id in enumerate(self._selected)}
        reported = set().union(*self._found.values())
        broken = [*self.broken]
        content: dict[str, Any] = {
            name: sorted(
                _sound(LISTS[name], found.values(), broken),
                key=lambda record: order.get(record.id, len(order)),
            )
            for name, found in self._found.items()
        }
        run = RunRecord(
            **content,
            adjustment=self._adjustment,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=versions(),
            interrupted=self.interrupted,
            broken=broken,
            not_run=len(self._selected.keys() - reported),
        )
        run.versions |= computing(run)
        adjust(run.claims, self._adjustment)
        if run.comparisons:
            from pytest_maxrandom.studies.arms.conclude import adjust_over_tasks, over_tasks

            adjust_over_tasks(run.comparisons)
            run.over_tasks = over_tasks(run.comparisons)
        if run.contamination:
            from pytest_maxrandom.studies.arms.conclude import contamination_over_tasks

            run.contamination_over_tasks = contamination_over_tasks(run.contamination)
        return run


def _sound(
    kind: type[Record], records: Iterable[dict[str, Any]], broken: list[str]
) -> list[Record]:
    """Return the records that are what they should be; of others, say what is wrong."""
    from pydantic import ValidationError

    sound = []
    for record in records:
        try:
            sound.append(adapter_of(kind).validate_python(record))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            broken.append(
                f"{record.get('suite')}:{record.get('line')}: {record['id']}: {UNREADABLE} "
                f"({where}: {first['msg']}), so its numbers are left out"
            )
    return sound


def _outcome(report: pytest.TestReport, record: dict[str, Any]) -> Outcome:
    expected = hasattr(report, "wasxfail")
    if record.get("cannot_tell") and report.when == "call":
        return "cannot tell"
    if report.skipped:
        return "xfailed" if expected else "skipped"
    if record.get("backend") == BY_HAND and not expected:
        # A test may catch what its claim raises, or fail for another reason.
        if record["passed"] is None:
            return "error"
        return "passed" if record["passed"] else "failed"
    if report.passed:
        if record["passed"] is False:  # whoever changed what pytest says, the numbers stand
            return "failed"
        if record.get("finding") == "cannot tell" and record["passed"] is None:
            return ALLOWED
        return "xpassed" if expected else "passed"
    if record["passed"] is None or report.when != "call":
        return "error"
    return "xpassed" if record["passed"] and record["xfail"] else "failed"
