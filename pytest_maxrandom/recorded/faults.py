"""What recorded answers show to be wrong with the run that gave them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.notation import accuracy, count, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.nulls import Guessers
    from pytest_maxrandom.recorded.sweep import RecordedSweep

_HALF = Fraction(1, 2)
_UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""


def faults(read: RecordedSweep, tried: RecordedSweep, null: Guessers) -> list[str]:
    """Return what a reader must be warned of, one sentence each.

    Parameters
    ----------
    read : RecordedSweep
        All prompts, with those that repeat another.
    tried : RecordedSweep
        The distinct ones.
    null : Guessers
        One guesser for each of them.
    """
    checks = (
        _never_right(tried, null),
        _binary(tried, null),
        _elsewhere(tried),
        _cut(tried),
        _unsteady(read),
    )
    return [fault for check in checks for fault in check]


def _never_right(sweep: RecordedSweep, null: Guessers) -> Iterator[str]:
    wrong = np.flatnonzero(~sweep.correct.any(axis=1))
    if not len(wrong):
        return
    # The product of all 1 - chance is at most that power of their mean.
    most = (1 - float(null.chance)) ** int(sweep.evaluated[wrong].sum(axis=1).min())
    if len(wrong) * most <= _UNLIKELY:
        yield (
            f"{_of(len(wrong), len(sweep.prompt_ids), 'is', 'are')} right on no "
            f"example, which a guesser is with probability {p_value(most)} at most: look whether "
            "their text was cut, or their answers were not understood."
        )


def _binary(sweep: RecordedSweep, null: Guessers) -> Iterator[str]:
    """Find two prompts of which on every example exactly one is right.

    Two guessers at chance c are so on an example with probability 2 c (1 - c).
    """
    chance = float(null.chance)
    examples = int(sweep.evaluated.sum(axis=1).min())
    pairs = len(sweep.prompt_ids) ** 2
    if null.chance >= _HALF or pairs * (2 * chance * (1 - chance)) ** examples > _UNLIKELY:
        return
    first: dict[tuple[bytes, bytes], int] = {}
    for place, (right, scored) in enumerate(zip(sweep.correct, sweep.evaluated, strict=True)):
        first.setdefault((right.tobytes(), scored.tobytes()), place)
    for (_, evaluated), one in first.items():
        wrong = sweep.evaluated[one] & ~sweep.correct[one]
        other = first.get((wrong.tobytes(), evaluated))
        if other is not None:
            shares = sorted(accuracy(float(sweep.correct[at].sum() / sweep.evaluated[at].sum()))
                            for at in (one, other))  # fmt: skip
            yield (
                f"Prompts {sweep.prompt_ids[one]!r} and {sweep.prompt_ids[other]!r} are right on "
                f"exactly complementary examples ({' and '.join(shares)}), as the two constant "
                f"answers to questions with two choices are, but chance is {null.chance}: look "
                "how many choices there are."
            )
            return


def _elsewhere(sweep: RecordedSweep) -> Iterator[str]:
    """Find prompts that were scored on other examples than most are."""
    common = sweep.evaluated.mean(axis=0) >= 1 / 2
    shared = (sweep.evaluated & common).sum(axis=1)
    sizes = sweep.evaluated.sum(axis=1)
    apart = np.flatnonzero(2 * shared < sizes)
    if len(apart):
        one = apart[0]
        yield (
            f"{_of(len(apart), len(sizes), 'was', 'were')} scored on other examples "
            f"than most: {sweep.prompt_ids[one]!r} shares {shared[one]} of its {sizes[one]}."
        )


def _cut(sweep: RecordedSweep) -> Iterator[str]:
    """Find prompts that lack more examples than they can have shown."""
    sizes = sweep.evaluated.sum(axis=1)
    short = np.flatnonzero(sizes.max() - sizes > sweep.shots)
    if len(short):
        yield (
            f"{_of(len(short), len(sizes), 'was', 'were')} scored on fewer examples than others "
            f"({sizes[short].min()} of {sizes.max()}), which their demonstrations do not explain: "
            "look whether runs were cut short."
        )


def _unsteady(sweep: RecordedSweep) -> Iterator[str]:
    """Find prompts that are the same and answer otherwise."""
    first: dict[str, int] = {}
    earlier = [first.setdefault(each, place) for place, each in enumerate(sweep.identities)]
    differ = (sweep.correct != sweep.correct[earlier]) | (
        sweep.evaluated != sweep.evaluated[earlier]
    )
    if times := int(differ.any(axis=1).sum()):
        yield (
            f"{_of(times, len(earlier), 'repeats', 'repeat')} the ids of an earlier one, but not "
            "its results: ids collide, or results cannot be reproduced; t may be larger."
        )


def _of(part: int, whole: int, one: str, several: str) -> str:
    return f"{count(part)} of {count(whole)} prompts {one if part == 1 else several}"
