"""A declared number of choices, or chance, that the answers contradict."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.flags.counting import LOOK, UNLIKELY, labels_shown, seen_right
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.notation import accuracy, chances, span
from pytest_maxrandom.stats.chances import chance_groups, choices_of, is_share, mean_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers

    Chance = Fraction | dict[int, int]


_ROUNDED = 0.02
"""Difference of a mean chance, as a share of it, that rounding explains."""
_STRAY = 0.2
"""Share of the answers that may be choices of other examples, where examples have their own."""
_FEW = 0.02
"""In so many examples a text that is no choice may have been read as an answer."""


def _check(judged: JudgedAnswers) -> Found:
    """Find a declared chance, or a number of choices, that the data contradicts."""
    tried, declared = judged.answers, judged.declared_chance
    if tried.choices is not None:
        if declared is not None and (other := _by_stated_choices(tried, tried.choices, declared)):
            yield other
            return
        if not tried.choices_counted:  # they are there themselves
            return
        numbers = np.array(tried.choices, dtype=np.float64)
        stated = _span(tried.choices)
    elif isinstance(declared, Fraction):
        number = choices_of(1, declared) if is_share(1, declared) else 1 / declared
        numbers = np.full(len(tried.examples), float(number))
        stated = _stated(declared)
    else:  # A mix of chances does not tell which example has which.
        return
    gold = seen_right(tried)
    most = max(map(len, gold), default=0)
    if most != 1 or (tried.gold is not None and not all(gold)):
        return
    yield from _more_labels(tried, gold, numbers, stated)
    if (numbers == numbers[0]).all():
        yield from _fewer_labels(tried, gold, float(numbers[0]), stated)


def _by_stated_choices(tried: Answers, choices: tuple[int, ...], declared: Chance) -> Flag | None:
    """Compare the mean chance of examples that tell how many choices they have."""
    right = [1] * len(choices) if tried.gold is None else [*map(len, tried.gold)]
    of_each = [*map(Fraction, right, choices)]
    mean = sum(of_each, Fraction()) / len(of_each)
    # What is published may be rounded, or the mean over other examples.
    stated = declared if isinstance(declared, Fraction) else mean_of(chance_groups(declared))
    if abs(mean / stated - 1) <= _ROUNDED:
        return None
    parameters = {
        "case": "chance",
        **_span(choices),
        "chance": str(mean) if len(set(of_each)) == 1 else float(mean),
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
    tried: Answers,
    gold: tuple[frozenset[int], ...],
    numbers: NDArray[np.float64],
    stated: dict[str, Any],
) -> Found:
    """Find examples that show more labels than there are said to be choices."""
    fewest: dict[int, float] = {}
    for right, number in zip(gold, numbers.tolist(), strict=True):
        fewest |= {label: min(number, fewest.get(label, number)) for label in right}
    # E is no choice of a question with three because it is one of a question with five.
    shown = [
        {label: times for label, times in given.items() if number >= fewest[label]}
        for given, number in zip(labels_shown(tried, gold), numbers.tolist(), strict=True)
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
        yield Flag("choices", parameters | stated)


def _fewer_labels(
    tried: Answers, gold: tuple[frozenset[int], ...], declared: float, stated: dict[str, Any]
) -> Found:
    """Find fewer labels in all than choices, one of which is right in each of many examples."""
    used = set().union(*gold)
    if tried.answers is not None:
        used |= set(np.unique(tried.answers[tried.evaluated]).tolist())
    known = tried.gold is not None
    cases = len(gold) if known else _told_whole(tried, gold)
    if len(set().union(*gold)) >= 2 and (len(used) / declared) ** cases <= UNLIKELY:
        case = "fewer" if known else "fewer_given"
        yield Flag("choices", {"case": case, "labels": len(used), "examples": cases, **stated})


def _told_whole(tried: Answers, gold: tuple[frozenset[int], ...]) -> int:
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


def _mean(of: Parameters) -> str:
    chance = of["chance"]
    return chance if isinstance(chance, str) else f"{accuracy(chance)} on average"


def _stated_chance(of: Parameters) -> str:
    stated = of["stated"]
    if isinstance(stated, str):
        return stated
    return chances({Fraction(chance): many for chance, many in stated.items()})


def _stated_choices(of: Parameters) -> str:
    if of.get("choices") is None:
        return f"the stated chance is {_stated_chance(of)}"
    return f"the results say {span(of['choices'])} choices"


RED_FLAG = RedFlagKind(
    kind="choices",
    rank=10,
    topic="examples",
    default="fail",
    description="Choices per example that contradict a declared number, or chance.",
    sentences={
        "chance": "In the results, whose examples have {choices:span} choices, chance is "
        f"{{mean}}, but the stated chance is {{stated_chance}}: {LOOK}",
        "more": "In {told:,} of {examples:,} examples the answers and the right answer name up to "
        f"{{labels}} different choices, but {{said}}: {LOOK}",
        "fewer": "Only {labels} different answers are ever given or right in {examples:,} "
        f"examples, but {{said}}: {LOOK}",
        "fewer_given": "Only {labels} different answers are ever given, and in each of "
        "{examples:,} examples that got every one of the right ones, one of them is right, but "
        f"{{said}}: {LOOK}",
    },
    brief="the number of choices looks wrong",
    remedy="state the number of choices that there are",
    check=_check,
    parts={"mean": _mean, "stated_chance": _stated_chance, "said": _stated_choices},
)
