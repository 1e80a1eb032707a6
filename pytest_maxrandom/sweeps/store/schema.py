"""The table of the results store, and its version."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

APPLICATION = 0x4D785264
"""``application_id`` of the file's header ("MxRd"), by which it is told from others' databases."""

_RESULTS = """
CREATE TABLE results (
    model TEXT NOT NULL,            -- digest of what determines the numbers
    task TEXT NOT NULL,             -- digest of the scored examples
    prompt TEXT NOT NULL,           -- digest of the prompt
    scoring TEXT NOT NULL,
    engine TEXT NOT NULL,           -- the one that was forced, or auto
    arithmetic TEXT NOT NULL,       -- digest of processor, kernels and versions
    choices BLOB NOT NULL,          -- per example: their number; uint32, as all counts here
    log_likelihoods BLOB NOT NULL,  -- per example and choice: float64, in nats
    tokens BLOB NOT NULL,           -- per example and choice
    chosen BLOB NOT NULL,           -- per example: index of the answer
    cost TEXT NOT NULL,             -- JSON: device, dtype, engine used, tokens, seconds, arithmetic
    stored TEXT NOT NULL,           -- UTC, ISO 8601
    checksum BLOB NOT NULL,         -- SHA-256 of all the columns before
    PRIMARY KEY (model, task, prompt, scoring, engine, arithmetic)
)
"""

VERSION = 2
"""Raised with every change of the table: results of another version are computed again."""


def version(connection: sqlite3.Connection) -> int:
    """Return the file's schema version; 0 for a file without tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def renew(connection: sqlite3.Connection) -> bool:
    """Bring the file to the current version, without what an older one holds; tell if it did.

    Raises
    ------
    sqlite3.Error
        If that cannot be; the file is then as it was.
    """
    with transaction(connection):
        found = version(connection)
        if found >= VERSION:  # another process has done it meanwhile
            return False
        connection.execute("DROP TABLE IF EXISTS results")
        connection.execute(_RESULTS)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    return found > 0


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
