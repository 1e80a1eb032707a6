"""A claim that a heuristic, which needs no knowledge, would pass as well."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.shortcuts import PARTS_OF_RULE, RULE, by_heuristic


def _check(judged: JudgedAnswers) -> Found:
    found = by_heuristic(judged)
    if found is not None and not found.above:
        yield Flag("heuristic", found.parameters)


RED_FLAG = RedFlagKind(
    kind="heuristic",
    rank=200,
    topic="knowledge",
    default="fail",
    description="A best prompt that is not above a heuristic, such as the longest choice.",
    sentences=f"{RULE}; the best prompt's is not above that.",
    brief="no better than a rule that needs no knowledge",
    brief_of="no better than {heuristic:heuristic}",
    remedy="remove what the rule reads from the choices",
    check=_check,
    parts=PARTS_OF_RULE,
)
