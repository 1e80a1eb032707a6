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
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels
from pytest_maxrandom.stats.labels.scores import never_score, shares, worst_redraw
from pytest_maxrandom.stats.maximum import ScoreBaseline, listed, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.gold import Gold

    Floats: TypeAlias = NDArray[np.float64]

Guess: TypeAlias = tuple[tuple[tuple[int, ...], ...], int]
"""What an example counts for, and its number of labels: an answer that is right is so for all
labels (or redraws) of a block."""
Profile: TypeAlias = tuple[tuple[Guess, int], ...]
"""What one prompt is scored on: guesses of the same kind, and how many examples have it."""

_MOST_DRAWS = 4_000_000
_AT_ONCE = 2**18  # guessers simulated together


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
    guesses: list[Guess] = []
    for right, count in zip(rights, choices, strict=True):
        if max(right) >= count:
            raise ValueError(f"right labels {sorted(right)} of an example with {count} labels")
        guesses.append(
            (tuple((label,) for label in sorted(right)), whole_number("choices", count, 1))
        )
    return _by_label(_profiles(guesses, evaluated), t, draws, seed)


def move_baseline(
    choices: Sequence[int],
    t: int,
    *,
    by_content: bool = False,
    evaluated: NDArray[np.bool_] | None = None,
) -> ScoreBaseline:
    """Best of t guessers in the Nvr-X score with every right answer at every label.

    Parameters as of `recall_baseline`, and ``by_content``: whether guessers keep to one choice of
    each example.
    """
    numbers = [whole_number("choices", count, 1) for count in choices]
    held = _profiles([((tuple(range(k)),), k) for k in numbers], evaluated)
    if by_content:
        return _minimum(held, max(numbers), t, never_score)
    profiles: Counter[Profile] = Counter()
    for profile, rows in held.items():
        anew = (((((label,),), k), size) for (_, k), size in profile for label in range(k))
        profiles[tuple(anew)] += rows
    return _by_label(profiles, t, None, 0)


def redraw_baseline(
    choices: Sequence[int],
    places: NDArray[np.integer],
    t: int,
    *,
    by_content: bool = False,
    evaluated: NDArray[np.bool_] | None = None,
) -> ScoreBaseline:
    """Best of t guessers in the least accuracy over the redraws.

    Parameters
    ----------
    places
        Shape (m, n), from `pytest_maxrandom.stats.labels.scores.redraw_places`. Any other draw is
        taken as well: a presentation that serves several redraws is guessed once.
    choices, t, by_content, evaluated
        As of `move_baseline`.
    """
    shown = np.asarray(places)
    drawn = (np.minimum(shown, 0) if by_content else shown).T.tolist()
    if len(drawn) != len(choices):
        raise ValueError(f"choices names {len(choices)} examples, places {len(drawn)}")
    guesses: list[Guess] = [
        (_blocks(own), whole_number("choices", count, 1))
        for own, count in zip(drawn, choices, strict=True)
    ]
    profiles = _profiles(guesses, evaluated)
    if not any(blocks for profile in profiles for (blocks, _), _ in profile):
        raise ValueError("no example has a second label that its right answer can stand at")
    return _minimum(profiles, len(places), t, worst_redraw)


def minimum_accuracy_baseline(
    n: int | None, chance: Chance, t: int, variants: int
) -> ScoreBaseline:
    """Exact best of t prompts, each of which counts with its least accuracy over some variants.

    So a prompt that is scored under v ways to map labels is worth its minimum over them. For
    independent variants P(max min <= k) = (1 - (1 - F(k))^v)^t. Variants of one prompt are usually
    positively dependent, and then that formula promises too much; t * P(X >= k) holds always, which
    is `MaxRandomBaseline.union_p`.

    Parameters
    ----------
    n, chance, t
        As in `pytest_maxrandom.stats.maximum.MaxRandomBaseline`.
    variants
        Number v of variants of each prompt; 1 gives the maximum random baseline.

    Examples
    --------
    >>> round(minimum_accuracy_baseline(100, 0.5, t=200, variants=2).expected, 4)
    0.5798
    """
    count = GuesserCount(chance_groups(chance, n))
    right = range(count.window.low, count.window.high + 1)
    reached = np.array([count.p_at_least(k) for k in right])
    reached = reached ** whole_number("variants", variants, 1)
    masses = -np.diff(reached, append=0.0)
    return ScoreBaseline(whole_number("t", t, 1), np.array(right) / count.n, masses, None)


def _profiles(guesses: Sequence[Guess], evaluated: NDArray[np.bool_] | None) -> Counter[Profile]:
    """Return what prompts were scored on, and how many were scored on it."""
    places = {guess: place for place, guess in enumerate(dict.fromkeys(guesses))}
    kinds = np.array([places[guess] for guess in guesses])
    rows = np.ones((1, len(guesses)), dtype=bool) if evaluated is None else np.asarray(evaluated)
    if rows.ndim != 2 or rows.shape[1] != len(guesses):
        raise ValueError(f"evaluated must have shape (prompts, {len(guesses)}), found {rows.shape}")
    profiles: Counter[Profile] = Counter()
    for row in rows[rows.any(axis=1)]:
        sizes = np.bincount(kinds[row], minlength=len(places)).tolist()
        profiles[
            tuple((guess, size) for guess, size in zip(places, sizes, strict=True) if size)
        ] += 1
    if not profiles:
        raise ValueError("no example was evaluated")
    return profiles


def _by_label(profiles: Counter[Profile], t: int, draws: int | None, seed: int) -> ScoreBaseline:
    """Best of t guessers in the Nvr-X score; the blocks are labels of one answer."""
    if max(np.count_nonzero(_sizes(profile)) for profile in profiles) < 2:
        raise ValueError("a score by label needs at least 2 labels that are right somewhere")
    first = next(iter(profiles))
    # Labels are independent where no example has several right ones.
    if len(profiles) == 1 and all(len(blocks) == 1 for (blocks, _), _ in first):
        chances: dict[int, Counter[int]] = {}
        for ([(label,)], k), size in first:
            chances.setdefault(label, Counter())[k] += size
        counts = [GuesserCount(chance_groups(own)) for _, own in sorted(chances.items())]
        if (exact := listed(counts, without_best=True)) is not None:
            return ScoreBaseline(whole_number("t", t, 1), *exact, None)
    return _simulate(profiles, t, draws, seed, never_score, one_guess=True)


def _sizes(profile: Profile) -> NDArray[np.int64]:
    """Guesses that count for each label or redraw, right or wrong."""
    last = max((place for (blocks, _), _ in profile for block in blocks for place in block))
    sizes = np.zeros(last + 1, dtype=np.int64)
    for (blocks, _), size in profile:
        for block in blocks:
            sizes[list(block)] += size
    return sizes


def _blocks(places: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the redraws in blocks that show the example with its right answer at one place."""
    blocks: dict[int, list[int]] = {}
    for redraw, place in enumerate(places):
        if place != NOT_EVALUATED:
            blocks.setdefault(place, []).append(redraw)
    return tuple(sorted(map(tuple, blocks.values())))


def _minimum(
    profiles: Counter[Profile],
    labels: int,
    t: int,
    score: Callable[[Floats], Floats],
) -> ScoreBaseline:
    """Best of t guessers in a least accuracy: exact where all examples have the same blocks."""
    profile = next(iter(profiles))
    first = profile[0][0][0]
    alike = all(blocks == first for (blocks, _), _ in profile)
    if len(profiles) > 1 or not alike or sum(map(len, first)) < labels:
        return _simulate(profiles, t, None, 0, score)
    chances = Counter[int]()
    for (_, k), size in profile:
        chances[k] += size
    return minimum_accuracy_baseline(None, chances, t, len(first))


def _simulate(
    profiles: Counter[Profile],
    t: int,
    draws: int | None,
    seed: int,
    score: Callable[[Floats], Floats],
    *,
    one_guess: bool = False,
) -> ScoreBaseline:
    """Simulate single guessers of every profile, as often as prompts have it.

    Parameters
    ----------
    score
        Of the shares of right guesses by label or redraw, shape (guessers, labels).
    one_guess
        Whether the blocks of an example are different answers to one presentation, of which only
        one can be given; else they are guessed independently.
    """

    def scores(generator: np.random.Generator, number: int) -> Floats:
        drawn = []
        for profile, rows in profiles.items():
            left = math.ceil(number * rows / profiles.total())
            while left:
                hits = _hits(profile, min(left, _AT_ONCE), generator, one_guess=one_guess)
                drawn.append(score(shares(hits, _sizes(profile))))
                left -= len(hits)
        # A prompt without a score is never the best.
        return np.nan_to_num(np.concatenate(drawn), nan=0.0)

    if draws is None:
        draws = min(_MOST_DRAWS, max(1_000_000, 10_000 * whole_number("t", t, 1)))
    return simulated(t, draws, seed, scores)


def _hits(
    profile: Profile, number: int, generator: np.random.Generator, *, one_guess: bool
) -> Floats:
    """Draw the right guesses of some guessers by label or redraw, shape (number, labels)."""
    hits = np.zeros((number, len(_sizes(profile))))
    for (blocks, k), size in profile:
        if one_guess and len(blocks) > 1:
            chances = [*[1 / k] * len(blocks), max(0.0, 1 - len(blocks) / k)]
            drawn = generator.multinomial(size, chances, number).T
        else:
            drawn = np.array([generator.binomial(size, 1 / k, number) for _ in blocks])
        for block, right in zip(blocks, drawn, strict=False):  # the last may be a wrong answer
            hits[:, block] += right[:, None]
    return hits
