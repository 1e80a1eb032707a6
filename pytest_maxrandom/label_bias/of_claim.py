"""What the check of a claim's labels takes from the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.stats.labels.finding import above

if TYPE_CHECKING:
    from pytest_maxrandom.plan import PlannedClaim
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.recorded.claims import RecordedClaim


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
    """Tell whether a claim that was judged holds, red flags aside.

    Of one that asserts nothing it is whether guessers hardly reach its best accuracy.
    """
    if claim.asserted:
        return bool(claim.holds)
    return claim.p_max is not None and not above(claim.p_max, level)
