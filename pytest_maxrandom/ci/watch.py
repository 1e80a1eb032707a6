"""What a gate holds against the ledger: lines that it lost, and tries that no commit counts."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.ledger import FOLDER
from pytest_maxrandom.ledger.history import Commit, File, WorkTree, file_at, from_root
from pytest_maxrandom.ledger.lines import ClaimKey, TriesOfClaim, Try, linked, related
from pytest_maxrandom.ledger.losses import lost
from pytest_maxrandom.ledger.questions import explained
from pytest_maxrandom.record import ClaimRecord, Reservation, RunRecord
from pytest_maxrandom.reports.summary import WITHOUT_MODEL, records
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.fields import Row


class Watch:
    """Compares the ledger with its base, before a run and after it.

    Before the run it holds what is committed, which the run may add to again. After it the ledger
    of each suite that was run is there, wherever the suite has been moved to.

    Parameters
    ----------
    base : Commit
        The base, in the work tree's repository.

    Raises
    ------
    GitError
        With the way out, if git cannot tell what the ledger was there.
    """

    def __init__(self, base: Commit) -> None:
        self._tree, self._base = base.tree, base
        self._before = self._lost()

    def _lost(self) -> list[str]:
        if not self._base.files:
            return []
        now = WorkTree(self._tree)
        return list(map(visible, lost(self._base, now, now.claimed_sets())))

    def lost(self) -> list[str]:
        """Return what is gone, a sentence each, what was before the run included.

        Raises
        ------
        GitError, OSError
            If git, or the ledger, cannot be read.
        """
        return list(dict.fromkeys([*self._before, *self._lost()]))

    def restarted(
        self,
        run: RunRecord,
        rootdir: Path,
        moved: Mapping[PurePosixPath, Collection[PurePosixPath]] = {},
    ) -> list[Reservation]:
        """Return the claims on a task of which the base counts tries, and none of them for these.

        So it is where so many examples are others that the set is a new one.

        Parameters
        ----------
        run : RunRecord
            What was recorded.
        rootdir : Path
            What the files of its ids are relative to.
        moved : mapping
            Folders that the suites of a folder came from since the base, from the top folder on.
        """
        reservations = []
        now = WorkTree(self._tree).files
        left = {one for one in self._base.folders if not self._has_suites(one.parent)}
        for claim in run.claims:
            digest = claim.validation.digest if claim.validation and claim.tries else None
            folder = (rootdir / claim.id.partition("::")[0]).resolve().parent / FOLDER
            place = _from_root(self._tree, folder)
            places = {place, *left, *(one / FOLDER for one in moved.get(place.parent, ()))}
            own = next((file.sets[digest] for file in now if digest in file.sets), None)
            before: dict[str, tuple[str, ...]] = {}
            tries = Counter[str]()
            for file in self._base.files:
                if file.folder in places and claim.task in file.about.tasks.values():
                    tried = sum(_is_tried(claim, each) for _, each in file.rows)
                    for name, examples in file.sets.items() if tried else ():
                        if file.about.tasks[name] == claim.task:
                            before[name] = examples
                            tries[name] += tried
            here = [file for file in now if file.folder == place]
            sets = before | {name: each for file in here for name, each in file.sets.items()}
            known = explained(file.about for file in [*self._base.files, *here])
            if not own or not before or digest in before:
                continue
            near = before.keys() & related(sets, own, known)
            # A small set that is related does not stand for a larger one that is not.
            if max((tries[each] for each in before.keys() - near), default=0) > sum(
                tries[each] for each in near
            ):
                reservations.append(Reservation("restarted", claim.id))
        return reservations

    def _has_suites(self, folder: PurePosixPath) -> bool:
        root = self._tree.root
        return any(is_suite(path, root) for path in (root / folder).glob("*.y*ml"))


def _is_tried(claim: ClaimRecord, row: Row) -> bool:
    named = row.get("model") == (claim.counted_as or claim.model)
    same = named or row.get("model_digest") == claim.model_digest
    return bool(row["kind"] == "prompt" and row["shots"] == claim.shots and same)


@dataclass
class Uncounted:
    """Tries of a run that no committed ledger counts."""

    reservations: list[Reservation] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """The files of the work tree that have the lines to commit."""


class Committed:
    """The ledger that HEAD has when this is made: what the run's own code commits is not in it."""

    def __init__(self, tree: Repository | None) -> None:
        self._tree = tree
        self._files: list[File] = []
        if tree is not None:
            try:
                self._files = Commit(tree, "HEAD").files
            except GitError:  # there is no commit yet
                self._files = []

    def lacks(self, run: RunRecord, rootdir: Path) -> Uncounted:
        """Say which tries of models that were run it does not count.

        Simulated tries have no such ledger, and of what is recorded or claimed by hand it has only
        looks. The lines that the run left in the work tree tell, and what its report says of each
        claim: so nobody hides lines by removing them again.
        """
        uncounted = Uncounted()
        by_folder = self._new_lines(run, rootdir)
        counted: set[Path] = set()
        for claim in run.claims:
            folder = (rootdir / claim.id.partition("::")[0]).resolve().parent / FOLDER
            own = [
                (path, row)
                for path, file, row in by_folder.get(folder, [])
                if row["kind"] == "prompt" and _is_of(claim, file, row)
            ]
            counted |= {path for path, _ in own}
            tries = len({_try(row) for _, row in own})
            if tries := tries or self._untold(claim, folder):
                uncounted.reservations.append(Reservation("uncounted", claim.id, tries=tries))
        for folder, rows in by_folder.items():
            for path in dict.fromkeys(path for path, _, _ in rows):
                uncounted.files.append(path)
                if path not in counted:
                    name = f"{_from_root(self._tree, folder)}/{path.name}"
                    tries = sum(row["kind"] == "prompt" for at, _, row in rows if at == path)
                    uncounted.reservations.append(Reservation("uncounted", name, tries=tries))
        return uncounted

    def _new_lines(self, run: RunRecord, rootdir: Path) -> dict[Path, list[tuple[Path, File, Row]]]:
        """Return the lines beside suites that the commit lacks, by their folders."""
        suites = {record.id.partition("::")[0] for record in records(run)}
        folders = {(rootdir / suite).resolve().parent / FOLDER for suite in suites}
        by_folder: dict[Path, list[tuple[Path, File, Row]]] = defaultdict(list)
        for folder in sorted(folders):
            place = _from_root(self._tree, folder)
            committed = [file for file in self._files if file.folder == place]
            for path in sorted(folder.glob("*.jsonl")):
                file = file_at(path, place / path.name)
                by_folder[folder] += [(path, file, row) for _, row in file.beyond(committed)]
        return {folder: rows for folder, rows in by_folder.items() if rows}

    def _untold(self, claim: ClaimRecord, folder: Path) -> int:
        """Return how many of the tries that a report tells of the commit does not count."""
        if claim.simulated or claim.backend in WITHOUT_MODEL or claim.tries is None:
            return 0
        place = _from_root(self._tree, folder)
        files = [file for file in self._files if file.folder == place]
        sets = {name: examples for file in files for name, examples in file.sets.items()}
        own = sets.get(claim.validation.digest or "") if claim.validation else None
        near = related(sets, own, explained(file.about for file in files)) if own else {}
        by_claim: dict[ClaimKey, TriesOfClaim] = {}
        for file in files:
            for _, row in [] if file.sets.keys().isdisjoint(near) else file.rows:
                if row["kind"] == "prompt":
                    key = ClaimKey(row["model"], row["shots"])
                    found = by_claim.setdefault(key, TriesOfClaim(key, set(), set()))
                    found.tries.add(_try(row))
                    found.models.add(row["model_digest"])
        key = ClaimKey(claim.counted_as or claim.model, claim.shots)
        known = linked(by_claim.values(), key, {claim.model_digest or ""})
        # A sweep that was decided early has not tried all of its prompts.
        told = claim.decided.begun if claim.decided else claim.tries.claim
        return max(0, told - len(known))


def _try(row: Row) -> Try:
    return Try(row["model_digest"], row["prompt"], row["scoring"])


def _is_of(claim: ClaimRecord, file: File, row: Row) -> bool:
    digest = claim.validation.digest if claim.validation else None
    return (
        row["shots"] == claim.shots
        and row["model"] == (claim.counted_as or claim.model)
        and (digest is None or not file.sets or digest in file.sets)
    )


def _from_root(tree: Repository | None, folder: Path) -> PurePosixPath:
    if tree is None:
        return PurePosixPath(folder.as_posix())
    try:
        return from_root(tree, folder)
    except ValueError:
        return PurePosixPath(folder.as_posix())


def how_to_commit(tree: Repository | None, uncounted: Uncounted) -> str:
    """Say how to commit the lines that were left in the work tree."""
    if tree is None:
        return (
            "no ledger can be committed, because this folder is in no git checkout; run the gate "
            "in one"
        )
    if not uncounted.files:
        return "the lines are gone from the work tree: run the suites, and commit their ledger"
    seen = {path.resolve() for path in tree.files(f":(glob)**/{FOLDER}/*.jsonl")}
    force = "" if seen.issuperset(uncounted.files) else "--force "  # what git ignores
    folders = dict.fromkeys(str(_from_root(tree, path.parent)) for path in uncounted.files)
    named = " ".join(map(shlex.quote, folders))
    return (
        "commit the lines that this run added (in CI the action keeps them as an artifact, to be "
        f"unpacked in the top folder): `git add {force}-- {named}`, `git commit -m 'Count the "
        "prompts that were tried'`"
    )
