"""Scores that are the same for many different examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.knowledge import KNOWING, Knowledge
from pytest_maxrandom.flags.wording import of_prompts
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.seen import Seen

_ALIKE = 0.05
"""Share of equal pairs of examples from which on scores do not depend on the example."""
_FEWEST = 20
"""Examples that say something about all."""
_SOME = 2.0
"""Standard deviations above ignorance from which on answers may show knowledge."""


def constant(tried: Seen) -> Iterator[Flag]:
    """Find prompts whose scores are the same for many different examples.

    Counted are pairs of examples with equal scores. A text that was cut before the question has
    one value for each answer; scores that were rounded to 16 bits have hundreds. Few scores may
    still tell right from wrong: examples whose equal scores do are not counted.
    """
    if tried.log_likelihoods is None or _are_hard(tried.log_likelihoods[tried.evaluated]):
        return
    knowledge = Knowledge.of(tried)
    repeating = [*_repeating(tried)]
    found = _unknowing(repeating, knowledge) or _partly_cut(repeating, knowledge)
    if found:
        least, n = min((len(each.times), len(each.scored)) for each in found)
        yield Flag(
            "constant_scores",
            f"{of_prompts(len(found), len(tried.prompts), 'gives', 'give')} different examples the "
            f"same scores (as few as {count(least)} different ones for {count(n)} examples): look "
            "whether the text was cut before the question.",
        )


class _Repeating(NamedTuple):
    """A prompt that gives many of its examples the same scores."""

    row: int
    scored: NDArray[np.intp]
    """Its examples, one of each text."""
    codes: NDArray[np.intp]
    """Of each of them: equal numbers stand for equal scores."""
    times: NDArray[np.intp]
    """How often each code occurs."""

    @property
    def repeated(self) -> NDArray[np.intp]:
        """The examples that share their scores with others."""
        return self.scored[self.times[self.codes] > 1]

    def known(self, knowledge: Knowledge) -> bool:
        """Tell whether the answers to those show knowledge."""
        if knowledge.gold is None:
            return knowledge.shows(self.row, self.repeated, self.scored)
        return knowledge.above_shuffled([(self.row, self.repeated)]) > KNOWING

    def unknown(self, knowledge: Knowledge) -> NDArray[np.bool_]:
        """Mark those among `scored` whose own group of equal scores shows no knowledge."""
        repeated: NDArray[np.bool_] = self.times[self.codes] > 1
        for code in np.flatnonzero(self.times > 1):
            group = self.codes == code
            if knowledge.shows(self.row, self.scored[group], self.scored):
                repeated &= ~group
        return repeated


def _repeating(tried: Seen) -> Iterator[_Repeating]:
    assert tried.log_likelihoods is not None
    n = len(tried.examples)
    own = np.arange(n)
    different = own == (own if tried.copies is None else np.array(tried.copies))
    for row, scores in enumerate(tried.log_likelihoods):
        there = ~np.isnan(scores).all(axis=1)
        scored = np.flatnonzero(tried.evaluated[row] & different & there)
        if len(scored) >= _FEWEST:
            codes = row_codes(scores[scored])
            times = np.bincount(codes)
            if _are_many(times, len(scored)):
                yield _Repeating(row, scored, codes, times)


def _unknowing(repeating: Sequence[_Repeating], knowledge: Knowledge) -> list[_Repeating]:
    """Return the prompts whose answers show no knowledge, neither alone nor together."""
    scores = knowledge.seen.log_likelihoods
    assert scores is not None
    found = []
    for each in repeating:
        if each.known(knowledge):
            continue
        unknown = each.unknown(knowledge)
        part = each.scored[unknown]
        many = _are_many(np.bincount(each.codes[unknown]), len(each.scored))
        if many and not _are_hard(scores[each.row, part]):
            found.append(each)
    # Where scores are rounded all prompts repeat them, and may show what they know together only.
    whole = [(each.row, each.repeated) for each in repeating]
    if found and knowledge.gold is not None and knowledge.above_shuffled(whole) > KNOWING:
        return []
    return found


def _partly_cut(repeating: Iterable[_Repeating], knowledge: Knowledge) -> list[_Repeating]:
    """Return prompts that give many examples one and the same scores, and do not know these.

    Some of many are right there too seldom by accident, so the usual one is looked at.
    """
    scores = knowledge.seen.log_likelihoods
    assert scores is not None
    if knowledge.gold is None:
        return []
    found, least = [], []
    for each in repeating:
        n = len(each.scored)
        groups = [
            each.codes == code for code, times in enumerate(each.times) if _are_many(times, n)
        ]
        deviations = [
            knowledge.above_elsewhere(each.row, each.scored[group], each.scored)[1]
            for group in groups
            if not _is_rounded(scores[each.row, each.scored], group, each.times[each.codes] > 1)
        ]
        if deviations:
            found.append(each)
            least.append(min(deviations))
    if not found or np.median(least) > _SOME:
        return []
    return [each for each, above in zip(found, least, strict=True) if above <= _SOME]


def _is_rounded(
    rows: NDArray[np.float64], group: NDArray[np.bool_], repeated: NDArray[np.bool_]
) -> bool:
    """Tell whether other repeated rows are those of a group in another order.

    So are saturated or rounded probabilities; the scores of a text that was cut are not.
    """
    ordered = row_codes(np.sort(rows, axis=1))
    return bool((repeated & ~group & (ordered == ordered[group][0])).any())


def _are_many(times: NDArray[np.intp] | np.intp, n: int) -> bool:
    """Tell whether rows that occur so many times make up many of all pairs of n examples."""
    return bool(np.sum(times * (times - 1)) > _ALIKE * n * (n - 1))


def _are_hard(rows: NDArray[np.float64]) -> bool:
    """Tell whether rows are answers without scores, such as one 1 among zeros.

    With as many choices they are then the same numbers in different orders.
    """
    ordered = np.sort(rows, axis=1)
    choices = np.unique((~np.isnan(rows)).sum(axis=1))
    return len(_times(ordered)) == len(choices) < len(_times(rows))


def _times(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often each different row occurs."""
    return np.bincount(row_codes(rows))


def row_codes(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give equal rows the same number, from 0; scores that both lack (NaN) are equal."""
    # Zero is added because -0. and 0. are other bytes.
    rows = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows)) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    codes: NDArray[np.intp] = np.unique(whole, return_inverse=True)[1]
    return codes
