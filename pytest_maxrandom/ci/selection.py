"""What pytest selects at the base: asked of pytest itself, in a copy of the base's files.

A configuration, a conftest.py, a module that it imports or a file that it reads can deselect, skip
or excuse a claim. No look at the files tells that; pytest does, with the code and the arguments of
the base. It sets tests up and calls none. In its process this module is a plugin.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pytest

    from pytest_maxrandom.host.data import Boundary
    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.history import Commit

State: TypeAlias = Literal["selected", "skipped", "xfailed"]
_ASKED = "MAXRANDOM_GATE_ASKED"
"""Names the copy of the base for the plugin, and the file that it writes to."""
_WHOLE = (".yaml", ".yml", ".py", ".ini", ".toml", ".cfg")
"""Suffixes of files that are copied, and not linked, however large they are."""
_CODE = (".py", ".so", ".pyd")
_NOT_LINKED = ("__pycache__", ".pytest_cache", ".maxrandom", ".git")
_AS_THE_BASE = ("--setup-only", "--continue-on-collection-errors", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Selected:
    """The tests that pytest selects at the base."""

    states: Mapping[tuple[PurePosixPath, str], State]
    """By their files, from the top folder on, and their names in ids."""
    unread: frozenset[PurePosixPath]
    """Files of which it is not known, because they cannot be collected."""


class Selection:
    """Asks pytest what it selects at the base.

    Parameters
    ----------
    base : Commit
        The base, in the work tree's repository.
    suites, arguments : sequence of str
        What pytest is to test, and its other arguments.
    limits : Boundary
        What suites may read.
    """

    def __init__(
        self, base: Commit, suites: Sequence[str], arguments: Sequence[str], limits: Boundary
    ) -> None:
        self._tree, self._commit = base.tree, base.commit
        self._suites, self._arguments, self._limits = suites, arguments, limits

    def of(self, files: Iterable[PurePosixPath]) -> Selected | None:
        """Return what it selects of some files; None where that cannot be told.

        It cannot where pytest ends early, and where code was imported that does not come from the
        copy though the change touched it, as that of a package that is installed from the work
        tree.

        Raises
        ------
        GitError, OSError
            If the base cannot be copied.
        """
        with tempfile.TemporaryDirectory() as name:
            top = Path(name).resolve() / self._tree.root.name
            top.mkdir()
            changed = self._tree.changed_since(self._commit)
            _copy(self._tree, self._commit, frozenset(changed), top)
            told = self._pytest_states(top, sorted(map(str, files)))
        if told is None or _names(changed) & set(told["elsewhere"]):
            return None
        states = {(PurePosixPath(path), name): state for path, name, state in told["states"]}
        return Selected(states, frozenset(map(PurePosixPath, told["unread"])))

    def _pytest_states(self, top: Path, files: Sequence[str]) -> dict[str, Any] | None:
        """Run pytest in the copy, and return what its plugin tells."""
        root = self._tree.root.resolve()
        here = top / Path.cwd().resolve().relative_to(root)
        here.mkdir(parents=True, exist_ok=True)
        suites = [*_moved(self._suites, root, top)]
        if not suites:
            return {"states": [], "unread": [], "elsewhere": []}
        workers = ["-n", "0"] if importlib.util.find_spec("xdist") else []
        arguments = [each.replace(str(root), str(top)) for each in self._arguments]
        paths = os.environ.get("PYTHONPATH", "").replace(str(root), str(top))
        file = top.parent / ".told"
        limits = replace(self._limits, root=top, places=(*self._limits.places, str(root)))
        with limits.in_force():
            subprocess.run(
                [sys.executable, "-m", "pytest", "-p", __name__, *arguments, *_AS_THE_BASE,
                 *workers, *suites],
                cwd=here,
                env={
                    **os.environ,
                    **({"PYTHONPATH": paths} if paths else {}),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    _ASKED: json.dumps([str(top), str(file), files]),
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )  # fmt: skip
        try:
            told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return told


def _names(changed: Iterable[str]) -> set[str]:
    """Return the names of packages and modules that changed files may belong to."""
    paths = [*map(PurePosixPath, changed)]
    folders = {folder for path in paths for folder in path.parent.parts}
    return folders | {path.name.partition(".")[0] for path in paths if path.suffix in _CODE}


def _moved(suites: Iterable[str], root: Path, top: Path) -> Iterator[str]:
    """Yield the suites that the base has, where they are in the copy."""
    for each in suites:
        path, separator, name = each.partition("::")
        found = Path(path).resolve()
        if found.is_relative_to(root):
            found = top / found.relative_to(root)
        if found.exists():
            yield f"{found}{separator}{name}"


def _copy(tree: Repository, commit: str, changed: frozenset[str], top: Path) -> None:
    """Write the files of a commit; large ones that are unchanged, and what git ignores, as links.

    So are links that lead out of the commit, as to data beside the repository. What git ignores,
    such as weights that were downloaded, no change can touch.
    """
    behind = tree.write_files(commit, top, lambda path: path in changed or path.endswith(_WHOLE))
    unchanged = {*tree.files_at(commit), *map(str, behind)} - changed
    ignored = (path for path in tree.ignored() if PurePosixPath(path).name not in _NOT_LINKED)
    for path in (*unchanged, *ignored):
        if not os.path.lexists(top / path):
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            # Where the system lets nobody make one, what needs it is not known.
            with contextlib.suppress(OSError):
                (top / path).symlink_to(tree.root / path)


class _Told:
    """The plugin: keeps what became of each test that was set up."""

    def __init__(self, top: str, file: str, asked: Sequence[str]) -> None:
        self._top, self._file, self._asked = Path(top), Path(file), frozenset(asked)
        self._states: dict[str, State] = {}
        self._paths: dict[str, str] | None = None
        self._broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken.append(report.nodeid.partition("::")[0])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what is selected, and leave out what nobody asked for."""
        places = [(item, self._place(item.path)) for item in session.items]
        self._paths = {item.nodeid: place for item, place in places if place in self._asked}
        session.items[:] = [item for item, place in places if place in self._asked]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            state: State = "xfailed" if hasattr(report, "wasxfail") else "skipped"
            self._states[report.nodeid] = state if report.skipped else "selected"

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note what is expected to fail, by a mark that pytest has evaluated."""
        from _pytest.skipping import xfailed_key

        if item.stash.get(xfailed_key, None) is not None:
            self._states[item.nodeid] = "xfailed"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell it, unless pytest ended before all was set up."""
        if self._paths is None or not self._paths.keys() <= self._states.keys():
            return
        selection = {
            "states": [
                (place, name.partition("::")[2], self._states[name])
                for name, place in self._paths.items()
            ],
            "unread": [self._place(session.config.rootpath / path) for path in self._broken],
            "elsewhere": sorted(set(self._elsewhere())),
        }
        self._file.write_text(json.dumps(selection), encoding="utf-8")

    def _place(self, path: Path) -> str:
        return Path(os.path.relpath(path, self._top)).as_posix()

    def _elsewhere(self) -> Iterator[str]:
        """Yield the first names of modules that come neither from the copy nor with Python."""
        for name, module in list(sys.modules.items()):
            first, file = name.partition(".")[0], getattr(module, "__file__", None)
            known = first in sys.stdlib_module_names or first == "__main__"
            if file and not known and not Path(file).resolve().is_relative_to(self._top):
                yield first


def pytest_configure(config: pytest.Config) -> None:
    """Tell what is asked for."""
    if _ASKED in os.environ and not hasattr(config, "workerinput"):
        with contextlib.suppress(ValueError):  # registered already
            config.pluginmanager.register(_Told(*json.loads(os.environ[_ASKED])), "maxrandom_told")
