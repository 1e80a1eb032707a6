"""The earlier run of a comparison: a report that was kept, or a suite whose answers are stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.host import STORE
from pytest_maxrandom.reports.results import find

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


def base_run(
    named: str, like: Path | None = None, folder: Path | None = None, store: Path | None = None
) -> RunRecord:
    """Read an earlier run that a person names: a report, as `find` takes it, or a suite as it was.

    The results of a suite are in a store, by default the one below the folder.

    Raises
    ------
    MaxRandomError
        In one sentence, if there is none, it cannot be read, or the store lacks its answers.
    """
    folder = folder or Path.cwd()
    path = folder / named
    if path.suffix in (".yaml", ".yml") and path.is_file():
        from pytest_maxrandom.claims.from_store import stored_run  # models take time to import

        return stored_run(path, store or folder / STORE, Path(named).as_posix())
    return find(named, like, folder)
