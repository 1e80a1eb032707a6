"""Controls of open answers: what is right there without any knowledge.

They are scored like prompts, and shown beside the best of them: each kind's commonest reference,
and what stands in the question.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction
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
    samples: bool = False,
) -> OpenAnswers:
    """Return open answers as labels (see `coded`), with the controls beside them.

    Of `samples`, which may vote, it is told which of them say the same.
    """
    spoken = [[row.get(each.id) for each in examples] for row in written] if samples else None
    return coded(examples, written, matching)._replace(
        controls=controls(examples, matching),
        asked=any(each.text for each in examples),
        voices=None if spoken is None else voices_of(spoken, matching),
    )


def controls(
    examples: Sequence[Example], matching: Matching
) -> dict[HeuristicName, list[Fraction]]:
    """Return how probably each control is right on each example; those that ever are, and one.

    Parameters
    ----------
    examples : sequence of Example
        Open examples, at least one.
    """
    scores: dict[HeuristicName, list[Fraction]] = {"commonest": _commonest(examples, matching)}
    rules: Mapping[HeuristicName, Callable[[str], list[str]]] = {
        "first_number": lambda text: numbers_in_order(text)[:1],
        "last_number": lambda text: numbers_in_order(text)[-1:],
        "first_name": lambda text: _NAME.findall(text)[:1],
        "last_name": lambda text: _NAME.findall(text)[-1:],
    }
    for name, rule in rules.items():
        scores[name] = [
            Fraction(any(is_right(said, each, matching) for said in rule(each.text)))
            for each in examples
        ]
    offered = scores["offered"] = []
    for each in examples:
        offer = offer_of(each.text)
        is_one = offer is not None and role_of(each, matching).place is not None
        offered.append(Fraction(1, len(offer.items)) if offer and is_one else Fraction(0))
    return {name: own for name, own in scores.items() if name == "commonest" or any(own)}


def _commonest(examples: Sequence[Example], matching: Matching) -> list[Fraction]:
    """Answer with the commonest reference of each kind."""
    gold = [next(iter(own)) for own in labels_of_references(examples, matching).gold]
    kinds = [None if each.open is None else each.open.kind for each in examples]
    times: dict[str | None, Counter[int]] = defaultdict(Counter)
    roles = roles_of(examples, matching)
    free = [role.place is None for role in roles]
    for kind, label, counts in zip(kinds, gold, free, strict=True):
        if counts:
            times[kind][label] += 1
    most = {kind: counter.most_common(1)[0][0] for kind, counter in times.items()}
    rows = zip(kinds, gold, free, strict=True)
    return [Fraction(counts and most[kind] == label) for kind, label, counts in rows]
