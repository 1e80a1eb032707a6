"""What a pull request takes out, excuses or weakens: its suites and its run against the base.

The base is read from git, and the suites of the work tree from their files, before pytest begins:
in pytest the pull request's own code runs, which can change both, and any report. Of a claim that
the run lacks, skips or excuses, pytest is asked what it does with it at the base.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.by_hand import asks_less, bounds_of
from pytest_maxrandom.ci.stated import CHECKS, Stated, stated_in
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import BY_HAND, ClaimRecord, Reservation
from pytest_maxrandom.reports.changes import bounds_less, is_partial
from pytest_maxrandom.reports.severities import severities_less
from pytest_maxrandom.reports.summary import records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.ci.process import Ran
    from pytest_maxrandom.ci.selection import Selected, Selection, State
    from pytest_maxrandom.ledger.history import Commit
    from pytest_maxrandom.record import Record, Reserved, RunRecord, Weaker
    from pytest_maxrandom.suite.incumbent import IncumbentSettings


@dataclass(frozen=True)
class Scope:
    """What a gate is to test.

    Parameters
    ----------
    root : Path
        Top folder of the work tree.
    suites : sequence of PurePosixPath
        Files and folders, from there.
    """

    root: Path
    suites: Sequence[PurePosixPath]

    @classmethod
    def of(cls, root: Path, suites: Iterable[str]) -> Scope:
        """Read what the gate is called with; what lies outside of the work tree is left out."""
        here = root.resolve()
        named = [Path.cwd() / each.partition("::")[0] for each in suites]
        # As they are written, too: where a link leads, the work tree says, and not the base.
        found = [Path(os.path.normpath(each)) for each in named] + [
            each.resolve() for each in named
        ]
        inside = dict.fromkeys(
            each.relative_to(here) for each in found if each.is_relative_to(here)
        )
        return cls(root, [PurePosixPath(each.as_posix()) for each in inside])

    def __contains__(self, file: PurePosixPath) -> bool:
        return any(file.is_relative_to(each) for each in self.suites)


class Comparison:
    """The claims of a base, and those of the work tree as it is when this is made.

    Parameters
    ----------
    base : Commit
        The base, in the work tree's repository.
    scope : Scope
        What is to be tested.
    selection : Selection
        What pytest selects at the base.

    Raises
    ------
    GitError
        If git cannot read the base.
    """

    def __init__(self, base: Commit, scope: Scope, selection: Selection) -> None:
        self._scope, self._selection = scope, selection
        tree = base.tree
        files = [*map(PurePosixPath, tree.files_at(base.commit))]
        with tempfile.TemporaryDirectory() as folder:
            files += tree.write_files(base.commit, Path(folder), _states)
            self.base = stated_in(Path(folder), filter(scope.__contains__, files), files)
        paths = [each for path in tree.files() for each in _behind(path)]
        here = [PurePosixPath(path.relative_to(tree.root).as_posix()) for path in paths]
        self.now = stated_in(tree.root, filter(scope.__contains__, here), here)

    def reservations(self, run: RunRecord | None, ran: Ran) -> list[Reservation]:
        """Say what a reader must know of a run before its verdict.

        Parameters
        ----------
        run : RunRecord or None
            What pytest recorded.
        ran : Ran
            What became of pytest.
        """
        tested = _Tested(run, ran, self._scope.root)
        found = [*self._unread(tested), *self._of_suites(tested)]
        found += self._excused(tested, partial=run is None or is_partial(run))
        return list({(each.kind, each.id): each for each in found}.values())

    @property
    def moved(self) -> dict[PurePosixPath, set[PurePosixPath]]:
        """The folders that the suites of a folder came from since the base."""
        found: dict[PurePosixPath, set[PurePosixPath]] = {}
        for before in self.base.claims:
            now = self._same(before)
            if now is not None and now.file.parent != before.file.parent:
                found.setdefault(now.file.parent, set()).add(before.file.parent)
        return found

    def _unread(self, tested: _Tested) -> Iterator[Reservation]:
        """Yield what stands in suites of which nobody can read what the base's claim."""
        for file in self.base.unread:
            now = [each for each in self.now.claims if each.file == file]
            names = [tested.id_of(each) for each in now] or [str(file)]
            if file not in self.now.unread:
                yield from (Reservation("uncompared", name, weaker=["unread"]) for name in names)

    def _of_suites(self, tested: _Tested) -> Iterator[Reservation]:
        """Yield what the suites of the base say and those of the work tree do not."""
        for before in self.base.claims:
            now = self._same(before)
            named = tested.id_of(now or before)
            if now is None:
                if before.file not in self.now.unread:  # which ends pytest as a mistake
                    yield Reservation("gone", named)
                continue
            less = [*weaker(now, before)]
            for record in tested.of(now):
                if _ran_less(now, record) and "ran" not in less:
                    less.append("ran")
            if less:
                asserts = "asserts" in less
                yield Reservation(
                    "weakened",
                    named,
                    weaker=less,
                    now=now.asserted if asserts else {},
                    before=before.asserted if asserts else {},
                )
            if now.backend == before.backend == BY_HAND:
                for kind, less, bounds, former in asks_less(now.numbers, before.numbers):
                    yield Reservation(kind, named, weaker=less, now=bounds, before=former)

    def _excused(self, tested: _Tested, *, partial: bool) -> Iterator[Reservation]:
        """Yield what was not tested, or could fail, though the base tests it."""
        doubts = [*self._doubts(tested, partial=partial)]
        if not doubts:
            return
        selected = self._selection.of({before.file for before, _, _ in doubts})
        for before, kind, name in doubts:
            if selected is None or before.file in selected.unread:
                yield Reservation(kind, name, weaker=["untold"])
            elif "selected" in self._states(selected, before, name):
                yield Reservation(kind, name)

    def _doubts(self, tested: _Tested, *, partial: bool) -> Iterator[tuple[Stated, Reserved, str]]:
        """Yield claims of the base that the run lacks, skips or excuses: why, and their ids."""
        for before in self.base.claims:
            now = self._same(before)
            if now is None:
                continue
            known = tested.of(now)
            excused = tested.excused(now)
            if not known and not excused and not partial:
                yield before, "deselected", tested.id_of(now)
            elif known or excused:
                yield from ((before, "deselected", name) for name in tested.left_out(now))
            excused |= {each.id: str(each.outcome) for each in known}
            for name, outcome in excused.items():
                if outcome == "xfailed" and not before.xfail:
                    yield before, "xfailed", name
                elif outcome == "skipped" and not before.skips:
                    yield before, "skipped", name

    def _states(self, selected: Selected, before: Stated, name: str) -> list[State]:
        """Return what the base does with a test; with all of a claim, or check, by its own name."""
        there = [(test, state) for (file, test), state in selected.states.items()
                 if file == before.file]  # fmt: skip
        if before.is_check:
            own = [one for one in self.base.claims if one.file == before.file and not one.is_check]
            return [state for test, state in there if not any(one.is_named(test) for one in own)]
        wanted = re.sub(r"#\d+$", "", name.partition("::")[2])
        same = [state for test, state in there if test == wanted]
        return same or [state for test, state in there
                        if before.is_named(test) and wanted == before.name]  # fmt: skip

    def _same(self, before: Stated) -> Stated | None:
        """Return a claim of the base as it stands now, also where its file was moved."""
        alike = [now for now in self.now.claims if now.name == before.name]
        for now in alike:
            if now.file == before.file:
                return now
        known = {(each.file, each.name) for each in self.base.claims}
        moved = [now for now in alike if (now.file, now.name) not in known]
        return moved[0] if len(moved) == 1 else None


def _states(path: str) -> bool:
    """Tell whether a file may state claims."""
    return path.endswith((".yaml", ".yml", ".py"))


def _behind(path: Path) -> list[Path]:
    """Return the files of a folder that a link leads to; what is no such link itself."""
    if not (path.is_symlink() and path.is_dir()):
        return [path]
    return [found for found in path.rglob("*") if found.is_file()]


class _Tested:
    """The records of a run by their files, from the top folder of the work tree on."""

    def __init__(self, run: RunRecord | None, ran: Ran, root: Path) -> None:
        self._run, self._ran, self._root = run, ran, root.resolve()
        self._files: dict[str, PurePosixPath | None] = {}
        self._records: dict[PurePosixPath, list[Record]] = {}
        for record in records(run) if run else []:
            if (file := self._file(record.id)) is not None:
                self._records.setdefault(file, []).append(record)

    def _file(self, name: str) -> PurePosixPath | None:
        """Return the file of an id; None where it lies outside of the work tree."""
        path = name.partition("::")[0]
        if path not in self._files:
            # Not resolved: a suite behind a link is where its link is.
            found = Path(os.path.normpath(self._ran.root.resolve() / path))
            inside = found.is_relative_to(self._root)
            relative = found.relative_to(self._root).as_posix() if inside else ""
            self._files[path] = PurePosixPath(relative) if inside else None
        return self._files[path]

    def left_out(self, stated: Stated) -> list[str]:
        """Return the ids of the tests of a claim that were not selected."""
        return [name for name in self._ran.left_out if self._is_of(stated, name)]

    def excused(self, stated: Stated) -> dict[str, str]:
        """Return which tests of a claim were skipped, or failed as expected, by their ids."""
        found = self._ran.excused.items()
        return {name: how for name, how in found if self._is_of(stated, name)}

    def _is_of(self, stated: Stated, name: str) -> bool:
        own = not stated.is_check and stated.is_named(name.partition("::")[2])
        return own and self._file(name) == stated.file

    def of(self, stated: Stated) -> list[Record]:
        """Return the records of a claim, or of a check."""
        here = self._records.get(stated.file, [])
        if stated.is_check:
            kinds = [getattr(self._run, name, []) for name in CHECKS[stated.name]]
            return [record for record in here if any(record in kind for kind in kinds)]
        named = ((record.id.partition("::")[2], record) for record in here)
        return [
            record
            for name, record in named
            if isinstance(record, ClaimRecord) and stated.is_named(name)
        ]

    def id_of(self, stated: Stated) -> str:
        """Return the id of its record; where there is none, its file and its name."""
        found = [] if stated.is_check else self.of(stated)
        return found[0].id if found else f"{stated.file}::{stated.name}"


def weaker(now: Stated, before: Stated) -> Iterator[Weaker]:
    """Yield in what a claim asks less than it did."""
    if now.is_check:
        if before.numbers.keys() - now.numbers.keys():
            yield "asked"
        return
    if bounds_less(now.asserted, before.asserted):
        yield "asserts"
    if now.asserted and severities_less(now.severities, before.severities):
        yield "red_flags"
    if before.incumbent and now.incumbent:
        files = {now.incumbent_file, before.incumbent_file} - {""}
        if len(files) > 1 or not _are_same(now.incumbent, before.incumbent):
            yield "incumbent"
    if before.control and now.control and not _are_same(now.control, before.control):
        yield "control"
    if before.clustered and not now.clustered:
        yield "clusters"
    if before.of_task and not now.of_task:
        yield "count"
    if now.budget < before.budget:
        yield "budget"
    if now.unverified and not before.unverified:
        yield "unverified"
    if now.backend == BY_HAND or now.backend != before.backend == "recorded":
        return
    if now.backend == "recorded" != before.backend:
        yield "recorded"
        return
    was, stated = before.numbers, now.numbers
    if was and _number(stated["t"]) < _number(was["t"]):
        yield "t"
    for key in ("chance", "source", "read", "judge"):
        if was and stated[key] != was[key]:
            yield key


def _are_same(now: IncumbentSettings, before: IncumbentSettings) -> bool:
    """Tell whether what two claims are compared with differs in nothing that decides."""
    return now == before.model_copy(update={"matters": now.matters})


def _number(value: int | dict[int, int] | None) -> int:
    """Return what is stated, of several numbers of shots the least; 0 where nothing is."""
    return min(value.values()) if isinstance(value, dict) else value or 0


def _ran_less(stated: Stated, record: Record) -> bool:
    """Tell whether a run asserted less of a claim than its file says, as a conftest may do."""
    if not isinstance(record, ClaimRecord) or stated.is_default:
        return False
    if stated.backend == BY_HAND:
        said = [bounds_of(each) for each in stated.numbers["checks"]]
        return bool(said) and all(bounds_less(record.asserted, each) for each in said)
    bounds = {key: value for key, value in stated.asserted.items() if key != "in_replicates"}
    ran = {**KINDS.defaults(), **record.severities}
    return bounds_less(record.asserted, bounds) or (
        bool(bounds) and severities_less(ran, stated.severities)
    )
