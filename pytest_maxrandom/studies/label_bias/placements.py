"""One example with its choices in other places, to tell knowledge from a preference for a label.

A presentation is an example with an order of its choices; the natural one is that of the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.prompts.formats import shown_as, shown_order
from pytest_maxrandom.tasks.task import share_choices

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.prompts.formats import Format
    from pytest_maxrandom.tasks.task import Example


def unmovable(form: Format, examples: Sequence[Example]) -> str | None:
    """Say in one sentence why right answers cannot stand at other labels; None where they can.

    Labels of a format's own (letters, numbers) are given to places, so any choice can have any of
    them. Where texts answer, what can be moved is the place in the list.
    """
    if form.labels != "text":
        return None
    if share_choices(examples):
        return "Label words that are the answer cannot be remapped."
    if not form.layout.append_choices:
        return "Choices that are not listed have no place that a right answer could be moved to."
    return None


def place(example: Example) -> int:
    """Return where the right answer is listed, from 0; of several, the file's first.

    That one is moved; the others are treated like distractors, and still count as right.
    """
    return shown_order(example).index(example.right[0])


def moved(example: Example, to: int) -> Example:
    """Return the example with its right answer at a place, and all else in the order it had.

    Raises
    ------
    ValueError
        If the example has no such place.
    """
    if not 0 <= to < len(example.choices):
        raise ValueError(f"place {to} of {len(example.choices)} choices, counted from 0")
    right = example.right[0]
    rest = [index for index in shown_order(example) if index != right]
    return shown_as(example, (*rest[:to], right, *rest[to:]))


def placements(example: Example) -> tuple[Example, ...]:
    """Return the example with its right answer at each place; one of them is the natural one."""
    return tuple(moved(example, to) for to in range(len(example.choices)))


def rotations(example: Example) -> tuple[Example, ...]:
    """Return the example with its choices rotated under fixed labels, itself first.

    So every choice has every label once (PriDe's cyclic permutations, Zheng et al. 2023,
    arXiv 2309.03882).
    """
    order = shown_order(example)
    return tuple(shown_as(example, (*order[by:], *order[:by])) for by in range(len(order)))


def further(presentations: Iterable[Example]) -> list[Example]:
    """Return the distinct presentations that are not natural: what is left to be scored.

    Those of one example stand side by side, so that one call of a model sees what they share.
    """
    of_example: dict[str, dict[Example, None]] = {}
    for one in presentations:
        if one.order is not None:
            of_example.setdefault(one.id, {})[one] = None
    return [one for found in of_example.values() for one in found]
