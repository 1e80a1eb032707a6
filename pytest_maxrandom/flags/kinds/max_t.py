"""A best accuracy that is above guessers, but not above shuffled right answers."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.notation import p_value


def _check(judged: JudgedAnswers) -> Found:
    result = judged.passing
    if result is None or result.p_max is None or result.permutation_p is None:
        return
    if result.p_max <= result.level < result.permutation_p:
        parameters = {
            "p_max": result.p_max,
            "permutation_p": result.permutation_p,
            "level": result.level,
        }
        yield Flag("max_t", parameters)


RED_FLAG = RedFlagKind(
    kind="max_t",
    rank=190,
    topic="knowledge",
    default="fail",
    description="A p_max that the max-T permutation test does not confirm.",
    sentences="p_max {p_max:p} is below {level:level}, but the permutation p is {shuffled}: with "
    "the right answers shuffled, the same answers are as good; check which labels the model "
    "prefers.",
    brief="with the right answers shuffled the same prompts do as well",
    remedy="look which label the model prefers",
    check=_check,
    parts={"shuffled": lambda of: p_value(of["permutation_p"], level=of["level"])},
)
