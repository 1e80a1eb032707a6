"""How many choices there are, by what is declared and by what the answers show."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.flags.flag import UNLIKELY, Flag
from pytest_maxrandom.stats.chances import chance_groups, choices_of, is_share, mean_of
from pytest_maxrandom.stats.permutation import NOT_EVALUATED

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
    labels = _Labels.of(tried, gold).within(numbers)
    least = labels.sizes
    # Another number than a whole one is a mean.
    more = (least > numbers) & (numbers % 1 == 0)
    # Where examples have labels of their own, an answer may be a choice of another one.
    own = len(set().union(*gold)) > 2 * numbers.max()
    few = own and labels.beyond(numbers) <= _STRAY * tried.evaluated.sum()
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


class _Labels(NamedTuple):
    """Which labels examples show: those that are right, and what was given that is right somewhere.

    An answer that is nowhere right may be no choice, but what was read from a text.
    """

    example: NDArray[np.intp]
    label: NDArray[np.intp]
    times: NDArray[np.intp]
    """How many prompts gave it."""
    right: NDArray[np.bool_]
    n: int

    @classmethod
    def of(cls, tried: FlagInput, gold: tuple[frozenset[int], ...]) -> _Labels:
        """Return each pair of an example and a label once, ordered by the example."""
        pairs = [(place, label) for place, each in enumerate(gold) for label in each]
        example, label = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        given = np.zeros((0, 2), dtype=np.intp)
        if tried.answers is not None:
            known = tried.evaluated & np.isin(tried.answers, label)
            given = np.stack([np.nonzero(known)[1], tried.answers[known]], axis=1)
        of_right = np.stack([example, label], axis=1)
        shown, where = np.unique(np.vstack([of_right, given]), axis=0, return_inverse=True)
        where = where.ravel()
        times = np.bincount(where[len(pairs) :], minlength=len(shown))
        right = np.bincount(where[: len(pairs)], minlength=len(shown)) > 0
        return cls(shown[:, 0], shown[:, 1], times, right, len(gold))

    def within(self, numbers: NDArray[np.float64]) -> _Labels:
        """Leave out labels that are right only where there are more choices than an example has.

        E is no choice of a question with three because it is one of a question with five.
        """
        least = np.full(self.label.max(initial=0) + 1, np.inf)
        np.minimum.at(least, self.label[self.right], numbers[self.example[self.right]])
        kept = numbers[self.example] >= least[self.label]
        return self._replace(
            example=self.example[kept],
            label=self.label[kept],
            times=self.times[kept],
            right=self.right[kept],
        )

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many labels each example shows, shape (n,): it has as many choices at least."""
        return np.bincount(self.example, minlength=self.n)

    def beyond(self, numbers: NDArray[np.float64]) -> int:
        """Count the answers of more labels than choices: of those that are given most seldom."""
        order = np.lexsort((-self.times, ~self.right, self.example))
        example, times = self.example[order], self.times[order]
        rank = np.arange(len(order)) - np.searchsorted(example, example)
        return int(times[rank >= numbers[example]].sum())


def complementary(tried: FlagInput) -> Iterator[Flag]:
    """Find two prompts of which on every example that both were scored on exactly one is right.

    Two guessers at chance c are so on an example with probability 2 c (1 - c). One that is right
    everywhere and one that is so nowhere are no constant answers, and nothing is told by such a
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
    return bool(gold) and bool((_Labels.of(tried, gold).sizes > 2).mean() > _FEW)
