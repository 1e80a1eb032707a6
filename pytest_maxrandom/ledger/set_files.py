"""Which files of a ledger are about a validation set or what it was before, and their tries."""

from __future__ import annotations

import functools
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.ledger.folder import (
    common_name,
    has_one_writer,
    is_beside,
    name_of_writer,
    new_writer,
    slug,
    with_room,
)
from pytest_maxrandom.ledger.lines import (
    ClaimKey,
    TriesOfClaim,
    linked,
    overlap,
    related,
    set_digest,
)
from pytest_maxrandom.ledger.questions import explained, named
from pytest_maxrandom.ledger.union import common_of
from pytest_maxrandom.record import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.ledger.files import LedgerFile
    from pytest_maxrandom.ledger.lines import Subject, Try
    from pytest_maxrandom.ledger.opened import LedgerFiles
    from pytest_maxrandom.record import Fingerprint

    Siblings = Callable[[str], Collection[str]]

K = TypeVar("K")
T = TypeVar("T")

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Found:
    """What no line says yet of questions in other words."""

    joins: dict[tuple[str, str], dict[str, str]]
    questions: dict[str, str] = field(default_factory=dict)
    undone: tuple[tuple[str, str], ...] = ()


class SetFiles:
    """Finds and reads the files of a set, and its tries; see `pytest_maxrandom.ledger.SetLedger`.

    Parameters
    ----------
    questions : sequence of (str, str)
        Digests of the examples, sorted, each with that of its question.
    files : LedgerFiles
        What is read already.
    """

    def __init__(
        self,
        folder: Path,
        task: str,
        questions: Sequence[tuple[str, str]],
        siblings: Siblings | None,
        files: LedgerFiles,
    ) -> None:
        self._opened = files
        self._left_out: Siblings = siblings or (lambda _: ())
        self._folder = folder
        self._examples = tuple(example for example, _ in questions)
        self._questions = dict(questions)
        self._digest = set_digest(self._examples)
        self._reworded: dict[str, str] = {}
        self._before: list[tuple[list[LedgerFile], int]] = []
        self.problems: list[Remark] = []
        self._slug = slug(task)
        self.path = folder / f"{self._slug}-{self._digest[:_SHOWN]}.jsonl"
        self._beside: dict[Path, LedgerFile] = {}
        self._find()
        if files.is_shared(folder):
            self.path = name_of_writer(self.path, _writer(os.getpid()))
        elif (path := with_room(self.path)) != self.path:
            self._beside[self.path], self.path = files.file(self.path), path
        self._file = files.file(self.path)
        self._read()
        self._tell(self._file.torn)
        self._cut = self._torn_beside()

    def refresh(self) -> None:
        """Read what other processes have added."""
        self._read()
        # A line that another process was writing is whole by now.
        for problem in self._torn_beside():
            if problem in self._cut:
                self._tell(problem)

    @property
    def files(self) -> list[Path]:
        """The files that hold what was tried on these examples; those that are there."""
        found = dict.fromkeys(file.path for file in self._files)
        return [path for path in found if path.exists()]

    @property
    def _own(self) -> list[LedgerFile]:
        return [self._file, *self._beside.values()]

    @property
    def _files(self) -> list[LedgerFile]:
        return [*self._own, *(file for files, _ in self._before for file in files)]

    @property
    def _near(self) -> list[LedgerFile]:
        """The files of the ledger as they are now that may say anything of this set."""
        names = {*self._questions, *self._questions.values(), *self._reworded.values()}
        return self._opened.near(self._folder, names)

    def _sharing(self, told: Callable[[LedgerFile], Mapping[K, T]]) -> Iterator[tuple[K, T]]:
        """Yield what the files tell of sets that share an example with this one, be it a single."""
        near = self._near
        others = [file for file in near if told(file)]
        if others:
            known = self._known(near)
            own = named(self._examples, known)
            others = [
                file
                for file in others
                if any(overlap(own, named(theirs, known)) for theirs in file.sets.values())
            ]
        for file in (*self._files, *others):
            yield from told(file).items()

    def _of_test(self, names: Iterable[str]) -> list[LedgerFile]:
        """Return the files that may say anything of a test set, by names of its examples."""
        return [*self._own, *self._opened.of_test(self._folder, names)]

    def _read(self) -> None:
        self._read_beside()
        self._file.read()
        self._file.check()

    def _read_beside(self) -> None:
        """Read what is new in other files of this set; again where some were united meanwhile."""
        names: set[Path] | None = None
        while names != (names := self._names()):
            for path in sorted({*names, *self._beside}):
                file = self._beside.setdefault(path, self._opened.file(path))
                file.read()
                file.check()
            if all(path.exists() for path in names):
                return

    def _names(self) -> set[Path]:
        """Return the other files of this set as they stand in the folder now."""
        stem = f"-{self._digest[:_SHOWN]}"
        names = self._opened.beside(self._folder)
        others = (self._folder / name for name in names if is_beside(name, stem))
        known = [path for path in (common_name(self.path), *self._beside) if path.exists()]
        return {*others, *known} - {self.path}

    def _torn_beside(self) -> list[Remark]:
        return [
            Remark("cut_off_beside", file.torn.values)
            for file in self._beside.values()
            if file.torn
        ]

    def tries(self, subject: Subject | None = None) -> frozenset[Try]:
        """Return what was ever tried for the subject's claim, or for any, on these examples.

        Of the claim are all models of its name, and all names of these models.
        """
        claims = None if subject is None else self._connected(subject)
        found = [each for file in self._files for each in self._tries(file, claims)]
        if subject is None:
            return frozenset(tried for each in found for tried in each.tries)
        return linked(found, subject.claim, self._same_weights(subject))

    def served(self, model_digest: str) -> list[Fingerprint]:
        """Return by what a model behind an address is known; nothing of other models."""
        found = (file.served.get(model_digest, {}) for file in self._files)
        return [each for of_file in found for each in of_file.values()]

    def _same_weights(self, subject: Subject) -> set[str]:
        """Return the digests of a subject's model: several, where a server has it by more names.

        What a suite calls it, and the word for its revision, can be edited; what it answers cannot.
        """
        own = self.served(subject.model_digest)
        others = {digest for file in self._files for digest in file.served} if own else set()
        return {
            subject.model_digest,
            *(
                digest
                for digest in others
                if any(one.is_alike(each) for one in own for each in self.served(digest))
            ),
        }

    def count(self, tries: set[Try]) -> int:
        """Return how many tries there are for any claim, together with some."""
        if len(self._files) == 1 and not self._siblings_in(self._file):
            return self._file.different + sum(not self._file.tried(each) for each in tries)
        return len(self.tries() | tries)

    def _connected(self, subject: Subject) -> set[ClaimKey]:
        """Return the claims that names and models connect with a subject's, siblings' as well.

        All others can be no tries of it, so that they need not be looked at.
        """
        files = self._files
        claims, digests = {subject.claim}, self._same_weights(subject)
        new_claims, new_digests = claims, digests
        while new_claims or new_digests:
            of_names = {
                digest
                for file in files
                for claim in new_claims
                for digest in file.models.get(claim, ())
            }
            of_models = {
                claim
                for file in files
                for digest in new_digests
                for claim in file.claims.get(digest, ())
                if claim.shots == subject.shots
            }
            new_claims, new_digests = of_models - claims, of_names - digests
            claims, digests = claims | new_claims, digests | new_digests
        return claims

    def may_be_new(self, before: Collection[str]) -> bool:
        """Tell whether a set was not there before; see `begun_anew`."""
        if not before:
            return all(file.empty for file in self._own)
        return not any(f"-{self._digest[:_SHOWN]}" in name for name in before)

    @property
    def examples_elsewhere(self) -> Collection[str]:
        """The digests of the examples of all sets of the ledger."""
        return self._opened.examples(self._folder)

    def join(self, reworded: Mapping[str, str]) -> dict[tuple[str, str], dict[str, str]]:
        """Count what was tried on a set that asked the same in other words.

        Return the digests of this set and of each that is found by that alone, with the questions;
        nothing of sets of which a line says that they ask something else. `reworded` has digests of
        questions of this set, each with that of an earlier example.
        """
        self._reworded = dict(reworded)
        near = self._near
        undone = {before for file in near for new, before in file.undone if new == self._digest}
        others = {
            digest: set(examples)
            for file in near
            for digest, examples in file.sets.items()
            if digest != self._digest
        }
        left_out = {each for digest in undone & others.keys() for each in others[digest]}
        renamed = {new: old for new, old in reworded.items() if old not in left_out}
        same = {digest for files, _ in self._before for file in files for digest in file.sets}
        self._reworded = renamed
        self._relate(near)
        now = {digest for files, _ in self._before for file in files for digest in file.sets}
        joins = {
            (self._digest, digest): pairs
            for digest in now - same
            if (pairs := {new: old for new, old in renamed.items() if old in others[digest]})
        }
        if not joins:
            self._reworded = {}
            self._relate(near)
        return joins

    def begun_anew(self, claim: ClaimKey, before: Collection[str]) -> list[Remark]:
        """Tell where prompts of a claim were tried on a set of this task that this one is not.

        Nothing is told of a set that was there before, however other ones go on. `before` has what
        the files of the ledger were called at the base; empty where nothing is known of that. Then
        a set is new that the claim has no tries on yet.
        """
        tried = any(file.tries.get(claim) for file in self._own)
        if not self.may_be_new(before) if before else tried:
            return []
        same = {file.path for file in self._files}
        task = f"{self._slug}-"
        names = self._opened.names(self._folder)
        named_so = (self._folder / name for name in names if name.startswith(task))
        others = {file.path: file for file in self._near}
        others |= {path: self._opened(path) for path in named_so if path.exists()}
        remarks: list[tuple[int, Remark]] = []
        for path, file in others.items():
            tries = [one for each in self._tries(file, {claim}) for one in each.tries]
            if path in same or not tries:
                continue
            (earlier,) = file.sets.values()
            known = self._known([file])
            own, theirs = (Counter(named(each, known)) for each in (self._examples, earlier))
            values = {
                "file": f"{path.parent.name}/{path.name}",
                "prompts": len(tries),
                "new": (own - theirs).total(),
                "examples": own.total(),
                "gone": (theirs - own).total(),
                "before": theirs.total(),
                "as_they_stood": not file.questions,
                "why": next((why for one in self._own for why in one.undone.values()), ""),
            }
            remarks.append((len(tries), Remark("begun_anew", values)))
        return [max(remarks, key=lambda each: each[0])[1]] if remarks else []

    def _known(self, files: Iterable[LedgerFile]) -> dict[str, str]:
        """Return what is known of the questions of examples, of this set and those of files."""
        return explained([*files, _Found({("", ""): self._reworded})], self._questions)

    def _siblings_in(self, file: LedgerFile) -> set[str]:
        """Return the digests of the prompts of a file that are no tries."""
        sets = file.sets or {self._digest: ()}
        return {prompt for each in sets for prompt in self._left_out(each)}

    def _tries(
        self, file: LedgerFile, claims: set[ClaimKey] | None = None
    ) -> Iterator[TriesOfClaim]:
        """Yield claims of a file, all or some, each with its tries but those of siblings."""
        left_out = self._siblings_in(file)
        for claim in file.tries if claims is None else claims & file.tries.keys():
            tries = file.tries[claim]
            if not left_out:
                yield TriesOfClaim(claim, tries, file.models[claim])
            elif counted := {one for one in tries if one.prompt not in left_out}:
                yield TriesOfClaim(claim, counted, {one.model_digest for one in counted})

    def _find(self) -> None:
        """Find the file of this set, and those of the sets that it was before."""
        near = self._near
        if own := [file.path for file in near if self._digest in file.sets]:
            self.path = common_of(own)
            self._beside = {path: self._opened.file(path) for path in own if path != self.path}
        self._relate(near)

    def _relate(self, near: Sequence[LedgerFile]) -> None:
        """Find the sets that it was before."""
        self._before = []
        files: dict[str, list[LedgerFile]] = {}
        for file in near:
            for digest in file.sets:
                files.setdefault(digest, []).append(file)
        if files.keys() <= {self._digest}:  # as of most sets, which never changed
            return
        sets = {digest: found[0].sets[digest] for digest, found in files.items()}
        known = self._known(near)
        while bare := [
            digest
            for digest in related(sets, self._examples, known)
            if self._only_siblings(digest, files[digest])
        ]:
            for digest in bare:  # it must not make sets the same that only it is like
                del sets[digest]
        for digest, common in related(sets, self._examples, known).items():
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

    def _tell(self, problem: Remark | None) -> None:
        if problem and problem not in self.problems:
            self.problems.append(problem)


@functools.cache
def _writer(process: int) -> str:
    """Return the name of a process, which a process that it forks has not."""
    return new_writer()
