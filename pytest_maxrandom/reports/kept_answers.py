"""What two reports keep of recorded answers: whether questions, prompts or answers are others.

A claim that runs a model has digests of its task, its examples and its model. Of recorded results
nothing else is known than what the report keeps of the answers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.record.packed import KeptAnswers
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def examples(claim: ClaimRecord) -> str | None:
    """Return a digest of the examples of recorded results; None where they are not known."""
    found = _of_results(claim)
    return None if found is None else digest("examples", *sorted(found.examples))


def prompts(claim: ClaimRecord) -> str | None:
    """Return a digest of the prompts of recorded results; None where they are not known."""
    found = _of_results(claim)
    return None if found is None else digest("prompts", *sorted(found.prompts))


def answers(claim: ClaimRecord) -> str | None:
    """Return a digest of recorded answers, in whatever order; None where they are not known."""
    found = _of_results(claim)
    return None if found is None else found.digest


def differ(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Tell whether anything of the results is another one; a file may merely have moved."""
    return answers(now) != answers(before)


def same_questions(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Tell whether both are of the same prompts and examples, so that answers can be others."""
    return examples(now) == examples(before) and prompts(now) == prompts(before)


def kept(claim: ClaimRecord) -> KeptAnswers | None:
    """Return the answers that a report keeps of a claim; None where it keeps none."""
    try:
        return _unpacked(claim.answers) if claim.answers else None
    except ValueError:
        return None


def _of_results(claim: ClaimRecord) -> KeptAnswers | None:
    return None if claim.recorded is None else kept(claim)


@lru_cache(maxsize=4)
def _unpacked(packed: str) -> KeptAnswers:
    return KeptAnswers.unpacked(packed)
