"""What the tasks of a folder asked before a change, read from git."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError, MaxRandomError
from pytest_maxrandom.host.data import Boundary, boundary
from pytest_maxrandom.ledger.base import Base, bases
from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.ledger.questions import question_digest
from pytest_maxrandom.ledger.rewording import Earlier
from pytest_maxrandom.suite.loader import Suite, load_any_suite
from pytest_maxrandom.tasks.load import load_task, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.ledger import SetLedger
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.tasks.task import Example

_MOST_BYTES = 1 << 28
"""Of the files of a task that are taken out of git."""


class EarlierTasks:
    """The tasks beside suites of a folder, as they were before a change; read when asked for.

    Where there is no git, or no commit yet, there are none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _bases(self) -> tuple[Base, ...]:
        return bases(self._folder)

    @property
    def ledger(self) -> frozenset[str]:
        """What the files of the ledger were called."""
        return self._bases[0].ledger if self._bases else frozenset()

    @cached_property
    def _examples(self) -> list[Example]:
        return [example for base in self._bases for example in _examples_at(base)]

    @cached_property
    def _questions(self) -> Earlier:
        return Earlier(self._examples)

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        """The digests of the examples that ask a question, by the question's."""
        found: dict[str, list[str]] = {}
        for example in self._examples:
            found.setdefault(question_digest(example), []).append(example_digest(example))
        return found

    def join(self, ledger: SetLedger, examples: Sequence[Example]) -> None:
        """Let a ledger count what was tried on these examples in other words.

        A set that the ledger had before is not looked at: what joins it to another one was found
        when it came, and stands in its file.
        """
        if not ledger.may_be_new(self.ledger) or not self._bases:
            return
        tried = ledger.examples_elsewhere
        if not tried or not self._examples:
            return
        found = self._questions.reworded(examples)
        places = {
            new: next((place for place in self._places[old] if place in tried), "")
            for new, old in found.items()
        }
        ledger.join({new: place for new, place in places.items() if place})


def _examples_at(base: Base) -> Iterator[Example]:
    """Yield the examples of all tasks of a folder whose files are in git, as they were."""
    with tempfile.TemporaryDirectory() as name, _within(name), suppress(GitError, OSError):
        root = Path(name)
        folder = root / base.folder
        suites = [
            path
            for path in map(PurePosixPath, base.files)
            if path.parent == base.folder and path.suffix in (".yaml", ".yml")
        ]
        _take(base, suites, root)
        for path in suites:
            with suppress(MaxRandomError):
                suite = load_any_suite(root / path)
                if isinstance(suite, Suite):
                    for spec in suite.spec.tasks:
                        yield from _examples_of(base, spec, root, folder)


def _within(folder: str) -> AbstractContextManager[None]:
    """Let data be read below a folder only where a gate says which may be read.

    To it the copy of an earlier commit lies outside of the repository.
    """
    limits = boundary()
    return nullcontext() if limits is None else Boundary(Path(folder)).in_force()


def _examples_of(base: Base, spec: TaskSpec, root: Path, folder: Path) -> Iterator[Example]:
    path = getattr(spec, "path", None)
    if path is None or spec.format == "hub" or Path(path).is_absolute():
        return
    place = (folder / path).resolve()
    if not place.is_relative_to(root.resolve()):
        return
    wanted = PurePosixPath(place.relative_to(root.resolve()).as_posix())
    # What a file of lm-eval includes, and its data, stand beside it.
    below = wanted.parent if spec.format == "lm_eval" and wanted.suffix else wanted
    files = [
        found
        for found in map(PurePosixPath, base.files)
        if found == wanted or found.is_relative_to(below)
    ]
    _take(base, files, root)
    where = partial(_nowhere, folder)
    alone = spec.model_copy(update={"pool": None, "test": None})
    with suppress(MaxRandomError):
        for one in members(alone, folder, where):
            with suppress(MaxRandomError):
                yield from load_task(one, folder, where).examples


def _nowhere(folder: Path, *_keys: str) -> tuple[Path, int | None]:
    return folder, None


def _take(base: Base, files: Sequence[PurePosixPath], root: Path) -> None:
    """Write files of a commit below a folder."""
    lacking = {path: base.files[str(path)] for path in files if not (root / path).exists()}
    contents: Mapping[str, bytes] = base.tree.contents(lacking.values())
    size = 0
    for path, name in lacking.items():
        size += len(contents[name])
        if size > _MOST_BYTES:
            return
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(contents[name])
