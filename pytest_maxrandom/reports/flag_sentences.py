"""The sentences of red flags: what was found, and what to look at.

Each kind brings its templates (`pytest_maxrandom.flags`); here they are filled.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.shortcuts import HEURISTICS
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.notation import accuracy, count, level, p_value, percent, span
from pytest_maxrandom.reports.remarks import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.flags import RedFlagKind
    from pytest_maxrandom.record import RedFlag
    from pytest_maxrandom.record.claim import Measure

MEASURES: dict[Measure, str] = {
    "accuracy": "an accuracy",
    "balanced_accuracy": "a balanced accuracy",
}
_WRITER = Writer(
    accuracy=accuracy,
    heuristic=lambda name: HEURISTICS[name].said(),
    level=level,
    log_p=lambda log_p: p_value(math.exp(log_p), log_p),
    measure=lambda name: MEASURES[name],
    p=p_value,
    percent=percent,
    span=span,
)


def sentence(flag: RedFlag) -> str:
    """Word a red flag anew; one without parameters, or with unknown ones, has the text it has."""
    kind = KINDS.get(flag.kind)
    template = kind.sentence(flag.parameters.get("case")) if kind is not None else None
    if kind is None or template is None or not flag.parameters:
        return flag.text
    return _WRITER.fill(template, _Parameters(kind, flag.parameters), flag.text)


def brief(flag: RedFlag) -> str:
    """Say a red flag in a few words; of an unknown kind, its kind."""
    kind = KINDS.get(flag.kind)
    if kind is None:
        return flag.kind.replace("_", " ")
    if not (kind.brief_of and flag.parameters):
        return kind.brief
    return _WRITER.fill(kind.brief_of, _Parameters(kind, flag.parameters), kind.brief)


class _Parameters(dict[str, Any]):
    """Those of a flag, and what follows from several of them, or where one is missing."""

    def __init__(self, kind: RedFlagKind, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._parts = {"who": _who, **kind.parts}

    def __missing__(self, name: str) -> Any:
        return self._parts[name](self)


def _who(of: Mapping[str, Any]) -> str:
    if of["prompts"] == 1:
        return "The only prompt"
    return f"{count(of['told'])} of {count(of['prompts'])} prompts"
