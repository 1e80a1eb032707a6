"""How many choices there are, by what is declared and by what the answers show."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.flags.flag import UNLIKELY, Flag
from pytest_maxrandom.stats.chances import chance_groups, choices_of, is_share, mean_of
from pytest_maxrandom.stats.gold import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.flag_input import FlagInput
    from pytest_maxrandom.suite.recorded import Chance

_HALF = Fraction(1, 2)
_ROUNDED = 0.02
"""Difference of a mean chance, as a share of it, that rounding explains."""
_STRAY = 0.2
"""Share of the answers that may be choices of other examples, where examples have their own."""
_FEW = 0.02
"""In so many examples a text that is no choice may have been read as an answer."""


def contradicted(tried: FlagInput) -> Iterator[Flag]:
    """Find a declared chance, or a number of choices, that the data contradicts."""
    declared, n = tried.declared_chance, len(tried.examples)
    if tried.choices is not None:
        if declared is not None and (other := _by_stated_choices(tried, tried.choices, declared)):
            yield other
            return
        if not tried.choices_counted:  # they are there themselves
            return
        numbers = np.array(tried.choices, dtype=np.float64)
        said = _span(tried.choices)
    elif isinstance(declared, Fraction):
        number = choices_of(1, declared) if is_share(1, declared) else 1 / declared
        numbers = np.full(n, float(number))
        said = _stated(declared)
    else:  # A mix of chances does not tell which example has which.
        return
    gold = _seen_right(tried)
    most = max(map(len, gold), default=0)
    if most != 1 or (tried.gold is not None and not all(gold)):
        return
    yield from _more_labels(tried, gold, numbers, said)
    if (numbers == numbers[0]).all():
        yield from _fewer_labels(tried, gold, float(numbers[0]), said)


def _by_stated_choices(tried: FlagInput, choices: tuple[int, ...], declared: Chance) -> Flag | None:
    """Compare the mean chance of examples that tell how many choices they have."""
    right = [1] * len(choices) if tried.gold is None else [*map(len, tried.gold)]
    told = [*map(Fraction, right, choices)]
    mean = sum(told, Fraction()) / len(told)
    # What is published may be rounded, or the mean over other examples.
    stated = declared if isinstance(declared, Fraction) else mean_of(chance_groups(declared))
    if abs(mean / stated - 1) <= _ROUNDED:
        return None
    parameters = {
        "case": "chance",
        **_span(choices),
        "chance": str(mean) if len(set(told)) == 1 else float(mean),
        **_stated(declared),
    }
    return Flag("choices", parameters)


def _span(choices: tuple[int, ...]) -> dict[str, Any]:
    return {"choices": [min(choices), max(choices)]}


def _stated(chance: Chance) -> dict[str, Any]:
    if isinstance(chance, Fraction):
        return {"stated": str(chance)}
    return {"stated": {str(Fraction(1, choices)): many for choices, many in chance.items()}}


def _more_labels(
    tried: FlagInput,
    gold: tuple[frozenset[int], ...],
    numbers: NDArray[np.float64],
    said: dict[str, Any],
) -> Iterator[Flag]:
    """Find examples that show more labels than there are said to be choices."""
    fewest: dict[int, float] = {}
    for right, number in zip(gold, numbers.tolist(), strict=True):
        fewest |= {label: min(number, fewest.get(label, number)) for label in right}
    # E is no choice of a question with three because it is one of a question with five.
    shown = [
        {label: times for label, times in given.items() if number >= fewest[label]}
        for given, number in zip(_shown(tried, gold), numbers.tolist(), strict=True)
    ]
    least = np.array([*map(len, shown)])
    # Another number than a whole one is a mean.
    more = (least > numbers) & (numbers % 1 == 0)
    # Where examples have labels of their own, an answer may be a choice of another one: those
    # beyond the number of choices that are given most seldom.
    own = len(set().union(*gold)) > 2 * numbers.max()
    stray = 0
    for given, right, number in zip(shown, gold, numbers.tolist(), strict=True):
        ranked = sorted(given, key=lambda label: (label not in right, -given[label]))
        stray += sum(given[label] for label in ranked[math.ceil(number) :])
    few = own and stray <= _STRAY * tried.evaluated.sum()
    if more.mean() > _FEW and not few:
        parameters = {
            "case": "more",
            "told": int(more.sum()),
            "examples": len(more),
            "labels": int(least.max()),
        }
        yield Flag("choices", parameters | said)


def _fewer_labels(
    tried: FlagInput, gold: tuple[frozenset[int], ...], declared: float, said: dict[str, Any]
) -> Iterator[Flag]:
    """Find fewer labels in all than choices, one of which is right in each of many examples."""
    used = set().union(*gold)
    if tried.answers is not None:
        used |= set(np.unique(tried.answers[tried.evaluated]).tolist())
    known = tried.gold is not None
    cases = len(gold) if known else _told_whole(tried, gold)
    if len(set().union(*gold)) >= 2 and (len(used) / declared) ** cases <= UNLIKELY:
        case = "fewer" if known else "fewer_given"
        yield Flag("choices", {"case": case, "labels": len(used), "examples": cases, **said})


def _seen_right(tried: FlagInput) -> tuple[frozenset[int], ...]:
    """Return per example its right answers, where they are not known those that were given."""
    if tried.gold is not None:
        return tried.gold
    if tried.answers is None:
        return ()
    right = np.where(tried.correct & tried.evaluated, tried.answers, NOT_EVALUATED)
    return tuple(frozenset(np.unique(column).tolist()) - {NOT_EVALUATED} for column in right.T)


def _told_whole(tried: FlagInput, gold: tuple[frozenset[int], ...]) -> int:
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


def _shown(tried: FlagInput, gold: tuple[frozenset[int], ...]) -> list[dict[int, int]]:
    """Return per example the labels that it shows, with how many prompts gave each.

    These are those that are right, and what was given that is right somewhere: an answer that is
    nowhere right may be no choice, but what was read from a text.
    """
    shown = [dict.fromkeys(right, 0) for right in gold]
    if tried.answers is not None:
        known = tried.evaluated & np.isin(tried.answers, [*set().union(*gold)])
        examples, labels = np.nonzero(known)[1].tolist(), tried.answers[known].tolist()
        for example, label in zip(examples, labels, strict=True):
            shown[example][label] = shown[example].get(label, 0) + 1
    return shown


def complementary(tried: FlagInput) -> Iterator[Flag]:
    """Find two prompts of which on every example that both were scored on exactly one is right.

    Two guessers at chance c are so on an example with probability 2 c (1 - c). One that is right
    everywhere and one that is so nowhere are no constant answers, and nothing follows from such a
    pair where examples show more than two choices.
    """
    pairs = len(tried.prompts) ** 2
    exactly_one = float(2 * tried.chance * (1 - tried.chance))
    if tried.chance >= _HALF or pairs * exactly_one ** int(tried.sizes.max()) > UNLIKELY:
        return
    # Products of zeros and ones are exact, and fast as floating-point numbers only.
    evaluated = tried.evaluated.astype(np.float32)
    right = (tried.correct & tried.evaluated).astype(np.float32)
    wrong = evaluated - right
    shared = evaluated @ evaluated.T
    rights = right @ evaluated.T
    opposed = (right @ wrong.T + wrong @ right.T == shared) & (rights > 0) & (rights < shared)
    found = np.argwhere(opposed & (pairs * exactly_one**shared <= UNLIKELY))
    if not len(found) or _shows_more_than_two(tried):
        return
    one, other = found[0]
    shares = sorted(float(rights[at] / shared[at]) for at in ((one, other), (other, one)))
    parameters = {
        "prompts": [tried.prompts[one], tried.prompts[other]],
        "accuracies": shares,
        "chance": str(tried.chance),
    }
    yield Flag("complementary_prompts", parameters)


def _shows_more_than_two(tried: FlagInput) -> bool:
    """Tell whether scores or answers are of more than two choices; a stated number may be wrong."""
    if tried.log_likelihoods is not None:
        scored = (~np.isnan(tried.log_likelihoods)).sum(axis=2).max(axis=0)
        if (scored > 2).mean() > _FEW:
            return True
    gold = _seen_right(tried)
    return bool(gold) and bool(np.mean([len(each) > 2 for each in _shown(tried, gold)]) > _FEW)
