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

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.gold import right_labels
from pytest_maxrandom.stats.labels import guessers
from pytest_maxrandom.stats.metrics import ScoreBaseline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.labels.guessers import Blocks, Labels, Profile


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
    return guessers.by_label(guessers.profiles_of(cells, evaluated), t, draws, seed)


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
    held = guessers.profiles_of(numbers, evaluated)
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
        return guessers.simulate(held, t, draws, seed, guessers.content_scores)
    profiles: Counter[Profile[Labels]] = Counter()
    for profile, rows in held.items():
        profiles[tuple((((label,), k), size) for k, size in profile for label in range(k))] += rows
    return guessers.by_label(profiles, t, draws, seed)


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
        (guessers.blocks_of(own), whole_number("choices", count, 1))
        for own, count in zip(drawn, choices, strict=True)
    ]
    profiles = guessers.profiles_of(cells, evaluated)
    if not any(blocks for profile in profiles for (blocks, _), _ in profile):
        raise ValueError("no example has a second label that its right answer can stand at")
    alike = guessers.alike(profiles, len(places))
    if alike is None:
        return guessers.simulate(profiles, t, draws, seed, guessers.redraw_scores)
    guesser, number = alike
    counts = np.arange(guesser.low, guesser.high + 1)
    reached = np.array([guesser.p_at_least(int(k)) for k in counts]) ** number
    masses = -np.diff(reached, append=0.0)
    return ScoreBaseline(whole_number("t", t, 1), counts / guesser.n, masses, None)
