"""Files of texts without answers, and when two texts are one."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import described, listed
from pytest_maxrandom.tasks.reading import (
    Mistake,
    as_object,
    file_findings,
    parse_json,
    quoting_own,
    read_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Example, Where

_ROWS = (".jsonl", ".ndjson")
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
"""Characters of no width, which copying between programs adds and loses."""
_FEW_WORDS = 5
"""A text of fewer words may stand in another one by accident."""


@lru_cache(maxsize=1 << 16)  # replicates draw from the same texts again and again
def normal(text: str) -> str:
    """Return what copies of a text have in common: case, spaces and forms of characters aside."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_UNSEEN).casefold().split())


def read_texts(path: str, base: Path, where: Where) -> tuple[str, ...]:
    """Return the texts of a file: of JSONL the field `text` of each row, else each line.

    Raises
    ------
    SuiteError
        If there is no such file, or it has no texts; with all of its mistakes.
    """
    with quoting_own(base):
        file, text = read_file(path, base, where, "texts")
        return _texts(file, text)


@lru_cache(maxsize=16)
def _texts(file: Path, text: str) -> tuple[str, ...]:
    findings = file_findings(file)
    read = _row if file.suffix.lower() in _ROWS else str
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    found = [findings.attempt(number, read, line) for number, line in lines]
    findings.raise_any()
    return tuple(one for one in found if one is not None)


def _row(line: str) -> str:
    row = as_object(parse_json(line), "a row")
    if "text" not in row:
        raise Mistake(f"a row needs the key `text`, found {listed(row) or 'no keys'}")
    text = row["text"]
    if not isinstance(text, str) or not text.strip():
        raise Mistake(f"`text` must be a text that is not empty, found {described(text)}")
    return text


def holding(texts: Iterable[str], examples: Iterable[Example]) -> int:
    """Count the examples whose text some text begins with, or, from five words on, holds."""
    known = sorted(map(normal, texts))
    joined = "\n".join(known)

    def held(text: str) -> bool:
        if len(text.split()) >= _FEW_WORDS and text in joined:
            return True
        place = bisect_left(known, text)
        while place < len(known) and known[place].startswith(text):
            if not known[place][len(text) : len(text) + 1].isalnum():
                return True
            place += 1
        return False

    return sum(held(normal(each.text)) for each in examples)
