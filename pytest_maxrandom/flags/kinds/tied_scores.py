"""Best scores that several choices share, and scores that are no numbers."""

from __future__ import annotations

import numpy as np

from pytest_maxrandom.flags.counting import OF_ANSWERS, PARTS_OF_ANSWERS, part_of_answers
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind

_TIED = 0.1
"""Share of ties in the answers that scores in 16 bits may have."""
_FEW = 5
"""Ties from which on their share says something."""
_NAN = 0.01
"""Scores that are no numbers in so many answers are more than a few."""


def _check(judged: JudgedAnswers) -> Found:
    scores, evaluated = judged.answers.log_likelihoods, judged.answers.evaluated
    if scores is None or scores.shape[2] < 2:
        return
    there = ~np.isnan(scores)
    numbers = there.sum(axis=2)
    lacking = evaluated & ((numbers < numbers.max(axis=0)) | (numbers == 0))
    if part := part_of_answers(_NAN, lacking, judged):
        yield Flag("tied_scores", {"case": "no_numbers", **part})
    second, best = np.moveaxis(np.sort(np.where(there, scores, -np.inf), axis=2)[..., -2:], 2, 0)
    equal = evaluated & (numbers > 1) & (best == second)
    if part := part_of_answers(_TIED, equal, judged, least=_FEW):
        yield Flag("tied_scores", {"case": "equal", **part})


RED_FLAG = RedFlagKind(
    kind="tied_scores",
    rank=110,
    topic="scores",
    default="fail",
    description="Exactly tied or missing scores in more than a few examples.",
    sentences={
        "no_numbers": f"{OF_ANSWERS} have scores that are not numbers (NaN): check the run for "
        "overflow.",
        "equal": f"In {OF_ANSWERS} two choices share the highest score exactly: check whether the "
        "scored text distinguishes the choices, and how scores are rounded.",
    },
    brief="scores tie",
    remedy="look what is scored, and how it is rounded",
    check=_check,
    parts=PARTS_OF_ANSWERS,
)
