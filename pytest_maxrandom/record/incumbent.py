"""What is recorded of the best prompt beside the incumbent, which is what runs today.

The same is recorded of it beside a control, and beside a stated baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_maxrandom.record.base import Count, Difference, Share


@dataclass(slots=True)
class BesideIncumbent:
    """By how much the best prompt is better than the incumbent on the same examples."""

    name: str
    """What the incumbent is, in a few words."""
    digest: str
    """Digest of its prompt, or what its results call it; of a control, of its scores."""
    model: str
    model_digest: str | None
    """By which the ledger would know its model; None where that is not known."""
    answers_digest: str | None
    """SHA-256 of its scores by the ids of their examples, where they are stored; None where it was
    asked."""
    accuracy: Share
    """Mean score of the incumbent on the examples that both were scored on."""
    difference: Difference
    """Mean score of the best prompt minus that."""
    low: Difference
    high: Difference
    """The difference is below `low`, or above `high`, with a probability of at most `level` each,
    however the best prompt was selected."""
    level: float
    by: Share
    """What the difference must be above."""
    test: Literal["exact", "resampled"]
    """exact: `t` times an exact paired test of the best prompt; resampled: White's reality
    check."""
    of: float
    """As the best of how many it is tested: t, or what a search could have tried."""
    n: Count
    """Examples that both were scored on."""
    units: Count
    """Independent ones of them: examples or clusters."""
    candidates: Count
    """Prompts whose answers are at hand."""
    alike: list[str]
    """Those of them that cannot be told from the best, itself included: the first letters of their
    digests, or what their results call them."""
    needed: Count | None
    """About how many examples would show a difference of `matters` with probability .8; None where
    that is not above `by`."""
    matters: Share
    """The smallest difference that matters."""
    look: Count | None = None
    """Which comparison of recorded answers with an incumbent on these examples it is, by the
    ledger; the k-th has 1/(k (k+1)) of the level. None where t counts what was tried, or nobody
    counts looks."""
    chosen_here: Count | None = None
    """Number of prompts that were tried on these examples, where the incumbent is one of them and
    its score may have been a reason to name it; else None."""
    rank: Count = 1
    """One more than those of them that scored higher when it was named; p is times this, too."""
    place: Count = 1
    """Which one it is, by the ledger, of those that were named as the incumbent on these examples,
    each a prompt to a model, before anybody had tried them; p is times k (k + 1) for the k-th after
    the first."""
