"""Texts that were cut, or that fill the model's context."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_EQUALLY_LONG = 100
"""Characters from which on texts do not have the same length by accident."""
_FEWEST = 5
_SHARE = 0.05
_WHOLE = 0.8
"""Share of the shorter texts that must end as texts do, so that the longest say something."""
_BROKEN = 0.5
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s|[\u3002\uff01\uff1f]")


def _check(judged: JudgedAnswers) -> Found:
    inputs = judged.answers.inputs
    if inputs is not None and (found := _inputs(inputs)):
        yield Flag("cut_text", {"case": "input", **found})
    # Somebody cut those that fill the context so that they fit.
    full, pairs = judged.full_texts, int(judged.answers.evaluated.sum())
    if full >= max(_FEWEST, _SHARE * pairs):
        yield Flag("cut_text", {"case": "context", "texts": full, "pairs": pairs})


@lru_cache(maxsize=16)  # a task's claims have the same texts
def _inputs(inputs: tuple[str, ...]) -> Parameters | None:
    """Find inputs that end in the middle, all at the greatest length.

    Texts made from a pattern have equal lengths as well, but end as the shorter ones do, or where
    there are none all in the same way.
    """
    texts = [*dict.fromkeys(inputs)]
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
            and min(map(len, longest)) >= _EQUALLY_LONG
            and _ended(longest) <= _BROKEN
            and (
                _ended(shorter) >= _WHOLE
                if len(shorter) >= _FEWEST
                else _end_anywhere(longest, length)
            )
        ):
            lengths = [length(text) for text in longest]
            return {
                "examples": len(longest),
                "lengths": [min(lengths), max(lengths)],
                "unit": unit,
            }
    return None


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


RED_FLAG = RedFlagKind(
    kind="cut_text",
    rank=90,
    topic="scores",
    default="fail",
    description="Texts that were cut, or that reach the model's context limit.",
    sentences={
        "input": "The inputs of {examples:,} examples are the longest with exactly {lengths:span} "
        "{unit} each, and most of them end in the middle of a sentence: check whether their text "
        "was cut.",
        "context": "The texts of {texts:,} of {pairs:,} (prompt, example) pairs are exactly as "
        "long as the model's context: check whether they were cut to fit.",
    },
    brief="texts look cut",
    remedy="look where the text ends",
    check=_check,
)
