"""Suites as pytest files, the order of their items, and what they would cost."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.untestable import MissingClaim
from pytest_maxrandom.errors import MaxRandomError, SuiteError
from pytest_maxrandom.hooks.items.base import (
    SuiteItem,
    backends,
    collected,
    drop_model,
    session_state,
)
from pytest_maxrandom.hooks.items.claims import MissingItem, RecordedItem, ReplicatesItem, SweepItem
from pytest_maxrandom.hooks.items.studies import (
    BestModelsItem,
    ComparisonItem,
    ContaminationItem,
    LabelBiasItem,
)
from pytest_maxrandom.studies.arms.all_models import PlannedBestModels
from pytest_maxrandom.studies.arms.compared import (
    Compared,
    PlannedComparison,
    PlannedContamination,
)
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.studies.replicates import PlannedReplicates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.dry_run import Asked


ITEMS: dict[type, type[SuiteItem]] = {
    PlannedClaim: SweepItem,
    RecordedClaim: RecordedItem,
    MissingClaim: MissingItem,
    PlannedReplicates: ReplicatesItem,
    PlannedLabelBias: LabelBiasItem,
    PlannedComparison: ComparisonItem,
    PlannedBestModels: BestModelsItem,
    PlannedContamination: ContaminationItem,
}
"""What tests each kind of what is planned."""


class ComparedTask(pytest.Collector):
    """One task, whose children compare arms on it, so that their ids can be given to pytest."""

    def __init__(
        self, *, name: str, parent: pytest.File, planned: Sequence[Compared], **kwargs: Any
    ) -> None:
        super().__init__(name=name, parent=parent, nodeid=f"{parent.nodeid}::{name}", **kwargs)
        self._planned = planned

    def collect(self) -> Iterator[SuiteItem]:
        """Yield the comparisons."""
        for each in self._planned:
            yield ITEMS[type(each)].from_parent(self, name=each.name, planned=each)


class SuiteFile(pytest.File):
    """One suite file."""

    def collect(self) -> Iterator[SuiteItem | ComparedTask]:
        """Yield the suite's items; all its mistakes at once, if it has any."""
        try:
            planned = plan_file(self.path, backends(self.config))
        except SuiteError as error:
            raise self.CollectError(self._shown(error)) from None
        collected(self.config).extend(planned)
        compared: dict[str, list[Compared]] = {}
        for each in planned:
            if isinstance(each, Compared):
                compared.setdefault(each.task, []).append(each)
            else:
                yield ITEMS[type(each)].from_parent(self, name=each.name, planned=each)
        for task, all_of_task in compared.items():
            yield ComparedTask.from_parent(self, name=task, planned=all_of_task)

    def _shown(self, error: SuiteError) -> str:
        """Return the problems with paths as the user would type them."""
        here = self.config.invocation_params.dir
        return "\n".join(
            str(dataclasses.replace(problem, path=_relative(problem.path, here)))
            for problem in error.problems
        )


def order_by_model(items: list[pytest.Item]) -> None:
    """Let items that share a model follow each other, in the places that items of suites held."""
    places = [place for place, item in enumerate(items) if isinstance(item, SuiteItem)]
    groups: dict[tuple[bool, tuple[str, ...] | None], list[pytest.Item]] = {}
    for place in places:
        item = items[place]
        last = isinstance(item, SuiteItem) and item.last
        groups.setdefault((last, _model(item)), []).append(item)
    ordered = (item for key in sorted(groups, key=lambda key: key[0]) for item in groups[key])
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


def release_model(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Drop the model in memory, unless the next item needs it."""
    model = _model(item)
    if model is not None and model != _model(nextitem):
        drop_model(item.config)


def foretell(session: pytest.Session) -> None:
    """Print what the session's claims would cost.

    What would not run is an error of the session.
    """
    from pytest_maxrandom.claims.dry_run import costs
    from pytest_maxrandom.reports.dry_run import lines

    config = session.config
    items = [item for item in session.items if isinstance(item, SuiteItem)]
    asked: list[Asked] = []
    mistakes: dict[str, list[str]] = {}
    for item in items:
        try:
            asked += item.asks()
        except MaxRandomError as error:
            mistakes.setdefault(str(error), []).append(item.nodeid)
    foretold = costs(asked, session_state(config)) if asked else []
    drop_model(config)
    recorded: dict[str, int] = {}
    for item in items:
        if isinstance(item.planned, RecordedClaim):
            name = item.planned.model.name
            recorded[name] = recorded.get(name, 0) + 1
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.section("maxrandom: dry run")
        for line in lines(foretold, recorded, mistakes):
            reporter.write_line(line)
    session.testsfailed += len(mistakes) + sum(cost.problem is not None for cost in foretold)


def _model(item: pytest.Item | None) -> tuple[str, ...] | None:
    return item.model if isinstance(item, SuiteItem) else None


def _relative(path: Path, here: Path) -> Path:
    return path.relative_to(here) if path.is_relative_to(here) else path
