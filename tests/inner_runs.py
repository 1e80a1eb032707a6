"""Runs of pytest within the test process leave the libraries that they import.

`pytester` forgets every module that a run within the process has imported, and every one that a
test has, so that test modules of the same name do not meet. Libraries are forgotten with them,
although reading them anew takes longer than most tests, and some cannot be read twice.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

PLUGINS = ("pytest_maxrandom.plugin", "xdist.plugin")
"""Those of runs within the test process: to look for them in all that is installed, as runs in
processes of their own do, takes a quarter of a short run, and by their names as much again."""


class Imports:
    """What is imported from now on, but for what lies in a folder of tests' own files."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._known = set(sys.modules)
        self._libraries: dict[str, ModuleType] = {}

    def _is_library(self, top: str) -> bool:
        """Tell it by a package's top: what a test has made by hand has no spec."""
        attributes = getattr(sys.modules.get(top), "__dict__", {})
        places = [attributes.get("__file__") or "", *map(str, attributes.get("__path__") or ())]
        return attributes.get("__spec__") is not None and not any(
            place.startswith(self._own) for place in places
        )

    def note(self) -> None:
        """Note the libraries, before they are forgotten."""
        new = sys.modules.keys() - self._known
        tops = {top for top in {name.partition(".")[0] for name in new} if self._is_library(top)}
        self._libraries = {
            name: module
            for name in new
            if name.partition(".")[0] in tops and (module := sys.modules[name]) is not None
        }

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Note them at the end of an inner run, of which this is a plugin."""
        self.note()

    def bring_back(self) -> None:
        """Put back what was noted and forgotten."""
        for name, module in self._libraries.items():
            sys.modules.setdefault(name, module)


@pytest.fixture
def imports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imports]:
    """Those of a test; made before `pytester`, so that they outlast what it forgets."""
    found = Imports(str(tmp_path_factory.getbasetemp()))
    yield found
    found.bring_back()


@pytest.fixture
def pytester(
    imports: Imports, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.Pytester]:
    """Keep the libraries of a run for the next one, of the same test or of another."""
    run = pytester.inline_run

    def inline_run(*arguments: Any, plugins: Iterable[Any] = (), **options: Any) -> Any:
        try:
            with pytest.MonkeyPatch.context() as environment:
                named: list[object] = []
                if "no:xdist" not in arguments:  # which is blocked by the name that pytest finds
                    environment.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
                    if any(str(each).startswith("-n") for each in arguments):
                        environment.setenv("PYTEST_PLUGINS", ",".join(PLUGINS))  # of workers, too
                    else:
                        named = [import_module(name) for name in PLUGINS]
                return run(*arguments, plugins=[*plugins, *named, imports], **options)
        finally:
            imports.bring_back()

    monkeypatch.setattr(pytester, "inline_run", inline_run)
    yield pytester
    imports.note()
