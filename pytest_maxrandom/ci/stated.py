"""What the suites of a folder claim, read from their files alone: no model, no test and no pytest.

A gate reads the suites of the base and of the work tree so, before any code of the pull request
runs, and compares them with each other and with what was tested.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.ci.by_hand import hand_written
from pytest_maxrandom.claims.arms import arms_of
from pytest_maxrandom.claims.planned import ClaimOfSuite
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.record import BY_HAND, Severity
from pytest_maxrandom.suite import is_suite
from pytest_maxrandom.suite.claims import AssertSpec, claimed
from pytest_maxrandom.suite.loader import RecordedSuite, Suite, load_any_suite
from pytest_maxrandom.suite.recorded import (
    RecordedModelSpec,
    RecordedSuiteSpec,
    RecordedTaskSpec,
    at_shots,
)
from pytest_maxrandom.tasks.load import members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.suite.incumbent import IncumbentSettings
    from pytest_maxrandom.suite.tasks import TaskSpec

CHECKS = {
    "label_bias": ("label_bias",),
    "replicates": ("replicates",),
    "compare": ("comparisons", "best_models"),
    "contamination": ("contamination",),
}
"""Keys of a suite that ask for more tests, and where a run keeps their records."""
_NOT_READING: Any = {"path": True, "model": True, "shots": True, "columns": {"cluster"}}
"""What of recorded results says nothing of how they are read, or is compared by itself."""
_MOST_BYTES = 1 << 26
"""Of a file with an incumbent's answers, which is compared with the base's."""
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A claim, or a check that goes with claims, as a file states it."""

    file: PurePosixPath
    """From the root that all is relative to."""
    name: str
    """In test ids; of a check the key of the suite that asks for it."""
    backend: str
    asserted: dict[str, Any] = field(default_factory=dict)
    severities: dict[str, Severity] = field(default_factory=dict)
    """What must hold, and what red flags do, as records have it."""
    is_default: bool = False
    """Whether the suite leaves to the program what is claimed."""
    xfail: bool = False
    skips: bool = False
    """Whether its code may skip it when it is called, as only hand-written tests do."""
    clustered: bool = False
    """Whether examples that belong together are declared."""
    of_task: bool = False
    """Whether t counts the prompts of any claim (`count: task`)."""
    budget: int = 0
    """The t that is declared before any is tried; 0 where none is."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """What a suite of recorded results states of them; of a check all that is asked; of a claim by
    hand its checks, and the code that computes them."""
    incumbent: IncumbentSettings | None = None
    """What the best prompt is to surpass, and by which test; None where that is not claimed."""
    control: IncumbentSettings | None = None
    """The blank or constant answer that it is to surpass, in the same way."""
    incumbent_file: str = ""
    """SHA-256 of the file with the incumbent's answers, which its path does not tell; empty where
    there is none."""
    unverified: bool = False
    open_shots: bool = False
    """Whether the numbers of shots stand in the results alone, so that its name lacks them."""
    results: str = ""
    """The file or folder of recorded results, from the root."""

    @property
    def is_check(self) -> bool:
        """Whether it is a key of a suite that asks for more tests than claims."""
        return self.name in CHECKS

    def is_named(self, name: str) -> bool:
        """Tell whether a test of its file, by its name in an id, is about it."""
        if self.backend == BY_HAND:
            return re.sub(r"\[.*\]$|#\d+$", "", name) == self.name
        if self.open_shots:
            begin = self.name.removesuffix("]")
            return re.fullmatch(rf"{re.escape(begin)}(-\d+shot)?\]", name) is not None
        return name == self.name


@dataclass(frozen=True)
class Found:
    """What the files of a folder state."""

    claims: list[Stated]
    unread: dict[PurePosixPath, str]
    """Suites that could not be read, with the first reason."""


def stated_in(root: Path, files: Iterable[PurePosixPath], known: Iterable[PurePosixPath]) -> Found:
    """Read what suites, and hand-written claims, state in some files of a folder, `root`.

    Files that are neither suites nor modules of tests are passed over. The code of tests may import
    or read what is `known`: all files of the repository.
    """
    whole = {root / each for each in known}
    stated, unread = list[Stated](), dict[PurePosixPath, str]()
    for file in files:
        path = root / file
        try:
            if is_suite(path, root):
                stated += _of_suite(path, file)
            elif _TEST_FILE.fullmatch(file.name):
                tests = hand_written(path, root, whole)
                stated += (Stated(file=file, backend=BY_HAND, **vars(one)) for one in tests)
        except (MaxRandomError, OSError, ValueError, SyntaxError, RecursionError) as error:
            unread[file] = str(error).partition("\n")[0].replace(f"{root}{os.sep}", "")
        except MemoryError:  # of Python's parser, whose stack has an end
            unread[file] = "its expressions are nested too deeply"
    return Found(stated, unread)


def _of_suite(path: Path, file: PurePosixPath) -> Iterator[Stated]:
    suite = load_any_suite(path)
    yield from _recorded(suite, file) if isinstance(suite, RecordedSuite) else _run(suite, file)
    spec = suite.spec
    for key in CHECKS:
        if said := getattr(spec, key, None):
            entries = said if isinstance(said, list) else [said]
            asked = dict.fromkeys(entry.model_dump_json() for entry in entries)
            yield Stated(file=file, name=key, backend="", numbers=asked)


def _run(suite: Suite, file: PurePosixPath) -> Iterator[Stated]:
    for arm in arms_of(suite.spec):
        spec = arm.of(suite.spec)
        for entry in suite.spec.tasks:
            assertion = claimed(entry.assertion, spec.assertion)
            for task in _tasks(entry, suite.path.parent):
                for shots in spec.prompts.shots:
                    said = ClaimOfSuite.stated(spec, task, arm.name, shots)
                    yield Stated(
                        **_claim_facts(file, said, assertion, spec.incumbent, suite.path),
                        backend=arm.model.backend,
                        clustered=_is_clustered(task),
                        of_task=isinstance(assertion, AssertSpec) and assertion.count == "task",
                        budget=spec.prompts.budget or 0,
                        unverified=bool(getattr(arm.model, "unverified", False)),
                    )


def _tasks(entry: TaskSpec, base: Path) -> list[TaskSpec]:
    """Return the tasks that one of a suite stands for; itself where only a run can tell."""
    with contextlib.suppress(MaxRandomError, OSError):
        return members(entry, base, lambda *_: (base, None))
    return [entry]


def _is_clustered(spec: object) -> bool:
    return getattr(getattr(spec, "columns", None), "cluster", None) is not None


def _recorded(suite: RecordedSuite, file: PurePosixPath) -> Iterator[Stated]:
    spec = suite.spec
    for model in spec.models:
        for task in spec.tasks:
            assertion = claimed(task.assertion, spec.assertion)
            for shots in spec.prompts.shots or (None,):
                said = ClaimOfSuite.stated(spec, task, model.test_id, shots)
                yield Stated(
                    **_claim_facts(file, said, assertion, spec.incumbent, suite.path, spec.control),
                    backend=model.backend,
                    clustered=_is_clustered(model.results),
                    numbers=_numbers(model, task, shots, spec),
                    open_shots=shots is None,
                    results=os.path.normpath(file.parent / model.results.path),
                )


def _numbers(
    model: RecordedModelSpec,
    task: RecordedTaskSpec,
    shots: int | None,
    spec: RecordedSuiteSpec,
) -> dict[str, Any]:
    """Return what the suite states of the results, which nothing else might tell."""
    t = task.t if shots is None or task.t is None else at_shots(task.t, shots)
    return {
        "t": t,
        "chance": task.chance,
        "source": (task.in_results or task.name, model.results.model),
        "read": (model.results.model_dump_json(exclude=_NOT_READING), spec.aggregate or "mean"),
        "judge": ("published", task.published) if spec.judge == "published" else spec.judge,
    }


def _claim_facts(
    file: PurePosixPath,
    said: dict[str, Any],
    assertion: Any,
    incumbent: IncumbentSettings | None,
    suite: Path,
    control: IncumbentSettings | None = None,
) -> dict[str, Any]:
    """Return what suites of both kinds say of a claim."""
    claim, share = Claim.of(assertion), getattr(assertion, "in_replicates", None)
    return {
        "file": file,
        "name": said["name"],
        "asserted": claim.asserted() | ({} if share is None else {"in_replicates": share}),
        "severities": claim.severities() if claim.asserted() else {},
        "is_default": assertion != "report" and not (assertion and assertion.bounds()),
        "xfail": said["xfail"] is not None,
        "incumbent": None if claim.incumbent_p is None else incumbent,
        "control": control,
        "incumbent_file": "" if claim.incumbent_p is None else _digest_of(incumbent, suite),
    }


def _digest_of(incumbent: IncumbentSettings | None, suite: Path) -> str:
    """Return the digest of the file with the incumbent's answers; empty where it is no file here.

    A base's copy holds what git does: what lies elsewhere is told by the reports alone.
    """
    results = getattr(incumbent, "results", None)
    named = getattr(incumbent, "answers", None) or getattr(results, "path", None)
    if not isinstance(named, str):
        return ""
    path = suite.parent / named
    with contextlib.suppress(OSError, ValueError):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""
