"""Models that are trained for tests: made once, and kept for as long as what makes them stays."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from pytest_maxrandom.models.hf.arithmetic import processor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LIBRARIES = ("tokenizers", "torch", "transformers")


def cache() -> Path:
    """Return the folder outside of the repository: ``MAXRANDOM_TEST_CACHE``, or the user's."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MAXRANDOM_TEST_CACHE") or usual / "pytest-maxrandom-tests")


def kept(name: str, make: Callable[[Path], object], sources: Iterable[Path]) -> Path:
    """Return the folder that `make` fills, as it was filled before if nothing has changed.

    Parameters
    ----------
    name : str
        What is made: the beginning of the folder's name.
    make : callable
        Is given an empty folder.
    sources : iterable of Path
        The files whose text, beside the libraries and the processor, decides what is made.
    """
    said = [processor(), *(f"{library} {version(library)}" for library in LIBRARIES)]
    said += [path.read_text(encoding="utf-8") for path in sources]
    digest = hashlib.sha256("\0".join([name, *said]).encode()).hexdigest()[:16]
    folder = cache() / f"{name}-{digest}"
    if folder.is_dir():
        return folder
    cache().mkdir(parents=True, exist_ok=True)
    with FileLock(cache() / f"{folder.name}.lock"):
        if not folder.is_dir():  # or another process has made it in the meantime
            begun = Path(tempfile.mkdtemp(dir=cache()))
            try:
                make(begun)
                begun.rename(folder)
            except BaseException:
                shutil.rmtree(begun, ignore_errors=True)
                raise
    return folder
