"""A JSON report that anybody may have written, such as the artifact of a fork's pull request.

Its numbers and names are taken, where they can be numbers and names of a run. Its sentences are
not: whatever they say would be said in this project's voice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import (
    Calibrated,
    ComparisonRecord,
    ContaminationRecord,
    InteractionBias,
    LabelBiasRecord,
    LabelRow,
    OverTasks,
    PromptPair,
    RedFlag,
    Replicate,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.label_bias import with_labels
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord, RunRecord

_Design = TypeVar(
    "_Design", ReplicatesRecord, LabelBiasRecord, ComparisonRecord, ContaminationRecord
)

MOST_BYTES = 20 * 2**20
_MOST = 10**12
_ONE = 1 + 1e-6
"""What a sum of probabilities, or a correlation, may be where floating point rounds."""
_LONGEST_ID, _LONGEST_LABEL = 300, 60
_METRICS = ("accuracy", "balanced_accuracy", "macro_f1")
_P_VALUES = ("p_max", "union_p", "permutation_p")
_COUNTS = ("shots", "n", "t", "best_correct", "critical_count")
_SHARES = (
    "best_accuracy",
    "standard_baseline",
    "max_random_baseline",
    "p_standard",
    "p_max",
    "union_p",
    "permutation_p",
    "adjusted_p",
    "majority_rate",
    "majority_p",
)
_SCORES = ("best_score", "critical_score")
_OF_PARTS = (
    ("new_questions", ("low", "estimate"), 1),
    ("new_questions", ("clusters",), _MOST),
    ("test", ("n", "correct", "openings", "seen", "tests"), _MOST),
    ("test", ("accuracy", "low", "high", "standard_baseline", "majority_rate"), 1),
    ("test", ("p_standard", "permutation_p", "p"), 1),
)
_ELSEWHERE = "the full report says what"

_Shares = tuple[tuple[str, ...], float, float]
_OF_DESIGNS: dict[type[Any], tuple[_Shares, ...]] = {
    ReplicatesRecord: (
        (("shots", "count"), 0, _MOST),
        (("share_passed", "contradicting"), 0, 1),
    ),
    Replicate: (
        (("n", "t", "best_correct"), 0, _MOST),
        (("best_accuracy", "max_random_baseline", "p_max"), 0, 1),
    ),
    LabelBiasRecord: ((("shots", "sweeps"), 0, _MOST),),
    InteractionBias: (
        (("n", "t"), 0, _MOST),
        (("best_accuracy", "rstd", "score", "score_baseline", "score_baseline_error"), 0, 1),
        (("p_value", "p_error", "preference_p", "permutation_p"), 0, 1),
        (("base_rate_mass",), 0, _ONE),
        (("r", "r_low", "r_high"), -_ONE, _ONE),
    ),
    LabelRow: (
        (("gold",), 0, _MOST),
        (("recall", "predicted", "base_rate"), 0, _ONE),
    ),
    Calibrated: (
        (("n", "best_correct"), 0, _MOST),
        (("best_accuracy", "plain_accuracy", "max_random_baseline", "p_max"), 0, 1),
    ),
    ComparisonRecord: (
        (("shots", "replicates", "t", "n"), 0, _MOST),
        (("first_accuracy", "second_accuracy", "first_best", "second_best", "confidence"), 0, 1),
        (("p_value", "assertion_p", "adjusted_bh", "adjusted_holm"), 0, 1),
        (("difference", "low", "high", "best_difference", "best_low", "best_high"), -1, 1),
    ),
    PromptPair: (
        (("only_first", "only_second"), 0, _MOST),
        (("p_value", "adjusted_p"), 0, 1),
    ),
    ContaminationRecord: (
        (("shots",), 0, _MOST),
        (("boost_p", "bias_p", "level"), 0, 1),
        (("boost", "bias"), -1, 1),
    ),
    OverTasks: (
        (("shots", "tasks"), 0, _MOST),
        (("p_value", "confidence"), 0, 1),
        (("difference", "low", "high"), -1, 1),
    ),
}
_PARTS = ("runs", "prompts", "interactions", "labels", "calibrated")
"""Lists of records within a record."""
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
    if not 0 <= run.not_run <= _MOST:
        raise _impossible(path, "not_run", run.not_run)
    for index, claim in enumerate(run.claims):
        _check(path, index, claim)
    for name in ("replicates", "label_bias", "comparisons", "contamination", "over_tasks"):
        for index, record in enumerate(getattr(run, name)):
            _check_design(path, f"{name}[{index}]", record)
    return replace(
        run,
        claims=[_without_prose(claim) for claim in run.claims],
        replicates=list(map(_without_sentences, run.replicates)),
        label_bias=[with_labels(_without_sentences(each), _label) for each in run.label_bias],
        comparisons=list(map(_without_sentences, run.comparisons)),
        contamination=list(map(_without_sentences, run.contamination)),
        broken=[_ELSEWHERE for _ in run.broken],
        versions={},
        created="",
    )


def _check(path: Path, index: int, claim: ClaimRecord) -> None:
    bounds: list[tuple[tuple[str, ...], float, float]] = [
        (_COUNTS, 0, _MOST),
        (_SHARES, 0, 1),
        (_SCORES, -1, 1),
    ]
    for names, low, high in bounds:
        for name in names:
            value = getattr(claim, name)
            if value is not None and not low <= value <= high:
                raise _impossible(path, f"claims[{index}].{name}", value)
    for part, names, high in _OF_PARTS:
        for name in names:
            value = getattr(getattr(claim, part), name, None)
            if value is not None and not 0 <= value <= high:
                raise _impossible(path, f"claims[{index}].{part}.{name}", value)
    if claim.metric not in _METRICS:
        raise _impossible(path, f"claims[{index}].metric", claim.metric)


def _check_design(path: Path, place: str, record: Any) -> None:
    for names, low, high in _OF_DESIGNS[type(record)]:
        for name in names:
            value = getattr(record, name)
            if value is not None and not low <= value <= high:
                raise _impossible(path, f"{place}.{name}", value)
    for value in getattr(record, "prior", {}).values():
        if not 0 <= value <= 1:
            raise _impossible(path, f"{place}.prior", value)
    for name in _PARTS:
        for index, inner in enumerate(getattr(record, name, ())):
            _check_design(path, f"{place}.{name}[{index}]", inner)


def _impossible(path: Path, place: str, value: object) -> ReportError:
    # An integer can have more digits than Python is willing to write.
    shown = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else repr(value)
    return ReportError(f"{path}: '{place}': found {shorten(shown, 80)}, which no run has")


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
        # Telling claims apart by the ends of their paths would take very long for long ones.
        id=shorten(claim.id, _LONGEST_ID),
        asserted=asserted,
        levels={key: value for key, value in levels.items() if 0 < value <= 1},
        message=None if claim.message is None else _ELSEWHERE,
        xfail=None if claim.xfail is None else "",
        red_flags=[RedFlag(kind, severity, _ELSEWHERE) for kind, severity in kinds],
        shortcuts=None,
        notes=[],
        warnings=[],
    )


def _label(label: str) -> str:
    return shorten(label, _LONGEST_LABEL)


def _without_sentences(record: _Design) -> _Design:
    changed: dict[str, Any] = {
        "id": shorten(record.id, _LONGEST_ID),
        "message": None if record.message is None else _ELSEWHERE,
        "xfail": None if record.xfail is None else "",
        "notes": [],
        "warnings": [],
    }
    if isinstance(record, ComparisonRecord):
        changed["changed"] = ""
    if isinstance(record, LabelBiasRecord):
        changed["sentence"] = None if record.sentence is None else _ELSEWHERE
    if not isinstance(record, ContaminationRecord):
        changed["asserted"] = {
            key: value
            for key, value in record.asserted.items()
            if key in _BOUNDS and isinstance(value, float) and -1 <= value <= 1
        }
    return replace(record, **changed)
