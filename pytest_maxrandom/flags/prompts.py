"""Which prompts were tried, on which examples."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.wording import of_prompts
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

_WORTH = 0.8
"""Share of n examples that they must be worth, so that their number is not misleading."""
_CANDIDATES = 200
"""Sets of examples that are tried: where most prompts agree, one of them is among so many."""
_OTHER = "{told} scored on other examples than {others}: {name} shares {shared} of its {size}."
_FEWER = (
    "{told} scored on fewer examples than {others} ({name} on {size}, not {usual}), which their "
    "demonstrations do not explain: look whether runs were cut short."
)
_MORE = (
    "{told} scored on more examples than {others} ({name} on {size}, not {usual}), which the "
    "demonstrations of those do not explain: look whether runs were cut short."
)


def repeated(read: Seen, tried: Seen) -> Iterator[Flag]:
    """Find fewer distinct prompts than were asked for.

    Parameters
    ----------
    read, tried : Seen
        All prompts, and the distinct ones.
    """
    distinct = len(tried.prompts)
    if read.asked is None or distinct >= read.asked:
        return
    if read.t > distinct:
        counts = f"the claim counts t = {count(read.t)}"
    else:
        counts = f"t = {count(read.t)} counts those"
    yield Flag(
        "repeated_prompts",
        f"Only {of_prompts(distinct, read.asked, 'is', 'are')} distinct; {counts}: look how "
        "prompts are drawn, and from how many examples.",
    )


def unsteady(read: Seen) -> Iterator[Flag]:
    """Find prompts that are the same and answer otherwise."""
    first: dict[str, int] = {}
    earlier = [first.setdefault(each, place) for place, each in enumerate(read.identities)]
    differ = (read.correct != read.correct[earlier]) | (read.evaluated != read.evaluated[earlier])
    if times := int(differ.any(axis=1).sum()):
        yield Flag(
            "unsteady_prompts",
            f"{of_prompts(times, len(earlier), 'repeats', 'repeat')} the ids of an earlier one, "
            "but not its results: ids collide, or results cannot be reproduced; t may be larger.",
        )


def colliding_ids(tried: Seen) -> Iterator[Flag]:
    """Find fewer example ids than there are examples."""
    ids, declared = len(tried.examples), tried.declared_n
    if declared is not None and ids < declared:
        yield Flag(
            "colliding_ids",
            f"The results hold {count(ids)} example ids, but n is said to be {count(declared)}: "
            "look whether examples share ids, so that one took the place of another, or fewer "
            "were scored.",
        )


def repeated_examples(tried: Seen) -> Iterator[Flag]:
    """Find examples that are copies of others, so that they say less than n different ones.

    A guesser guesses each of them anew, a model answers copies alike: with k copies of each its
    accuracy varies as that of n^2 / sum(k^2) examples (the design effect of Kish 1965).
    """
    if tried.copies is None:
        return
    n, times = len(tried.copies), np.array([*Counter(tried.copies).values()])
    if n**2 / np.sum(times**2) < _WORTH * n:
        yield Flag(
            "repeated_examples",
            f"There are {count(n)} examples, but only {count(len(times))} different "
            f"one{'s' * (len(times) > 1)} by text and choices: a model answers copies alike, a "
            "guesser does not, so p-values are too small; look which field is the input, or remove "
            "the copies.",
        )


def other_examples(tried: Seen) -> Iterator[Flag]:
    """Find prompts that were not scored on the examples of the others.

    A prompt may lack its own demonstrations, and no more: of the commonest examples, and they of
    its own.
    """
    common = _commonest(tried)
    lacks = (common & ~tried.evaluated).sum(axis=1)
    more = (tried.evaluated & ~common).sum(axis=1)
    alike = int(((lacks <= tried.shots) & (more <= tried.shots)).sum())
    t = len(tried.prompts)
    group = f"{count(alike)} prompt{'s' if alike > 1 else ''}"
    others = "most" if 2 * alike > t else f"the largest group that agrees ({group})"
    lacking, having = lacks > tried.shots, more > tried.shots
    best = tried.outcome.best if tried.outcome else -1
    for where, sentence in (
        (lacking & having, _OTHER),
        (lacking & ~having, _FEWER),
        (~lacking & having, _MORE),
    ):
        rows = np.flatnonzero(where)
        if not len(rows):
            continue
        one = best if best in rows else int(rows[0])
        size = int(tried.sizes[one])
        text = sentence.format(
            told=of_prompts(len(rows), t, "was", "were"),
            others=others,
            name=repr(tried.prompts[one]) + (", the best," if one == best else ""),
            shared=count(size - int(more[one])),
            size=count(size),
            usual=count(int(common.sum())),
        )
        yield Flag("other_examples", text)


def _commonest(tried: Seen) -> NDArray[np.bool_]:
    """Return the examples with which those of most prompts agree, shape (n,)."""
    sets, first, times = np.unique(tried.evaluated, axis=0, return_index=True, return_counts=True)
    # Products of zeros and ones are exact, and fast as floating-point numbers only.
    numbers = sets.astype(np.float32)
    sizes = numbers.sum(axis=1)
    best, agreeing = 0, -1
    for place in np.lexsort((first, -times))[:_CANDIDATES]:
        shared = numbers @ numbers[place]
        differ = np.maximum(sizes - shared, sizes[place] - shared)
        if (here := int(times[differ <= tried.shots].sum())) > agreeing:
            best, agreeing = place, here
        if agreeing == len(tried.prompts):
            break
    common: NDArray[np.bool_] = sets[best]
    return common
