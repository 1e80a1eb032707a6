"""What the check of a claim's labels takes from the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.recorded import RecordedClaim
    from pytest_maxrandom.record import ClaimRecord, RedFlagKind

_OF_LABELS: frozenset[RedFlagKind] = frozenset({"max_t", "majority"})
"""Red flags of a result that who prefers a label reaches as well, whatever the claim asserts."""


class OfClaim:
    """A check that stands beside its claim."""

    claim: PlannedClaim | RecordedClaim

    @property
    def name(self) -> str:
        """``task[...]::label_bias``."""
        return f"{self.claim.name}::label_bias"

    @property
    def line(self) -> int:
        """Line of the task in the suite file, from 1."""
        return self.claim.line

    @property
    def marks(self) -> tuple[str, ...]:
        """The claim's pytest marks."""
        return self.claim.marks

    @property
    def xfail(self) -> None:
        """None: it may fail where the claim is expected to, and need not."""
        return None


def holds(claim: ClaimRecord, level: float) -> bool:
    """Tell whether a claim that was judged holds, and a preferred label does not explain it.

    Of one that asserts nothing it is whether guessers, and the same answers with shuffled right
    answers, hardly reach its best accuracy.
    """
    if any(flag.kind in _OF_LABELS for flag in claim.red_flags):
        return False
    if claim.asserted:
        return bool(claim.holds)
    if claim.p_max is None:
        return False
    return not above(max(claim.p_max, claim.permutation_p or 0.0), level)
