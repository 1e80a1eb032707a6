"""How the store holds results, and prompts that searches proposed: rows, each with a checksum."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import Arithmetic, Fingerprint
from pytest_maxrandom.sweeps.executor import Cost, Scored
from pytest_maxrandom.sweeps.scorers import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

# A file whose table has other columns is moved aside, and begun anew.
TABLE = """
CREATE TABLE IF NOT EXISTS results (
    model TEXT NOT NULL,            -- digest of what determines the numbers
    task TEXT NOT NULL,             -- digest of the scored examples
    prompt TEXT NOT NULL,           -- digest of the prompt
    scoring TEXT NOT NULL,
    engine TEXT NOT NULL,           -- the one that was forced, or auto
    arithmetic TEXT NOT NULL,       -- digest of processor, kernels and versions
    choices BLOB NOT NULL,          -- per example: their number; uint32, as all counts here
    log_likelihoods BLOB NOT NULL,  -- per example and choice: float64, in nats
    tokens BLOB NOT NULL,           -- per example and choice
    said BLOB NOT NULL,             -- JSON: of generated answers [text, why it ends]; else empty
    cost TEXT NOT NULL,             -- JSON: device, dtype, engine used, tokens, seconds, arithmetic
    stored TEXT NOT NULL,           -- UTC, ISO 8601
    checksum BLOB NOT NULL,         -- SHA-256 of all the columns before
    PRIMARY KEY (model, task, prompt, scoring, engine, arithmetic)
)
"""
_PROPOSALS = """
CREATE TABLE IF NOT EXISTS proposals (
    search TEXT NOT NULL,    -- its name in the ledger
    prompt TEXT NOT NULL,    -- digest of the prompt
    proposal TEXT NOT NULL,  -- JSON: of what the prompt is made
    checksum BLOB NOT NULL,  -- SHA-256 of all the columns before
    PRIMARY KEY (search, prompt)
)
"""
_ANSWERS = """
CREATE TABLE IF NOT EXISTS answers (
    questions TEXT NOT NULL,   -- digest of the prompts with their examples
    name TEXT NOT NULL,        -- of the model
    model TEXT NOT NULL,       -- digest, as above
    arithmetic TEXT NOT NULL,
    codes BLOB NOT NULL,       -- a byte for each prompt and example
    checksum BLOB NOT NULL,    -- SHA-256 of all the columns before
    PRIMARY KEY (questions, name, model, arithmetic)
)
"""
_WHERE = "(model, task, prompt, scoring, engine, arithmetic) = (?, ?, ?, ?, ?, ?)"
_COUNT, _VALUE = "<u4", "<f8"
_INSERT = f"INSERT OR REPLACE INTO results VALUES ({', '.join('?' * 13)})"


class Key(NamedTuple):
    """What a result depends on: the first columns of the table."""

    model: str
    task: str
    prompt: str
    scoring: str
    engine: str
    arithmetic: str


def read(connection: sqlite3.Connection, keys: Sequence[Key]) -> dict[Key, Scored]:
    """Return the results that are there.

    Raises
    ------
    sqlite3.DatabaseError
        If a row is not what was written.
    """
    query = f"SELECT * FROM results WHERE {_WHERE}"
    rows = ((key, connection.execute(query, key).fetchone()) for key in keys)
    return {key: _decoded(key, row) for key, row in rows if row is not None}


def write(connection: sqlite3.Connection, key: Key, scored: Scored) -> None:
    """Put one result, in place of an older one."""
    answers = list(chain.from_iterable(scored.answers))
    values, tokens = joined(answers)
    counts = [sum(len(one.tokens) for one in own) for own in scored.answers]
    row = (
        *key,
        np.array(counts, _COUNT).tobytes(),
        np.array(values, _VALUE).tobytes(),
        np.array(tokens, _COUNT).tobytes(),
        _generated_texts(answers),
        json.dumps(_shown(scored.cost)),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    connection.execute(_INSERT, (*row, _checksum(row)))


def _shown(cost: Cost) -> dict[str, object]:
    found = {field.name: getattr(cost, field.name) for field in fields(cost)}
    by = cost.fingerprint
    return found | {
        "arithmetic": asdict(cost.arithmetic),
        "fingerprint": None if by is None else asdict(by),
    }


def _decoded(key: Key, row: tuple[Any, ...]) -> Scored:
    # The checksum knows of types as well: past it, everything is as it was written.
    if row[:6] != key or row[-1] != _checksum(row[:-1]):
        raise sqlite3.DatabaseError("a row of the table `results` was changed or damaged")
    counts, values, tokens = (
        np.frombuffer(data, kind).tolist()
        for data, kind in zip(row[6:9], (_COUNT, _VALUE, _COUNT), strict=True)
    )
    ends = [*accumulate(counts)]
    answers = [
        Answer(tuple(values[end - count : end]), tuple(tokens[end - count : end]))
        for count, end in zip(counts, ends, strict=True)
    ]
    if row[9]:
        written = zip(answers, json.loads(row[9]), strict=True)
        answers = [replace(one, text=text, finish=finish) for one, (text, finish) in written]
    cost = json.loads(row[10])
    cost["arithmetic"] = Arithmetic(**cost["arithmetic"])
    if cost["fingerprint"] is not None:
        cost["fingerprint"] = Fingerprint(**cost["fingerprint"])
    return Scored(tuple((one,) for one in answers), Cost(**cost))


def _generated_texts(answers: Sequence[Answer]) -> bytes:
    """Return what was generated, one text for each example; nothing where choices were scored."""
    if not any(one.text is not None for one in answers):
        return b""
    return json.dumps([(one.text, one.finish) for one in answers]).encode()


def _checksum(row: Sequence[Any]) -> bytes:
    checksum = hashlib.sha256()
    for value in row:
        part = value if isinstance(value, bytes) else str(value).encode()
        checksum.update(f"{type(value).__name__} {len(part)} ".encode())
        checksum.update(part)
    return checksum.digest()


def read_proposals(connection: sqlite3.Connection, search: str) -> dict[str, str]:
    """Return of what the prompts of a search are made, by their digests."""
    rows = _rows(connection, "proposals", "search", search)
    return {row[2]: row[3] for row in rows if row[-1] == _checksum(row[1:-1])}


def write_proposal(connection: sqlite3.Connection, search: str, prompt: str, proposal: str) -> None:
    """Keep of what a prompt of a search is made."""
    _insert(connection, _PROPOSALS, "proposals", (search, prompt, proposal))


class ModelAnswers(NamedTuple):
    """What a model answered, compactly: enough to tell that two models are not one."""

    questions: str
    """Digest of the prompts with their examples."""
    name: str
    model: str
    arithmetic: str
    """Its name, its digest, and that of what computed them."""
    codes: bytes
    """A byte for each prompt and example."""
    checksum: bytes = b""
    """Of all that, where it was read."""

    @property
    def who(self) -> tuple[str, ...]:
        """What tells it from others to the same questions."""
        return self[1:4]

    @property
    def is_sound(self) -> bool:
        """Whether it is what was written: it takes longer than to see that two models differ."""
        return self.checksum == _checksum(self[:-1])


def read_answers(
    connection: sqlite3.Connection, questions: str, since: int = 0
) -> list[tuple[int, ModelAnswers]]:
    """Return what models answered to the same questions, each with the number of its row.

    Parameters
    ----------
    since : int
        Rows up to this number are left out. Whatever is put later has a higher one.
    """
    rows = _rows(connection, "answers", "questions", questions, since)
    return [(row[0], ModelAnswers(*row[1:])) for row in rows]


def write_answers(connection: sqlite3.Connection, answers: ModelAnswers) -> None:
    """Keep what a model answered."""
    _insert(connection, _ANSWERS, "answers", answers[:-1])


def _rows(
    connection: sqlite3.Connection, table: str, column: str, value: str, since: int = 0
) -> list[tuple[Any, ...]]:
    """Return the rows with a value in a column, their numbers first and their checksums last."""
    query = f"SELECT rowid, * FROM {table} WHERE {column} = ? AND rowid > ?"
    try:
        return connection.execute(query, (value, since)).fetchall()
    except sqlite3.OperationalError:
        known = "SELECT name FROM sqlite_master WHERE name = ?"
        if connection.execute(known, (table,)).fetchone() is not None:
            raise
        return []  # nobody has written there


def _insert(connection: sqlite3.Connection, made: str, table: str, row: tuple[Any, ...]) -> None:
    """Put a row, in place of an older one, into a table that is made if it is not there."""
    connection.execute(made)
    places = ", ".join("?" * (len(row) + 1))
    connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({places})", (*row, _checksum(row)))
