"""What is packed into a report: which prompt was right on which example, and what a page shows."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

MOST_BYTES = 2**28
"""To which what is packed may unpack."""
_CELLS = {"1": 1.0, "0": 0.0}


def pack(content: object) -> str:
    """Write content as JSON, deflated, in letters that end no element of a page."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; the JSON of one has.
    data = text.encode("utf-8", "backslashreplace")
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def unpack(packed: str) -> Any:
    """Read what `pack` wrote.

    Raises
    ------
    ValueError
        If it is something else, or unpacks to more than 256 MiB.
    """
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"not packed by this package ({error})") from error
    if not reader.eof:
        raise ValueError(f"it is cut, or unpacks to more than {MOST_BYTES:,} bytes")
    return json.loads(data)


@dataclass(frozen=True)
class KeptAnswers:
    """Which prompts of a claim were right on which examples, without any text of them."""

    prompts: tuple[str, ...]
    """What makes each prompt the prompt that it is: its digest where a model was run."""
    examples: tuple[str, ...]
    """What tells the examples apart: digests of their content, where that is known, else ids."""
    rows: tuple[str, ...] | tuple[tuple[float | None, ...], ...]
    """Per prompt a character for each example: 1 right, 0 wrong, - not asked. Where answers are
    graded, a score for each, None where there is none."""
    clusters: tuple[str | None, ...] | None = None
    """Per example what it shares with others; None where none is stated."""

    @cached_property
    def digest(self) -> str:
        """Of all of it, in whatever order: the same answers again have the same one."""
        names = sorted(range(len(self.examples)), key=lambda place: self.examples[place])
        rows = sorted(
            digest(prompt, " ".join(str(row[place]) for place in names))
            for prompt, row in zip(self.prompts, self.rows, strict=True)
        )
        return digest("answers", *(self.examples[place] for place in names), "of", *rows)

    def values(self, prompts: Sequence[str], examples: Sequence[str]) -> NDArray[np.float64]:
        """Return the scores of some prompts on some examples, NaN where there is none."""
        import numpy as np  # reports are read by what has no need of it

        places = {name: place for place, name in enumerate(self.examples)}
        columns = [places[name] for name in examples]
        of_prompt = dict(zip(self.prompts, self.rows, strict=True))
        known = [of_prompt[name] for name in prompts]
        return np.array(
            [[_value(row[column]) for column in columns] for row in known], dtype=np.float64
        )

    def packed(self) -> str:
        """Return it in letters, for a report."""
        known = ((each.name, getattr(self, each.name)) for each in fields(self))
        return pack({name: value for name, value in known if value is not None})

    @classmethod
    def unpacked(cls, packed: str) -> Self:
        """Read what `packed` returned.

        Raises
        ------
        ValueError
            If it is something else.
        """
        found = unpack(packed)
        try:
            rows = [each if isinstance(each, str) else tuple(each) for each in found["rows"]]
            kept = cls(**{name: tuple(value) for name, value in {**found, "rows": rows}.items()})
            sizes = {len(row) for row in kept.rows}
            whole = sizes == {len(kept.examples)} and len(kept.rows) == len(kept.prompts)
            values = {_value(cell) for cell in set[str | float | None]().union(*kept.rows)}
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError("no answers are packed there") from error
        if not whole or any(not 0 <= value <= 1 for value in values if value == value):
            raise ValueError("its answers do not fit its prompts and examples")
        return kept


def _value(cell: str | float | None) -> float:
    if cell is None or cell == "-":
        return float("nan")
    return _CELLS[cell] if isinstance(cell, str) else float(cell)


def named_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which none repeats: the second of a name gets its number."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = number = seen.get(name, 0) + 1
        found.append(name if number == 1 else f"{name} #{number}")
    return tuple(found)
