"""Compare two JSON reports of `pytest --maxrandom-json`: are the numbers those of before?

Every key of every record that differs is printed, with what stood there before and stands there
after. What may differ from run to run is left out: times, versions, ids of runs, folders, and how a
sweep was computed. Records are told apart by their ids.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

IGNORED = {
    "arithmetic", "arithmetics", "created", "engine", "looked_at", "memory", "peak_memory", "run",
    "seconds", "versions", "warnings",
}  # fmt: skip
"""Keys of what may differ."""

ABSENT = "absent"


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where two values differ, and what they are there."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key not in IGNORED:
                place = f"{where}.{key}" if where else key
                yield from differences(before.get(key, ABSENT), after.get(key, ABSENT), place)
    elif isinstance(before, list) and isinstance(after, list):
        first, second = _by_name(before), _by_name(after)
        for name in [*first, *(name for name in second if name not in first)]:
            yield from differences(
                first.get(name, ABSENT), second.get(name, ABSENT), f"{where}[{name}]"
            )
    elif before != after and not (_is_nan(before) and _is_nan(after)):
        yield where, before, after


def in_numbers(before: Any, after: Any) -> bool:
    """Whether a number, or true or false, is not what it was; one that is new changes none."""
    return before != ABSENT and any(isinstance(value, int | float) for value in (before, after))


def main(arguments: list[str] | None = None) -> int:
    """Print the differences; return 1 if a number is one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args(arguments)
    before, after = (
        json.loads(path.read_text(encoding="utf-8")) for path in (options.before, options.after)
    )
    found = list(differences(before, after))
    for where, one, other in found:
        print(f"{where}: {one!r} -> {other!r}")
    numbers = sum(in_numbers(one, other) for _, one, other in found)
    claims = len(before.get("claims", ()))
    print(f"{claims} claims: {len(found)} differences, {numbers} of them in numbers")
    return 1 if numbers else 0


def _by_name(values: list[Any]) -> dict[Any, Any]:
    """Key records by their ids, and what has none by its place."""
    keys = ("id", "kind", "interaction", "method", "label")
    named = [
        next((each[key] for key in keys if key in each), None) if isinstance(each, dict) else None
        for each in values
    ]
    if None in named or len(set(named)) < len(named):
        return dict(enumerate(values))
    return dict(zip(named, values, strict=True))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


if __name__ == "__main__":
    sys.exit(main())
