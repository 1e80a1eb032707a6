"""Data that a suite names: what of it may be read, and whether it may be quoted.

A suite comes with a pull request, and so do its links and its task files: none of them may show
what the runner's other files or variables hold. All readers of data ask here before they open a
file. A person who runs pytest reads whatever regular file a suite names. Under ``maxrandom gate``
what lies outside of the repository, and each variable, needs a permission that the workflow gives.
Weights, and the caches of the hub, are no data.
"""

from __future__ import annotations

import functools
import json
import os
import stat
import sysconfig
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pytest_maxrandom.errors import GitError, quoted
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.host.workers import variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BOUNDARY = "MAXRANDOM_BOUNDARY"
"""Environment variable that a gate sets for its run of pytest: what suites may read, as JSON."""
_OF_SYSTEM = ("/proc", "/sys", "/dev")
_SHARED_MEMORY = "/dev/shm"
_REMOTE = ("http", "https", "hf", "s3", "gs", "gcs", "az", "abfs", "abfss")


@dataclass(frozen=True, slots=True)
class Boundary:
    """What the suites of a gate may read.

    Parameters
    ----------
    variables : sequence of str
        Names of variables of the environment.
    places : sequence of str
        Folders and files outside of the repository, and addresses that those of data begin with.
    """

    root: Path
    variables: Sequence[str] = ()
    places: Sequence[str] = ()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Hold all processes that are started meanwhile to it."""
        said = {"root": str(self.root), "variables": self.variables, "places": self.places}
        with variable(_BOUNDARY, json.dumps(said)):
            yield

    def holds(self, path: Path) -> bool:
        """Tell whether a path, its links followed, may be read."""
        allowed = (Path(place) for place in self.places if "://" not in place)
        return any(path.is_relative_to(one.resolve()) for one in (self.root, *allowed))


NOT_QUOTED = (
    "why is not told, because it leads out of the repository, and nothing there is quoted; copy it "
    "into the repository to see why"
)


@dataclass(slots=True)
class Reading:
    """What is read for one task, or for one model's results."""

    root: Path | None
    """The repository; None where the suite is in none."""
    quotable: bool = field(default=True, init=False)
    """Whether messages may quote what was read: not if some of it lies outside."""


_READING: ContextVar[Reading | None] = ContextVar("reading", default=None)


def boundary() -> Boundary | None:
    """Return what a gate allows; None where a person runs pytest."""
    said = os.environ.get(_BOUNDARY)
    if not said:
        return None
    parts = json.loads(said)
    return Boundary(Path(parts["root"]), tuple(parts["variables"]), tuple(parts["places"]))


def work_tree(folder: Path) -> Path:
    """Return the top of the work tree that a folder is in, or else the folder."""
    try:
        return repository(folder).root
    except GitError:
        return folder.absolute()


@contextmanager
def reading(base: Path) -> Iterator[Reading]:
    """Note what is read for a suite in a folder; `refused` adds to it."""
    limits = boundary()
    above = (one for one in (base.absolute(), *base.absolute().parents) if (one / ".git").exists())
    found = Reading(limits.root if limits else next(above, None))
    token = _READING.set(found)
    try:
        yield found
    finally:
        _READING.reset(token)


def refused(path: Path, name: str) -> str:
    """Say why a file, or a folder with all that it links to, is not read; nothing if it is.

    Parameters
    ----------
    name : str
        The path as the suite writes it, variables included.
    """
    return next(filter(None, (_refused(one, name) for one in (path, *_links(path)))), "")


def _refused(path: Path, name: str) -> str:
    limits, current = boundary(), _READING.get()
    try:
        real = path.resolve()
        there = real.exists()
    except (OSError, ValueError, RuntimeError):  # too long; a NUL character; a loop of links
        return ""  # nobody can open it, and who tries says why
    if any(real.is_relative_to(folder) for folder in _installed()):
        return ""
    if limits is not None and not limits.holds(real):
        return (
            f"{quoted(name, 200)} leads out of the repository; data there are read under "
            "`maxrandom gate` only if the workflow says `--allow-path FOLDER`"
        )
    if ".git" in map(str.casefold, real.parts):
        return f"{quoted(name, 200)} leads into the folder of git, which holds no data"
    of_system = any(real.is_relative_to(one) for one in _OF_SYSTEM)
    if of_system and not real.is_relative_to(_SHARED_MEMORY):
        return f"{quoted(name, 200)} leads to what the system says of itself, which is no data"
    if there and not stat.S_ISREG(mode := real.stat().st_mode) and not stat.S_ISDIR(mode):
        return f"{quoted(name, 200)} is not a regular file; give a file that can be read again"
    if current is not None and current.root is not None and there:
        current.quotable &= real.is_relative_to(current.root.resolve())
    return ""


@functools.cache  # asked for each of thousands of files
def _installed() -> frozenset[Path]:
    """Return where the tasks of lm-eval are, which whoever runs this installed; no other package.

    What else stands there, such as a package of a company, may hold what nobody should read.
    """
    kinds = ("purelib", "platlib")
    return frozenset(Path(sysconfig.get_path(kind), "lm_eval").resolve() for kind in kinds)


def _links(path: Path) -> Iterator[Path]:
    """Yield what in a folder may lead elsewhere, or is no file."""
    try:
        if not path.is_dir():
            return
    except (OSError, ValueError):
        return
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            one = Path(folder, name)
            if one.is_symlink() or not (one.is_file() or one.is_dir()):
                yield one


def refused_address(url: str) -> str:
    """Say why what is at an address is not read; nothing if it is."""
    scheme = url.partition("://")[0].casefold()
    if scheme not in _REMOTE or "::" in url or ".." in unquote(url).split("/"):
        return f"{quoted(url, 200)} is no address of data; write the path of a file as it is"
    limits = boundary()
    if limits is None or any(url.startswith(f"{one.rstrip('/')}/") for one in limits.places):
        return ""
    return (
        f"{quoted(url, 200)} leads out of the repository; data there are read under `maxrandom "
        "gate` only if the workflow says `--allow-path ADDRESS`"
    )


def refused_variable(name: str) -> str:
    """Say why a variable of the environment is not filled in; nothing if it is."""
    limits = boundary()
    if limits is None or name in limits.variables:
        return ""
    return (
        f"the environment variable {name} is not filled in under `maxrandom gate`, unless the "
        f"workflow says `--allow-env {name}`"
    )
