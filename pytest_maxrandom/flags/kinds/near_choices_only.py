"""A claim whose lead over the best prompt with blank inputs may be chance."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.shortcuts import BLANK, NEAR, PARTS_OF_NEAR, by_choices


def _check(judged: JudgedAnswers) -> Found:
    found = by_choices(judged)
    constant = judged.compared is not None and judged.compared.one_label
    if found is not None and found.near and not constant:
        yield Flag("near_choices_only", found.near)


RED_FLAG = RedFlagKind(
    kind="near_choices_only",
    rank=230,
    topic="knowledge",
    default="warn",
    description="A best prompt whose lead over itself with blank inputs may be chance.",
    sentences=f"{BLANK}; with the questions it is {NEAR}",
    brief="hardly better with the question than without",
    remedy="take more examples",
    check=_check,
    parts=PARTS_OF_NEAR,
)
