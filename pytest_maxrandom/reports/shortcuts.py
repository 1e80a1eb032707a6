"""What needs no knowledge, beside a claim's best prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, equals, p_value
from pytest_maxrandom.reports.flag_sentences import HEURISTICS, MEASURES

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def shortcuts(claim: ClaimRecord) -> str:
    """Say what the best heuristic reaches, and the best prompt with blank inputs."""
    found = claim.shortcuts
    if found is None:
        return ""
    parts = [
        f"{HEURISTICS[found.heuristic]}, the best of {len(found.heuristics)} heuristics, has "
        f"{MEASURES[found.measure]} of {accuracy(found.heuristic_score)} (sign-flip p of the best "
        f"prompt's {accuracy(found.best)} {equals(p_value(found.heuristic_p))})"
    ]
    if found.choices_only is not None:
        parts.append(
            f"with blank inputs the best prompt has {accuracy(found.choices_only)} (p "
            f"{equals(p_value(found.choices_only_p))})"
        )
    return "; ".join(parts)
