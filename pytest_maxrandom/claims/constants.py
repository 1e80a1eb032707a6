"""What constant answers reach in results whose right answers nobody can shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags.things import choice_of
from pytest_maxrandom.stats.majority import View, chances_of_constants
from pytest_maxrandom.sweeps.labels import label, label_by_text
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from pytest_maxrandom.answers import Answers


def constants(results: Answers, chances: Sequence[Fraction] | None) -> tuple[Fraction, ...] | None:
    """Return per example the rate of the best constant answer, where that is above the chance.

    Parameters
    ----------
    results : Answers
        Of which choices must be listed, and right answers known.
    chances : sequence of Fraction, optional
        Per example the chance of one guess.

    Returns
    -------
    tuple of Fraction, or None
        None where one of these is not known.
    """
    gold, offered = results.gold, results.offered
    if gold is None or offered is None or chances is None:
        return None
    listed = [
        (choices, {choice_of(results.labels, label, choices) for label in right})
        for choices, right in zip(offered, gold, strict=True)
    ]
    if any(None in right for _, right in listed):
        return None
    examples = [
        Example(
            id=str(number),
            input="",
            choices=choices,
            right=tuple(at for at, text in enumerate(choices) if text in right),
            order=tuple(range(len(choices))),
        )
        for number, (choices, right) in enumerate(listed)
    ]
    return chances_of_constants(chances, _views(examples))


def _views(examples: Sequence[Example]) -> Iterator[View]:
    found = label(examples), label(examples, by_place=True), label_by_text(examples)
    return (View(each.gold, each.strata) for each in found if each is not None)
