"""A JSON report that anybody may have written, such as the artifact of a fork's pull request.

Its numbers and names are taken, where they can be numbers and names of a run. Its sentences are
not: whatever they say would be said in this project's voice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, ValidationError, create_model

from pytest_maxrandom.errors import ReportError, dotted
from pytest_maxrandom.record import (
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    RedFlag,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.text import rewritten, shorten, visible
from pytest_maxrandom.suite.claims import Metric

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
_P_VALUES = ("p_max", "union_p", "permutation_p")
_ELSEWHERE = "the full report says what"

_KINDS: dict[str, Any] = {
    "counts": Annotated[int, Field(ge=0, le=_MOST)] | None,
    "amounts": Annotated[float, Field(ge=0, le=_MOST)] | None,
    "shares": Annotated[float, Field(ge=0, le=1)] | None,
    "rounded": Annotated[float, Field(ge=0, le=_ONE)] | None,
    "differences": Annotated[float, Field(ge=-1, le=1)] | None,
    "correlations": Annotated[float, Field(ge=-_ONE, le=_ONE)] | None,
}


def _bounded(parts: dict[str, Any] | None = None, **named: str) -> Any:
    """Make a model of a record from the names of its numbers, by kind, and of its parts."""
    fields = {name: _KINDS[kind] for kind, names in named.items() for name in names.split()}
    shown: dict[str, Any] = {name: (of, ...) for name, of in (fields | (parts or {})).items()}
    return create_model("Bounded", __config__=ConfigDict(from_attributes=True), **shown)


# Types of models that are made here, which type checkers do not know.
_MANY: Any = list
_BY_NAME: Any = dict
_NEW_QUESTIONS = _bounded(shares="low estimate", counts="clusters")
_HELD_OUT = _bounded(
    counts="n correct openings seen tests",
    shares="accuracy low high standard_baseline majority_rate p_standard permutation_p p",
)
_CLAIM = _bounded(
    {
        "new_questions": _NEW_QUESTIONS | None,
        "test": _HELD_OUT | None,
        "metric": Metric,
    },
    counts="shots n t best_correct critical_count",
    shares="best_accuracy standard_baseline max_random_baseline p_standard p_max union_p "
    "permutation_p adjusted_p majority_rate majority_p",
    differences="best_score critical_score",
)
_REPLICATE = _bounded(counts="n t best_correct", shares="best_accuracy max_random_baseline p_max")
_LABEL = _bounded(counts="gold", rounded="recall predicted base_rate")
_CALIBRATED = _bounded(
    {"prior": _BY_NAME[str, _KINDS["shares"]]},
    counts="n best_correct",
    shares="best_accuracy plain_accuracy max_random_baseline p_max",
)
_INTERACTION = _bounded(
    {"labels": _MANY[_LABEL], "calibrated": _MANY[_CALIBRATED]},
    counts="n t",
    shares="best_accuracy rstd score score_baseline score_baseline_error p_value p_error "
    "preference_p permutation_p",
    rounded="base_rate_mass",
    correlations="r r_low r_high",
)
_PROMPT = _bounded(counts="only_first only_second", shares="p_value adjusted_p")
_RUN = _bounded(
    {
        "claims": _MANY[_CLAIM],
        "replicates": _MANY[
            _bounded(
                {"runs": _MANY[_REPLICATE]},
                counts="shots count",
                shares="share_passed contradicting",
            )
        ],
        "label_bias": _MANY[
            _bounded({"interactions": _MANY[_INTERACTION]}, counts="shots", amounts="sweeps")
        ],
        "comparisons": _MANY[
            _bounded(
                {"prompts": _MANY[_PROMPT]},
                counts="shots replicates t",
                amounts="n",
                shares="first_accuracy second_accuracy first_best second_best confidence p_value "
                "assertion_p adjusted_bh adjusted_holm",
                differences="difference low high best_difference best_low best_high",
            )
        ],
        "contamination": _MANY[
            _bounded(counts="shots", shares="boost_p bias_p level", differences="boost bias")
        ],
        "over_tasks": _MANY[
            _bounded(
                counts="shots tasks", shares="p_value confidence", differences="difference low high"
            )
        ],
    },
    counts="not_run",
)
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
    try:
        _RUN.model_validate(run)
    except ValidationError as error:
        raise _impossible(path, error) from error
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


def _impossible(path: Path, error: ValidationError) -> ReportError:
    first = error.errors(include_url=False)[0]
    value, place = first["input"], list(first["loc"])
    if "prior" in place:  # by labels, which are texts of the report
        del place[place.index("prior") + 1 :]
    # An integer can have more digits than Python is willing to write.
    shown = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else repr(value)
    told = f"found {shorten(visible(shown), 80)}, which no run has"
    return ReportError(f"{path}: '{dotted(place)}': {told}")


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
