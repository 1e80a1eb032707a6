"""Examples that are nearly copies of others, by their words or by the answers to them.

A model answers such examples alike, and where their right answers are alike as well, one guess
counts several times. `repeated_examples` has whole copies, and `shared_text` long passages.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.dependence import Dependent
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.texts import CLUSTERS
from pytest_maxrandom.stats.clusters import alike_within, follows, united

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers

_ALIKE = 0.75
"""Share of words that two texts have in common, of those that are no frame (Dice)."""
_FOLLOW = 0.01
"""Probability of right answers, and of answers, that are as alike where that is an accident."""
_PERMUTATIONS = 399
"""By which that is tested: as many as it takes."""
_UNLIKE = 3
"""Prompts that answer an example otherwise than most do, so that its answers tell it apart."""
_NEAR = 2
"""Prompts at most that answer two examples differently which are hardly told apart."""
_ROWS = 1_024
"""Examples that are compared with all others at a time."""


def _check(judged: JudgedAnswers) -> Found:
    seen, tried = Dependent.of(judged), judged.answers
    if seen is None:
        return
    if tried.inputs is None:
        alone, pairs = _by_answers(seen)
        case = "answers" if alone else "accident"
    else:
        case, pairs = "texts", [*_by_words(tried)]
    names = [*range(len(tried.examples))]
    stated = [*names] if tried.clusters is None else [
        place if name is None else name for place, name in enumerate(tried.clusters)
    ]  # fmt: skip
    first = {name: place for place, name in reversed([*enumerate(stated)])}
    known = [(first[name], place) for place, name in enumerate(stated)]
    groups = united(len(names), [*known, *pairs])
    # Whole copies have a flag of their own.
    copies = tried.copies or names
    if len(set(groups)) == len(set(united(len(names), [*known, *enumerate(copies)]))):
        return
    if follows(seen.gold, groups, _PERMUTATIONS) > _FOLLOW:
        return
    best = seen.answers[[*seen.best]]
    if case == "texts" and alike_within(best, groups, seen.classes, _PERMUTATIONS) > _FOLLOW:
        return
    p = seen.p_value(groups=groups)
    if p <= seen.level:
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
            "level": seen.level,
        },
        mild=case == "accident",
    )


def _by_words(tried: Answers) -> Iterator[tuple[int, int]]:
    """Yield examples whose inputs have most words in common, beyond those of most inputs."""
    assert tried.inputs is not None
    words = [set(re.findall(r"\w+", text.casefold())) for text in tried.inputs]
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


def _by_answers(seen: Dependent) -> tuple[bool, list[tuple[int, int]]]:
    """Return examples to which all prompts give the same answers, and whether these stand alone.

    Of examples that have nothing to do with each other, more differ in one or two prompts than in
    none. So copies are told by being the same where hardly any are nearly so; few prompts do not
    tell them. Only those count to which several prompts say something else than most: to what is
    easy, all say the same.
    """
    columns = np.unique(seen.answers, axis=0).T
    t = columns.shape[1]
    most = np.array([np.unique(column, return_counts=True)[1].max() for column in columns])
    telling = np.flatnonzero(t - most >= _UNLIKE)
    if len(telling) < 2:
        return False, []
    apart = _differing(columns[telling])
    np.fill_diagonal(apart, t)
    same = (apart == 0).any(axis=1)
    nearly = ~same & (apart <= _NEAR).any(axis=1)
    many, whole = int(same.sum()), int((same | nearly).sum())
    # Were either as likely, so many would be the same with a probability of at most .001.
    alone = t > 2 * _NEAR and many >= 2 and 1_000 * _at_least(many, whole) <= 2**whole
    pairs = (telling[pair].tolist() for pair in np.argwhere(apart == 0))
    return alone, [(one, other) for one, other in pairs if one < other]


def _at_least(many: int, whole: int) -> int:
    """Return in how many of the 2^whole ways at least so many of them are chosen."""
    ways, total = 1, 0
    for chosen in range(whole, many - 1, -1):
        total += ways
        ways = ways * chosen // (whole - chosen + 1)
    return total


def _differing(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return to how many prompts two examples have different answers, shape (n, n)."""
    labels = np.unique(columns)
    same = np.zeros((len(columns), len(columns)), dtype=np.float32)
    for label in labels.tolist():
        marked = (columns == label).astype(np.float32)
        same += marked @ marked.T
    return np.asarray(columns.shape[1] - same.astype(np.int64))


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
        "answers": _remedy(
            "All prompts answer {examples:,} of {n:,} examples like others ({groups:,} "
            "{groups:group/groups}, with {alike[0]!r} and {alike[1]!r} in the largest)"
        ),
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
