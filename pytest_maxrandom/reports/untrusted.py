"""A JSON report that anybody may have written, such as the artifact of a fork's pull request.

Its numbers and names are taken, where they can be numbers and names of a run. Its sentences are
not: whatever they say would be said in this project's voice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.notation import P_VALUES
from pytest_maxrandom.record import LISTS, RedFlag
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.text import rewritten, shorten, visible
from pytest_maxrandom.stats.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_maxrandom.record import Record, RunRecord

    _Record = TypeVar("_Record", bound=Record)

MOST_BYTES = 20 * 2**20
_LONGEST_ID, _LONGEST_LABEL = 300, 60
_ELSEWHERE = "the full report says what"
_LEVELS = (*P_VALUES, "test_p", "in_replicates", "above_random", "level")
_MARGINS = ("not_worse_than", "better")
_CHOSEN = (
    ("beats", "max_random"),
    ("beats", "standard"),
    ("family", "suite"),
    ("looks", "spend"),
)


def load_untrusted(path: Path) -> RunRecord:
    """Read a report, and leave out its sentences.

    Raises
    ------
    ReportError
        If the file is no plain file, is longer than 20 MiB, is no report, or holds a number that
        no run can have.
    """
    try:
        size = path.lstat().st_size
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    if path.is_symlink() or not path.is_file():
        raise ReportError(f"{path}: not a plain file, and --untrusted reads nothing else")
    if size > MOST_BYTES:
        raise ReportError(f"{path}: {size:,} bytes, more than {MOST_BYTES:,}")
    try:
        run = load(path)
    except ReportError as error:  # it quotes what it found, however long
        raise ReportError(shorten(visible(str(error)), 400)) from error
    for place, claim in enumerate(run.claims):
        if claim.metric not in METRICS:
            found = shorten(visible(repr(claim.metric)), 80)
            raise ReportError(
                f"{path}: 'claims[{place}].metric': found {found}, which no run writes"
            )
    lists: dict[str, Any] = {
        name: list(map(_without_sentences, getattr(run, name))) for name in LISTS
    }
    broken = [_ELSEWHERE for _ in run.broken]
    return replace(run, **lists, broken=broken, versions={}, created="")


def _without_sentences(record: _Record) -> _Record:
    changed = {
        name: write(getattr(record, name)) for name, write in _LEFT.items() if hasattr(record, name)
    }
    return replace(record, **changed)


def _elsewhere(sentence: str | None) -> str | None:
    return sentence and _ELSEWHERE


def _bounds(asserted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a suite can assert."""
    return {
        key: value
        for key, value in asserted.items()
        if (key, value) in _CHOSEN
        or (key in _LEVELS and isinstance(value, float) and 0 < value <= 1)
        or (key in _MARGINS and isinstance(value, float) and -1 <= value <= 1)
    }


def _kinds(flags: list[RedFlag]) -> list[RedFlag]:
    known = dict.fromkeys((flag.kind, flag.severity) for flag in flags)
    return [RedFlag(kind, severity, _ELSEWHERE) for kind, severity in known]


_LEFT: dict[str, Callable[[Any], Any]] = {
    # Telling records apart by the ends of their paths would take very long for long ones.
    "id": lambda name: shorten(name, _LONGEST_ID),
    "message": _elsewhere,
    "sentence": _elsewhere,
    "xfail": lambda reason: None if reason is None else "",
    "changed": lambda _: "",
    "notes": lambda _: [],
    "warnings": lambda _: [],
    "shortcuts": lambda _: None,
    "engine": lambda _: None,
    "asserted": _bounds,
    "levels": _bounds,
    "red_flags": _kinds,
    "interactions": lambda asked: rewritten(asked, lambda text: shorten(text, _LONGEST_LABEL)),
}
"""What is left of the names and sentences of records, by their attributes."""
