"""An outline says what reading all lines says."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.ledger.files import LedgerFile, lines_of
from pytest_maxrandom.ledger.lines import set_digest
from pytest_maxrandom.ledger.outlines import Outline, rows_with

if TYPE_CHECKING:
    from pathlib import Path

WHEN = {"when": "2026-11-01T00:00:00+00:00", "run": "4f9c2f6e0d1b"}


def about(kind: str, examples: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, kind: set_digest(examples), "examples": examples}
    row["questions"] = [f"q{each}" for each in examples]
    if kind == "set":
        row |= {"task": "emoji", "chances": {"1/2": len(examples)}}
    return row


def tried(kind: str, number: int, model: str, more: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind, **WHEN, "model": model, "model_digest": "d", "quantization": "none",
        "shots": 0, "scoring": "sum", "prompt": str(number), "n": 3, **more,
    }  # fmt: skip


def prompt(number: int, model: str) -> dict[str, Any]:
    return tried("prompt", number, model, {"task_digest": "t", "correct": 2})


def pair(kind: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, **WHEN, "set": "a", "before": "b", **more}


ROWS = [
    about("set", ["a", "b", "c"]),
    about("test", ["d", "e"]),
    pair("reworded", {"pairs": {"qa": "z"}}),
    pair("apart", {"why": "other numbers"}),
    tried("opening", 1, "m", {"test": set_digest(["d", "e"])}),
    tried("opening", 2, "m", {"test": set_digest(["of another file"])}),
    *(
        prompt(number, model)
        for number in range(5)
        for model in ("m", '"examples"', "opening", "p\\u00e4")
    ),
]


@pytest.mark.parametrize("seed", range(20))
def test_an_outline_says_what_all_lines_say(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    rows = chance.sample(ROWS, chance.randrange(len(ROWS) + 1))
    lines = [json.dumps(row).encode() for row in rows]
    lines = [chance.choice([line, line.replace(b'": ', b'":')]) for line in lines]
    if chance.random() < 0.5:  # another way to write the same key
        lines = [line.replace(b'"examples"', b'"\\u0065xamples"') for line in lines]
    content = b"".join(line + chance.choice([b"\n", b"\r\n", b"\n\n"]) for line in lines)
    cut = json.dumps(about("set", ["y"])).encode()
    content += chance.choice([b"", cut[: chance.randrange(len(cut))]])
    path = tmp_path / "emoji.jsonl"
    path.write_bytes(content)
    whole = LedgerFile(path)
    whole.read()
    outline = Outline.of_lines(lines_of(path))
    for name in ("sets", "questions", "joins", "undone", "tests"):
        assert getattr(outline, name) == getattr(whole, name), name
    assert outline.opened == whole.openings.keys()


def test_each_line_is_found_once_and_what_is_none_is_left_out() -> None:
    lines = [b'{"kind": "set"}', b"garbage with examples", json.dumps(ROWS[0]).encode(), b"[1]"]
    data = b"\n".join([*lines, json.dumps(ROWS[1]).encode()])
    assert list(rows_with(data, "examples", "questions", "kind")) == [ROWS[0], ROWS[1]]
    assert list(rows_with(data, "pairs")) == []
