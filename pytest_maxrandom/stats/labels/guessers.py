"""Single guessers in the scores of `pytest_maxrandom.stats.labels.scores`, listed or simulated.

A profile is what one prompt is scored on: cells of examples that are guessed alike, and how many
examples each cell has. What a cell contributes are independent binomial (or, of several right
labels, multinomial) counts.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.labels.scores import never_score, worst_redraw
from pytest_maxrandom.stats.metrics import ScoreBaseline, merged, number_of_draws, simulated
from pytest_maxrandom.stats.permutation import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Score = Callable[["Profile[_Cell]", int, np.random.Generator], NDArray[np.float64]]

_Cell = TypeVar("_Cell")
Profile = tuple[tuple[_Cell, int], ...]
"""Cells of examples that are guessed alike, and how many examples each has."""
Labels = tuple[tuple[int, ...], int]
"""Right labels of an example, and its number of labels."""
Blocks = tuple[tuple[tuple[int, ...], ...], int]
"""Redraws that show an example in the same way, and its number of labels."""

_MOST_VALUES = 4_000_000  # combinations of counts of an exact distribution, at any one step
_MOST_DRAWS = 4_000_000
_AT_ONCE = 2**18  # guessers simulated together


def profiles_of(
    cells: Sequence[_Cell], evaluated: NDArray[np.bool_] | None
) -> Counter[Profile[_Cell]]:
    """Return what prompts were scored on, and how many were scored on it."""
    places = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    kinds = np.array([places[cell] for cell in cells])
    rows = np.ones((1, len(cells)), dtype=bool) if evaluated is None else np.asarray(evaluated)
    if rows.ndim != 2 or rows.shape[1] != len(cells):
        raise ValueError(f"evaluated must have shape (prompts, {len(cells)}), found {rows.shape}")
    profiles: Counter[Profile[_Cell]] = Counter()
    for row in rows[rows.any(axis=1)]:
        sizes = np.bincount(kinds[row], minlength=len(places)).tolist()
        profiles[tuple((cell, size) for cell, size in zip(places, sizes, strict=True) if size)] += 1
    if not profiles:
        raise ValueError("no example was evaluated")
    return profiles


def by_label(
    profiles: Counter[Profile[Labels]], t: int, draws: int | None, seed: int
) -> ScoreBaseline:
    """Best of t guessers in the Nvr-X score."""
    if max(len(_sizes(profile)) for profile in profiles) < 2:
        raise ValueError("a score by label needs at least 2 labels that are right somewhere")
    exact = _listed(next(iter(profiles))) if len(profiles) == 1 else None
    if exact is None:
        return simulate(profiles, t, draws, seed, _label_scores)
    return ScoreBaseline(whole_number("t", t, 1), *exact, None)


def _sizes(profile: Profile[Labels]) -> dict[int, int]:
    """Presentations that have each label among their right ones."""
    sizes: Counter[int] = Counter()
    for (right, _), size in profile:
        sizes.update(dict.fromkeys(right, size))
    return dict(sorted(sizes.items()))


def _listed(
    profile: Profile[Labels],
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Scores of one guesser and their probabilities; None where they are too many to list.

    Label by label, the sum and the largest of the recalls so far in units of 1 / (their common
    denominator). Labels are independent where no example has several right ones.
    """
    if any(len(right) > 1 for (right, _), _ in profile):
        return None
    sizes = _sizes(profile)
    common = math.lcm(*sizes.values())
    base = common + 1
    if base**2 * len(sizes) >= 2**62:
        return None
    states, masses = np.zeros(1, dtype=np.int64), np.ones(1)
    for label, whole in sizes.items():
        chances = Counter[int]()
        for (right, k), size in profile:
            if right == (label,):
                chances[k] += size
        window = GuesserCount(chance_groups(chances)).window
        if len(states) * len(window.masses) > _MOST_VALUES:
            return None
        steps = (window.low + np.arange(len(window.masses))) * (common // whole)
        sums = np.add.outer(states // base, steps)
        largest = np.maximum.outer(states % base, steps)
        states, masses = merged(
            (sums * base + largest).ravel(), np.multiply.outer(masses, window.masses).ravel()
        )
    scores, masses = merged(states // base - states % base, masses)
    return scores / (common * (len(sizes) - 1)), masses


def _label_scores(
    profile: Profile[Labels], number: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    sizes = _sizes(profile)
    hits = {label: np.zeros(number) for label in sizes}
    for (right, k), size in profile:
        if len(right) == 1:
            hits[right[0]] += generator.binomial(size, 1 / k, number)
            continue
        chances = [*[1 / k] * len(right), 1 - len(right) / k]
        said = generator.multinomial(size, np.maximum(chances, 0.0), number)
        for place, label in enumerate(right):
            hits[label] += said[:, place]
    return never_score(np.stack([hits[label] / size for label, size in sizes.items()], axis=1))


def blocks_of(places: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the redraws in blocks that show the example with its right answer at one place."""
    blocks: dict[int, list[int]] = {}
    for redraw, place in enumerate(places):
        if place != NOT_EVALUATED:
            blocks.setdefault(place, []).append(redraw)
    return tuple(sorted(map(tuple, blocks.values())))


def alike(profiles: Counter[Profile[Blocks]], redraws: int) -> tuple[GuesserCount, int] | None:
    """Right answers in one redraw and the number of independent ones, where blocks are the same."""
    profile = next(iter(profiles))
    first = profile[0][0][0]
    if len(profiles) > 1 or sum(map(len, first)) < redraws:
        return None
    chances = Counter[int]()
    for (blocks, k), size in profile:
        if blocks != first:
            return None
        chances[k] += size
    return GuesserCount(chance_groups(chances)), len(first)


def content_scores(
    profile: Profile[int], number: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Nvr-X scores of guessers who keep to one choice, which is shown at every label."""
    most = max(k for k, _ in profile)
    hits, sizes = np.zeros((number, most)), np.zeros(most)
    for k, size in profile:
        hits[:, :k] += generator.binomial(size, 1 / k, number)[:, None]
        sizes[:k] += size
    return never_score(hits / sizes)


def redraw_scores(
    profile: Profile[Blocks], number: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Least accuracy over the redraws of simulated guessers."""
    redraws = 1 + max((x for (blocks, _), _ in profile for block in blocks for x in block))
    hits, sizes = np.zeros((number, redraws)), np.zeros(redraws)
    for (blocks, k), size in profile:
        for block in blocks:
            hits[:, block] += generator.binomial(size, 1 / k, number)[:, None]
            sizes[list(block)] += size
    return worst_redraw(np.where(sizes > 0, hits / np.maximum(sizes, 1), np.nan))


def simulate(
    profiles: Counter[Profile[_Cell]],
    t: int,
    draws: int | None,
    seed: int,
    score: Score[_Cell],
) -> ScoreBaseline:
    """Single guessers of every profile, as often as prompts have it."""
    if draws is None:
        draws = min(_MOST_DRAWS, max(1_000_000, 10_000 * whole_number("t", t, 1)))
    guessers, number = number_of_draws(t, draws)
    generator = np.random.default_rng(seed)
    prompts = profiles.total()
    scores = []
    for profile, rows in profiles.items():
        left = math.ceil(number * rows / prompts)
        while left:
            scores.append(score(profile, min(left, _AT_ONCE), generator))
            left -= len(scores[-1])
    # A prompt without a score is never the best.
    return simulated(guessers, np.nan_to_num(np.concatenate(scores), nan=0.0))
