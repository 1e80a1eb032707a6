"""A language model that is computed from a hash, so that what it says can be summed up by hand.

A token's probability after a text is drawn from a hash of both. A token is a common word, with or
without the space before it, or else a byte: what a server is asked for when it is met is then a
few tokens long, and one can still see where each token begins.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = 256
_COMMON = """
Answer Assistant Australia Canberra False France Here How La Lyon Paris Question Review Sentiment
Sure Sydney The True User Which add apple are brown but can't capital capitale city def door dull
est even film fox fruit help jumps la largest lazy locked negative of open or over positive quick
return river some sorry spaced stone that the these was ways with
"""
WORDS = tuple(space + word for word in _COMMON.split() for space in ("", " "))
"""The tokens from 257 on: of those that fit, the first to begin is read, and then the longest."""
VOCABULARY = 257 + len(WORDS)

_TEXTS = [*(bytes([byte]) for byte in range(256)), b"", *(word.encode() for word in WORDS)]
_NUMBERS = {word: 257 + number for number, word in enumerate(WORDS)}
_PIECE = re.compile("|".join([*sorted(WORDS, key=len, reverse=True), "."]), re.DOTALL)


def encoded(text: str) -> list[int]:
    """Return the tokens of a text after one for the beginning."""
    ids = [BEGIN]
    for piece in _PIECE.findall(text):
        ids += [_NUMBERS[piece]] if piece in _NUMBERS else piece.encode()
    return ids


def decoded(ids: Sequence[int]) -> str:
    """Return the text of tokens, of which that for the beginning has none."""
    return b"".join(_TEXTS[token] for token in ids).decode(errors="backslashreplace")


def log_probabilities(ids: Sequence[int], seed: str = "") -> Any:
    """Return the log-probability of each token after a text."""
    return _drawn(tuple(ids), seed)


@lru_cache(maxsize=20_000)
def _drawn(ids: tuple[int, ...], seed: str) -> Any:
    raw = hashlib.sha256(f"{seed}{list(ids)}".encode()).digest()
    logits = np.random.default_rng(int.from_bytes(raw[:8])).normal(0, 3, VOCABULARY)
    return logits - np.logaddexp.reduce(logits)


def likelihood(context: str, answer: str, seed: str = "") -> float:
    """Return what a server should say of an answer that begins with a space of its own."""
    ids, start = encoded(context + answer), len(encoded(context))
    return math.fsum(
        log_probabilities(ids[:place], seed)[ids[place]] for place in range(start, len(ids))
    )


def continuation(
    ids: Sequence[int], max_tokens: int, stop: Sequence[str] = (), seed: str = ""
) -> tuple[str, str]:
    """Return what a model should write after a text, the likeliest letters, and why it ends."""
    text = ""
    for _ in range(max_tokens):
        values = log_probabilities([*ids, *text.encode()], seed)
        text += chr(32 + int(np.argmax(values[32:127])))
        if places := [text.find(each) for each in stop if each in text]:
            return text[: min(places)], "stop"
    return text, "length"


def sampled(body: Any, values: Any, prompt: Sequence[int], generated: Sequence[int]) -> int:
    """Return the token that vLLM generates at temperature 0, in the order of its own sampler.

    Parameters
    ----------
    values : array
        The model's own logits; what vLLM tells of them is told before.
    """
    logits = np.full(len(values), -np.inf)
    logits[body["allowed_token_ids"]] = values[body["allowed_token_ids"]]
    for token, bias in body.get("logit_bias", {}).items():
        logits[int(token)] += min(100.0, max(-100.0, bias))
    seen, said = [*{*prompt, *generated}], [*{*generated}]
    scale = body.get("repetition_penalty", 1.0)
    logits[seen] *= np.where(logits[seen] > 0, 1 / scale, scale)
    logits[said] -= body.get("presence_penalty", 0.0)
    return int(np.argmax(logits))
