"""Results as rows of the store: exact to the last bit, and checked when they are read."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.cost import Cost
from pytest_maxrandom.sweeps.store.schema import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

_KEYS = "model, task, prompt, scoring, engine, arithmetic"
_VALUES = "choices, log_likelihoods, tokens, chosen, cost, stored, checksum"
_AT_ONCE = 100
"""Keys in one statement: older SQLite libraries take 999 parameters."""


class Damaged(Exception):
    """The file holds something that was never written into it."""


class Key(NamedTuple):
    """What a result depends on.

    Attributes
    ----------
    model, task, prompt : str
        Digests of the model, of the examples that are scored, and of the prompt.
    scoring : str
        What of an answer is scored.
    engine : str
        The engine that the user forced, or "auto".
    arithmetic : str
        Digest of what computes the numbers.
    """

    model: str
    task: str
    prompt: str
    scoring: str
    engine: str = "auto"
    arithmetic: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """One prompt's results.

    Attributes
    ----------
    log_likelihoods : tuple of tuple of float
        Per example and choice, in nats.
    tokens : tuple of tuple of int
        Per example and choice: the number of tokens that were scored.
    chosen : tuple of int
        Per example: the index of the answer.
    """

    log_likelihoods: tuple[tuple[float, ...], ...]
    tokens: tuple[tuple[int, ...], ...]
    chosen: tuple[int, ...]
    cost: Cost


def read(connection: sqlite3.Connection, keys: Sequence[Key]) -> dict[Key, Stored]:
    """Return what is there of the results that are asked for.

    Raises
    ------
    Damaged
        If a row is not what was written.
    """
    found: dict[Key, Stored] = {}
    waiting = iter(keys)
    while some := list(islice(waiting, _AT_ONCE)):
        places = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(some))
        rows = connection.execute(
            f"SELECT {_KEYS}, {_VALUES} FROM results WHERE ({_KEYS}) IN (VALUES {places})",
            [part for key in some for part in key],
        )
        for row in rows:
            found[Key(*row[:6])] = _decoded(row)
    return found


def write(connection: sqlite3.Connection, key: Key, stored: Stored) -> None:
    """Write one prompt's results, in place of any with that key, and commit them."""
    row = _encoded(key, stored)
    places = ", ".join("?" * len(row))
    with transaction(connection):
        connection.execute(
            f"INSERT OR REPLACE INTO results ({_KEYS}, {_VALUES}) VALUES ({places})", row
        )


def _encoded(key: Key, stored: Stored) -> tuple[Any, ...]:
    row = (
        *key,
        _packed("I", [len(scores) for scores in stored.log_likelihoods]),
        _packed("d", _flat(stored.log_likelihoods)),
        _packed("I", _flat(stored.tokens)),
        _packed("I", stored.chosen),
        json.dumps(asdict(stored.cost)),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return *row, _checksum(row)


def _decoded(row: tuple[Any, ...]) -> Stored:
    # The checksum knows of types as well: past it, everything is as it was written.
    if row[-1] != _checksum(row[:-1]):
        raise Damaged("a row of the table `results` is not what was written")
    choices, log_likelihoods, tokens, chosen, cost = row[6:11]
    counts = _unpacked("I", choices)
    return Stored(
        _split(_unpacked("d", log_likelihoods), counts),
        _split(_unpacked("I", tokens), counts),
        _unpacked("I", chosen),
        _cost(json.loads(cost)),
    )


def _cost(said: dict[str, Any]) -> Cost:
    return Cost(**{**said, "arithmetic": Arithmetic(**said["arithmetic"])})


def _checksum(row: Sequence[Any]) -> bytes:
    found = hashlib.sha256()
    for value in row:
        part = value if isinstance(value, bytes) else str(value).encode()
        found.update(f"{type(value).__name__} {len(part)} ".encode())
        found.update(part)
    return found.digest()


def _packed(kind: str, values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}{kind}", *values)


def _unpacked(kind: str, data: bytes) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(data) // struct.calcsize(f'<{kind}')}{kind}", data)


def _flat(rows: Iterable[Iterable[float]]) -> list[float]:
    return [value for row in rows for value in row]


def _split(values: Sequence[Any], counts: Iterable[int]) -> tuple[tuple[Any, ...], ...]:
    rest: Iterator[Any] = iter(values)
    return tuple(tuple(islice(rest, count)) for count in counts)
