"""Runs of pytest within the test process leave the libraries that they import.

`pytester` forgets every module that a run within the process has imported, and every one that a
test has, so that test modules of the same name do not meet. Libraries are forgotten with them,
although reading them anew takes longer than most tests, and some cannot be read twice.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from types import ModuleType


class Imports:
    """What is imported from now on, but for what lies in a folder of tests' own files."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._known = set(sys.modules)

    def _is_library(self, name: str) -> bool:
        """Tell it by a package's top: what a test has made by hand has no spec."""
        top = getattr(sys.modules.get(name.partition(".")[0]), "__dict__", {})
        places = [top.get("__file__") or "", *map(str, top.get("__path__") or ())]
        return top.get("__spec__") is not None and not any(
            place.startswith(self._own) for place in places
        )

    def libraries(self) -> dict[str, ModuleType]:
        """Return them by their names."""
        return {
            name: sys.modules[name]
            for name in sys.modules.keys() - self._known
            if sys.modules[name] is not None and self._is_library(name)
        }


class _Keeper:
    """A plugin of one inner run: what it has imported when it ends."""

    def __init__(self, own: str) -> None:
        self._imports = Imports(own)
        self.libraries: dict[str, ModuleType] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        self.libraries = self._imports.libraries()


OF_TEST = pytest.StashKey[Imports]()


@pytest.fixture
def pytester(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> pytest.Pytester:
    """Keep the libraries of one run for the next one of the same test."""
    run, own = pytester.inline_run, str(tmp_path_factory.getbasetemp())
    request.node.stash[OF_TEST] = Imports(own)

    def inline_run(*arguments: Any, plugins: Iterable[Any] = (), **options: Any) -> Any:
        keeper = _Keeper(own)
        try:
            return run(*arguments, plugins=[*plugins, keeper], **options)
        finally:
            sys.modules.update(keeper.libraries)

    monkeypatch.setattr(pytester, "inline_run", inline_run)
    return pytester


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Keep the libraries of one test for the next one."""
    imports = item.stash.get(OF_TEST, None)
    libraries = imports.libraries() if imports else {}
    try:
        return (yield)
    finally:
        for name, module in libraries.items():
            sys.modules.setdefault(name, module)
