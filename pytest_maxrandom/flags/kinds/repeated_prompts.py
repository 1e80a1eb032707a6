"""Fewer distinct prompts than were asked for."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.notation import tries


def _check(judged: JudgedAnswers) -> Found:
    distinct, asked = len(judged.answers.prompts), judged.asked
    if asked is not None and distinct < asked:
        parameters = {"distinct": distinct, "asked": asked, "t": judged.t}
        yield Flag("repeated_prompts", parameters)


def _counted(of: Parameters) -> str:
    t = f"t = {tries(of['t'])}"
    return f"the claim counts {t}" if of["t"] > of["distinct"] else f"{t} counts those"


RED_FLAG = RedFlagKind(
    kind="repeated_prompts",
    rank=240,
    topic="prompts",
    default="warn",
    description="Fewer distinct prompts than the suite asks for.",
    sentences="Only {distinct:,} of {asked:,} prompts {distinct:is/are} distinct; {counted}: check "
    "how prompts are drawn, and from how many examples.",
    brief="prompts are repeated",
    remedy="ask for fewer prompts, or allow more",
    check=_check,
    of_scores=True,
    parts={"counted": _counted},
)
