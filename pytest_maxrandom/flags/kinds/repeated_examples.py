"""Examples that are copies of others, so that they say less than n different ones.

A guesser guesses each of them anew, a model answers copies alike: with k copies of each its
accuracy varies as that of n^2 / sum(k^2) examples (the design effect of Kish 1965).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.stats.clusters import effective_n

if TYPE_CHECKING:
    from collections.abc import Sequence


_WORTH = 0.8
"""Share of n examples that they must be worth, so that their number is not misleading."""


def _check(judged: JudgedAnswers) -> Found:
    if judged.answers.copies is not None:
        yield from copied(judged.answers.copies)


def copied(copies: Sequence[int]) -> Found:
    """Find copies, given for each example the place of the first one that is the same."""
    n = len(copies)
    if effective_n(copies) < _WORTH * n:
        yield Flag("repeated_examples", {"n": n, "different": len(set(copies))})


RED_FLAG = RedFlagKind(
    kind="repeated_examples",
    rank=40,
    topic="examples",
    default="fail",
    description="Examples that are copies of others, so that n is smaller than it seems.",
    sentences="There are {n:,} examples, but only {different:,} different {different:one/ones} by "
    "text and choices: a model gives copies the same answer, and a guesser does not, so p-values "
    "are too small; check which field is the input, or remove the copies.",
    brief="examples are repeated",
    remedy="remove copies, or name the right input",
    check=_check,
    of_scores=True,
)
