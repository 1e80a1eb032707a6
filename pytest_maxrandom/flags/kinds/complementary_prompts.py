"""Two prompts that are the two constant answers to questions with two choices."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.flags.counting import LOOK, UNLIKELY, labels_shown, seen_right
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind

if TYPE_CHECKING:
    from pytest_maxrandom.answers import Answers

_Opposed: TypeAlias = tuple[tuple[int, int], list[float]]
"""Two prompts by their rows, and the accuracy of each."""
_HALF = Fraction(1, 2)
_FEW = 0.02
"""In so many examples a text that is no choice may have been read as an answer."""


def _check(judged: JudgedAnswers) -> Found:
    """Find two prompts of which on every example that both were scored on exactly one is right.

    Two guessers at chance c are so on an example with probability 2 c (1 - c). One that is right
    everywhere and one that is so nowhere are no constant answers, and nothing follows from such a
    pair where examples show more than two choices.
    """
    tried, chance = judged.answers, judged.chance
    pairs = len(tried.prompts) ** 2
    exactly_one = float(2 * chance * (1 - chance))
    if chance >= _HALF or pairs * exactly_one ** int(tried.sizes.max()) > UNLIKELY:
        return
    found = _whole(tried) if tried.evaluated.all() else _ragged(tried, pairs, exactly_one)
    if found is None or _shows_more_than_two(tried):
        return
    (one, other), shares = found
    parameters = {
        "prompts": [tried.prompts[one], tried.prompts[other]],
        "accuracies": sorted(shares),
        "chance": str(chance),
    }
    yield Flag("complementary_prompts", parameters)


def _whole(tried: Answers) -> _Opposed | None:
    """Return the first two of prompts that were scored on all examples."""
    rows = np.packbits(tried.correct, axis=1)
    first: dict[bytes, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row.tobytes(), place)
    n = tried.correct.shape[1]
    for one, right in enumerate(tried.correct_counts.tolist()):
        other = first.get(np.packbits(~tried.correct[one]).tobytes())
        if other is not None and 0 < right < n:
            size = np.float32(n)
            return (one, other), [float(np.float32(each) / size) for each in (right, n - right)]
    return None


def _ragged(tried: Answers, pairs: int, exactly_one: float) -> _Opposed | None:
    """Return the first two of prompts, with what they share."""
    # Products of zeros and ones are exact, and fast as floating-point numbers only.
    evaluated = tried.evaluated.astype(np.float32)
    right = (tried.correct & tried.evaluated).astype(np.float32)
    wrong = evaluated - right
    shared = evaluated @ evaluated.T
    rights = right @ evaluated.T
    opposed = (right @ wrong.T + wrong @ right.T == shared) & (rights > 0) & (rights < shared)
    for one, other in np.argwhere(opposed & (pairs * exactly_one**shared <= UNLIKELY))[:1].tolist():
        ways = (one, other), (other, one)
        return (one, other), [float(rights[at] / shared[at]) for at in ways]
    return None


def _shows_more_than_two(tried: Answers) -> bool:
    """Tell whether scores or answers are of more than two choices; a stated number may be wrong."""
    if tried.log_likelihoods is not None:
        scored = (~np.isnan(tried.log_likelihoods)).sum(axis=2).max(axis=0)
        if (scored > 2).mean() > _FEW:
            return True
    gold = seen_right(tried)
    return bool(gold) and bool(
        np.mean([len(each) > 2 for each in labels_shown(tried, gold)]) > _FEW
    )


RED_FLAG = RedFlagKind(
    kind="complementary_prompts",
    rank=20,
    topic="examples",
    default="fail",
    description="Two prompts that are right on exactly complementary examples, with more than two "
    "choices.",
    sentences="Prompts {prompts[0]!r} and {prompts[1]!r} are right on exactly complementary "
    "examples ({accuracies[0]:accuracy} and {accuracies[1]:accuracy}), as the two constant "
    f"answers to questions with two choices are, but chance is {{chance}}: {LOOK}",
    brief="two prompts are right on exactly complementary examples",
    remedy="state the number of choices that there are",
    check=_check,
)
