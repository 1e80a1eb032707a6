"""A claim that a constant answer would pass as well."""

from __future__ import annotations

import numpy as np

from pytest_maxrandom.flags.counting import majority, name_of
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.record.metrics import METRICS

_ROUNDING = 1e-12
_BALANCE = "claim balanced accuracy, or balance the labels"


def _check(judged: JudgedAnswers) -> Found:
    constant, result = majority(judged), judged.passing
    if constant is None or result is None:
        return
    if judged.constants:
        assert result.best_score is not None
        label = int(np.argmax(judged.constants))
        value = judged.constants[label]
        case, reached = "score", {"score": METRICS[judged.metric].words, "value": value}
        # The same score, computed differently, may be off in the last digits.
        as_good = value >= result.best_score - _ROUNDING
    else:
        label = constant.answer
        case, reached = "accuracy", {"correct": constant.correct, "n": constant.n}
        as_good = constant.correct / constant.n >= result.reached
    if as_good:
        parameters = {"case": case, "label": name_of(judged, label), **reached}
        yield Flag("majority", {**parameters, "always_right": constant.correct == constant.n})


def _always(of: Parameters) -> str:
    return (
        "Always choosing the same place"
        if of["label"] is None
        else f"Always saying {of['label']!r}"
    )


def _always_brief(of: Parameters) -> str:
    return "always the same place" if of["label"] is None else f'always "{of["label"]}"'


def _way_out(of: Parameters) -> str:
    """Say what would show knowledge: in balanced accuracy every label must be right somewhere."""
    if of["always_right"]:
        return "add examples with other right answers"
    if of["case"] == "accuracy" and of["label"] is not None:
        return _BALANCE
    return "balance the labels"


RED_FLAG = RedFlagKind(
    kind="majority",
    rank=180,
    topic="knowledge",
    default="fail",
    description="A best prompt that is not above the best constant answer.",
    sentences={
        "accuracy": "{always} is right on {correct} of {n} examples; the best prompt is not above "
        "that.",
        "score": "{always} has a {score} of {value:accuracy}; the best prompt's is not above that.",
    },
    brief="no better than the same answer to all",
    brief_of="no better than {always_brief}",
    remedy=_BALANCE,
    remedy_of="{way_out}",
    check=_check,
    parts={"always": _always, "always_brief": _always_brief, "way_out": _way_out},
    reads_labels=True,
)
