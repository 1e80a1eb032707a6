"""Labels that the model gives hardly any probability."""

from __future__ import annotations

import numpy as np

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.stats.labels import LITTLE_MASS


def _check(judged: JudgedAnswers) -> Found:
    tried = judged.answers
    if tried.log_likelihoods is None or tried.labelled is None or not tried.labelled.any():
        return
    rows = np.flatnonzero(tried.labelled)
    mass = np.nansum(np.exp(tried.log_likelihoods[rows]), axis=2)
    means = mass.sum(axis=1, where=tried.evaluated[rows]) / tried.sizes[rows]
    low = means < LITTLE_MASS
    best = judged.result is not None and bool(low[rows == judged.result.best].any())
    if best or 2 * low.sum() > len(rows):
        parameters = {
            "told": int(low.sum()),
            "prompts": len(tried.prompts),
            "below": LITTLE_MASS,
            "least": float(means.min()),
        }
        yield Flag("label_mass", parameters)


RED_FLAG = RedFlagKind(
    kind="label_mass",
    rank=160,
    topic="scores",
    default="warn",
    description="Labels that get hardly any probability.",
    sentences="{who} {told:gives/give} all labels together a probability below {below:percent} "
    "(the least is {least:percent}, mean over the examples): the model would say something else; "
    "check the text before the answer.",
    brief="the labels have hardly any probability",
    remedy="look at the text before the answer",
    check=_check,
)
