"""What a pull request takes out, excuses or weakens: its suites and its run against the base.

The base is read from git, and the suites of the work tree from their files, before pytest begins:
in pytest the pull request's own code runs, which can change both, and any report. Of a claim that
the run lacks, skips or excuses, pytest is asked what it does with it at the base.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.by_hand import asks_less, bounds_of
from pytest_maxrandom.ci.stated import Stated, stated_in
from pytest_maxrandom.ci.tested import Tested
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import (
    BY_HAND,
    ClaimRecord,
    Record,
    Reservation,
    Reserved,
    RunRecord,
    Weaker,
)
from pytest_maxrandom.reports.changes import bounds_less, is_partial
from pytest_maxrandom.reports.severities import severities_less

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.ci.process import Ran
    from pytest_maxrandom.ci.selection import Selected, Selection, State
    from pytest_maxrandom.ledger.history import Commit
    from pytest_maxrandom.suite.incumbent import IncumbentSettings


class Comparison:
    """The claims of a base, and those of the work tree as it is when this is made.

    Parameters
    ----------
    base : Commit
        The base, in the work tree's repository.
    suites : iterable of str
        What the gate is called with: files, folders, ids; what lies outside of the work tree is
        left out.
    selection : Selection
        What pytest selects at the base.

    Raises
    ------
    GitError
        If git cannot read the base.
    """

    def __init__(self, base: Commit, suites: Iterable[str], selection: Selection) -> None:
        tree = base.tree
        self._selection, self._root = selection, tree.root
        asked = _inside(tree.root, suites)

        def to_test(files: Iterable[PurePosixPath]) -> list[PurePosixPath]:
            return [file for file in files if any(map(file.is_relative_to, asked))]

        self._changed = [*map(PurePosixPath, tree.changed_since(base.commit))]
        files = [*map(PurePosixPath, tree.files_at(base.commit))]
        with tempfile.TemporaryDirectory() as folder:
            files += tree.write_files(base.commit, Path(folder), _states)
            self.base = stated_in(Path(folder), to_test(files), files)
        paths = [each for path in tree.files() for each in _behind(path)]
        here = [PurePosixPath(path.relative_to(tree.root).as_posix()) for path in paths]
        self.now = stated_in(tree.root, to_test(here), here)

    def reservations(self, run: RunRecord | None, ran: Ran) -> list[Reservation]:
        """Say what a reader must know of a run before its verdict.

        The run is what pytest recorded, None where it recorded nothing; `ran` is what became of
        pytest.
        """
        tested = Tested(run, ran, self._root)
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

    def _unread(self, tested: Tested) -> Iterator[Reservation]:
        """Yield what stands in suites of which nobody can read what the base's claim."""
        for file in self.base.unread:
            now = [each for each in self.now.claims if each.file == file]
            names = [tested.id_of(each) for each in now] or [str(file)]
            if file not in self.now.unread:
                yield from (Reservation("uncompared", name, weaker=["unread"]) for name in names)

    def _of_suites(self, tested: Tested) -> Iterator[Reservation]:
        """Yield what the suites of the base say and those of the work tree do not."""
        for before in self.base.claims:
            now = self._same(before)
            named = tested.id_of(now or before)
            if now is None:
                if before.file not in self.now.unread or tested.is_whole:  # else it is told anyway
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

    def _excused(self, tested: Tested, *, partial: bool) -> Iterator[Reservation]:
        """Yield what was not tested, or could fail, though the base tests it."""
        doubts = [*self._doubts(tested, partial=partial)]
        if not doubts:
            return
        selected = self._selection.of({before.file for before, _, _ in doubts})
        for before, kind, name in doubts:
            if selected is None or before.file in selected.unread:
                yield Reservation(kind, name, weaker=["untold"])
            elif kind == "gone":
                yield from self._lost(selected, before, tested)
            elif "selected" in self._states(selected, before, name):
                yield Reservation(kind, name)

    def _doubts(self, tested: Tested, *, partial: bool) -> Iterator[tuple[Stated, Reserved, str]]:
        """Yield claims of the base that the run lacks, skips or excuses: why, and their ids."""
        for before in self.base.claims:
            now = self._same(before)
            if now is None:
                continue
            known = tested.of(now)
            excused = tested.excused(now)
            changed = any(each.is_relative_to(before.results) for each in self._changed)
            if known and before.open_shots and changed:
                yield before, "gone", tested.id_of(now)
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

    def _lost(self, selected: Selected, before: Stated, tested: Tested) -> Iterator[Reservation]:
        """Yield the tests of a claim, one for each number of shots, that the run knows no more."""
        now = self._same(before)
        here = set() if now is None else tested.names(now)
        for file, test in selected.states:
            if file == before.file and before.is_named(test) and test not in here:
                yield Reservation("gone", f"{file}::{test}")

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


def _inside(root: Path, suites: Iterable[str]) -> list[PurePosixPath]:
    """Return what is to be tested from the top folder on; what lies outside of it is left out."""
    here = root.resolve()
    named = [Path.cwd() / each.partition("::")[0] for each in suites]
    # As they are written, too: where a link leads, the work tree says, and not the base.
    paths = [*(Path(os.path.normpath(each)) for each in named), *(each.resolve() for each in named)]
    inside = dict.fromkeys(each.relative_to(here) for each in paths if each.is_relative_to(here))
    return [PurePosixPath(each.as_posix()) for each in inside]


def _states(path: str) -> bool:
    """Tell whether a file may state claims."""
    return path.endswith((".yaml", ".yml", ".py"))


def _behind(path: Path) -> list[Path]:
    """Return the files of a folder that a link leads to; what is no such link itself."""
    if not (path.is_symlink() and path.is_dir()):
        return [path]
    return [found for found in path.rglob("*") if found.is_file()]


def weaker(now: Stated, before: Stated) -> Iterator[Weaker]:
    """Yield in what a claim asks less than it did."""
    if now.is_check:
        if before.numbers.keys() - now.numbers.keys():
            yield "asked"
        return
    answers = {now.incumbent_file, before.incumbent_file} - {""}
    less: dict[Weaker, bool] = {
        "asserts": bounds_less(now.asserted, before.asserted),
        "red_flags": bool(now.asserted) and severities_less(now.severities, before.severities),
        "incumbent": len(answers) > 1 or not _are_same(now.incumbent, before.incumbent),
        "control": not _are_same(now.control, before.control),
        "clusters": before.clustered and not now.clustered,
        "count": before.of_task and not now.of_task,
        "budget": now.budget < before.budget,
        "unverified": now.unverified and not before.unverified,
    }
    yield from (what for what, is_less in less.items() if is_less)
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


def _are_same(now: IncumbentSettings | None, before: IncumbentSettings | None) -> bool:
    """Tell whether what two claims are compared with, if both are, differs in nothing decisive."""
    return not (now and before) or now == before.model_copy(update={"matters": now.matters})


def _number(value: int | dict[int, int] | None) -> int:
    """Return what is stated, of several numbers of shots the least; 0 where nothing is."""
    return min(value.values()) if isinstance(value, dict) else value or 0


def _ran_less(stated: Stated, record: Record) -> bool:
    """Tell whether a run asserted less of a claim than its file says, as a conftest may do."""
    if not isinstance(record, ClaimRecord) or stated.is_default:
        return False
    if stated.backend == BY_HAND:
        checks = stated.numbers["checks"]
        return bool(checks) and all(
            bounds_less(record.asserted, bounds_of(each))
            or (isinstance(t := each.get("t"), int) and record.t is not None and record.t < t)
            for each in checks
        )
    bounds = {key: value for key, value in stated.asserted.items() if key != "in_replicates"}
    ran = {**KINDS.defaults(), **record.severities}
    return bounds_less(record.asserted, bounds) or (
        bool(bounds) and severities_less(ran, stated.severities)
    )
