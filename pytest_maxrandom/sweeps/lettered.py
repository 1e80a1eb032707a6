"""Choices that are letters of texts which the question itself lists, as in MMLU."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from pytest_maxrandom.answers import are_letters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.tasks.task import Example

_MARKS = (r"(?m:^)[ \t]*{}[.):][ \t]+", r"(?m:^)[ \t]*[(\[]{}[)\]][ \t]*", r"[(\[]{}[)\]][ \t]*")
"""What stands before a text: ``A. text`` or ``(A) text`` on lines of their own, ``(A) text`` in
one."""


def listed(text: str, many: int) -> tuple[str, ...] | None:
    r"""Return the texts that a question lists under its first letters; None where it lists none.

    Of several lists the last one counts, because demonstrations come before the question.

    Parameters
    ----------
    many : int
        Number of choices.

    Examples
    --------
    >>> listed("Which is a colour?\nA. red\nB. seven\nAnswer:", 2)
    ('red', 'seven')
    """
    for mark in _MARKS:
        ends, texts = len(text), list[str]()
        for letter in reversed([chr(ord("A") + place) for place in range(many)]):
            *_, last = [None, *re.finditer(mark.format(letter), text[:ends])]
            if last is None:
                break
            told = text[last.end() : ends]
            texts.append((told if texts else told.partition("\n")[0]).strip())
            ends = last.start()
        if len(texts) == many and all(texts):
            return tuple(reversed(texts))
    return None


def with_listed_texts(examples: Sequence[Example]) -> tuple[Example, ...] | None:
    """Return examples with the texts that their letters stand for, shown in this order.

    Returns None where choices are no letters, or an example does not list the texts.
    """
    rewritten = []
    for example in examples:
        if not are_letters(example.choices):
            return None
        texts = listed(example.input, len(example.choices))
        if texts is None:
            return None
        order = tuple(range(len(texts)))
        rewritten.append(dataclasses.replace(example, choices=texts, order=order))
    return tuple(rewritten)


def texts_untold(examples: Sequence[Example]) -> bool:
    """Tell whether all choices are letters, and the questions list no texts that these stand for.

    Who says "none of these" wherever that stands prefers no letter.
    """
    lettered = all(are_letters(example.choices) for example in examples)
    return lettered and with_listed_texts(examples) is None
