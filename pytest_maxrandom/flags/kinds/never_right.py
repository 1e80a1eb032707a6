"""Prompts that are right nowhere, and more of them than guessers are."""

from __future__ import annotations

import math

import numpy as np

from pytest_maxrandom.flags.counting import of_several
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.notation import count

_NEVER = 1e-4
"""What all guessers of a sweep do with at most this probability is no accident.

In the results of Yauney and Mimno (2024), where texts were cut, the least of these is one prompt in
200 that is right on none of 56 examples of four choices (2e-5); of the 144 sweeps there, .014 would
be told by accident.
"""


def _check(judged: JudgedAnswers) -> Found:
    tried = judged.answers
    wrong = np.flatnonzero(~tried.correct.any(axis=1))
    if not len(wrong):
        return
    t = len(tried.prompts)
    # The product of all 1 - chance is at most that power of their mean.
    singles = (1 - float(judged.chance)) ** tried.sizes[wrong]
    accident = of_several(singles.tolist(), t)
    if accident.log_p > math.log(_NEVER):
        return
    parameters = {
        "told": len(wrong),
        "prompts": t,
        "guessers": accident.times,
        "log_p": accident.log_p,
    }
    yield Flag("never_right", parameters)


def _guesser(of: Parameters) -> str:
    if of["prompts"] == 1:
        return "a guesser is"
    return f"of {count(of['prompts'])} guessers {count(of['guessers'])} or more are"


RED_FLAG = RedFlagKind(
    kind="never_right",
    rank=120,
    topic="scores",
    default="fail",
    description="Prompts that are right on no example.",
    sentences="{who} {told:is/are} right on no example; {guesser} with probability {log_p:log_p} "
    "at most: check whether texts were cut, answers were misread, or right and wrong were swapped.",
    brief="right on no example",
    remedy="look whether right and wrong were swapped",
    check=_check,
    parts={"guesser": _guesser},
)
