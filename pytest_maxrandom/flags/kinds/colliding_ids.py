"""Fewer example ids than there are examples."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind


def _check(judged: JudgedAnswers) -> Found:
    ids, declared = len(judged.answers.examples), judged.declared_n
    if declared is not None and ids < declared:
        yield Flag("colliding_ids", {"ids": ids, "stated": declared})


RED_FLAG = RedFlagKind(
    kind="colliding_ids",
    rank=30,
    topic="examples",
    default="fail",
    description="Example ids that several examples share.",
    sentences="The results hold {ids:,} example ids, but the stated n is {stated:,}: check whether "
    "examples share ids, so that one replaced another, or fewer were scored.",
    brief="example ids collide",
    remedy="give each example an id of its own",
    check=_check,
    of_scores=True,
)
