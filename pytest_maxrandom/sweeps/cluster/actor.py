"""What runs on a node of a cluster: a process that has one model, and answers for it."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.models.base import EngineName, Resources
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, Scored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.suite.models import ModelSpec


def version() -> str:
    """Return the version of this package that is installed here."""
    return importlib.metadata.version("pytest-maxrandom")


@dataclass(frozen=True)
class Wanted:
    """A model that nodes are to load from their own files."""

    key: tuple[str, ...]
    """What two claims have in common that share a loaded model."""
    spec: ModelSpec
    base: str
    """The folder of the suite file, which relative paths begin at."""
    digest: str
    """What determines the model's numbers, as the process found it that leads."""
    foretold: Arithmetic
    """What would compute them there."""
    generates: bool
    engine: EngineName
    batch_tokens: int | None
    version: str
    """Of this package."""
    training: Training | None = None
    """What the model is trained on there."""


@dataclass(frozen=True)
class Refused:
    """What was said in place of an answer; errors with arguments of their own do not travel."""

    kind: str
    """Name of the error's class; empty where nobody foresaw it, so that the actor may be broken."""
    sentence: str


class ModelActor:
    """Loads one model and answers jobs; all that it returns can be sent."""

    def __init__(self) -> None:
        self._executor: LocalExecutor | None = None

    def start(self, wanted: Wanted) -> Arithmetic | Refused:
        """Load the model, if the files here are those of the process that leads."""
        if (own := version()) != wanted.version:
            return Refused(
                "ModelError",
                f"it has pytest-maxrandom {own}, expected {wanted.version}; install that there",
            )
        pool = ModelPool(Resources(engine=wanted.engine, batch_tokens=wanted.batch_tokens))
        try:
            located = pool.backends.locate(wanted.spec, Path(wanted.base), wanted.training)
            if pool.identity(located).digest != wanted.digest:
                return Refused(
                    "ModelError",
                    f"its files of {wanted.spec.name} differ from those of the leading process; "
                    "copy them there",
                )
            executor = LocalExecutor(lambda: pool.get(located, generates=wanted.generates))
            arithmetic = executor.arithmetic
        except MaxRandomError as error:
            return Refused(type(error).__name__, str(error))
        self._executor = executor
        return arithmetic

    def check(self, jobs: Sequence[Job]) -> list[Refused | None]:
        """Return what the model refuses of some jobs, as far as that is known at once."""
        assert self._executor is not None
        outcomes: list[Refused | None] = []
        for job in jobs:
            try:
                self._executor.check([job])
                outcomes.append(None)
            except MaxRandomError as error:
                outcomes.append(Refused(type(error).__name__, str(error)))
        return outcomes

    def run(self, jobs: Sequence[Job]) -> list[Scored | Refused]:
        """Return the answers to some jobs; those behind one that failed are not computed."""
        assert self._executor is not None
        done: list[Scored | Refused] = []
        for job in jobs:
            done.append(self._one(job))
            if isinstance(done[-1], Refused):
                break
        return done

    def _one(self, job: Job) -> Scored | Refused:
        assert self._executor is not None
        try:
            _, scored = next(iter(self._executor.run([job])))
        except MaxRandomError as error:
            return Refused(type(error).__name__, str(error))
        except Exception as error:  # a driver, a library: the next actor may do better
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return Refused("", reason)
        return scored
