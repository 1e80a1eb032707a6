"""Parts of the plugin that installed packages add, by entry points.

The group of an entry point says what is added, and its name is what suites and commands say::

    [project.entry-points."pytest_maxrandom.sources"]
    parquet = "my_package.parquet:ParquetSource"
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import EntryPoint, distribution, distributions
from typing import Any, TypeVar

from pytest_maxrandom.errors import ExtensionError, MaxRandomError

_PREFIX = "pytest_maxrandom."
BACKENDS = "pytest_maxrandom.backends"
SOURCES = "pytest_maxrandom.sources"
READERS = "pytest_maxrandom.readers"
SCORERS = "pytest_maxrandom.scorers"
METRICS = "pytest_maxrandom.metrics"
RED_FLAGS = "pytest_maxrandom.red_flags"
REPORT_FORMATS = "pytest_maxrandom.report_formats"

P = TypeVar("P")
_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


@contextmanager
def none_installed() -> Iterator[None]:
    """Behave as if no package added anything."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


def entries() -> tuple[EntryPoint, ...]:
    """Return what installed packages add; nothing is loaded, and the same is the same object."""
    return () if _hidden.get() else _entries(tuple(sys.path))


@functools.lru_cache(maxsize=8)
def _entries(_: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    by_package: dict[str, list[EntryPoint]] = {}
    for each in distributions():
        # Most packages add nothing: their files are not parsed, which takes several times as long.
        if _PREFIX in (each.read_text("entry_points.txt") or "") and each.name not in by_package:
            by_package[each.name] = [
                entry
                for entry in distribution(each.name).entry_points  # the one that is imported
                if entry.group.startswith(_PREFIX)
            ]
    return tuple(
        sorted((each for own in by_package.values() for each in own), key=lambda e: e.name)
    )


def installed(group: str) -> dict[str, list[EntryPoint]]:
    """Return what installed packages add to a group, by name; nothing is loaded for it."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entries():
        if entry.group == group:
            found.setdefault(entry.name, []).append(entry)
    return found


@functools.cache
def load(group: str, name: str) -> Any:
    """Load what a package adds to a group; a class is called, so that an instance is given.

    Raises
    ------
    ExtensionError
        If there is none of this name, or it cannot be loaded.
    """
    entries = installed(group).get(name, [])
    if len(entries) != 1:
        packages = " and ".join(map(_package, entries))
        raise ExtensionError(
            f"several packages add the {noun(group)} {name!r}: {packages}; uninstall all but one "
            "of them"
            if entries
            else f"no installed package adds the {noun(group)} {name!r}; install the one that does"
        )
    (entry,) = entries
    try:
        loaded = entry.load()
        return loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # whatever the code of a package raises
        raise ExtensionError(
            f"{titled(group, name)} cannot be loaded from {entry.value} ({reason(error)}); repair "
            "or uninstall the package"
        ) from error


def noun(group: str) -> str:
    """Return what one part of a group is: ``red flag``."""
    return group.removeprefix(_PREFIX).removesuffix("s").replace("_", " ")


def package_of(group: str, name: str) -> str:
    """Return the packages that add a part, with their versions; empty for what is built in."""
    return " and ".join(map(_package, installed(group).get(name, [])))


def titled(group: str, name: str) -> str:
    """Name a part, and the package that adds it: ``the source 'series' of toy 1.0``."""
    package = package_of(group, name)
    return f"the {noun(group)} {name!r}" + (f" of {package}" if package else "")


def _package(entry: EntryPoint) -> str:
    assert entry.dist is not None
    return f"{entry.dist.name} {entry.dist.version}"


def reason(error: BaseException) -> str:
    """Return what an error of somebody else's code says, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


@contextmanager
def blamed(
    group: str, name: str, error_of: Callable[[str], Exception] = ExtensionError
) -> Iterator[None]:
    """Tell in one sentence that code of a package failed; what it tells itself stays.

    Raises
    ------
    ExtensionError
        In place of all other errors than the plugin's own; another error, if `error_of` makes one
        of the sentence.
    """
    try:
        yield
    except MaxRandomError:
        raise
    except Exception as error:  # whatever the code of a package raises
        raise error_of(
            f"{titled(group, name)} failed ({reason(error)}); report this to its authors"
        ) from error


def refuse_taken(group: str, name: str) -> None:
    """Refuse what a package adds under the name of a built-in part.

    Raises
    ------
    ExtensionError
        If there is such a package.
    """
    if name in installed(group):
        raise ExtensionError(
            f"{titled(group, name)} has the name of a built-in one; rename it there, or uninstall "
            "the package"
        )


class NamedParts(Mapping[str, P]):
    """Parts of one kind by name: first the built-in ones, then those that packages add.

    What a package adds is loaded when it is asked for by its name.

    Parameters
    ----------
    group : str
        The group of entry points that adds others.
    usable : callable
        Takes a name and what a package gave for it, and returns the part. It raises `TypeError`,
        with what is expected, where that is none.
    """

    def __init__(
        self, group: str, built_in: Mapping[str, P], usable: Callable[[str, Any], P]
    ) -> None:
        self.group = group
        self.built_in = built_in
        self._usable = usable
        self._known: tuple[object, dict[str, P], list[ExtensionError]] | None = None

    def names_added(self) -> list[str]:
        """Return the names of those that packages add; nothing is loaded."""
        return [name for name in installed(self.group) if name not in self.built_in]

    def added(self) -> dict[str, P]:
        """Return those that packages add and that can be used; all of them are loaded."""
        return self._all()[0]

    def usable(self) -> dict[str, P]:
        """Return the built-in ones, and those that packages add and that can be used."""
        return {**self.built_in, **self.added()}

    def refused(self) -> list[ExtensionError]:
        """Return why others cannot be used, with the packages that add them."""
        return self._all()[1]

    def _all(self) -> tuple[dict[str, P], list[ExtensionError]]:
        now = entries()
        if self._known is None or self._known[0] is not now:
            added: dict[str, P] = {}
            refused = []
            for name in installed(self.group):
                try:
                    part = self[name]
                except ExtensionError as error:
                    refused.append(error)
                else:
                    added[name] = part
            self._known = now, added, refused
        return self._known[1:]

    def __getitem__(self, name: str) -> P:
        if name in self.built_in:
            refuse_taken(self.group, name)
            return self.built_in[name]
        loaded = load(self.group, name)
        try:
            return self._usable(name, loaded)
        except TypeError as error:
            raise ExtensionError(
                f"{titled(self.group, name)} is {type(loaded).__name__}, expected {error}; repair "
                "or uninstall the package"
            ) from error

    def get(self, name: str, default: Any = None) -> Any:
        """Return a part; what is given instead where there is none, or it cannot be used."""
        try:
            return self[name]
        except ExtensionError:
            return default

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in installed(self.group)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.built_in, *installed(self.group)]))

    def __len__(self) -> int:
        return sum(1 for _ in self)
