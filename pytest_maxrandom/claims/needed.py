"""What the best of a search's prompts is likely to need, before any of them is tried."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.incumbents import usual_test
from pytest_maxrandom.stats.matching import likely_answers, matches_p
from pytest_maxrandom.stats.score_pairs import ScorePair

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.sweeps.labels import Labels


def needed(planned: PlannedClaim, prompts: int) -> int | None:
    """Return the fewest right answers with which the best of so many prompts is likely to pass.

    The permutation p is that of answers with each label as often as it is right. Other answers have
    a smaller one, unless they prefer the commonest label: see `likely_more`. None where none pass,
    only the permutation p is claimed and it has no formula, nothing is claimed, or the claim is
    about the incumbent alone: see `surplus_needed`.
    """
    judged = planned.with_t(prompts)
    claim, null, n = planned.claim, judged.null, judged.condition.prompt_set.n
    levels = claim.levels(null.t)
    if claim.bounds().keys() <= {"incumbent_p"}:
        return None
    level = levels.get("permutation_p")
    views = planned.condition.shuffled

    def passes(correct: int) -> bool:
        if claim.unmet(null, correct):
            return False
        return level is None or all(_likely_p(v, correct) * prompts <= level for v in views)

    least = bisect_left(range(n + 1), True, key=passes)
    return least if least <= n else None


def likely_more(planned: PlannedClaim) -> bool:
    """Return whether a prompt that prefers the commonest label needs more than `needed` says."""
    if "permutation_p" not in planned.claim.levels(1):
        return False
    for view in planned.condition.shuffled:
        right = Counter(zip(view.strata, map(min, view.gold), strict=True))
        if len({(part, times) for (part, _), times in right.items()}) > len(set(view.strata)):
            return True
    return False


def surplus_needed(planned: PlannedClaim, prompts: int, *, tree: bool) -> tuple[int, int] | None:
    """Return how many more right answers than the incumbent the best of so many prompts needs.

    In a tree they are all that a search could have tried, which takes the exact test.

    Returns
    -------
    tuple of int, or None
        Where the incumbent is right on no example that the best prompt is wrong on; and where one
        of the two alone is right on each. How often the two differ is not looked at, since that
        would tell of the examples; the more often, the more is needed. None where none pass, no
        incumbent is claimed to be worse, scores are graded, examples belong together, or they are
        drawn anew: by the rule of `usual_test`, as the claim is judged.
    """
    spec, n = planned.suite.incumbent, planned.condition.prompt_set.n
    level = planned.claim.levels(prompts).get("incumbent_p")
    if spec is None or level is None or planned.is_graded:
        return None
    if planned.condition.labels.groups is not None:
        return None
    usual = usual_test(n, t=prompts, at_hand=prompts, level=level)
    if not tree and (spec.test or usual) != "exact":
        return None

    def least(apart: int | None) -> int:
        """Return the fewest examples that the best prompt alone is right on."""
        most = n if apart is None else apart

        def passes(wins: int) -> bool:
            losses = 0 if apart is None else apart - wins
            return surplus_p(planned, prompts, wins=wins, losses=losses) <= level

        return bisect_left(range(most + 1), True, key=passes)

    few, all_ = least(None), least(n)
    return None if max(few, all_) > n else (few, 2 * all_ - n)


def surplus_p(planned: PlannedClaim, prompts: int, *, wins: int, losses: int = 0) -> float:
    """Return the incumbent p of a best prompt that alone is right on so many examples.

    `losses` are those on which the incumbent alone is right.
    """
    claim, n = planned.claim, planned.condition.prompt_set.n
    differences = np.zeros(n)
    differences[:wins] = 1
    differences[n - losses :] = -1
    bound = claim.levels(prompts)["incumbent_p"] / prompts
    return prompts * ScorePair(differences, np.arange(n)).p_greater(claim.by, bound)


def units_of_claim(planned: PlannedClaim) -> Sequence[Hashable]:
    """Return the cluster of each example of a claim, or what is its own."""
    groups = planned.condition.labels.groups
    return range(planned.condition.prompt_set.n) if groups is None else groups


def least_p(claim: Claim, key: str, t: int, units: Sequence[Hashable], *, is_graded: bool) -> float:
    """Return the least exact p-value that the best of t prompts can have beside something.

    It scores 1 on each example, and an incumbent or a control 0.

    Parameters
    ----------
    key : str
        ``"incumbent_p"``, ``"control_p"`` or ``"baseline_p"``.
    units : sequence of hashable
        Per example its cluster, or what is its own.
    """
    _, groups, sizes = np.unique(
        np.asarray(units, dtype=str), return_inverse=True, return_counts=True
    )
    by, least = claim.by if key == "incumbent_p" else 0.0, -1.0
    if key == "baseline_p":
        assert claim.baseline is not None
        by, least = claim.baseline, 0.0
    elif key == "incumbent_p" and not is_graded and len(sizes) == len(units):
        pair = ScorePair(np.ones(len(units)), groups)
        return t * pair.p_greater(by, claim.levels(t)[key] / t)
    return t * BoundedMean(np.ones(len(sizes)), least, sizes.astype(np.float64)).p_greater(by)


def _likely_p(view: Labels, correct: int) -> float:
    gold = [min(right) for right in view.gold]
    answers = likely_answers(gold, view.strata, correct)
    return matches_p(answers, gold, view.strata) or 0.0
