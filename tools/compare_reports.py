"""Compare JSON reports of `pytest --maxrandom-json`: are the numbers those of before?

    python tools/compare_reports.py BEFORE AFTER [--word OLD=NEW ...]

Both are files, or folders of them such as `tools/report_set.py` makes. Every key of every record
that differs is printed, with what stood there before and stands there after. What may differ from
run to run is left out: times, versions, ids of runs, folders, and how a sweep was computed. Records
are told apart by their ids.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    return before != ABSENT and any(map(_has_number, (before, after)))


def read(path: Path, words: Iterable[tuple[str, str]]) -> Any:
    """Return a report with words as they are called now; an absent one has nothing."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    for old, new in words:
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return json.loads(text)


def main(arguments: list[str] | None = None) -> int:
    """Print the differences; return 1 if a number is one of them, or a report is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument(
        "--word", action="append", default=[], metavar="OLD=NEW", help="a word that was renamed"
    )
    options = parser.parse_args(arguments)
    words = [(old, new) for old, _, new in (each.partition("=") for each in options.word)]
    pairs = {"": (options.before, options.after)}
    if options.before.is_dir():
        names = sorted({path.name for side in pairs[""] for path in side.glob("*.json")})
        pairs = {f"{name}: ": (options.before / name, options.after / name) for name in names}
    total = wrong = 0
    for name, paths in pairs.items():
        before, after = (read(path, words) for path in paths)
        found = list(differences(before, after))
        for where, one, other in found if before and after else ():
            print(f"{name}{where}: {one!r} -> {other!r}")
        numbers = sum(in_numbers(one, other) for _, one, other in found)
        told = f"{len(found)} differences, {numbers} of them in numbers"
        for side, path in zip((before, after), paths, strict=True):
            if not side:
                told = f"{path} is missing"
        print(f"{name}{len(before.get('claims', ()))} claims: {told}")
        total += len(found)
        wrong += bool(numbers or not before or not after)
    if options.before.is_dir():
        print(f"{len(pairs)} reports: {total} differences, {wrong} reports with other numbers")
    return 1 if wrong or not pairs else 0


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


def _has_number(value: Any) -> bool:
    """Tell whether a value is a number, or a record that has one."""
    if isinstance(value, dict | list):
        return any(map(_has_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


if __name__ == "__main__":
    sys.exit(main())
