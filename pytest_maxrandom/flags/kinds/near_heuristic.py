"""A claim whose lead over the best heuristic may be chance."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.shortcuts import NEAR, PARTS_OF_NEAR, PARTS_OF_RULE, RULE, by_heuristic


def _check(judged: JudgedAnswers) -> Found:
    found = by_heuristic(judged)
    if found is not None and found.near:
        yield Flag("near_heuristic", found.near)


RED_FLAG = RedFlagKind(
    kind="near_heuristic",
    rank=210,
    topic="knowledge",
    default="warn",
    description="A best prompt whose lead over the best heuristic may be chance.",
    sentences=f"{RULE}; the best prompt's is {NEAR}",
    brief="hardly better than a rule that needs no knowledge",
    brief_of="hardly better than {heuristic:heuristic}",
    remedy="take more examples",
    check=_check,
    parts={**PARTS_OF_NEAR, **PARTS_OF_RULE},
)
