"""Whether answers are free texts: more differ than any question has choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.recorded.tables.columns import Values

_MOST_CHOICES = 5
"""What questions have, as a rule, where no column tells their choices."""
_SHARE = 0.05
"""The part of the questions that must have more answers: a few may have unreadable ones."""


def are_free(examples: Values[str] | None, said: Sequence[Values[str]]) -> str:
    """Say why answers are free texts; an empty text if they may be choices.

    Who only ever picks a choice gives at most as many different answers to a question as it has
    choices. To take choices for free texts would make chance too small, and a claim pass by luck;
    so it is not enough that right answers differ, or have several words.

    Parameters
    ----------
    examples : Values or None
        The example of each row; None if each row is one.
    said : sequence of Values
        The answers of each row: one column, or one for each prompt.
    """
    known: dict[str, int] = {"": 0}
    pairs = []
    for column in said:
        texts = (" ".join(text.casefold().split()) for text in column.distinct)
        number = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        rows = np.arange(len(column.codes)) if examples is None else examples.codes[:]
        pairs.append(np.stack([rows, number[column.codes[:]]]))
    of_example, answer = np.unique(np.concatenate(pairs, axis=1), axis=1)
    different = np.bincount(of_example[answer > 0])
    if not different.size or (different > _MOST_CHOICES).mean() < _SHARE:
        return ""
    most = count(int(different.max()))
    return f"up to {most} different answers to a question; if it has choices: --set chance=1/4"
