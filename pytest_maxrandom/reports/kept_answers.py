"""What two reports keep of recorded answers: whether questions, prompts or answers are others.

A claim that runs a model has digests of its task, its examples and its model. Of recorded results
nothing else is known than what the report keeps of the answers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.record.packed import KeptAnswers

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def examples(claim: ClaimRecord) -> list[str] | None:
    """Return what tells the examples of recorded results apart; None where it is not known."""
    found = _of_results(claim)
    return None if found is None else sorted(found.examples)


def prompts(claim: ClaimRecord) -> list[str] | None:
    """Return what tells the prompts of recorded results apart; None where it is not known."""
    found = _of_results(claim)
    return None if found is None else sorted(found.prompts)


def answers(claim: ClaimRecord) -> str | None:
    """Return a digest of recorded answers, in whatever order; None where they are not known."""
    found = _of_results(claim)
    return None if found is None else found.digest


def _of_results(claim: ClaimRecord) -> KeptAnswers | None:
    return None if claim.recorded is None else kept(claim)


def kept(claim: ClaimRecord) -> KeptAnswers | None:
    """Return the answers that a report keeps of a claim; None where it keeps none."""
    try:
        return _unpacked(claim.answers) if claim.answers else None
    except ValueError:
        return None


@lru_cache(maxsize=4)
def _unpacked(packed: str) -> KeptAnswers:
    return KeptAnswers.unpacked(packed)
