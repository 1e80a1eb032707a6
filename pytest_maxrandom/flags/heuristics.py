"""What fixed rules reach that know nothing: the longest choice, the most frequent label, and so on.

Questions and choices that people write have such traces (Gururangan et al. 2018, arXiv 1803.02324;
Poliak et al. 2018, arXiv 1805.01042). A rule that leaves several choices of an example guesses one
of them, and its expected result counts, as an exact fraction.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from pytest_maxrandom.record import HeuristicName
    from pytest_maxrandom.tasks.task import Example

    Values = tuple[Fraction, ...]

NAMES: dict[HeuristicName, str] = {
    "most_frequent": "the most frequent label",
    "longest": "the longest choice",
    "shortest": "the shortest choice",
    "first": "the first choice as shown",
    "last": "the last choice as shown",
    "most_shared_words": "the choice with most words of the question",
}
"""In words, in the order in which they are told; of equally good ones the first counts."""
_WORD = re.compile(r"\w+")


def heuristics(
    examples: Sequence[Example], *, shared: bool, listed: bool
) -> dict[HeuristicName, Values]:
    """Return how probably each rule is right on each example.

    Parameters
    ----------
    examples : sequence of Example
        At least one.
    shared : bool
        Whether labels are texts, because examples share their choices; else they are places.
    listed : bool
        Whether choices are shown in an order. Where they are not nobody sees a place, and rules
        about places are left out.
    """
    found: dict[HeuristicName, Values] = {
        "longest": _most(examples, lambda example, index: len(example.choices[index])),
        "shortest": _most(examples, lambda example, index: -len(example.choices[index])),
        "most_shared_words": _most(examples, _shared_words),
    }
    if listed:
        found["first"] = _most(examples, lambda example, index: -_place(example, index))
        found["last"] = _most(examples, _place)
    if shared or listed:
        found["most_frequent"] = _most_frequent(examples, _text if shared else _place)
    return {name: found[name] for name in NAMES if name in found}


def _most(examples: Sequence[Example], of: Callable[[Example, int], int]) -> Values:
    """Take the choice with the highest number; of several each as often."""
    return tuple(_share(example, _highest(example, of)) for example in examples)


def _highest(example: Example, of: Callable[[Example, int], int]) -> Iterator[int]:
    numbers = [of(example, index) for index in range(len(example.choices))]
    return (index for index, number in enumerate(numbers) if number == max(numbers))


def _share(example: Example, chosen: Iterator[int]) -> Fraction:
    right = [index in example.right for index in chosen]
    return Fraction(sum(right), len(right))


def _most_frequent(
    examples: Sequence[Example], label: Callable[[Example, int], Hashable]
) -> Values:
    """Take the label that is right most often, whether or not an example has it."""
    gold = [{label(example, index) for index in example.right} for example in examples]
    times = Counter(right for rights in gold for right in rights)
    most = {name for name, count in times.items() if count == max(times.values())}
    return tuple(Fraction(len(most & rights), len(most)) for rights in gold)


def _text(example: Example, index: int) -> str:
    return example.choices[index]


def _place(example: Example, index: int) -> int:
    return shown_order(example).index(index)


def _shared_words(example: Example, index: int) -> int:
    """Count the different words of a choice that stand in the question, whatever their case."""
    return len(_words(example.choices[index]) & _words(example.input))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
