"""Generated answers in which nothing could be read."""

from __future__ import annotations

import numpy as np

from pytest_maxrandom.answers import Unread
from pytest_maxrandom.flags.counting import OF_ANSWERS, PARTS_OF_ANSWERS, part_of_answers
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind

_UNREAD = 0.05
"""Share of generated answers that may name no choice before an accuracy tells more of them."""


def _check(judged: JudgedAnswers) -> Found:
    tried = judged.answers
    if tried.unread is None:
        return
    why = np.where(tried.evaluated, tried.unread, Unread.NOT)
    if part := part_of_answers(_UNREAD, why != Unread.NOT, judged):
        those = why if part["best"] is None else why[tried.prompts.index(part["best"])]
        counts = {one.name.lower(): int((those == one).sum()) for one in Unread if one}
        yield Flag("unread_answers", {**part, **counts})


RED_FLAG = RedFlagKind(
    kind="unread_answers",
    rank=130,
    topic="scores",
    default="warn",
    description="More than 5 % of generated answers in which nothing can be read.",
    sentences=f"In {OF_ANSWERS} nothing could be read, and they count as wrong: {{unreadable:,}} "
    "hold none, or several, {cut:,} were cut, {refused:,} refused: check what the model "
    "writes (--maxrandom-predictions), and check max_tokens, stop and pattern of `generation`.",
    brief="answers could not be read",
    remedy="look at max_tokens, stop and pattern",
    check=_check,
    parts=PARTS_OF_ANSWERS,
)
