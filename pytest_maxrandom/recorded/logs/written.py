"""Answers without choices in logs: compared with their targets again, as the tool compared them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.sweeps.open_controls import with_controls
from pytest_maxrandom.tasks.references import Matching, Open, kind_of
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_CHOSEN = "letter"
"""The kind of references that stand for choices, of which the log does not tell the texts."""


class Written(NamedTuple):
    """What a log tells of an answer without choices."""

    said: str
    """What was read of it."""
    references: tuple[str, ...]
    """The texts that are right."""
    question: str = ""
    """What was asked; empty where that cannot be told from the rest of the prompt."""


def question_of(prompt: str, document: Mapping[str, Any], references: Sequence[str]) -> str:
    """Return the end of a prompt that is about one document, without demonstrations before it.

    It begins where the first text of the document stands for the last time. Where that is too
    early, more answers seem to be copied from the question, and these count for nothing.

    Examples
    --------
    >>> question_of("Q: 1 + 1? A: 2 Q: 2 + 2? A:", {"question": "2 + 2?", "answer": "4"}, ["4"])
    '2 + 2? A:'
    """
    texts = {text for text in _texts(document) if text.strip()}.difference(references)
    places = [place for text in texts if (place := prompt.rfind(text)) >= 0]
    return prompt[min(places) :] if places else ""


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


def compared(
    names: Sequence[str],
    table: Sequence[Sequence[Written | None]],
    correct: NDArray[np.bool_],
    matching: Matching | None,
    *,
    samples: int = 1,
) -> tuple[dict[str, Any], list[Remark]]:
    """Return what `Answers` hold of answers without choices, and what a reader must know.

    Nothing where the log does not tell all of them and how they are compared, where right answers
    are letters of choices, or where comparing them says otherwise than the tool did of one of them.

    Parameters
    ----------
    names : sequence of n str
        The ids of the examples.
    table : sequence of t sequences of n Written
        What each prompt answered; None where the log does not tell that.
    correct : array of bool, shape (t, n)
        Whether the tool counted the answers as right.
    samples : int
        How often each prompt was asked.
    """
    rows = [[each for each in row if each is not None] for row in table]
    if matching is None or any(len(row) < len(names) for row in rows):
        return {}, []
    first = rows[0]
    if any(a.references != b.references for row in rows for a, b in zip(row, first, strict=True)):
        return {}, []
    if any(kind_of(each.references[0]) == _CHOSEN for each in first):
        return {}, []
    kinds = [kind_of(matching.normal(each.references[0])) for each in first]
    asked = [each.question for each in first]
    examples = [
        Example.without_choices(
            name, question if all(asked) else "", list(each.references), Open(kind)
        )
        for name, question, each, kind in zip(names, asked, first, kinds, strict=True)
    ]
    said = [{n: each.said for n, each in zip(names, row, strict=True)} for row in rows]
    found = with_controls(examples, said, matching, samples=samples)
    right = hits(found.said, found.gold, np.arange(len(names)))
    if differ := int((right != correct).sum()):
        values = {"differ": differ, "answers": correct.size}
        return {}, [Remark("compared_otherwise", values)]
    known = {"open": found._replace(told=True)}
    return known | ({"inputs": tuple(asked)} if all(asked) else {}), []
