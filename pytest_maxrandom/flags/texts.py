"""Texts that were cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.notation import count, span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.flags.seen import Seen

_LONG = 100
"""Characters from which on texts do not have the same length by accident."""
_FEWEST = 5
_SHARE = 0.05
_WHOLE = 0.8
"""Share of the shorter texts that must end as texts do, so that the longest say something."""
_BROKEN = 0.5
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s|[\u3002\uff01\uff1f]")


def cut(tried: Seen) -> Iterator[Flag]:
    """Find inputs that end in the middle, all at the greatest length.

    Texts made from a pattern have equal lengths as well, but end as the shorter ones do, or where
    there are none all in the same way.
    """
    if tried.inputs is None:
        return
    texts = [*dict.fromkeys(tried.inputs)]
    # Where no text ends with a space, one at the place of the cut was stripped.
    measures: tuple[tuple[str, Callable[[str], int], int], ...] = (
        ("characters", len, not any(text[-1:].isspace() for text in texts)),
        ("words", lambda text: len(text.split()), 0),
    )
    for unit, length, stripped in measures:
        most = max(map(length, texts))
        longest = [text for text in texts if length(text) >= most - stripped]
        shorter = [text for text in texts if length(text) < most - stripped]
        if (
            len(longest) >= max(_FEWEST, _SHARE * len(texts))
            and min(map(len, longest)) >= _LONG
            and _ended(longest) <= _BROKEN
            and (
                _ended(shorter) >= _WHOLE
                if len(shorter) >= _FEWEST
                else _end_anywhere(longest, length)
            )
        ):
            yield Flag(
                "cut_text",
                f"The inputs of {count(len(longest))} examples are the longest with exactly "
                f"{span([*map(length, longest)])} {unit} each, and most of them end in the middle "
                "of a sentence: look whether their text was cut.",
            )
            return


def full(tried: Seen) -> Iterator[Flag]:
    """Find texts that fill the model's context: somebody cut them so that they fit."""
    pairs = int(tried.evaluated.sum())
    if tried.full_texts >= max(_FEWEST, _SHARE * pairs):
        yield Flag(
            "cut_text",
            f"The texts of {count(tried.full_texts)} of {count(pairs)} (prompt, example) pairs are "
            "exactly as long as the model's context: look whether they were cut to fit it.",
        )


def _ended(texts: Sequence[str]) -> float:
    """Return the share of texts whose last character is neither a letter, a digit nor a comma."""
    if not texts:
        return 0.0
    last = [text.rstrip()[-1:] for text in texts]
    return sum(not (each.isalnum() or each in ",;-") for each in last) / len(texts)


def _end_anywhere(texts: Sequence[str], length: Callable[[str], int]) -> bool:
    """Tell whether texts are of sentences of which the last one has any length."""
    last = [_SENTENCE_END.split(text)[-1] for text in texts]
    begun = [end for end, text in zip(last, texts, strict=True) if end != text]
    return len(begun) >= _WHOLE * len(texts) and len({*map(length, begun)}) >= _FEWEST
