"""How many choices there are, by what is declared and by what the answers show."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.notation import accuracy, count, span
from pytest_maxrandom.recorded.guessers import mean_of, shown
from pytest_maxrandom.stats.chances import chance_groups
from pytest_maxrandom.stats.permutation import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen
    from pytest_maxrandom.suite.recorded import Chance

_HALF = Fraction(1, 2)
_TWO = 2
_UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""
_ROUNDED = 0.02
"""Difference of a mean chance, as a share of it, that rounding explains."""
_FEW = 0.02
"""In so many examples a text that is no choice may have been read as an answer."""


def contradicted(tried: Seen) -> Iterator[Flag]:
    """Find a declared chance that the data contradicts."""
    if tried.declared_chance is None:
        return
    declared = f"chance is said to be {shown(tried.declared_chance)}"
    look = "look how many choices there are"
    if tried.choices is not None:
        right = [1] * len(tried.choices) if tried.gold is None else [*map(len, tried.gold)]
        chances = list(map(Fraction, right, tried.choices))
        told = sum(chances, Fraction()) / len(chances)
        # What is published may be rounded, or the mean over other examples.
        if abs(told / _mean(tried.declared_chance) - 1) > _ROUNDED:
            mean = "" if len(set(chances)) == 1 else " on average"
            yield Flag(
                "choices",
                f"By the results, whose examples have {span([*tried.choices])} choices, chance is "
                f"{told if not mean else accuracy(float(told))}{mean}, but {declared}: {look}.",
            )
        return
    gold = _seen_right(tried) if tried.gold is None else tried.gold
    most = max(map(len, gold), default=0)
    if most != 1 or (tried.gold is not None and not all(gold)):
        return
    # A mix of chances does not tell which example has which.
    if not isinstance(tried.declared_chance, Fraction):
        return
    declared_choices = float(1 / tried.declared_chance)
    least = _least_choices(tried, gold)
    more = least > declared_choices
    # Another number than a whole one is a mean.
    if declared_choices.is_integer() and more.mean() > _FEW:
        yield Flag(
            "choices",
            f"In {count(int(more.sum()))} of {count(len(more))} examples the answers and the right "
            f"answer are of up to {least.max()} different choices, but {declared}: {look}.",
        )
    used = set().union(*gold)
    if tried.answers is not None:
        used |= set(np.unique(tried.answers[tried.evaluated]).tolist())
    if tried.gold is None:
        cases = _told_whole(tried, gold)
        given = f"Only {len(used)} different answers are ever given, and one of them is right in "
        where = f"each of {count(cases)} examples to which all that are ever right were given"
    else:
        cases = len(gold)
        given = f"Only {len(used)} different answers are ever given or right in "
        where = f"{count(cases)} examples"
    if len(used) >= 2 and (len(used) / declared_choices) ** cases <= _UNLIKELY:
        yield Flag("choices", f"{given}{where}, but {declared}: {look}.")


def _seen_right(tried: Seen) -> tuple[frozenset[int], ...]:
    """Return per example the answers that were right; none where there was none."""
    if tried.answers is None:
        return ()
    right = np.where(tried.correct & tried.evaluated, tried.answers, NOT_EVALUATED)
    return tuple(frozenset(np.unique(column).tolist()) - {NOT_EVALUATED} for column in right.T)


def _told_whole(tried: Seen, gold: tuple[frozenset[int], ...]) -> int:
    """Count examples to which every answer was given that is right somewhere, if one always is.

    Other examples say nothing: whoever prefers two of five answers is right with no other. Returns
    0 where none of those answers is right in one of the examples: there are others.
    """
    assert tried.answers is not None
    whole = np.ones(len(gold), dtype=np.bool_)
    for label in set().union(*gold):
        whole &= (tried.answers == label).any(axis=0)
    right = np.array([bool(each) for each in gold])
    return int(whole.sum()) if right[whole].all() else 0


def _mean(chance: Chance) -> Fraction:
    return chance if isinstance(chance, Fraction) else mean_of(chance_groups(chance))


def _least_choices(tried: Seen, gold: tuple[frozenset[int], ...]) -> NDArray[np.int64]:
    """Return how many choices each example has at least, shape (n,).

    An answer that is nowhere right may be no choice, but what was read from a text.
    """
    known = sorted(set().union(*gold))
    present = np.zeros((len(gold), len(known)), dtype=np.bool_)
    for column, label in enumerate(known):
        present[:, column] = [label in right for right in gold]
        if tried.answers is not None:
            present[:, column] |= (tried.answers == label).any(axis=0)
    sizes: NDArray[np.int64] = present.sum(axis=1)
    return sizes


def complementary(tried: Seen) -> Iterator[Flag]:
    """Find two prompts of which on every example exactly one is right.

    Two guessers at chance c are so on an example with probability 2 c (1 - c). One that is right
    everywhere and one that is so nowhere are no constant answers, and nothing is told by such a
    pair where examples show more than two choices.
    """
    chance = float(tried.chance)
    examples = int(tried.sizes.min())
    pairs = len(tried.prompts) ** 2
    if tried.chance >= _HALF or pairs * (2 * chance * (1 - chance)) ** examples > _UNLIKELY:
        return
    if _shows_more_than_two(tried):
        return
    counts = tried.correct.sum(axis=1)
    first: dict[tuple[bytes, bytes], int] = {}
    for place, (right, scored) in enumerate(zip(tried.correct, tried.evaluated, strict=True)):
        if not 0 < counts[place] < tried.sizes[place]:
            continue
        first.setdefault((right.tobytes(), scored.tobytes()), place)
    for (_, evaluated), one in first.items():
        wrong = tried.evaluated[one] & ~tried.correct[one]
        other = first.get((wrong.tobytes(), evaluated))
        if other is not None:
            rates = counts / tried.sizes
            shares = sorted(accuracy(float(rates[at])) for at in (one, other))
            yield Flag(
                "complementary_prompts",
                f"Prompts {tried.prompts[one]!r} and {tried.prompts[other]!r} are right on exactly "
                f"complementary examples ({' and '.join(shares)}), as the two constant answers to "
                f"questions with two choices are, but chance is {tried.chance}: look how many "
                "choices there are.",
            )
            return


def _shows_more_than_two(tried: Seen) -> bool:
    """Tell whether scores or answers are of more than two choices; a stated number may be wrong."""
    if tried.log_likelihoods is not None:
        scored = (~np.isnan(tried.log_likelihoods)).sum(axis=2).max(axis=0)
        if (scored > _TWO).mean() > _FEW:
            return True
    gold = _seen_right(tried) if tried.gold is None else tried.gold
    return bool(gold) and bool((_least_choices(tried, gold) > _TWO).mean() > _FEW)
