"""The lines of a ledger file: what each kind holds, how it is written and read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = dict[str, Any]

_SUBJECT = {"model": str, "model_digest": str, "quantization": str, "shots": int, "scoring": str}
_WHEN = {"kind": str, "when": str, "run": str}
FIELDS: dict[str, dict[str, type]] = {
    "set": {"kind": str, "task": str, "set": str, "examples": list, "chances": dict},
    "prompt": {
        **_WHEN,
        **_SUBJECT,
        "task_digest": str,
        "prompt": str,
        "n": int,
        "correct": int,
    },
    "look": {**_WHEN, "look": str, **_SUBJECT, "t": int, "best_correct": int, "n": int},
    "test": {"kind": str, "test": str, "examples": list},
    "opening": {**_WHEN, **_SUBJECT, "prompt": str, "test": str, "n": int},
}
"""Type of each field of each kind of line, in the order of the line."""


def _plain(*names: str) -> str:
    """Return the pattern of fields whose texts need no escapes."""
    values = {str: r'"[^"\\\x00-\x1f]*+"', int: r"(?:0|[1-9][0-9]{0,17})"}
    return ",".join(f'"{name}":{values[FIELDS["prompt"][name]]}' for name in names)


_TRY = re.compile(
    f'^{{"kind":"prompt",{_plain("when", "run")},({_plain(*_SUBJECT)}),{_plain("task_digest")},'
    f'"prompt":"([^"\\\\\\x00-\\x1f]*+)",({_plain("n", "correct")})}}\n',
    re.MULTILINE,
)
"""A prompt as `line_of` writes it: subject, prompt and counts."""

_CALLED = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_BLOCK = 1 << 17


class Claim(NamedTuple):
    """Whose prompts are counted together, on one validation set, whatever the model's revision.

    How it is quantized is a part of its revision: trying all ways and keeping the best is a search.
    """

    model: str
    shots: int


class Try(NamedTuple):
    """What is counted: one prompt, with one revision of a model, scored in one way."""

    model_digest: str
    prompt: str
    scoring: str


@dataclass(frozen=True, slots=True)
class Subject:
    """Who answers, and how the answers are read.

    Attributes
    ----------
    model : str
        Name, as the suite gives it.
    model_digest : str
        Of all that determines the model's numbers.
    quantization : str
        As the suite gives it.
    shots : int
        Demonstrations in each prompt.
    scoring : str
        How a choice is scored.
    """

    model: str
    model_digest: str
    quantization: str
    shots: int
    scoring: str

    @property
    def claim(self) -> Claim:
        """What its prompts are counted for."""
        return Claim(self.model, self.shots)

    def tried(self, prompt_digest: str) -> Try:
        """Return the try of that prompt."""
        return Try(self.model_digest, prompt_digest, self.scoring)


def line_of(row: Row) -> bytes:
    """Write one line: ASCII, `kind` first, the fields in the order of `FIELDS`."""
    ordered = {name: row[name] for name in FIELDS[row["kind"]]}
    return json.dumps(ordered, separators=(",", ":")).encode("ascii") + b"\n"


def fact(row: Row) -> tuple[object, ...]:
    """Return what a row says, whoever wrote it and when, and however the task was called."""
    left_out = ("when", "run", "task")
    return tuple(_hashable(row[name]) for name in FIELDS[row["kind"]] if name not in left_out)


def _hashable(value: object) -> object:
    if isinstance(value, list):
        return tuple(sorted(value))
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def read_line(raw: bytes) -> Row:
    """Read one line.

    Raises
    ------
    ValueError
        In one sentence without the place, if it is no line of a ledger.
    """
    if raw.startswith(_MARKERS):
        raise ValueError(
            f"found the merge conflict marker {_shown(raw)}, expected a line of the ledger; remove "
            "the markers and keep the lines of both sides, whose order does not matter"
        )
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise ValueError(
            f"found {_shown(raw)}, expected a JSON object; restore the line from version control, "
            "or remove it if it is no line of the ledger"
        )
    if found := _mistake(row):
        raise ValueError(found)
    return row


def parse(data: bytes, path: Path, line: int = 1) -> Iterator[Row]:
    """Read many whole lines; blank ones are skipped.

    Parameters
    ----------
    data : bytes
        Lines, each with its end.
    line : int
        Number of the first one, for messages.

    Raises
    ------
    LedgerError
        With file and line, at the first line that is none of a ledger.
    """
    for block in blocks(data):
        count = block.count(b"\n")
        yield from _fast(block, count) or _slow(block, path, line)
        line += count


def blocks(data: bytes) -> Iterator[bytes]:
    """Cut many whole lines into blocks of whole lines, of a size that is quickly read."""
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _BLOCK) + 1 or data.find(b"\n", start) + 1
        yield data[start : end or len(data)]
        start = end or len(data)


def tries(block: bytes) -> list[tuple[str, str, str]] | None:
    """Read a block in which each line is a prompt, written as `line_of` does; else return None.

    Most of a large ledger is such lines, and this is faster than `parse`.

    Returns
    -------
    list of tuples of str
        Of each line: its subject and its counts, as the text of their fields, around the prompt.
    """
    try:
        found: list[tuple[str, str, str]] = _TRY.findall(block.decode("ascii"))
    except UnicodeDecodeError:
        return None
    if len(found) != block.count(b"\n"):
        return None
    counts = [json.loads(f"{{{text}}}") for text in {text for _, _, text in found}]
    return found if all(row["correct"] <= row["n"] > 0 for row in counts) else None


def _fast(block: bytes, count: int) -> list[Row] | None:
    """Read all lines in one go, which takes a third of the time, or None if one needs a look."""
    try:
        rows: list[Row] = json.loads(b"[" + block.removesuffix(b"\n").replace(b"\n", b",") + b"]")
        return rows if len(rows) == count and not any(map(_mistake, rows)) else None
    except (ValueError, RecursionError, AttributeError, TypeError):
        return None


def _slow(block: bytes, path: Path, line: int) -> list[Row]:
    rows = []
    for number, raw in enumerate(block.split(b"\n"), line):
        if raw.strip():
            try:
                rows.append(read_line(raw))
            except ValueError as error:
                raise LedgerError(f"{path}:{number}: {error}") from error
    return rows


def _mistake(row: Row) -> str | None:
    """Say what is wrong with the object, or None."""
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        return _of_newer(f"kind {_shown(kind)}", ", ".join(FIELDS))
    fields = FIELDS[kind]
    if unknown := [name for name in row if name not in fields]:
        return _of_newer(f"the field {_shown(unknown[0])} in a line of kind {kind}", "none such")
    for name, expected in fields.items():
        if name not in row:
            return f"found a line of kind {kind} without {name}; {_RESTORE}"
        if type(row[name]) is not expected:
            found = _shown(row[name])
            return f"{name}: found {found}, expected {_CALLED[expected]}; {_RESTORE}"
    return _contradiction(row)


def _contradiction(row: Row) -> str | None:
    if row["kind"] in ("set", "test") and (
        not row["examples"] or any(type(example) is not str for example in row["examples"])
    ):
        return f"examples: found {_shown(row['examples'])}, expected texts; {_RESTORE}"
    if row["kind"] == "test":
        return None
    if row["kind"] == "set":
        sizes = row["chances"].values()
        if any(type(size) is not int for size in sizes) or sum(sizes) != len(row["examples"]):
            return (
                f"chances: found {_shown(row['chances'])}, expected the numbers of examples, "
                f"{len(row['examples'])} in all; {_RESTORE}"
            )
        return None
    for name, least in (("n", 1), ("t", 1), ("shots", 0), ("correct", 0), ("best_correct", 0)):
        if row.get(name, least) < least:
            return f"{name}: found {row[name]}, expected at least {least}; {_RESTORE}"
    for name in ("correct", "best_correct"):
        if row.get(name, 0) > row["n"]:
            return f"{name}: found {row[name]}, expected at most n, which is {row['n']}; {_RESTORE}"
    return None


_RESTORE = "restore the line from version control"


def _of_newer(found: str, expected: str) -> str:
    return (
        f"found {found}, expected {expected}; if a newer version of pytest-maxrandom wrote it, "
        "update this one, else restore the line from version control"
    )


def _shown(value: object) -> str:
    text = repr(value.decode("ascii", "replace").strip() if isinstance(value, bytes) else value)
    return text if len(text) <= 60 else text[:57] + "..."
