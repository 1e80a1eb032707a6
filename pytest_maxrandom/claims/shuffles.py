"""The max-T test of a claim: its answers beside right answers that are shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.notation import count
from pytest_maxrandom.stats.metrics import LIFT, STATISTICS
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
) -> tuple[float, list[str]]:
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
        statistic=LIFT if left_out else STATISTICS[metric],
        strata=shuffle.strata,
        groups=shuffle.groups,
    )
    notes, others = [], t - len(said)
    if test.fixed:
        alone, needed = "example with the same choices", ""
        if shuffle.groups:
            alone = "cluster with as many examples"
            needed = "; clusters of equal size are needed"
        notes.append(
            f"Of {count(said.shape[1])} right answers {count(test.fixed)} stay where they are when "
            f"right answers are shuffled, because there is no other {alone}{needed}."
        )
    if others > 0:
        notes.append(
            f"t counts {count(others)} more {'prompt' if others == 1 else 'prompts'} than this run "
            "has answers of; each adds the best prompt's own permutation p."
        )
    return p, notes
