"""The max-T test of a claim: its answers beside right answers that are shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.metrics import LIFT, METRICS
from pytest_maxrandom.stats.permutation import NOT_EVALUATED, arrangements, max_t_of_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.suite.spec import Metric


class Shuffle(NamedTuple):
    """Answers of distinct prompts, and which right answers can be exchanged.

    The fields are as `pytest_maxrandom.stats.permutation.max_t_test` takes them.
    """

    answers: ArrayLike
    gold: Gold
    choices: ArrayLike | None
    strata: Sequence[int] | NDArray[np.int64]
    groups: Sequence[str] | None

    @property
    def arrangements(self) -> int:
        """In how many ways right answers can be shuffled."""
        return arrangements(self.gold, self.strata, self.groups)


def permuted_p(
    shuffle: Shuffle, t: int, *, level: float = DEFAULT_LEVEL, metric: Metric = "accuracy"
) -> tuple[float, list[Remark]]:
    """Return the max-T p-value of t prompts, and what a reader must know of it.

    Parameters
    ----------
    t : int
        All prompts, of which those at hand may be a part.
    level : float
        The smallest level that a p-value of the claim is compared with.
    metric : str
        What the best prompt is best in. Where prompts leave out their own demonstrations, accuracy
        counts beyond what the same answers are expected to reach on the examples that are left.
    """
    said = np.asarray(shuffle.answers)
    left_out = metric == "accuracy" and bool((said == NOT_EVALUATED).any())
    p, test = max_t_of_all(
        said,
        shuffle.gold,
        shuffle.choices,
        t,
        level=level,
        statistic=LIFT if left_out else METRICS[metric].statistic,
        strata=shuffle.strata,
        groups=shuffle.groups,
    )
    notes, others = [], t - len(said)
    if test.fixed:
        kind = "fixed_answers_of_clusters" if shuffle.groups else "fixed_answers"
        notes.append(Remark(kind, {"examples": said.shape[1], "fixed": int(test.fixed)}))
    if others > 0:
        notes.append(Remark("tries_without_answers", {"prompts": others}))
    return p, notes
