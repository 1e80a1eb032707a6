"""Long texts that examples share, such as a passage."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.stats.clusters import design_effect, effective_n, follows, united

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers

_LONG = 200
"""Characters in a row that are no accident."""
_FRAME = 20
"""Characters in a row from which on what most inputs have in common is their frame."""
WORTH = 0.8
"""Share of n examples that they must be worth, so that their number is not misleading."""
FOLLOW = 0.001
"""Probability of right answers that follow the text as far, where they do not depend on it."""
_FEW = 200
_NOTHING = np.zeros(0, dtype=np.uint64)
_BASE = 0x9E3779B97F4A7C15
"""Odd, so that its powers can be divided by modulo 2^64."""
SHARED = (
    "The inputs of {n:,} examples hold {texts:,} different texts: those of {alike[0]!r} and "
    "{alike[1]!r}, for instance, share {characters} characters in a row or "
    "more{beyond_clusters:, which the stated clusters do not explain/}"
)
CLUSTERS = "`columns: {{cluster: ...}}`."


class SharedText(NamedTuple):
    """Examples that share texts so that they say less than n different ones."""

    parameters: dict[str, Any]
    followed: bool
    """Whether right answers follow the text."""


def shared_text(tried: Answers) -> SharedText | None:
    """Find examples that share a long text, such as a passage, and no stated cluster.

    Who knows one text and not another is right on as many examples as few of them, so accuracies
    are less certain than n says. Where right answers follow the text, guessers are as well: who
    answers each text alike varies as on fewer examples, while p-values count n. They do not where
    right answers do not depend on the text, as in questions from a few patterns, or differ by
    design, as in two versions of one story. Copies have a flag of their own.
    """
    return _shared_text(
        tried.examples, tried.inputs, tried.alphabetical, tried.copies, tried.clusters
    )


@lru_cache(maxsize=1)  # by two kinds of red flags
def _shared_text(
    examples: tuple[str, ...],
    inputs: tuple[str, ...] | None,
    alphabetical: tuple[frozenset[int], ...] | None,
    copies: tuple[int, ...] | None,
    stated: tuple[str | None, ...] | None,
) -> SharedText | None:
    if inputs is None or alphabetical is None:
        return None
    kept = [*dict.fromkeys(copies or range(len(inputs)))]
    texts = same_text(inputs[place] for place in kept)
    clusters = stated or (None,) * len(inputs)
    n, worth = len(kept), effective_n(texts)
    apart = effective_n([clusters[place] or place for place in kept])
    if worth >= WORTH * apart:
        return None
    sizes = Counter(texts)
    largest = max(sizes, key=lambda text: sizes[text])
    first, second, *_ = (
        examples[place] for place, text in zip(kept, texts, strict=True) if text == largest
    )
    parameters = {
        "n": n,
        "texts": len(sizes),
        "alike": [first, second],
        "characters": _LONG,
        "beyond_clusters": bool(stated),
    }
    gold = [alphabetical[place] for place in kept]
    effect = design_effect(gold, texts)
    followed = n < WORTH * apart * effect and follows(gold, texts) <= FOLLOW
    return SharedText(parameters | {"worth": n / effect if followed else worth}, followed)


def same_text(texts: Iterable[str]) -> list[int]:
    """Return a number for each text, the same where they share a long part.

    A part is 200 characters in a row of what is left without the frame: all that stands, with 20
    characters in a row or more, in more than half of the texts (of many texts, of 100 to 200 of
    them). White space counts as one space.
    """
    return _same_text(tuple(texts))


@lru_cache(maxsize=1)  # asked twice of the same texts
def _same_text(texts: tuple[str, ...]) -> list[int]:
    spaced = [" ".join(text.split()) for text in texts]
    if sum(len(text) >= _LONG for text in spaced) < 2:
        return [*range(len(texts))]
    codes = [_coded(text) for text in spaced]
    frame = _frame(codes)
    if len(frame):
        codes = [each[~_covered(each, frame)] for each in codes]
    runs = [_hashes(each, _LONG) for each in codes]
    places = np.repeat(np.arange(len(texts)), [*map(len, runs)])
    hashes = np.concatenate([_NOTHING, *runs])
    ordered = np.sort(hashes)
    again = np.flatnonzero(np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]]))
    again = again[np.argsort(hashes[again], kind="stable")]
    same = hashes[again][1:] == hashes[again][:-1]
    pairs = np.stack((places[again][:-1], places[again][1:]), axis=1)[same]
    parts = united([*((place,) for place in range(len(texts))), *set(map(tuple, pairs.tolist()))])
    return [parts[place] for place in range(len(texts))]


def _coded(text: str) -> NDArray[np.uint64]:
    """Return a large number for each character, so that sums of few of them differ."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    mixed: NDArray[np.uint64] = (codes + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))


def _hashes(codes: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Return a hash for each run of so many characters: a polynomial modulo 2^64."""
    if len(codes) < length:
        return _NOTHING
    powers = np.cumprod(np.full(len(codes), _BASE, dtype=np.uint64))
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers)))
    inverse = np.full(len(codes) - length + 1, pow(_BASE, -1, 1 << 64), dtype=np.uint64)
    runs: NDArray[np.uint64] = (sums[length:] - sums[:-length]) * np.cumprod(inverse)
    return runs


def _frame(codes: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the runs that stand in more than half of the texts, ascending."""
    some = codes[:: len(codes) // _FEW + 1]
    runs = np.concatenate([_NOTHING, *(np.unique(_hashes(each, _FRAME)) for each in some)])
    different, times = np.unique(runs, return_counts=True)
    frame: NDArray[np.uint64] = different[2 * times > len(some)]
    return frame


def _covered(codes: NDArray[np.uint64], frame: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Mark the characters that are part of such a run."""
    starts = np.flatnonzero(np.isin(_hashes(codes, _FRAME), frame))
    changes = np.zeros(len(codes) + 1, dtype=np.int64)
    changes[starts] += 1
    changes[starts + _FRAME] -= 1
    covered: NDArray[np.bool_] = np.cumsum(changes)[:-1] > 0
    return covered
