"""What suites name that is not there: claims that are skipped, and mistakes in named files.

`if_missing` of a task or a model says where to get what is missing. Without it, a file that is not
there is a mistake. What is wrong with the files of a wrong suite is reported together with its own
mistakes, so that nobody mends one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.arms import arms_of
from pytest_maxrandom.claims.planned import ClaimOfSuite
from pytest_maxrandom.claims.training import wrong_files
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import (
    MaxRandomError,
    ModelNotFound,
    Problem,
    RecordedError,
    SuiteError,
    dotted,
)
from pytest_maxrandom.record import ClaimRecord, note
from pytest_maxrandom.recorded.model_results import ModelResults
from pytest_maxrandom.suite.claims import claimed
from pytest_maxrandom.suite.sound import sound_parts, sound_results, sound_texts
from pytest_maxrandom.suite.tasks import TaskSpec
from pytest_maxrandom.tasks.load import absent_data, absent_file, load_task, members, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.claims.arms import Arm
    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.sound import Part
    from pytest_maxrandom.suite.spec import SuiteSpec
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


def in_named_files(path: Path, backends: Backends) -> Iterator[Problem]:
    """Yield what is wrong with the files that a wrong suite names where it is right."""
    parts, line = sound_parts(path)
    for part in parts:

        def where(*keys: str, part: Part = part) -> tuple[Path, int | None]:
            return path, line(*part.place, *keys)

        try:
            _look(part, path, where, backends)
        except SuiteError as error:
            # Without some of its keys, of a task that alone is certain which file there is not.
            yield from (one for one in error.problems if part.whole or one.path == path)
        except MaxRandomError as error:
            wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
            for key, message in wrong.items():
                yield Problem(*where(key), f"{dotted((*part.place, key))}: {message}")
    yield from _in_results(path)
    yield from wrong_files(sound_texts(path), path.parent, line, path)


def _look(
    part: Part,
    path: Path,
    where: Callable[..., tuple[Path, int | None]],
    backends: Backends,
) -> None:
    if not isinstance(part.spec, TaskSpec):
        if part.spec.if_missing is None or backends.absent(part.spec, path.parent) is None:
            backends.locate(part.spec, path.parent)
        return
    if missing_data(part.spec, path.parent):
        return
    for one in members(part.spec, path.parent, where):
        if missing_named(one, path.parent, where):
            continue
        task = load_task(one, path.parent, where)
        if part.whole:
            set_aside(task, one, path.parent, partial(where, "test"))


def _in_results(path: Path) -> Iterator[Problem]:
    suite, places = sound_results(path)
    if suite is None:
        return
    read = ModelResults(suite)
    for model, place in zip(suite.spec.models, places, strict=True):
        try:
            read.of(model)
        except RecordedError as error:
            line = suite.line("models", place, "results")
            yield Problem(path, line, f"models[{place}].results: {error}")
