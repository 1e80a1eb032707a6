"""What a run says of all its claims together: adjusted p-values, and what computed them."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import TYPE_CHECKING

from pytest_maxrandom.record import Adjustment, ClaimRecord, RunRecord, arithmetics
from pytest_maxrandom.reports.quantities import levels_of
from pytest_maxrandom.stats.multiplicity import benjamini_hochberg, holm, joint_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIBRARIES = ("pytest", "pytest-maxrandom", "numpy")


def adjust(claims: Sequence[ClaimRecord], adjustment: Adjustment) -> None:
    """Adjust the p-values that claims are about for their number.

    Errors and skips do not count, nor does what is only reported.
    """
    if adjustment == "none":
        return
    tested = [(claim, p) for claim in claims if (p := _joint_p(claim)) is not None]
    # Of those that were decided early no p-value is known, but they are claims of the run as well.
    decided = [
        claim.decided.p_at_most if claim.passed else 1.0
        for claim in claims
        if claim.asserted and claim.decided
    ]
    method = holm if adjustment == "holm" else benjamini_hochberg
    for (claim, _), p in zip(tested, method([*(p for _, p in tested), *decided]), strict=False):
        claim.adjusted_p = p


def _joint_p(claim: ClaimRecord) -> float | None:
    """Return one p-value for all that is claimed; p_max where a claim bounds none."""
    if not claim.asserted:
        return None
    levels = levels_of(claim)
    if not levels:
        return claim.p_max
    return joint_p_value({key: getattr(claim, key) for key in levels}, levels)


def versions() -> dict[str, str]:
    """Return the versions of Python and of what gathers the results, as far as installed."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def computing(run: RunRecord) -> dict[str, str]:
    """Return the versions of what computed the numbers, in whatever process and run that was."""
    found: dict[str, dict[str, None]] = {}
    for arithmetic in arithmetics(run):
        for name, number in arithmetic.versions.items():
            found.setdefault(name, {})[number] = None
    return {name: " and ".join(numbers) for name, numbers in found.items()}
