"""The best of t uniform guessers in the scores of `pytest_maxrandom.stats.labels.scores`.

A guesser answers each presentation of an example with one of its k labels, uniformly, and gives
the same answer when it is shown the same presentation again. What a score counts are therefore
independent counts: a label's right answers (recall, move), or the presentations that serve the
same redraws (redraw). Another guesser (``by_content``) picks one choice of each example and keeps
to it wherever it stands: without knowledge or label preference, but right in all presentations of
an example or in none, so that its score varies as much as a plain accuracy. Models without
knowledge lie between the two.

The distribution of one guesser's score is exact where its values can be listed, else simulated;
that of the best of t follows, for prompts that are independent of each other. Prompts that are
scored on different examples (each leaves out its own demonstrations) are taken as a mix: one
guesser is like a prompt drawn at random. For the p of single prompts p_j this replaces
1 - prod(1 - p_j) by 1 - (1 - mean p_j)^t, which differs in second order of p_j only.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.gold import right_labels
from pytest_maxrandom.stats.labels.scores import never_score, worst_redraw
from pytest_maxrandom.stats.metrics import ScoreBaseline, merged, number_of_draws, simulated
from pytest_maxrandom.stats.permutation import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

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


def recall_baseline(
    gold: Gold,
    choices: Sequence[int],
    t: int,
    *,
    evaluated: NDArray[np.bool_] | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> ScoreBaseline:
    """Best of t guessers in the Nvr-X score of the examples as they are.

    Parameters
    ----------
    gold
        The right label of each example, or several.
    choices
        Number of labels of each example.
    t
        Number of guessers; may be more than the rows of ``evaluated``.
    evaluated
        Shape (prompts, n): the examples that each prompt was scored on; None: all.
    draws
        Number of simulated guessers where the distribution is not exact; by default enough for
        p-values near .05.
    seed
        Seed of the simulation.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ, a right label is no label of its example, fewer than 2 labels are
        right anywhere, or ``draws`` is too few for ``t``.
    """
    rights = right_labels(gold)
    if len(rights) != len(choices):
        raise ValueError(f"choices names {len(choices)} examples, gold {len(rights)}")
    cells: list[Labels] = []
    for right, count in zip(rights, choices, strict=True):
        if max(right) >= count:
            raise ValueError(f"right labels {sorted(right)} of an example with {count} labels")
        cells.append((tuple(sorted(right)), whole_number("choices", count, 1)))
    return by_label(profiles_of(cells, evaluated), t, draws, seed)


def move_baseline(
    choices: Sequence[int],
    t: int,
    *,
    by_content: bool = False,
    evaluated: NDArray[np.bool_] | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> ScoreBaseline:
    """Best of t guessers in the Nvr-X score with every right answer at every label.

    Parameters as of `recall_baseline`, and ``by_content``: whether guessers keep to one choice of
    each example.
    """
    numbers = [whole_number("choices", count, 1) for count in choices]
    held = profiles_of(numbers, evaluated)
    if by_content:
        if len(set(numbers)) == 1:
            return redraw_baseline(
                numbers,
                np.zeros((2, len(numbers)), dtype=np.int64),
                t,
                evaluated=evaluated,
                draws=draws,
                seed=seed,
            )
        return simulate(held, t, draws, seed, content_scores)
    profiles: Counter[Profile[Labels]] = Counter()
    for profile, rows in held.items():
        profiles[tuple((((label,), k), size) for k, size in profile for label in range(k))] += rows
    return by_label(profiles, t, draws, seed)


def redraw_baseline(
    choices: Sequence[int],
    places: NDArray[np.integer],
    t: int,
    *,
    by_content: bool = False,
    evaluated: NDArray[np.bool_] | None = None,
    draws: int | None = None,
    seed: int = 0,
) -> ScoreBaseline:
    """Best of t guessers in the least accuracy over the redraws.

    Parameters
    ----------
    places
        Shape (m, n), from `pytest_maxrandom.stats.labels.scores.redraw_places`. Any other draw is
        taken as well: a presentation that serves several redraws is guessed once.
    choices, t, by_content, evaluated, draws, seed
        As of `move_baseline`.
    """
    shown = np.asarray(places)
    drawn = (np.minimum(shown, 0) if by_content else shown).T.tolist()
    if len(drawn) != len(choices):
        raise ValueError(f"choices names {len(choices)} examples, places {len(drawn)}")
    cells: list[Blocks] = [
        (blocks_of(own), whole_number("choices", count, 1))
        for own, count in zip(drawn, choices, strict=True)
    ]
    profiles = profiles_of(cells, evaluated)
    if not any(blocks for profile in profiles for (blocks, _), _ in profile):
        raise ValueError("no example has a second label that its right answer can stand at")
    same = alike(profiles, len(places))
    if same is None:
        return simulate(profiles, t, draws, seed, redraw_scores)
    guesser, number = same
    counts = np.arange(guesser.low, guesser.high + 1)
    reached = np.array([guesser.p_at_least(int(k)) for k in counts]) ** number
    masses = -np.diff(reached, append=0.0)
    return ScoreBaseline(whole_number("t", t, 1), counts / guesser.n, masses, None)
