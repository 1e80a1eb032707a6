"""Questions made from templates, as those of three tasks of BIG-bench are."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLOURS = ("red", "gray", "white", "blue", "green", "yellow", "orange", "purple", "black", "brown")
NAMES = ("Alice", "Bob", "Claire", "Dave", "Eve")


def arithmetic(lots: random.Random) -> Example:
    """A sum, a difference or a product, and four possible answers."""
    one, other = lots.randrange(10, 100), lots.randrange(10, 100)
    word, value = lots.choice(
        [("plus", one + other), ("minus", one - other), ("times", one * other)]
    )
    choices = [value, value + 1, value - 10, value + 10]
    lots.shuffle(choices)
    return Example(
        "", f"What is {one} {word} {other}?", (*map(str, choices),), (choices.index(value),)
    )


def deduction(lots: random.Random) -> Example:
    """Three books on a shelf, in an order that two sentences tell."""
    named = lots.sample(COLOURS, 3)
    order = lots.sample(named, 3)
    left, middle, right = order
    told = lots.choice(
        [
            [
                f"The {left} book is to the left of the {middle} book.",
                f"The {right} book is the rightmost.",
            ],
            [
                f"The {left} book is the leftmost.",
                f"The {middle} book is to the left of the {right} book.",
            ],
            [
                f"The {right} book is to the right of the {middle} book.",
                f"The {left} book is the leftmost.",
            ],
            [
                f"The {middle} book is to the right of the {left} book.",
                f"The {right} book is the rightmost.",
            ],
        ]
    )
    lots.shuffle(told)
    where = lots.choice(["leftmost", "rightmost"])
    answer = named.index(left if where == "leftmost" else right)
    one, two, three = named
    shelf = f"On a shelf, there are three books: a {one} book, a {two} book, and a {three} book."
    choices = tuple(f"The {one} book is the {where}." for one in named)
    return Example("", f"{shelf} {' '.join(told)}", choices, (answer,))


def tracking(lots: random.Random) -> Example:
    """Three players who swap balls three times."""
    colours = lots.sample(COLOURS, 3)
    players = NAMES[:3]
    held = dict(zip(players, colours, strict=True))
    swaps = []
    for when in ("First", "Then", "Finally"):
        one, other = lots.sample(players, 2)
        held[one], held[other] = held[other], held[one]
        swaps.append(f"{when}, {one} and {other} swap balls.")
    asked = lots.choice(players)
    start = ", ".join(
        f"{name} has a {colour} ball" for name, colour in zip(players, colours, strict=True)
    )
    text = (
        f"{', '.join(players)} are playing a game. At the start of the game, they are each holding "
        f"a ball: {start}. As the game progresses, pairs of players trade balls. {' '.join(swaps)} "
        f"At the end of the game, {asked} has the"
    )
    return Example(
        "", text, tuple(f"{one} ball." for one in colours), (colours.index(held[asked]),)
    )


def kinds(lots: random.Random) -> Example:
    """Whether one thing is of the kind of another."""
    things = [
        f"{one}{two}" for one, two in itertools.product(("ta", "mo", "ri", "ku", "se"), repeat=2)
    ]
    thing, kind = lots.sample(things, 2)
    answer = things.index(thing) % 2
    return Example("", f"Is a {thing} a kind of {kind}?", ("yes", "no"), (answer,))


TEMPLATES: tuple[Callable[[random.Random], Example], ...] = (arithmetic, deduction, tracking, kinds)


def questions(made: Callable[[random.Random], Example], count: int, seed: int) -> list[Example]:
    """Distinct questions."""
    lots = random.Random(seed)
    found: dict[object, Example] = {}

    def endless() -> Iterator[Example]:
        while True:
            yield made(lots)

    for one in endless():
        found.setdefault((one.input, *sorted(one.choices)), one)
        if len(found) == count:
            return list(found.values())
    raise AssertionError
