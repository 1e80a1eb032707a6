"""What a pull request takes out, excuses or weakens: its suites and its run against the base.

The base is read from git, and the suites of the work tree from their files, before pytest begins:
in pytest the pull request's own code runs, which can change both, and any report.
"""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.stated import BY_HAND, Stated, stated_in
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import ClaimRecord, Reservation
from pytest_maxrandom.reports.changes import bounds_less, is_partial
from pytest_maxrandom.reports.reasons import severities_less
from pytest_maxrandom.reports.summary import records

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.record import Record, Reserved, RunRecord, Weaker

_CONFIGURATION = frozenset(
    ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini",
     "setup.cfg", "pyproject.toml")
)  # fmt: skip
"""Files that tell pytest what to select."""
_CODE = (".py", ".pth", ".so", ".pyd")
_NOT_SEARCHED = frozenset(("build", "dist", "node_modules", "venv"))
"""Folders that pytest passes over, as it does those whose names begin with a dot."""
_SELECTING = (
    "-k", "-m", "--deselect", "--ignore", "--lf", "--last-failed", "--sw", "--stepwise",
)  # fmt: skip
_RECORDS = {
    "label_bias": "label_bias",
    "replicates": "replicates",
    "compare": "comparisons",
    "contamination": "contamination",
}
"""The keys of a suite that ask for more tests, and where a run keeps their records."""
_STATING = (".yaml", ".yml", ".py")
"""Suffixes of files that may state claims."""


@dataclass(frozen=True)
class Scope:
    """What a gate is to test.

    Parameters
    ----------
    root : Path
        Top folder of the work tree.
    suites : sequence of PurePosixPath
        Files and folders, from there.
    selects : bool
        Whether the gate's own arguments let pytest select among their tests.
    """

    root: Path
    suites: Sequence[PurePosixPath]
    selects: bool

    @classmethod
    def of(cls, root: Path, suites: Iterable[str], arguments: Iterable[str]) -> Scope:
        """Read the gate's arguments; what lies outside of the work tree is left out."""
        paths, here = [], root.resolve()
        selects = any(each.startswith(_SELECTING) for each in arguments)
        for each in suites:
            path, _, name = each.partition("::")
            selects |= bool(name)
            if (found := Path(path).resolve()).is_relative_to(here):
                paths.append(PurePosixPath(found.relative_to(here).as_posix()))
        return cls(root, paths, selects)

    def __contains__(self, file: PurePosixPath) -> bool:
        return any(file.is_relative_to(each) for each in self.suites) and not any(
            part.startswith(".") or part in _NOT_SEARCHED for part in file.parent.parts
        )


class Comparison:
    """The claims of a base, and those of the work tree as it is when this is made.

    Parameters
    ----------
    tree : Repository
        The work tree.
    commit : str
        The base.
    scope : Scope
        What is to be tested.

    Raises
    ------
    GitError
        If git cannot read the base.
    """

    def __init__(self, tree: Repository, commit: str, scope: Scope) -> None:
        self._scope = scope
        files = [*map(PurePosixPath, tree.files_at(commit))]
        with tempfile.TemporaryDirectory() as folder:
            files += tree.write_files(commit, Path(folder), _STATING)
            self.base = stated_in(Path(folder), (file for file in files if file in scope))
        here = (PurePosixPath(path.relative_to(tree.root).as_posix()) for path in tree.files())
        self.now = stated_in(tree.root, (file for file in here if file in scope))
        changed = [PurePosixPath(path) for path in tree.changed_since(commit)]
        self._selection_changed = any(
            file.name in _CONFIGURATION and _tells_pytest_otherwise(tree, commit, file)
            for file in changed
        )
        self._code_changed = any(file.suffix in _CODE for file in changed)

    def reservations(
        self, run: RunRecord | None, rootdir: Path, fail_on: Collection[Reserved]
    ) -> list[Reservation]:
        """Say what a reader must know of a run before its verdict.

        Parameters
        ----------
        run : RunRecord or None
            What pytest recorded.
        rootdir : Path
            What the files of its ids are relative to.
        fail_on : collection of str
            Kinds that fail the gate.
        """
        tested = _Tested(run, rootdir, self._scope.root)
        found = [*self._of_suites(tested)]
        if run is not None and not is_partial(run):
            found += self._untested(tested)
        found += self._excused(tested)
        for each in found:
            each.fails = each.kind in fail_on and (each.kind != "deselected" or self._is_new)
        return list({(each.kind, each.id): each for each in found}.values())

    @property
    def _is_new(self) -> bool:
        """Whether it is certain enough that the pull request deselects what is not selected."""
        return self._selection_changed and not self._scope.selects

    def _of_suites(self, tested: _Tested) -> Iterator[Reservation]:
        """Yield what the suites of the base say and those of the work tree do not."""
        for before in self.base.claims:
            now = self._same(before)
            named = tested.id_of(now or before)
            if now is None:
                if before.file not in self.now.unread:  # which ends pytest as a mistake
                    yield Reservation("gone", named)
                continue
            weaker = [*_weaker(now, before)]
            for record in tested.of(now):
                if _ran_less(now, record) and "ran" not in weaker:
                    weaker.append("ran")
            if weaker:
                asserts = "asserts" in weaker
                yield Reservation(
                    "weakened",
                    named,
                    weaker=weaker,
                    now=now.asserted if asserts else {},
                    before=before.asserted if asserts else {},
                )

    def _untested(self, tested: _Tested) -> Iterator[Reservation]:
        """Yield the claims of the base that the run was not asked for, or does not tell of."""
        for before in self.base.claims:
            now = self._same(before)
            if now is None or tested.of(now) or (now.backend == BY_HAND and before.skips):
                continue
            marked = now.marks != before.marks
            if marked or self._selection_changed or self._code_changed:
                yield Reservation("deselected", tested.id_of(now))

    def _excused(self, tested: _Tested) -> Iterator[Reservation]:
        """Yield what was not tested, or could fail, without the base saying so."""
        changed = self._selection_changed or self._code_changed
        for before in self.base.claims:
            now = self._same(before)
            if now is None or now.is_check:
                continue
            for record in tested.of(now):
                if record.outcome == "xfailed" and not before.xfail and (now.xfail or changed):
                    yield Reservation("xfailed", record.id)
                skips = not before.skips and (now.skips or changed)
                if record.outcome == "skipped" and skips:
                    yield Reservation("skipped", record.id)

    def _same(self, before: Stated) -> Stated | None:
        """Return a claim of the base as it stands now, also where its file was moved."""
        alike = [now for now in self.now.claims if now.name == before.name]
        for now in alike:
            if now.file == before.file:
                return now
        known = {(each.file, each.name) for each in self.base.claims}
        moved = [now for now in alike if (now.file, now.name) not in known]
        return moved[0] if len(moved) == 1 else None


class _Tested:
    """The records of a run by their files, from the top folder of the work tree on."""

    def __init__(self, run: RunRecord | None, rootdir: Path, root: Path) -> None:
        self._run = run
        self._files: dict[str, PurePosixPath | None] = {}
        self._records: dict[PurePosixPath, list[Record]] = {}
        for record in records(run) if run else []:
            path = record.id.partition("::")[0]
            if path not in self._files:
                found, here = (rootdir / path).resolve(), root.resolve()
                inside = found.is_relative_to(here)
                relative = found.relative_to(here).as_posix() if inside else ""
                self._files[path] = PurePosixPath(relative) if inside else None
            if (file := self._files[path]) is not None:
                self._records.setdefault(file, []).append(record)

    def of(self, stated: Stated) -> list[Record]:
        """Return the records of a claim, or of a check."""
        here = self._records.get(stated.file, [])
        if stated.is_check:
            kind = getattr(self._run, _RECORDS[stated.name], [])
            return [record for record in here if record in kind]
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


def _weaker(now: Stated, before: Stated) -> Iterator[Weaker]:
    """Yield in what a claim asks less than it did."""
    if now.is_check:
        if before.numbers.keys() - now.numbers.keys():
            yield "asked"
        return
    if bounds_less(now.asserted, before.asserted):
        yield "asserts"
    if now.asserted and severities_less(now.severities, before.severities):
        yield "red_flags"
    if before.clustered and not now.clustered:
        yield "clusters"
    if before.of_task and not now.of_task:
        yield "count"
    if now.budget < before.budget:
        yield "budget"
    if now.unverified and not before.unverified:
        yield "unverified"
    if now.backend != before.backend == "recorded":
        return
    if now.backend == "recorded" != before.backend:
        yield "recorded"
        return
    was, stated = before.numbers, now.numbers
    if was and _number(stated["t"]) < _number(was["t"]):
        yield "t"
    for key in ("chance", "source", "judge"):
        if was and stated[key] != was[key]:
            yield key


def _number(value: int | dict[int, int] | None) -> int:
    """Return what is stated, of several numbers of shots the least; 0 where nothing is."""
    return min(value.values()) if isinstance(value, dict) else value or 0


def _ran_less(stated: Stated, record: Record) -> bool:
    """Tell whether a run asserted less of a claim than its suite says, as a conftest may do."""
    if stated.backend == BY_HAND or not isinstance(record, ClaimRecord) or stated.is_default:
        return False
    bounds = {key: value for key, value in stated.asserted.items() if key != "in_replicates"}
    ran = {**KINDS.defaults(), **record.severities}
    return bounds_less(record.asserted, bounds) or (
        bool(bounds) and severities_less(ran, stated.severities)
    )


def _tells_pytest_otherwise(tree: Repository, commit: str, file: PurePosixPath) -> bool:
    """Tell whether a file that changed since a commit may change what pytest selects."""
    if file.name != "pyproject.toml":
        return True
    name = tree.files_at(commit).get(str(file))
    was = tree.contents([name])[name] if name else b""
    path = tree.root / file
    try:
        both = [tomllib.loads(data.decode()) for data in (was, path.read_bytes())]
    except (OSError, ValueError):
        return True
    of_pytest = [each.get("tool", {}).get("pytest") for each in both]
    return bool(of_pytest[0] != of_pytest[1])
