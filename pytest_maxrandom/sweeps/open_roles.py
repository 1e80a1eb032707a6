"""What the reference of an open example is to its question.

There are no choices, so references are exchanged among examples of one *role*:

===========  =====================================================================================
a kind       numbers, dates, names and so on take each other's places
offered      the question offers its answers ("X or Y?"): labels are the places of what it offers
copied       the question holds its answer: nothing takes its place
===========  =====================================================================================

Who answers with something of the question would match his own reference now and then, and almost
never that of another example. So what can be copied must not count as knowledge: where questions
offer a list, right answers are exchanged by places, as of choices; where they hold their answer
otherwise, it stays where it is, so that to be right there is no evidence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.tasks.references import Matching, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from pytest_maxrandom.tasks.task import Example

COPIED = "copied"
_OR = re.compile(r"(,?)\s+or\s+", re.IGNORECASE)
_END = re.compile(r"[?!;)\n]|\.(?!\d)")
_NUMBERS = re.compile(r"(?<![\w.])[-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w])")
_CLOSED = ("yes/no", "letter")
"""Kinds whose references are so short that they stand in questions by accident."""


class Offer(NamedTuple):
    """The answers that a question offers, from the last to the first: "X or Y?"."""

    items: tuple[str, ...]
    """The texts; before the first there may be words of the question."""

    def place(self, text: str, matching: Matching) -> int | None:
        """Return the place of the item that a text is, from the last; None if it is none."""
        said = matching.normal(text)
        for place, item in enumerate(self.items):
            if matching.same(text, item) or (said and _ends_with(matching.normal(item), said)):
                return place
        return None


def _ends_with(text: str, end: str) -> bool:
    return text.endswith(f" {end}") or text == end


@lru_cache(maxsize=2**14)
def offer_of(question: str) -> Offer | None:
    """Return what a question offers; None where it holds no "or".

    Examples
    --------
    >>> offer_of("Which is larger, a cat or a horse?").items
    ('a horse', 'a cat')
    >>> offer_of("Is it red, green, or blue?").items
    ('blue', 'green', 'Is it red')
    """
    found = [*_OR.finditer(question)]
    if not found:
        return None
    last = found[-1]
    end = _END.search(question, last.end())
    after = question[last.end() : end.start() if end else len(question)]
    before = re.split(r"[?!;:(\n]|\.(?!\d)", question[: last.start()])[-1]
    pieces = [piece.strip() for piece in before.split(",") if piece.strip()]
    listed = pieces if last[1] else pieces[-1:]
    return Offer((after.strip(" ,\"'"), *reversed(listed))) if listed else None


def is_offered(role: str) -> bool:
    """Tell whether the name of a role is that of answers that questions offer."""
    return role.startswith("offered")


class Role(NamedTuple):
    """What a reference is to its question."""

    name: str
    """Its kind; "offered (2)" of so many, or "copied"."""
    place: int | None = None
    """Which of those it is."""


@lru_cache(maxsize=2**14)
def role_of(example: Example, matching: Matching) -> Role:
    """Return what an open example's reference is to its question."""
    how, question = example.open, example.text
    assert how is not None
    # An answer that need only hold a reference may name all that the question offers.
    offer = offer_of(question) if matching.place == "whole" else None
    if offer is not None:
        for reference in example.choices:
            if (place := offer.place(reference, matching)) is not None:
                return Role(f"offered ({len(offer.items)})", place)
    if how.kind not in _CLOSED and any(
        _holds(question, each, matching) for each in example.choices
    ):
        return Role(COPIED)
    return Role(how.kind)


def _holds(question: str, reference: str, matching: Matching) -> bool:
    """Tell whether a question holds a reference, as whole words or as a number."""
    said = matching.normal(reference).strip()
    if matching.place != "whole" and said and said in matching.normal(question):
        return True
    if (value := number_of(reference) or number_of(said)) is not None:
        return value in _numbers_in(question)
    asked = matching.normal(question)
    return bool(said) and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", asked) is not None


def numbers_in_order(question: str) -> list[str]:
    """Return the numbers that stand in a question, as they are written."""
    return [each[0] for each in _NUMBERS.finditer(question)]


@lru_cache(maxsize=2**14)
def _numbers_in(question: str) -> frozenset[Fraction]:
    found = map(number_of, numbers_in_order(question))
    return frozenset(value for value in found if value is not None)


def roles_of(examples: Sequence[Example], matching: Matching) -> tuple[Role, ...]:
    """Return the role of each open example."""
    return tuple(role_of(example, matching) for example in examples)


def strata_of(roles: Sequence[Role]) -> tuple[int, ...]:
    """Return a number for each example, the same where references can take each other's places."""
    names = sorted({role.name for role in roles})
    number = {name: place for place, name in enumerate(names)}
    return tuple(
        len(names) + place if role.name == COPIED else number[role.name]
        for place, role in enumerate(roles)
    )
