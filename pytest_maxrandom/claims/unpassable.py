"""Claims that no result can pass, whether their model is run or their results exist already.

They would cost a sweep and tell nothing, or take a table that is too small for a finding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.needed import least_p, units_of_claim
from pytest_maxrandom.claims.opening import out_of_reach
from pytest_maxrandom.claims.verdict import BESIDE
from pytest_maxrandom.errors import Problem
from pytest_maxrandom.notation import P_VALUES, Unmet, equals, level, p_value
from pytest_maxrandom.stats.incumbents import least_resampled

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.stats.incumbents import IncumbentTest
    from pytest_maxrandom.suite.loader import RecordedSuite, Suite

_BEST_BESIDE = {
    "incumbent_p": "is right on all of n = {n} examples and the incumbent on none",
    "control_p": "scores 1 on all of n = {n} examples and the control 0",
    "baseline_p": "scores 1 on all of n = {n} examples",
}
"""How the best prompt reaches the least p-value that there can be."""
_SHARE = ", the half of the level that the first look at recorded answers has"
_MORE = "use more examples or fewer prompts (`maxrandom plan` computes how many)"
_EXACT = "use `test: exact`, or fewer prompts whose answers are not at hand"


def unpassable(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield the claims about models that no result can pass."""
    for claim in () if suite.spec.allow_unpassable else claims:
        null, ways = claim.null, None
        if claim.claim.spend:
            null = claim.with_t(claim.claim.tried(null.t)).null
        if claim.claim.permutation_p is not None and claim.claim.cannot_tell is None:
            ways = min(each.arrangements for each in claim.condition.shuffled)
        whys = []
        if unmet := claim.claim.impossible(null, ways):
            whys.append(
                f"with t = {null.t}, even if all of n = {null.n} answers are right, "
                f"{' and '.join(map(str, unmet))}; {_way_out(unmet)}"
            )
        spec = claim.suite.incumbent
        whys += _beside(
            claim.claim,
            null.t,
            len(claim.condition.prompt_set.prompts),
            units_of_claim(claim),
            is_graded=claim.is_graded,
            test=None if spec is None else spec.test,
        )
        test_p = claim.claim.test_p
        if test_p is not None and (why := out_of_reach(claim.condition.test, test_p)):
            whys.append(why)
        for why in whys:
            yield _never(suite, claim.line, claim.name, why)


def unpassable_recorded(
    suite: RecordedSuite, name: str, line: int, claim: Claim, t: int, answers: Answers
) -> Iterator[Problem]:
    """Yield why no answers to so few examples can pass a claim beside what they are compared with.

    What guessers rule out is a red flag of the result. `answers` are of the distinct prompts, and t
    is as the best of how many they are tested.
    """
    if suite.spec.allow_unpassable or not answers.prompts:
        return
    spec = suite.spec.incumbent
    # No look has more of the level than the first one.
    first = replace(claim, look=1) if claim.look is None else claim
    for why in _beside(
        first,
        t,
        len(answers.prompts),
        answers.groups or answers.examples,
        is_graded=answers.is_graded,
        test=None if spec is None else spec.test,
    ):
        yield _never(suite, line, name, why)


def _beside(
    claim: Claim,
    t: int,
    at_hand: int,
    units: Sequence[Hashable],
    *,
    is_graded: bool,
    test: IncumbentTest | None,
) -> Iterator[str]:
    """Say which p-values beside something else than guessers are always above their level.

    Parameters
    ----------
    t, at_hand : int
        Number of prompts that were tried, and of those whose answers are at hand.
    units : sequence of hashable
        Per example its cluster, or what is its own.
    test : str, optional
        What the suite names as the test beside the incumbent.
    """
    for key, bound in claim.levels(t).items():
        if key not in BESIDE:
            continue
        if key == "incumbent_p" and test == "resampled":
            p, way_out = least_resampled(t, at_hand, len(set(units))), _EXACT
        else:
            p, way_out = least_p(claim, key, t, units, is_graded=is_graded), _MORE
        if p > bound:
            beside = _BEST_BESIDE[key].format(n=len(units))
            share = _SHARE if key == "incumbent_p" and claim.look is not None else ""
            yield (
                f"with t = {t}, even if the best prompt {beside}, {P_VALUES[key]} "
                f"{equals(p_value(p, level=bound))} is above {level(bound)}{share}; {way_out}"
            )


def _never(suite: Suite | RecordedSuite, line: int, name: str, why: str) -> Problem:
    told = f"{name} can never pass: {why}, or write `allow_unpassable: true`"
    return Problem(suite.path, line, told)


def _way_out(unmet: Sequence[Unmet]) -> str:
    if any(part.arrangements is not None for part in unmet):
        return "give the task more examples with other right answers"
    return _MORE
