"""Things that examples compare, such as "which is larger, X or Y?"."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.answers import Answers, letter_place
from pytest_maxrandom.stats.compared import ordered
from pytest_maxrandom.stats.gold import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Things(NamedTuple):
    """Choices as numbers, the same wherever one recurs."""

    offered: Sequence[tuple[int, ...]]
    """Per example its choices, as they are listed."""
    gold: Sequence[frozenset[int]]
    """Per example those that are right."""
    answers: NDArray[np.int64] | None
    """What was answered, shape (t, n), beyond all of them what is no choice; None where that is not
    known."""


def things_of(answers: Answers) -> Things | None:
    """Return what examples compare.

    Returns None where no choices are listed, no right answers are known by their texts, a list
    repeats a text, or `pytest_maxrandom.stats.compared.ordered` finds nothing that is compared.
    """
    offered = answers.offered
    if offered is None:
        return None
    gold = answers.gold if answers.alphabetical is None else None
    right = _compared(offered, answers.alphabetical, gold, answers.labels)
    if right is None:
        return None
    number = {text: place for place, text in enumerate(dict.fromkeys(chain(*offered)))}
    answered = None
    if answers.answers is not None:
        small = np.min_scalar_type(-1 - len(number))
        answered = np.full(answers.answers.shape, NOT_EVALUATED, dtype=small)
        for place, choices in enumerate(offered):
            given, which = np.unique(answers.answers[:, place], return_inverse=True)
            codes = [
                NOT_EVALUATED
                if label == NOT_EVALUATED
                else number.get(choice_of(answers.labels, label, choices) or "", len(number))
                for label in given.tolist()
            ]
            answered[:, place] = np.array(codes)[which.ravel()]
    return Things(
        [tuple(number[text] for text in each) for each in offered],
        [frozenset(number[text] for text in own) for own in right],
        answered,
    )


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _compared(
    offered: tuple[tuple[str, ...], ...],
    alphabetical: tuple[frozenset[int], ...] | None,
    gold: tuple[frozenset[int], ...] | None,
    labels: tuple[str, ...],
) -> list[set[str]] | None:
    """Return the texts of right answers where examples compare things, else None; see `things_of`.

    Parameters are as of `Answers`; where right answers are known by their alphabetical places,
    these count.
    """
    if any(len(set(each)) < len(each) for each in offered):
        return None
    if alphabetical is not None:
        right = [
            {sorted(choices)[place] for place in places}
            for choices, places in zip(offered, alphabetical, strict=True)
        ]
    elif gold is not None:
        right = [
            {choice_of(labels, label, choices) or "" for label in own}
            for choices, own in zip(offered, gold, strict=True)
        ]
    else:
        return None
    if not all(own and own <= {*each} for own, each in zip(right, offered, strict=True)):
        return None
    return right if any(ordered(right, offered)) else None


def choice_of(labels: Sequence[str], label: int, choices: Sequence[str]) -> str | None:
    """Return the choice that a label is, by its text, its letter or its place; None for no choice.

    Choices are in the order in which they are listed.
    """
    if labels:
        if labels[label] in choices:
            return labels[label]
        label = letter_place(labels[label].strip(" ().[]:"))
    return choices[label] if 0 <= label < len(choices) else None
