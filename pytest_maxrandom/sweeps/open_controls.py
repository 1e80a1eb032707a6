"""Controls of open answers: what is right there without any knowledge.

They are scored like prompts, and shown beside the best of them: each kind's commonest reference,
and what stands in the question.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from pytest_maxrandom.sweeps.open_answers import coded, is_right, labels_of_references, voices_of
from pytest_maxrandom.sweeps.open_roles import numbers_in_order, offer_of, role_of, roles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.answers import OpenAnswers
    from pytest_maxrandom.record import HeuristicName
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example

_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
"""A name within a sentence, whose first word is one anyway."""


def with_controls(
    examples: Sequence[Example],
    written: Sequence[Mapping[str, str | None]],
    matching: Matching,
    *,
    samples: int = 1,
) -> OpenAnswers:
    """Return open answers as labels (see `coded`), with the controls beside them.

    Of several `samples`, which may vote, it is told which of them say the same.
    """
    spoken = None
    if samples > 1:
        spoken = [[row.get(each.id) for each in examples] for row in written]
    return coded(examples, written, matching)._replace(
        controls=controls(examples, matching, samples),
        asked=any(each.text for each in examples),
        voices=None if spoken is None else voices_of(spoken, matching),
    )


def controls(
    examples: Sequence[Example], matching: Matching, most: int = 1
) -> dict[HeuristicName, list[int]]:
    """Return which of a control's answers is right on each example; see `in_turn`.

    All controls that ever are right, and one.

    Parameters
    ----------
    examples : sequence of Example
        Open examples, at least one.
    most : int
        Answers that a control gives to each at most.
    """
    places: dict[HeuristicName, list[int]] = {"commonest": _commonest(examples, matching, most)}
    rules: Mapping[HeuristicName, Callable[[str], list[str]]] = {
        "first_number": numbers_in_order,
        "last_number": lambda text: numbers_in_order(text)[::-1],
        "first_name": _NAME.findall,
        "last_name": lambda text: _NAME.findall(text)[::-1],
    }
    for name, rule in rules.items():
        places[name] = [_place_of_right(rule(each.text), each, matching, most) for each in examples]
    offered = places["offered"] = []
    for each in examples:
        offer = offer_of(each.text)
        is_one = offer is not None and role_of(each, matching).place is not None
        offered.append(len(offer.items) if offer and is_one else 0)
    return {name: own for name, own in places.items() if name == "commonest" or any(own)}


def in_turn(name: HeuristicName, place: int, most: int) -> Sequence[Fraction]:
    """Return how probably each answer that a control gives to an example is right.

    Parameters
    ----------
    name : str
        A control. It gives the commonest references of a kind one after another, or the numbers or
        names of the question; and what the question offers by lot.
    place : int
        Which of these is right, from 1, or of an offer how many there are; 0 where none is.
    most : int
        Answers at most.
    """
    if name == "offered":
        return [Fraction(1, place)] * min(place, most) if place else []
    return [Fraction(0)] * (place - 1) + [Fraction(1)] if 0 < place <= most else []


def _place_of_right(texts: Sequence[str], example: Example, matching: Matching, most: int) -> int:
    """Return which of so many different texts is the first right one, from 1; 0 where none is."""
    different: dict[object, str] = {}
    for text in texts:
        different.setdefault(matching.key(text), text)
    for place, text in enumerate(islice(different.values(), most), 1):
        if is_right(text, example, matching):
            return place
    return 0


def _commonest(examples: Sequence[Example], matching: Matching, most: int) -> list[int]:
    """Answer with the commonest references of each kind."""
    gold = [next(iter(own)) for own in labels_of_references(examples, matching).gold]
    kinds = [None if each.open is None else each.open.kind for each in examples]
    times: dict[str | None, Counter[int]] = defaultdict(Counter)
    roles = roles_of(examples, matching)
    free = [role.place is None for role in roles]
    for kind, label, counts in zip(kinds, gold, free, strict=True):
        if counts:
            times[kind][label] += 1
    rank = {
        (kind, label): place
        for kind, counter in times.items()
        for place, (label, _) in enumerate(counter.most_common(most), 1)
    }
    rows = zip(kinds, gold, free, strict=True)
    return [rank.get((kind, label), 0) if counts else 0 for kind, label, counts in rows]
