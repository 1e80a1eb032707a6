"""What the verdict on a claim alone does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.notation import level, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.flags.seen import Seen


def not_confirmed(tried: Seen) -> Iterator[Flag]:
    """Find a best accuracy that is above guessers, but not above shuffled right answers."""
    outcome = tried.outcome
    if outcome is None or not outcome.passed:
        return
    if outcome.p_max is None or outcome.permutation_p is None:
        return
    if outcome.p_max <= outcome.level < outcome.permutation_p:
        yield Flag(
            "max_t",
            f"p_max {p_value(outcome.p_max)} is below {level(outcome.level)}, but the permutation "
            f"p is {p_value(outcome.permutation_p, level=outcome.level)}: with the right answers "
            "shuffled the same answers are as good; look which labels the model prefers.",
        )


def unpassable(seen: Seen) -> Iterator[Flag]:
    """Find a claim that no result could pass."""
    if seen.outcome is not None and seen.outcome.impossible:
        yield Flag(
            "unpassable",
            "The claim can never pass: even if all answers are right, "
            f"{' and '.join(seen.outcome.impossible)} with t = {seen.t}; use more examples or "
            "fewer prompts.",
        )
