"""Suites as pytest files, and claims as pytest items."""

from __future__ import annotations

import dataclasses
import re
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ClaimFailed, MaxRandomError, SuiteError
from pytest_maxrandom.evaluation import Evaluation, Means
from pytest_maxrandom.models.registry import ModelPool, model_key
from pytest_maxrandom.options import read_settings
from pytest_maxrandom.plan import plan
from pytest_maxrandom.progress import Progress
from pytest_maxrandom.reports.predictions import append
from pytest_maxrandom.run import RECORDS
from pytest_maxrandom.store import open_store
from pytest_maxrandom.suite.loader import load_suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.plan import PlannedClaim

_MEANS = pytest.StashKey[Means]()
_NUMBER = re.compile(r"\d+$")
_KNOWN = (
    "task", "model", "quantization", "shots", "n", "t", "standard_baseline", "max_random_baseline",
)  # fmt: skip
_FOUND = (
    "best_correct", "best_accuracy", "p_standard", "p_max", "guaranteed_p", "permutation_p",
    "majority_rate", "verdict", "passed",
)  # fmt: skip
"""What stands in a JUnit report: flat pairs of builtin types."""


class SuiteFile(pytest.File):
    """One suite file."""

    def collect(self) -> Iterator[ClaimItem]:
        """Yield the suite's claims; all its mistakes at once, if it has any."""
        try:
            claims = plan(load_suite(self.path))
        except SuiteError as error:
            raise self.CollectError(self._shown(error)) from None
        for claim in claims:
            yield ClaimItem.from_parent(self, name=claim.name, planned=claim)

    def _shown(self, error: SuiteError) -> str:
        """Return the problems with paths as the user would type them."""
        here = self.config.invocation_params.dir
        return "\n".join(
            str(dataclasses.replace(problem, path=_relative(problem.path, here)))
            for problem in error.problems
        )


class ClaimItem(pytest.Item):
    """One claim: a model, a task and a number of shots."""

    def __init__(
        self,
        *,
        name: str,
        parent: SuiteFile,
        planned: PlannedClaim,
        **kwargs: Any,
    ) -> None:
        # Since pytest 9.2 --lf compares ids by their parts. Only an id that is read from its text
        # has the bracket as a part; one that is made from the name has not.
        super().__init__(name=name, parent=parent, nodeid=f"{parent.nodeid}::{name}", **kwargs)
        self.planned = planned
        self.record = planned.record(self.nodeid, self.nodeid.partition("::")[0])
        self.stash[RECORDS] = [self.record]
        for mark in planned.marks:
            self.add_marker(mark)
        if planned.xfail:
            self.add_marker(
                pytest.mark.xfail(reason=planned.xfail, strict=True, raises=ClaimFailed)
            )

    def __repr__(self) -> str:
        return f"<Claim {self.name} t={self.record.t} n={self.record.n}>"

    def setup(self) -> None:
        """Load the model, or take the one at hand, where results are missing."""
        self._tell(_KNOWN)
        planned = [item.planned for item in self.session.items if isinstance(item, ClaimItem)]
        try:
            self._evaluation = Evaluation(self.planned, planned, _means(self.config))
            self._evaluation.prepare()
        except MaxRandomError as error:
            self.record.message = str(error)
        if self.record.message:
            # pytest asks repr_failure for what happens in the call only.
            pytest.fail(self.record.message, pytrace=False)

    def runtest(self) -> None:
        """Sweep the prompts and judge the best of them."""
        means = _means(self.config)
        try:
            with Progress(self.config, self.name) as progress:
                predictions = self._evaluation.run(self.record, progress)
        finally:
            self.record.warnings = self._evaluation.warnings
        if means.settings.predictions:
            append(means.settings.predictions, means.process, self.record, predictions)
        self._tell(_FOUND)
        if self.record.message:
            raise ClaimFailed(self.record.message)

    def teardown(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self.__dict__.pop("_evaluation", None)

    def _tell(self, names: tuple[str, ...]) -> None:
        self.user_properties += [(name, getattr(self.record, name)) for name in names]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line for what a user can understand and mend."""
        expected = isinstance(excinfo.value, ClaimFailed | MaxRandomError)
        if expected and not self.config.getoption("fulltrace"):
            self.record.message = str(excinfo.value)
            return self.record.message
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point to the claim's task in the suite file."""
        return self.path, self.planned.line - 1, self.name


def order_by_model(items: list[pytest.Item]) -> None:
    """Let claims that share a model follow each other, in the places that claims held."""
    places = [place for place, item in enumerate(items) if isinstance(item, ClaimItem)]
    groups: dict[tuple[str, str], list[pytest.Item]] = {}
    for place in places:
        groups.setdefault(_key(items[place]), []).append(items[place])
    ordered = (item for group in groups.values() for item in group)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


def release_model(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Drop the model in memory, unless the next item needs it."""
    if isinstance(item, ClaimItem) and (
        not isinstance(nextitem, ClaimItem) or _key(item) != _key(nextitem)
    ):
        _means(item.config).pool.drop()


def _key(item: pytest.Item) -> tuple[str, str]:
    assert isinstance(item, ClaimItem)
    return model_key(item.planned.model, item.planned.base)


def close(config: pytest.Config) -> None:
    """Let go of the store, whose file is complete without others beside it from then on."""
    if _MEANS in config.stash:
        config.stash[_MEANS].store.close()


def _means(config: pytest.Config) -> Means:
    if _MEANS not in config.stash:
        settings = read_settings(config)
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        process = worker.get("workerid", "main")
        pool = ModelPool(
            worker.get("workercount", 1),
            int(number[0]) if (number := _NUMBER.search(process)) else 0,
            engine=settings.engine,
            batch_tokens=settings.batch_tokens,
        )
        config.stash[_MEANS] = Means(
            pool=pool,
            store=open_store(settings.store),
            run=worker.get("testrunuid") or uuid.uuid4().hex,
            process=process,
            settings=settings,
        )
    return config.stash[_MEANS]


def _relative(path: Path, here: Path) -> Path:
    return path.relative_to(here) if path.is_relative_to(here) else path
