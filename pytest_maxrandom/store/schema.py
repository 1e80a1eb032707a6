"""The tables of the results store, and how an older file becomes a current one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

APPLICATION = 0x4D785264
"""``application_id`` of the file's header ("MxRd"), by which it is told from others' databases."""

_RESULTS = """
CREATE TABLE results (
    model TEXT NOT NULL,            -- digest of what determines the numbers
    task TEXT NOT NULL,             -- digest of the scored examples
    prompt TEXT NOT NULL,           -- digest of the prompt
    scoring TEXT NOT NULL,
    engine TEXT NOT NULL,           -- the one that was forced, or auto
    choices BLOB NOT NULL,          -- per example: their number; uint32, as all counts here
    log_likelihoods BLOB NOT NULL,  -- per example and choice: float64, in nats
    tokens BLOB NOT NULL,           -- per example and choice
    chosen BLOB NOT NULL,           -- per example: index of the answer
    cost TEXT NOT NULL,             -- JSON: device, dtype, engine used, tokens, seconds, versions
    stored TEXT NOT NULL,           -- UTC, ISO 8601
    checksum BLOB NOT NULL,         -- SHA-256 of all the columns before
    PRIMARY KEY (model, task, prompt, scoring, engine)
)
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = ((_RESULTS,),)
"""The statements that lead from version i to version i + 1; the file's version is their number."""


def version(connection: sqlite3.Connection) -> int:
    """Return the file's schema version; 0 for a file without tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring the file to the current version, all the way or not at all.

    Raises
    ------
    sqlite3.Error
        If a step fails; the file is then as it was.
    """
    if version(connection) == len(steps):
        return
    with transaction(connection):
        # Another process may have done it meanwhile.
        for step in steps[version(connection) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done within, or undo it if anything is raised, an interruption included."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back already
            connection.execute("ROLLBACK")
        raise
