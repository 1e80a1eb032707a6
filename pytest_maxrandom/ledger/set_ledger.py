"""What the ledger knows of one validation set, and what is added to it."""

from __future__ import annotations

import functools
import os
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LockError
from pytest_maxrandom.host.machine import on_shared_files
from pytest_maxrandom.ledger.files import LedgerFile, read_folder
from pytest_maxrandom.ledger.folder import (
    common_name,
    has_one_writer,
    name_of_writer,
    new_writer,
    slug,
)
from pytest_maxrandom.ledger.lines import (
    example_digest,
    examples_digest,
    line_of,
    linked,
    look_digest,
    related,
    set_digest,
    shared,
)
from pytest_maxrandom.ledger.union import common_of
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import ClaimKey, Row, Subject, Try
    from pytest_maxrandom.tasks.task import Example

    Siblings = Callable[[str], Collection[str]]

_SHOWN = 12


class SetLedger:
    """The tries, looks and openings on one validation set, and on the sets that it was before.

    Parameters
    ----------
    folder : Path
        The ledger; made when something is written.
    run : str
        Names the run in what is written.
    task : str
        Names a new file. A set is found by its examples, so another name changes nothing.
    examples : sequence of Example
        The validation set.
    siblings : callable, optional
        Returns the digests of the prompts that are no tries on a set, given the set's digest. A set
        of which nothing else was tried is as if it were not in the ledger.

    Attributes
    ----------
    path : Path
        The file of this set that this process adds to: where several hosts share the folder, one of
        its own.
    problems : list of Remark
        What is wrong with the files.

    Raises
    ------
    LedgerError
        With file and line, if the ledger cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        run: str,
        task: str,
        examples: Sequence[Example],
        siblings: Siblings | None = None,
    ) -> None:
        self._run = run
        self._left_out: Siblings = siblings or (lambda _: ())
        self._examples = tuple(sorted(map(example_digest, examples)))
        self._digest = set_digest(self._examples)
        self._set: Row = {
            "kind": "set",
            "task": task,
            "set": self._digest,
            "examples": list(self._examples),
            "chances": dict(sorted(Counter(str(each.chance) for each in examples).items())),
        }
        self._before: list[tuple[list[LedgerFile], int]] = []
        self._waiting: list[Row] = []
        self.problems: list[Remark] = []
        self.path = folder / f"{slug(task)}-{self._digest[:_SHOWN]}.jsonl"
        self._beside: dict[Path, LedgerFile] = {}
        self._find(folder)
        if on_shared_files(folder):
            self.path = name_of_writer(self.path, _writer(os.getpid()))
        self._file = LedgerFile(self.path)
        self._read()
        self._tell(self._file.torn)
        self._cut = self._torn_beside()

    def tries(self, subject: Subject | None = None) -> frozenset[Try]:
        """Return what was ever tried for the subject's claim, or for any, on these examples.

        Of the claim are all models of its name, and all names of these models.
        """
        found = [each for file in self._files for each in self._tries(file)]
        if subject is None:
            return frozenset(tried for _, tries in found for tried in tries)
        return linked(found, subject.claim, {subject.model_digest})

    def refresh(self) -> None:
        """Read what other processes have added."""
        self._read()
        # A line that another process was writing is whole by now.
        for problem in self._torn_beside():
            if problem in self._cut:
                self._tell(problem)

    def shared_with(self, examples: Sequence[Example]) -> str:
        """Say how many examples another set has in common with this one: ``29 of 40``."""
        common = shared(map(example_digest, examples), self._examples)
        return f"{count(common)} of {count(len(self._examples))}"

    @property
    def files(self) -> list[Path]:
        """The files that hold what was tried on these examples; those that are there."""
        found = dict.fromkeys(file.path for file in self._files)
        return [path for path in found if path.exists()]

    def is_about(self, examples: Sequence[str]) -> bool:
        """Tell whether examples, by their digests, are the same set, changed a little or not."""
        return bool(related({"": examples}, self._examples))

    def siblings_on(self, examples: Sequence[Example]) -> Collection[str]:
        """Return the digests of the prompts that are no tries on a set of examples."""
        return self._left_out(examples_digest(examples))

    def seen(self, examples: Sequence[Example]) -> int:
        """Count the examples that stand in any validation set of the ledger."""
        sets = (examples for file in self._elsewhere for examples in file.sets.values())
        known = set(self._examples).union(*sets)
        return sum(example_digest(example) in known for example in examples)

    def notes(self, subject: Subject) -> list[Remark]:
        """Return from where tries of the subject's claim were carried over."""
        now = {tried for file in self._own for tried in file.tries.get(subject.claim, ())}
        return [
            Remark(
                "tries_of_another_set",
                {"prompts": len(tries), "common": common, "examples": len(self._examples)},
            )
            for files, common in self._before
            if (
                tries := {
                    tried
                    for file in files
                    for tried in dict(self._tries(file)).get(subject.claim, ())
                }
                - now
            )
        ]

    def evaluated(self, subject: Subject, prompt: str, n: int, correct: int) -> None:
        """Count a prompt, once; when this returns, it is on the disk."""
        facts = {"task_digest": self._digest, "prompt": prompt, "n": n, "correct": correct}
        self._add(self._row("prompt", subject, facts))

    def look(
        self, subject: Subject, prompts: Sequence[str], *, t: int, n: int, best_correct: int
    ) -> int:
        """Count a look at a claim, and return how many there were, this one included.

        The same prompts through the same model are the same look.
        """
        name = look_digest(subject, self._digest, prompts)
        facts = {"look": name, "t": t, "n": n, "best_correct": best_correct}
        self._add(self._row("look", subject, facts))
        return len(self.looked_at(subject))

    def looked_at(self, subject: Subject) -> dict[str, int]:
        """Return the looks at a claim, each with the t that it counted."""
        looks = (file.looks.get(subject.claim, {}) for file in self._files)
        return {look: t for of_file in looks for look, t in of_file.items()}

    def opened(self, subject: Subject, prompt: str, examples: Sequence[Example]) -> int | None:
        """Count an opening of a test set, and return how many there were, this one included.

        A test set that was changed a little is the same, as a validation set is. None if that
        cannot be written down: then the test set must stay closed.
        """
        digests = sorted(map(example_digest, examples))
        test = set_digest(digests)
        known = any(test in file.tests for file in self._all)
        if not known and not self._add({"kind": "test", "test": test, "examples": digests}):
            return None
        facts = {"prompt": prompt, "test": test, "n": len(digests)}
        if (test, subject.tried(prompt)) not in self._openings(digests) and not self._add(
            self._row("opening", subject, facts)
        ):
            return None
        return len(self._openings(digests))

    @property
    def _own(self) -> list[LedgerFile]:
        return [self._file, *self._beside.values()]

    @property
    def _files(self) -> list[LedgerFile]:
        return [*self._own, *(file for files, _ in self._before for file in files)]

    @property
    def _all(self) -> list[LedgerFile]:
        return [*self._own, *self._elsewhere]  # one test set may serve many tasks

    def _read(self) -> None:
        self._read_beside()
        self._file.read()
        self._file.check()

    def _read_beside(self) -> None:
        """Read what is new in other files of this set; again where some were united meanwhile."""
        names: set[Path] | None = None
        while names != (names := self._names()):
            for path in sorted({*names, *self._beside}):
                file = self._beside.setdefault(path, LedgerFile(path))
                file.read()
                file.check()

    def _names(self) -> set[Path]:
        """Return the other files of this set as they stand in the folder now."""
        writers = self.path.parent.glob(f"*-{self._digest[:_SHOWN]}.writer-*.jsonl")
        known = [path for path in (common_name(self.path), *self._beside) if path.exists()]
        return {*writers, *known} - {self.path}

    def _torn_beside(self) -> list[Remark]:
        return [
            Remark("cut_off_beside", file.torn.values)
            for file in self._beside.values()
            if file.torn
        ]

    def _tries(self, file: LedgerFile) -> Iterator[tuple[ClaimKey, set[Try]]]:
        """Yield the claims of a file, each with its tries but those of siblings."""
        sets = file.sets or {self._digest: ()}
        left_out = {prompt for each in sets for prompt in self._left_out(each)}
        for claim, tries in file.tries.items():
            counted = {one for one in tries if one.prompt not in left_out} if left_out else tries
            if counted:
                yield claim, counted

    def _openings(self, examples: Sequence[str]) -> set[tuple[str, Try]]:
        tests = {name: test for one in self._all for name, test in one.tests.items()}
        same = related(tests, examples)
        return {(n, t) for one in self._all for n in same for t in one.openings.get(n, ())}

    def _find(self, folder: Path) -> None:
        """Find the file of this set, and those of the sets that it was before."""
        files: dict[str, list[LedgerFile]] = {}
        self._elsewhere = read_folder(folder) if folder.is_dir() else []
        for file in self._elsewhere:
            for digest in file.sets:
                files.setdefault(digest, []).append(file)
        if own := [file.path for file in files.get(self._digest, ())]:
            self.path = common_of(own)
            self._beside = {path: LedgerFile(path) for path in own if path != self.path}
        sets = {digest: found[0].sets[digest] for digest, found in files.items()}
        while bare := [
            digest
            for digest in related(sets, self._examples)
            if self._only_siblings(digest, files[digest])
        ]:
            for digest in bare:  # it must not make sets the same that only it is like
                del sets[digest]
        for digest, common in related(sets, self._examples).items():
            if digest != self._digest:
                for file in files[digest]:
                    file.check()
                    if not has_one_writer(file.path):
                        self._tell(file.torn)
                self._before.append((files[digest], common))

    def _only_siblings(self, set_: str, files: Sequence[LedgerFile]) -> bool:
        """Tell whether nothing of a set counts."""
        return (
            set_ != self._digest
            and bool(self._left_out(set_))
            and not any(True for file in files for _ in self._tries(file))
        )

    def _row(self, kind: str, subject: Subject, facts: Row) -> Row:
        return {
            "kind": kind,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "run": self._run,
            **asdict(subject),
            **facts,
        }

    def _add(self, row: Row) -> bool:
        """Write a line unless it stands there; return whether it does."""
        if self._has(row):
            return True
        try:
            self._file.append(lambda: self._lacking(row))
        except (OSError, LockError) as error:
            reason = (error.strerror or error) if isinstance(error, OSError) else error
            self._tell(Remark("ledger_closed", {"file": str(self.path), "why": str(reason)}))
            if row["kind"] not in ("test", "opening"):
                self._waiting.append(row)
                self._file.take(row)
            return False
        self._waiting.clear()
        self._file.take(self._set)
        self._file.take(row)
        # Of two hosts that write at once, at least one sees the other's line before it goes on.
        self._read_beside()
        return True

    def _has(self, row: Row) -> bool:
        return any(file.has(row) for file in self._own)

    def _lacking(self, row: Row) -> list[bytes]:
        """Return the lines to be added, when all that others have added is known."""
        self._tell(self._file.torn)
        known = self._digest in self._file.sets and not self._file.empty
        top = [] if known else [self._set]
        new = [] if self._has(row) else [row]
        return [line_of(line) for line in (*top, *self._waiting, *new)]

    def _tell(self, problem: Remark | None) -> None:
        if problem and problem not in self.problems:
            self.problems.append(problem)


@functools.cache
def _writer(process: int) -> str:
    """Return the name of a process, which a process that it forks has not."""
    return new_writer()
