"""Claims that cannot be tested here: their data or their model are missing, and the suite says so.

`if_missing` of a task or a model says where to get what is missing. Without it, a file that is not
there is a mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.arms import arms_of
from pytest_maxrandom.claims.planned import ClaimOfSuite
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.record import ClaimRecord, note
from pytest_maxrandom.suite.claims import claimed
from pytest_maxrandom.tasks.load import absent_data, absent_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.claims.arms import Arm
    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.tasks.task import Where


@dataclass(frozen=True, eq=False, kw_only=True)
class MissingClaim(ClaimOfSuite):
    """A claim that is skipped, because its data or its model are not here.

    Attributes
    ----------
    arm : Arm
        The arm, or else the model, that the claim is about.
    suite : SuiteSpec
        The suite with what its arm changes.
    """

    model: ModelSpec
    arm: Arm
    suite: SuiteSpec

    @property
    def simulated(self) -> bool:
        """Whether a rule would make the answers up."""
        return self.model.simulated

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim; its message will say why it is skipped."""
        revision = getattr(self.model, "revision", None)
        record = self.begun(node_id, suite, revision=revision, scoring=self.suite.scoring)
        return note(record, *self.arm.notes)


def missing_data(task: TaskSpec, base: Path) -> str | None:
    """Say which file of a task is missing, and where to get it; None where the task must be read.

    Parameters
    ----------
    base : Path
        The folder that paths are relative to.
    """
    if task.if_missing is None or (path := absent_file(task, base)) is None:
        return None
    return f"{task.if_missing} (there is no {path})"


def missing_named(task: TaskSpec, base: Path, where: Where) -> str | None:
    """Say which data of one task the hub would have, and where to get them; None where it is read.

    Raises
    ------
    SuiteError
        If its source cannot say.
    """
    if task.if_missing is None or (why := absent_data(task, base, where)) is None:
        return None
    return f"{task.if_missing} ({why})"


def missing_models(suite: Suite, backends: Backends) -> Iterator[MissingClaim]:
    """Yield the claims on tasks that are here about models that are not."""
    for arm in arms_of(suite.spec):
        if reason := _no_model(suite, arm, backends):
            for index, task in enumerate(suite.spec.tasks):
                yield from _claims(suite, arm, task, suite.line("tasks", index), reason)


def missing_claims(suite: Suite, backends: Backends) -> list[MissingClaim]:
    """Return the claims that are skipped: no other is, and none of them is left out."""
    found = [*missing_models(suite, backends)]
    for arm in arms_of(suite.spec) if suite.skipped else ():
        also = _no_model(suite, arm, backends)
        for each in suite.skipped:
            reason = "; ".join(filter(None, (each.reason, also)))
            found += _claims(suite, arm, each.spec, each.line, reason)
    return found


def _no_model(suite: Suite, arm: Arm, backends: Backends) -> str | None:
    """Say that an arm's model is not here, and where to get it; None where it is."""
    if arm.model.if_missing is None:
        return None
    if not (why := backends.absent(arm.model, suite.path.parent)):
        return None
    return f"{arm.model.if_missing} ({why})"


def _claims(
    suite: Suite, arm: Arm, task: TaskSpec, line: int, reason: str
) -> Iterator[MissingClaim]:
    spec = arm.of(suite.spec)
    for shots in spec.prompts.shots:
        yield MissingClaim(
            **MissingClaim.stated(spec, task, arm.name, shots),
            line=line,
            missing=reason,
            model=arm.model,
            claim=Claim.of(claimed(task.assertion, spec.assertion)),
            arm=arm,
            suite=spec,
        )
