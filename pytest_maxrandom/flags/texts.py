"""The texts of examples: cut, or shared by several, as sets of choices may be."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.stats.clusters import design_effect, effective_n, follows
from pytest_maxrandom.sweeps.labels import RECURRING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.flag_input import FlagInput

_EQUALLY_LONG = 100
"""Characters from which on texts do not have the same length by accident."""
_FEWEST = 5
_SHARE = 0.05
_WHOLE = 0.8
"""Share of the shorter texts that must end as texts do, so that the longest say something."""
_BROKEN = 0.5
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s|[\u3002\uff01\uff1f]")
_LONG = 200
"""Characters in a row that are no accident."""
_FRAME = 20
"""Characters in a row from which on what most inputs have in common is their frame."""
_WORTH = 0.8
"""Share of n examples that they must be worth, so that their number is not misleading."""
_FOLLOW = 0.001
"""Probability of right answers that follow the text as far, where they do not depend on it."""
_FEW = 200
_NOTHING = np.zeros(0, dtype=np.uint64)
_BASE = 0x9E3779B97F4A7C15
"""Odd, so that its powers can be divided by modulo 2^64."""


def cut(tried: FlagInput) -> Iterator[Flag]:
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
            and min(map(len, longest)) >= _EQUALLY_LONG
            and _ended(longest) <= _BROKEN
            and (
                _ended(shorter) >= _WHOLE
                if len(shorter) >= _FEWEST
                else _end_anywhere(longest, length)
            )
        ):
            lengths = [length(text) for text in longest]
            parameters = {
                "case": "input",
                "examples": len(longest),
                "lengths": [min(lengths), max(lengths)],
                "unit": unit,
            }
            yield Flag("cut_text", parameters)
            return


def full(tried: FlagInput) -> Iterator[Flag]:
    """Find texts that fill the model's context: somebody cut them so that they fit."""
    pairs = int(tried.evaluated.sum())
    if tried.full_texts >= max(_FEWEST, _SHARE * pairs):
        yield Flag("cut_text", {"case": "context", "texts": tried.full_texts, "pairs": pairs})


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


def clustered(tried: FlagInput) -> Iterator[Flag]:
    """Find examples that belong together without a stated cluster, and tell them once."""
    found = [*shared_text(tried)]
    yield from found
    if all(flag.kind != "clustered_answers" for flag in found):
        yield from shared_choices(tried)


def shared_choices(tried: FlagInput) -> Iterator[Flag]:
    """Find sets of choices that recur with the same right answer, and no stated cluster.

    Who prefers some choices to others, whatever is asked, answers each set alike, so guessers vary
    as on fewer examples. Sets that recur often are shuffled by themselves. With as many choices,
    right answers are compared by their alphabetical places: where the set does not matter, they
    follow it no more than if they were shuffled.
    """
    if tried.offered is None or tried.alphabetical is None:
        return
    kept = [*dict.fromkeys(tried.copies or range(len(tried.offered)))]
    sets = [tried.offered[place] for place in kept]
    stated = tried.clusters or (None,) * len(tried.offered)
    groups = _unstated(sets, [stated[place] for place in kept])
    gold = [tried.alphabetical[place] for place in kept]
    n, sizes = len(kept), np.array([*map(len, sets)])
    # Among another number of choices, places mean something else.
    members = [np.flatnonzero(sizes == size).tolist() for size in np.unique(sizes)]
    parts = [([gold[at] for at in each], [groups[at] for at in each]) for each in members]
    effect = sum(len(part[0]) * design_effect(*part) for part in parts) / n
    if n >= _WORTH * n * effect or not _follow(parts):
        return
    first, second = next(
        (one, other)
        for other, choices in enumerate(groups)
        for one in range(other)
        if groups[one] == choices and gold[one] == gold[other]
    )
    many = sum(times for times in Counter(groups).values() if times > 1)
    parameters = {
        "case": "choices",
        "examples": many,
        "n": n,
        "alike": [tried.examples[kept[place]] for place in (first, second)],
        "worth": n / effect,
    }
    yield Flag("clustered_answers", parameters)


def _follow(parts: Sequence[tuple[list[frozenset[int]], Sequence[Hashable]]]) -> bool:
    """Tell whether right answers follow their groups in one part at least."""
    clustered = [part for part in parts if len(set(part[1])) < len(part[1])]
    permutations = round(len(clustered) / _FOLLOW) - 1
    return any(
        follows(*part, permutations=permutations) * len(clustered) <= _FOLLOW * (1 + 1e-9)
        for part in clustered
    )


def _unstated(
    sets: Sequence[tuple[str, ...]], clusters: Sequence[str | None]
) -> list[tuple[str, ...] | int]:
    """Return per example its set of choices where that recurs in a few examples, else its place.

    A set whose examples are all in one stated cluster is covered by that.
    """
    within: dict[tuple[str, ...], Counter[str | int]] = {}
    for place, (choices, cluster) in enumerate(zip(sets, clusters, strict=True)):
        within.setdefault(choices, Counter())[place if cluster is None else cluster] += 1
    few = {
        choices
        for choices, stated in within.items()
        if len(stated) > 1 and stated.total() < RECURRING
    }
    return [choices if choices in few else place for place, choices in enumerate(sets)]


def shared_text(tried: FlagInput) -> Iterator[Flag]:
    """Find examples that share a long text, such as a passage, and no stated cluster.

    Who knows one text and not another is right on as many examples as few of them, so accuracies
    are less certain than n says. Where right answers follow the text, guessers are as well: who
    answers each text alike varies as on fewer examples, while p-values count n. They do not where
    right answers do not depend on the text, as in questions from a few patterns, or differ by
    design, as in two versions of one story. Copies have a flag of their own.
    """
    if tried.inputs is None or tried.alphabetical is None:
        return
    kept = [*dict.fromkeys(tried.copies or range(len(tried.inputs)))]
    texts = same_text(tried.inputs[place] for place in kept)
    clusters = tried.clusters or (None,) * len(tried.inputs)
    stated = [clusters[place] or place for place in kept]
    n, worth, apart = len(kept), effective_n(texts), effective_n(stated)
    if worth >= _WORTH * apart:
        return
    sizes = Counter(texts)
    largest = max(sizes, key=lambda text: sizes[text])
    first, second, *_ = (
        tried.examples[place] for place, text in zip(kept, texts, strict=True) if text == largest
    )
    found = {
        "n": n,
        "texts": len(sizes),
        "alike": [first, second],
        "characters": _LONG,
        "beyond_clusters": bool(tried.clusters),
    }
    gold = [tried.alphabetical[place] for place in kept]
    effect = design_effect(gold, texts)
    if n < _WORTH * apart * effect and follows(gold, texts) <= _FOLLOW:
        yield Flag("clustered_answers", {"case": "text", **found, "worth": n / effect})
        return
    yield Flag("shared_text", {**found, "worth": worth})


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
    groups = [*range(len(texts))]

    def group(place: int) -> int:
        while groups[place] != place:
            groups[place] = groups[groups[place]]
            place = groups[place]
        return place

    runs = [_hashes(each, _LONG) for each in codes]
    places = np.repeat(groups, [*map(len, runs)])
    hashes = np.concatenate([_NOTHING, *runs])
    ordered = np.sort(hashes)
    again = np.flatnonzero(np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]]))
    again = again[np.argsort(hashes[again], kind="stable")]
    same = hashes[again][1:] == hashes[again][:-1]
    pairs = np.stack((places[again][:-1], places[again][1:]), axis=1)[same]
    for one, other in set(map(tuple, pairs.tolist())):
        groups[group(other)] = group(one)
    return [group(place) for place in range(len(texts))]


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
