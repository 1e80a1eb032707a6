"""Examples without a stated cluster whose right answers follow their texts, or their choices."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import RECURRING
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.flags.texts import CLUSTERS, FOLLOW, SHARED, WORTH, shared_text
from pytest_maxrandom.stats.clusters import design_effect, follows
from pytest_maxrandom.stats.compared import comparisons

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def _check(judged: JudgedAnswers) -> Found:
    """Find them by their texts, else by their choices, so that they are told once."""
    tried = judged.answers
    found = shared_text(tried)
    if found is not None and found.followed:
        yield Flag("clustered_answers", {"case": "text", **found.parameters})
    elif tried.offered is not None and tried.alphabetical is not None:
        known = tried.examples, tried.offered, tried.alphabetical, tried.copies, tried.clusters
        if by_choices := _by_choices(*known):
            yield Flag("clustered_answers", {"case": "choices", **by_choices})


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _by_choices(
    examples: tuple[str, ...],
    offered: tuple[tuple[str, ...], ...],
    alphabetical: tuple[frozenset[int], ...],
    copies: tuple[int, ...] | None,
    clusters: tuple[str | None, ...] | None,
) -> Parameters | None:
    """Find sets of choices that recur with the same right answer, and no stated cluster.

    Who prefers some choices to others, whatever is asked, answers each set alike, so guessers vary
    as on fewer examples. Sets that recur often are shuffled by themselves. With as many choices,
    right answers are compared by their alphabetical places: where the set does not matter, they
    follow it no more than if they were shuffled.
    """
    kept = [*dict.fromkeys(copies or range(len(offered)))]
    sets = [tuple(sorted(offered[place])) for place in kept]
    stated = clusters or (None,) * len(offered)
    groups = _unstated(sets, [stated[place] for place in kept])
    # What compares things has the same right answer in every order of them (`compared_things`).
    groups = [
        place if things else group
        for place, (group, things) in enumerate(zip(groups, comparisons(sets), strict=True))
    ]
    gold = [alphabetical[place] for place in kept]
    n, sizes = len(kept), np.array([*map(len, sets)])
    # Among another number of choices, places mean something else.
    members = [np.flatnonzero(sizes == size).tolist() for size in np.unique(sizes)]
    parts = [([gold[at] for at in each], [groups[at] for at in each]) for each in members]
    effect = sum(len(part[0]) * design_effect(*part) for part in parts) / n
    if n >= WORTH * n * effect or not _follow(parts):
        return None
    first, second = next(
        (one, other)
        for other, choices in enumerate(groups)
        for one in range(other)
        if groups[one] == choices and gold[one] == gold[other]
    )
    many = sum(times for times in Counter(groups).values() if times > 1)
    return {
        "examples": many,
        "n": n,
        "alike": [examples[kept[place]] for place in (first, second)],
        "worth": n / effect,
    }


def _follow(parts: Sequence[tuple[list[frozenset[int]], Sequence[Hashable]]]) -> bool:
    """Tell whether right answers follow their groups in one part at least."""
    clustered = [part for part in parts if len(set(part[1])) < len(part[1])]
    permutations = round(len(clustered) / FOLLOW) - 1
    return any(
        follows(*part, permutations=permutations) * len(clustered) <= FOLLOW * (1 + 1e-9)
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


RED_FLAG = RedFlagKind(
    kind="clustered_answers",
    rank=60,
    topic="examples",
    default="fail",
    description="Examples without a stated cluster that share a long text, where the right answers "
    "follow that text.",
    sentences={
        "choices": "{examples:,} of {n:,} examples offer the same choices as a few others, "
        "and examples with the same choices have the same right answer, such as {alike[0]!r} "
        "and {alike[1]!r}: for a model that prefers certain choices the {n:,} are worth "
        f"{{worth:.0f}}, so p-values are too small; name them as clusters with {CLUSTERS}",
        "text": f"{SHARED}, and right answers follow the text: for a model that gives each text "
        "one answer they are worth {worth:.0f} examples, so p-values are too small; group them "
        f"with {CLUSTERS}",
    },
    brief="examples come in clusters",
    remedy="name the clusters",
    check=_check,
)
