"""Examples that are nearly copies of others, by their words or by the answers to them.

A model answers such examples alike, and where their right answers are alike as well, one guess
counts several times. `repeated_examples` has whole copies, and `shared_text` long passages.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.dependence import Dependent
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.texts import CLUSTERS
from pytest_maxrandom.stats.clusters import alike_within, follows, united
from pytest_maxrandom.stats.copies import Told, answered_alike
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.repeats import repeats_p

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray


_ALIKE = 0.75
"""Share of words that two texts have in common, of those that are no frame (Dice)."""
_FOLLOW = 0.01
"""Probability of right answers, and of answers, that are as alike where that is an accident."""
_REPEATED = 0.02
"""Probability of as many examples on which the same of a few prompts are right, by accident."""
_PERMUTATIONS = 399
"""By which that is tested: as many as it takes."""
_ROWS = 1_024
"""Examples that are compared with all others at a time."""


def _check(judged: JudgedAnswers) -> Found:
    dependent, tried = Dependent.of(judged), judged.answers
    if dependent is None:
        return
    case, names = "texts", range(len(tried.examples))
    if tried.inputs is None:
        pairs, case = _answered_alike(dependent, tried.correct)
        groups = _beyond_copies(pairs, tried.groups or names, tried.copies or names)
    else:
        groups = _by_words(tried.inputs, tried.groups or names, tried.copies or names)
    if groups is None or follows(dependent.gold, groups, _PERMUTATIONS) > _FOLLOW:
        return
    best = dependent.answers[[*dependent.best]]
    if case == "texts" and alike_within(best, groups, dependent.classes, _PERMUTATIONS) > _FOLLOW:
        return
    p = dependent.p_value(groups=groups)
    if p <= dependent.level:
        return
    sizes = Counter(groups)
    largest = max(sizes, key=lambda name: sizes[name])
    alike = [tried.examples[place] for place in names if groups[place] == largest]
    yield Flag(
        "near_copies",
        {
            "case": case,
            "n": len(names),
            "examples": sum(size for size in sizes.values() if size > 1),
            "groups": sum(size > 1 for size in sizes.values()),
            "alike": alike[:2],
            "p": p,
            "level": dependent.level,
        },
        mild=case == "accident",
        untold="copies_untold" if case == "untold" else "",
    )


def _answered_alike(
    dependent: Dependent, correct: NDArray[np.bool_]
) -> tuple[Iterable[tuple[int, int]], Told]:
    """Return pairs of examples that are answered alike, and whether they are copies.

    Few prompts answer many examples alike by accident. Where the same of them are right on more
    examples than independent ones come to, all these count, and nobody can tell which are copies.
    """
    alike = answered_alike(dependent.answers, dependent.classes)
    if alike.told != "accident" or (dependent.answers == NOT_EVALUATED).any():
        return alike
    p = repeats_p(correct, dependent.classes, level=_REPEATED)
    if p is None or p > _REPEATED:
        return alike
    firsts: dict[Hashable, int] = {}
    kinds = zip(dependent.classes, map(tuple, correct.T.tolist()), strict=True)
    return [(firsts.setdefault(own, place), place) for place, own in enumerate(kinds)], "untold"


def _beyond_copies(
    pairs: Iterable[tuple[int, int]], clusters: Sequence[Hashable], copies: Sequence[int]
) -> list[Hashable] | None:
    """Return per example the group that hangs together by pairs and clusters.

    Returns None where these are whole copies alone, which have a flag of their own.
    """
    known: list[tuple[Hashable, ...]] = [*enumerate(clusters)]
    parts = united([*known, *pairs])
    if len({*parts.values()}) == len({*united([*known, *enumerate(copies)]).values()}):
        return None
    return [parts[place] for place in range(len(clusters))]


@lru_cache(maxsize=16)  # a task's claims have the same texts
def _by_words(
    inputs: tuple[str, ...], clusters: Sequence[Hashable], copies: Sequence[int]
) -> list[Hashable] | None:
    """Return `_beyond_copies` of examples whose inputs have most words in common."""
    return _beyond_copies(_nearly_alike(inputs), clusters, copies)


def _nearly_alike(inputs: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield examples whose inputs have most words in common, beyond those of most inputs."""
    words = [set(re.findall(r"\w+", text.casefold())) for text in inputs]
    n = len(words)
    times = Counter(word for own in words for word in own)
    # A word that stands once makes two texts unlike, and needs no column.
    column = {
        word: place
        for place, word in enumerate(word for word, many in times.items() if 2 <= many <= n / 2)
    }
    sizes = np.array([sum(2 * times[word] <= n for word in own) for own in words])
    marked = np.zeros((n, len(column)), dtype=np.float32)
    for row, own in zip(marked, words, strict=True):
        row[[column[word] for word in own if word in column]] = 1
    for start in range(0, n, _ROWS):
        shared = marked[start : start + _ROWS] @ marked.T
        whole = sizes[start : start + _ROWS, np.newaxis] + sizes
        for one, other in np.argwhere((shared > 0) & (2 * shared >= _ALIKE * whole)).tolist():
            if start + one < other:
                yield start + one, other


def _remedy(told: str) -> str:
    return (
        f"{told}, and their right answers are alike: if these are shuffled in whole groups, p is "
        "{p:p}, above {level:level}; remove all but one of each group, or give each group a value "
        f"of its own in a column, and name it with {CLUSTERS}"
    )


RED_FLAG = RedFlagKind(
    kind="near_copies",
    rank=45,
    topic="examples",
    default="fail",
    description="Examples that are nearly copies of others, where the claim depends on it.",
    sentences={
        "texts": _remedy(
            "{examples:,} of {n:,} examples have nearly the words of others ({groups:,} "
            "{groups:group/groups}, with {alike[0]!r} and {alike[1]!r} in the largest)"
        ),
        "copies": _remedy(
            "All prompts answer {examples:,} of {n:,} examples like others ({groups:,} "
            "{groups:group/groups}, with {alike[0]!r} and {alike[1]!r} in the largest)"
        ),
        "untold": "All prompts answer {examples:,} of {n:,} examples like others, such as "
        "{alike[0]!r} and {alike[1]!r}, more than independent examples would be, and their right "
        "answers are alike; if these are shuffled in whole groups, p is {p:p}, above "
        "{level:level}; some must be copies, but with so few prompts it cannot be told which: name "
        f"what belongs together with {CLUSTERS}",
        "accident": "All prompts answer {examples:,} of {n:,} examples like others, such as "
        "{alike[0]!r} and {alike[1]!r}, and their right answers are alike; with so few prompts it "
        "cannot be told whether they are copies or alike by accident. If they are copies, p is "
        "{p:p}, above {level:level}; name what belongs together with "
        f"{CLUSTERS}",
    },
    brief="examples are nearly copies",
    remedy="remove copies, or name them as clusters",
    check=_check,
)
