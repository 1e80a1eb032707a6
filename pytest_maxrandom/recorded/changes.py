"""In what results differ from what was published of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count, span
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from pytest_maxrandom.claims.nulls import Guessers
    from pytest_maxrandom.recorded.guessers import Counts
    from pytest_maxrandom.recorded.published import PublishedGuessers
    from pytest_maxrandom.recorded.sources import Results


def changes(
    results: Results, counts: Counts, null: Guessers, publication: PublishedGuessers
) -> list[str]:
    """Return one clause for each of n, t and chance that is not as it was published.

    Parameters
    ----------
    results : Answers or RecordedMaximum
        As they were read: prompts may repeat.
    counts : Counts
        Of the distinct prompts.
    null, publication : Guessers
        By the results, and by the publication.
    """
    found = []
    sizes, n = set(counts.sizes.tolist()), publication.published_n
    if sizes != {n}:
        found.append(f"n is {span(sorted(sizes))}, not {count(n)}{_why_n(results, sizes, n)}")
    if null.t != publication.t:
        found.append(f"t is {count(null.t)}, not {count(publication.t)}{_why_t(results, null.t)}")
    if null.chance != publication.chance:
        found.append(f"chance is {null.chance}, not {publication.chance}")
    return found


def _why_n(results: Results, sizes: set[int], n: int) -> str:
    if not isinstance(results, Answers) or max(sizes) > n:
        return ""
    ids = len(results.examples)
    if ids < n:
        return f": the results hold {count(ids)} example ids, so ids collide or fewer were scored"
    return ": fewer examples were scored"


def _why_t(results: Results, t: int) -> str:
    if not isinstance(results, Answers) or t >= len(results.prompts):
        return ""
    return f": of {count(len(results.prompts))} prompts so many are distinct"
