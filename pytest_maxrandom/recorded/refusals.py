"""What no recorded sweep may hold, whoever wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from pytest_maxrandom.sweeps.answers import Answers


def refuse_equal_scores(sweep: Answers) -> None:
    """Refuse a sweep whose scores tell no choice from another.

    Parameters
    ----------
    sweep : Answers
        Is let pass where it holds no log-likelihoods.

    Raises
    ------
    RecordedError
        If within every evaluated prompt and example all log-likelihoods are equal.
    """
    if sweep.log_likelihoods is None:
        return
    scores = sweep.log_likelihoods[sweep.evaluated]
    # Greatest and least where there are numbers: -inf minus -inf would be none.
    equal = np.fmax.reduce(scores, axis=1) == np.fmin.reduce(scores, axis=1)
    if equal.all() and ((~np.isnan(scores)).sum(axis=1) > 1).any():
        raise RecordedError(
            f"{sweep.path}: {sweep.claim}: every choice of every example has the same "
            "log-likelihood, so no answer tells anything; look for what cut the scored text off, "
            "and run it again"
        )
