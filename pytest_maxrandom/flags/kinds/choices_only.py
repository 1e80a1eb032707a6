"""A claim that the best prompt would pass with blank inputs as well."""

from __future__ import annotations

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.shortcuts import BLANK, by_choices


def _check(judged: JudgedAnswers) -> Found:
    found = by_choices(judged)
    if found is not None and not found.above:
        yield Flag("choices_only", found.parameters)


RED_FLAG = RedFlagKind(
    kind="choices_only",
    rank=220,
    topic="knowledge",
    default="fail",
    description="A best prompt that is not above itself with blank inputs (`shortcuts: "
    "[choices_only]`).",
    sentences=f"{BLANK}, and with the questions it is no better: check what else gives the right "
    "choices away.",
    brief="no better with the question than without",
    remedy="look what tells right choices from wrong ones",
    check=_check,
)
