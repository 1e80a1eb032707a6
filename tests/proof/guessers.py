"""Sweeps in which no prompt knows anything, and some in which prompts do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, int], "Sweep"]

N = 100


@dataclass(frozen=True, eq=False)
class Sweep:
    """Answers of t prompts to n questions with two choices.

    Attributes
    ----------
    answers : ndarray of int
        Shape (t, n).
    gold : ndarray of int
        Shape (n,).
    clusters : ndarray of int or None
        Shape (n,): which questions share a passage; None where each stands alone.
    """

    answers: NDArray[np.int64]
    gold: NDArray[np.int64]
    clusters: NDArray[np.int64] | None = None


def labels(generator: np.random.Generator, majority: float) -> NDArray[np.int64]:
    """Return right answers of which this share is 0, in random order."""
    return generator.permutation(np.arange(N) >= round(majority * N)).astype(np.int64)


def saying(generator: np.random.Generator, t: int, share: float) -> NDArray[np.int64]:
    """Return independent answers of which about this share is 0."""
    return (generator.random((t, N)) >= share).astype(np.int64)


def sharing(
    generator: np.random.Generator, own: NDArray[np.int64], shared: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Return answers of which about this share is what all prompts answer."""
    return np.where(generator.random(own.shape) < share, shared, own)


def independent(generator: np.random.Generator, t: int) -> Sweep:
    majority = generator.choice([0.5, 0.6, 0.7, 0.8, 0.9])
    return Sweep(saying(generator, t, 0.5), labels(generator, majority))


def copied(generator: np.random.Generator, t: int) -> Sweep:
    """Nine of ten answers are the same in all prompts."""
    majority = generator.choice([0.5, 0.7, 0.9])
    own = saying(generator, t, 0.5)
    answers = sharing(generator, own, saying(generator, 1, 0.5), 0.9)
    return Sweep(answers, labels(generator, majority))


def correlated(generator: np.random.Generator, t: int) -> Sweep:
    """Any two prompts correlate by .5."""
    majority = generator.choice([0.5, 0.7, 0.9])
    own = saying(generator, t, 0.5)
    answers = sharing(generator, own, saying(generator, 1, 0.5), np.sqrt(0.5))
    return Sweep(answers, labels(generator, majority))


def frequent(share: float, majority: float) -> Draw:
    """Say one label to a share of the questions, where it is right in another share of them."""
    return lambda generator, t: Sweep(saying(generator, t, share), labels(generator, majority))


GUESSERS: dict[str, Draw] = {
    "independent, labels 50 to 90 %": independent,
    "copied .9, labels 50 to 90 %": copied,
    "share answers, rho = .5, labels 50 to 90 %": correlated,
    "say the label frequencies, 60/40": frequent(0.6, 0.6),
    "say the label frequencies, 70/30": frequent(0.7, 0.7),
    "near-constant, 70/30": frequent(0.97, 0.7),
    "near-constant, 90/10": frequent(0.97, 0.9),
}
"""Those who know nothing."""


def by_passage(follow: float) -> Draw:
    """Four questions share a passage; right answers and answers follow it, but for some of them."""

    def draw(generator: np.random.Generator, t: int) -> Sweep:
        clusters = np.repeat(np.arange(N // 4), 4)
        followed = generator.integers(0, 2, (t + 1, N // 4))[:, clusters]
        own = generator.integers(0, 2, (t + 1, N))
        *answers, gold = sharing(generator, own, followed, follow)
        return Sweep(np.array(answers), gold, clusters)

    return draw


SHARED_PASSAGES: dict[str, Draw] = {
    "passages of 4 questions, all follow": by_passage(1.0),
    "passages of 4 questions, 70 % follow": by_passage(0.7),
}
"""Those who know nothing, on questions that depend on each other."""


def right_with(*chances: float, rho: float = 0.0) -> Draw:
    """Prompts that are right with these chances, the last one's again and again; labels 50/50.

    They are correlated: where a prompt does not go by itself, it does what all would do if their
    chance were its own.
    """

    def draw(generator: np.random.Generator, t: int) -> Sweep:
        gold = labels(generator, 0.5)
        chance = np.array([*chances[:t], *[chances[-1]] * (t - len(chances))])[:, np.newaxis]
        luck = np.where(
            generator.random((t, N)) < np.sqrt(rho),
            generator.random((1, N)),
            generator.random((t, N)),
        )
        return Sweep(np.where(luck < chance, gold, 1 - gold), gold)

    return draw


KNOWING: dict[str, tuple[Draw, float]] = {
    "one prompt at .72 among guessers": (right_with(0.72, 0.5), 0.84),
    "the same, rho = .8": (right_with(0.72, 0.5, rho=0.8), 0.86),
    "all prompts .60, rho = .8": (right_with(0.6, rho=0.8), 0.35),
    "all prompts .55, independent": (right_with(0.55), 0.66),
}
"""Those who know something, and how often they pass both p-values at t = 200."""
