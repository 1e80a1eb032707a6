"""A JSON report that anybody may have written, such as the artifact of a fork's pull request.

Its numbers and names are taken, where they can be numbers and names of a run. Its sentences are
not: whatever they say would be said in this project's voice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.notation import METRIC_NAMES
from pytest_maxrandom.record import (
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    RedFlag,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.text import rewritten, shorten, visible

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord, RunRecord

_Design = TypeVar(
    "_Design", ReplicatesRecord, LabelBiasRecord, ComparisonRecord, ContaminationRecord
)

MOST_BYTES = 20 * 2**20
_LONGEST_ID, _LONGEST_LABEL = 300, 60
_P_VALUES = ("p_max", "union_p", "permutation_p")
_ELSEWHERE = "the full report says what"

_BOUNDS = ("in_replicates", "above_random", "not_worse_than", "better", "level", *_P_VALUES)
"""Numbers between -1 and 1 that a design may assert."""


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
        raise ReportError(f"{path}: not a plain file, and nothing else is read where --untrusted")
    if size > MOST_BYTES:
        raise ReportError(f"{path}: {size:,} bytes, more than {MOST_BYTES:,}")
    try:
        run = load(path)
    except ReportError as error:  # it quotes what it found, however long
        raise ReportError(shorten(visible(str(error)), 400)) from error
    for place, claim in enumerate(run.claims):
        if claim.metric not in METRIC_NAMES:
            found = shorten(visible(repr(claim.metric)), 80)
            raise ReportError(f"{path}: 'claims[{place}].metric': found {found}, which no run has")
    return replace(
        run,
        claims=[_without_prose(claim) for claim in run.claims],
        replicates=list(map(_without_sentences, run.replicates)),
        label_bias=list(map(_without_sentences, run.label_bias)),
        comparisons=list(map(_without_sentences, run.comparisons)),
        contamination=list(map(_without_sentences, run.contamination)),
        broken=[_ELSEWHERE for _ in run.broken],
        versions={},
        created="",
    )


def _without_prose(claim: ClaimRecord) -> ClaimRecord:
    asserted = {
        key: value
        for key, value in claim.asserted.items()
        if (key in (*_P_VALUES, "test_p") and isinstance(value, float) and 0 < value <= 1)
        or (key == "beats" and value in ("max_random", "standard"))
        or (key, value) in (("family", "suite"), ("looks", "spend"))
    }
    levels = {key: value for key, value in claim.levels.items() if key in _P_VALUES}
    kinds = dict.fromkeys((flag.kind, flag.severity) for flag in claim.red_flags)
    return replace(
        claim,
        asserted=asserted,
        levels={key: value for key, value in levels.items() if 0 < value <= 1},
        red_flags=[RedFlag(kind, severity, _ELSEWHERE) for kind, severity in kinds],
        shortcuts=None,
        **_of_all(claim),
    )


def _label(label: str) -> str:
    return shorten(label, _LONGEST_LABEL)


def _of_all(record: Any) -> dict[str, Any]:
    """Return what is left of the names and sentences that all records have."""
    return {
        # Telling records apart by the ends of their paths would take very long for long ones.
        "id": shorten(record.id, _LONGEST_ID),
        "message": None if record.message is None else _ELSEWHERE,
        "xfail": None if record.xfail is None else "",
        "notes": [],
        "warnings": [],
    }


def _without_sentences(record: _Design) -> _Design:
    changed = _of_all(record)
    if isinstance(record, ComparisonRecord):
        changed["changed"] = ""
    if isinstance(record, LabelBiasRecord):
        changed["sentence"] = None if record.sentence is None else _ELSEWHERE
        changed["interactions"] = rewritten(record.interactions, _label)
    if not isinstance(record, ContaminationRecord):
        changed["asserted"] = {
            key: value
            for key, value in record.asserted.items()
            if key in _BOUNDS and isinstance(value, float) and -1 <= value <= 1
        }
    return replace(record, **changed)
