"""A claim that no result of so many prompts and so few examples could pass."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.notation import Unmet


def _check(judged: JudgedAnswers) -> Found:
    if judged.impossible:
        reasons = [each.parameters() for each in judged.impossible]
        yield Flag("unpassable", {"reasons": reasons, "t": judged.t})


RED_FLAG = RedFlagKind(
    kind="unpassable",
    rank=250,
    topic="prompts",
    default="warn",
    description="A claim that no result can pass.",
    sentences="The claim can never pass: even if all answers are right, {unmet} with t = {t}; use "
    "more examples or fewer prompts.",
    brief="no result can pass",
    remedy="take more examples, or fewer prompts",
    check=_check,
    parts={"unmet": lambda of: " and ".join(str(Unmet(**each)) for each in of["reasons"])},
    of_maximum=True,
)
