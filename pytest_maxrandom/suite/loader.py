"""From a suite file to its typed form; every mistake in it gets a line and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import LimitsError, Problem, SuiteError, did_you_mean, dotted
from pytest_maxrandom.host import limits
from pytest_maxrandom.host.data import reading, refused
from pytest_maxrandom.suite.checks import contradictions, is_recorded, mixed
from pytest_maxrandom.suite.mistakes import mistakes_of
from pytest_maxrandom.suite.positions import Document, read
from pytest_maxrandom.suite.recorded import RecordedSuiteSpec
from pytest_maxrandom.suite.spec import SuiteSpec

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.suite.base import Location, Spec
    from pytest_maxrandom.suite.tasks import TaskSpec

_OF_LM_EVAL = frozenset({"dataset_path", "doc_to_text", "group", "include", "output_type", "task"})
"""Keys of tasks and groups of lm-evaluation-harness, none of which a suite has."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    document: Document

    def line(self, *location: str | int) -> int:
        """Line of a key, such as ``("tasks", 0, "path")``, from 1."""
        return self.document.line(location)

    def problem(self, place: Location, message: str, *, named: bool = True) -> Problem:
        """Return what is wrong at a key; the sentence begins with its name, unless it is there."""
        told = f"{dotted(place)}: {message}" if named else message
        return Problem(self.path, self.line(*place), told)


@dataclass(frozen=True, slots=True)
class SkippedTask:
    """A task whose data are missing, and that says by `if_missing` where to get them."""

    spec: TaskSpec
    line: int
    """Its line in the suite file, from 1."""
    reason: str
    """What is missing, and where to get it."""


@dataclass(frozen=True, slots=True)
class Suite(_File):
    """A suite file, read and found to be right in itself."""

    spec: SuiteSpec
    entries: tuple[int, ...] | None = None
    """Index in the file of each task of `spec`, where one of the file stands for several."""
    skipped: tuple[SkippedTask, ...] = ()
    """The tasks of the file whose data are missing, which `spec` lacks then."""

    def entry(self, index: int) -> int:
        """Return the index in the file of a task of `spec`."""
        return index if self.entries is None else self.entries[index]

    def line(self, *location: str | int) -> int:
        """Line of a key of `spec`, from 1."""
        match location:
            case ("tasks", int(index), *keys):
                location = ("tasks", self.entry(index), *keys)
        return self.document.line(location)


@dataclass(frozen=True, slots=True)
class RecordedSuite(_File):
    """A suite file about recorded results."""

    spec: RecordedSuiteSpec


def load_any_suite(path: Path) -> Suite | RecordedSuite:
    """Read a suite file of either kind; `backend: recorded` of its models tells which.

    Raises
    ------
    SuiteError
        With all the mistakes of the file; where it is a link out of the repository, that there are.
    """
    with reading(path.parent) as reads:
        if why := refused(path, path.name):
            raise SuiteError([Problem(path, None, why)])
        try:
            return suite_of(path, read(path))
        except SuiteError:
            if reads.quotable:
                raise
            told = "this link leads out of the repository, and there is a mistake in the file there"
            raise SuiteError([Problem(path, None, told)]) from None


def suite_of(path: Path, document: Document) -> Suite | RecordedSuite:
    """Return the suite that a document is, whatever it was read from.

    Raises
    ------
    SuiteError
        With all the mistakes in it.
    """
    if _is_of_lm_eval(document.data):
        message = (
            "found a task of lm-evaluation-harness, but YAML below a folder named eval_suites must "
            "be a suite; move the task to another folder, and name it in a suite: `format: "
            "lm_eval`, `path: ../FOLDER/FILE`"
        )
        raise SuiteError([Problem(path, 1, message)])
    recorded = is_recorded(document.data)
    if mixture := mixed(document.data):
        at, message = mixture
        raise SuiteError([Problem(path, document.line(at), f"{dotted(at)}: {message}")])
    messages: dict[Location, str] = {}
    kind = RecordedSuiteSpec if recorded else SuiteSpec
    slips, meant = _slips(document.data, kind), document.data
    if slips:
        meant = meant | {right: meant[key] for key, right in slips.items()}
    contradicting = [
        (at, message)
        for at, message in contradictions(meant, recorded=recorded)
        if not {*at[:1]} & {*slips.values()}
    ]
    spec: SuiteSpec | RecordedSuiteSpec | None = None
    try:
        spec = kind.model_validate(document.data, context=document.data)
        raised = limits.refused(spec.limits.given)
        contradicting += [(("limits", name), message) for name, message in raised]
    except LimitsError as error:
        raise SuiteError([Problem(path, None, str(error))]) from None
    except ValidationError as error:
        places = {at for at, _ in contradicting}
        messages = mistakes_of(error.errors(include_url=False), document, kind, places)
    both = [(at, f"{dotted(at)}: {message}") for at, message in contradicting if at not in messages]
    both += messages.items()
    told = [*document.mistakes, *((document.line(at), message) for at, message in both)]
    if told or spec is None:
        raise SuiteError([Problem(path, line, message) for line, message in sorted(told)])
    if isinstance(spec, SuiteSpec):
        return Suite(path, document, spec)
    return RecordedSuite(path, document, spec)


def _slips(data: Any, kind: type[Spec]) -> dict[str, str]:
    """Return the keys of a suite that are written with a slip, each with the one that is meant.

    That they are unknown is told, and so nothing is that contradicts their absence alone.
    """
    keys = [field.alias or name for name, field in kind.model_fields.items()]
    given = data if isinstance(data, dict) else {}
    return {
        key: near[0]
        for key in given
        if isinstance(key, str) and key not in keys and not key.startswith("x-")
        if (near := [each for each in keys if each not in given and did_you_mean(key, [each])])
    }


def _is_of_lm_eval(data: object) -> bool:
    return (
        isinstance(data, dict)
        and not data.keys() & SuiteSpec.model_fields.keys()
        and not _OF_LM_EVAL.isdisjoint(data)
        and not isinstance(data.get("model"), list | dict)
    )
