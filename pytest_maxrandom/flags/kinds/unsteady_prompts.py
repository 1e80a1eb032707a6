"""Prompts that are the same and answer otherwise."""

from __future__ import annotations

import numpy as np

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind


def _check(judged: JudgedAnswers) -> Found:
    read = judged.read
    first: dict[str, int] = {}
    earlier = [first.setdefault(each, place) for place, each in enumerate(read.identities)]
    again = [place for place, before in enumerate(earlier) if before != place]
    if not again:
        return
    one, other = read.values[again], read.values[[earlier[place] for place in again]]
    alike = np.isclose(one, other, rtol=0, atol=1e-12, equal_nan=True)
    if times := int((~alike).any(axis=1).sum()):
        yield Flag("unsteady_prompts", {"repeating": times, "prompts": len(earlier)})


RED_FLAG = RedFlagKind(
    kind="unsteady_prompts",
    rank=80,
    topic="prompts",
    default="fail",
    description="Identical prompts with different answers.",
    sentences="{repeating:,} of {prompts:,} prompts {repeating:repeats/repeat} the ids of an "
    "earlier one, but not its results: ids collide, or results cannot be reproduced; t may be "
    "larger.",
    brief="prompts do not repeat their results",
    remedy="look whether ids collide or results change",
    check=_check,
    of_scores=True,
)
