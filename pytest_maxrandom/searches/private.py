"""Where scores and answers lie that a search must not see: in a folder that only the user can open.

It is neither in the repository nor beside the results store, which are what a program that searches
for prompts is given. It is no safe: a program that runs as the same user can open it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import claim_ledger
from pytest_maxrandom.errors import GitError, LedgerError, LockError, SearchError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.withheld import Withheld
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger

PRIVATE = "MAXRANDOM_PRIVATE"
"""Environment variable: the folder, in place of the user's own for what programs keep."""
RESULTS = "results.db"
_STORES = (RESULTS, "results-simulated.db")
_SHOWN = 32


def private_ledger(
    planned: PlannedClaim, run: str = "", store: Path | None = None
) -> tuple[SetLedger, Withheld, Path]:
    """Return the ledger of a claim, what is withheld of it, and the store of the answers.

    What lies where the checkout was before it was moved or renamed is found by what it says, and
    brought back. `run` names the session in what is written, and `store` is the file of the results
    store.

    Raises
    ------
    SearchError
        If the folder cannot be made, others can look into it, or a search would find it.
    LedgerError
        If the ledger, or what is withheld, cannot be read.
    """
    folder = _private_folder(planned.ledger, planned.condition.example_digests, store)
    withheld = Withheld(folder)
    ledger = claim_ledger(planned, run, withheld=withheld)
    lost, copies = ledger.lost, list[tuple[int, Path]]()
    for other in folder.parent.glob(f"*/{withheld.path.name}") if lost else ():
        with suppress(LedgerError, LockError, OSError):
            kept = Withheld(other.parent).rows()
            rows = [row for tried, row in kept.items() if (tried, row["task_digest"]) in lost]
            for row in rows:
                withheld.put(row)
            copies.append((len(rows), other))
    for rows_known, other in sorted(copies, reverse=True):
        for name in _STORES if rows_known else ():
            _add(other.with_name(name), folder / name)
    return ledger, withheld, folder / RESULTS


def _private_folder(ledger: Path, examples: Sequence[str], store: Path | None = None) -> Path:
    """Return the folder for what is kept from searches on one validation set, and make it.

    The ledger's folder tells repositories and their copies apart.

    Raises
    ------
    SearchError
        If it cannot be made, others can look into it, or a search would find it.
    """
    root = _root(os.environ)
    places = [_whole(ledger)] + ([] if store is None else [store.absolute().parent])
    for place in places:
        if root.resolve().is_relative_to(place.resolve()):
            raise SearchError(
                f"{root}: found it inside {place}, expected a folder that who searches is not "
                f"given, since scores are kept from the search there; set {PRIVATE} to another one"
            )
    folder = root / digest("private", str(ledger.resolve()), *sorted(examples))[:_SHOWN]
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SearchError(
            f"{folder}: scores cannot be kept from the search there: {error.strerror or error}; "
            f"set {PRIVATE} to a folder that you can write to"
        ) from error
    _check(folder)
    for name in _STORES:
        _make(folder / name)
    return folder


def _root(environment: Mapping[str, str]) -> Path:
    """Return the user's folder, which need not exist."""
    if said := environment.get(PRIVATE):
        return Path(said).expanduser().absolute()
    name = "pytest-maxrandom"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home()) / name / "private"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name / "private"
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else Path.home() / ".local/state") / name


def _whole(ledger: Path) -> Path:
    """Return the work tree that a ledger is in; the ledger itself where there is none."""
    folder = ledger.parent
    try:
        return repository(folder).root if is_checkout(folder) else ledger
    except (GitError, OSError, ValueError):
        return ledger


def _check(folder: Path) -> None:
    """Refuse a folder that others can open, whoever made it."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise SearchError(f"{folder}: found no folder, expected one; remove what is there")
    if not hasattr(os, "getuid"):
        return
    if status.st_uid != os.getuid():
        raise SearchError(
            f"{folder}: it belongs to another user; set {PRIVATE} to a folder of yours"
        )
    if status.st_mode & 0o077:
        raise SearchError(
            f"{folder}: others can open it, and scores are kept from searches there; close it with "
            f"`chmod 700 {folder}`"
        )


def _make(file: Path) -> None:
    """Make a file that nobody else can read; what SQLite writes beside one is as closed."""
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))


def _add(old: Path, new: Path) -> None:
    """Add what a results store has to another one, as whole as it is while others use it."""
    if not old.is_file() or not old.stat().st_size:
        return
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(old)) as source,
        closing(sqlite3.connect(new)) as target,
    ):
        if not new.stat().st_size:
            source.backup(target)
            return
        target.execute("ATTACH ? AS old", (str(old),))
        kept = {name for (name,) in target.execute("SELECT name FROM main.sqlite_master")}
        made = "SELECT name, sql FROM old.sqlite_master WHERE type = 'table'"
        for name, sql in target.execute(made).fetchall():
            if name not in kept:
                target.execute(sql)
            target.execute(f"INSERT OR IGNORE INTO main.{name} SELECT * FROM old.{name}")
        target.commit()
