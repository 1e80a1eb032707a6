"""Sweeps in which no prompt knows anything, and some in which prompts do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, int], "Sweep"]

N = 100


@dataclass(frozen=True, eq=False)
class Sweep:
    """Answers of t prompts to n questions.

    Attributes
    ----------
    answers : ndarray of int
        Shape (t, n).
    gold : ndarray of int or bool
        Shape (n,); or shape (n, m) where several choices are right: which of them.
    clusters : ndarray of int or None
        Shape (n,): which questions share a passage; None where each stands alone.
    choices : ndarray of int or None
        Shape (n,): how many each question has; None where all have two.
    sets : ndarray of int or None
        Shape (n,): which texts its choices have; None where a label has one text.
    """

    answers: NDArray[np.int64]
    gold: NDArray[Any]
    clusters: NDArray[np.int64] | None = None
    choices: NDArray[np.int64] | None = None
    sets: NDArray[np.int64] | None = None

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The texts of the choices of each question."""
        sets = [0] * len(self.sizes) if self.sets is None else self.sets.tolist()
        return [
            tuple(f"label {own}{place}" for place in range(size))
            for own, size in zip(sets, self.sizes.tolist(), strict=True)
        ]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many choices each question has, shape (n,)."""
        return np.full(self.answers.shape[1], 2) if self.choices is None else self.choices

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each choice is right, shape (n, m)."""
        if self.gold.ndim == 2:
            return self.gold.astype(np.bool_)
        right: NDArray[np.bool_] = np.equal.outer(self.gold, np.arange(self.sizes.max()))
        return right


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


def right_with(*chances: float, rho: float = 0.0, m: int = 2) -> Draw:
    """Prompts that are right with these chances, the last one's again and again; labels alike.

    They are correlated: where a prompt does not go by itself, it does what all would do if their
    chance were its own, and is wrong in the same way.
    """

    def draw(generator: np.random.Generator, t: int) -> Sweep:
        gold = generator.permutation(np.arange(N) % m)
        chance = np.array([*chances[:t], *[chances[-1]] * (t - len(chances))])[:, np.newaxis]
        shared = generator.random((t, N)) < np.sqrt(rho)
        luck = np.where(shared, generator.random((1, N)), generator.random((t, N)))
        other = np.where(shared, generator.integers(1, m, (1, N)), generator.integers(1, m, (t, N)))
        answers = np.where(luck < chance, gold, (gold + other) % m)
        return Sweep(answers, gold, choices=np.full(N, m))

    return draw


KNOWING: dict[str, tuple[Draw, int]] = {
    "all prompts .60, rho = 0": (right_with(0.6), 200),
    "all prompts .60, rho = .8": (right_with(0.6, rho=0.8), 200),
    "all prompts .60, rho = .95": (right_with(0.6, rho=0.95), 200),
    "all prompts .60, rho = .99": (right_with(0.6, rho=0.99), 200),
    "all prompts .60, rho = .95, t = 1,000": (right_with(0.6, rho=0.95), 1000),
    "all prompts .70, rho = .95": (right_with(0.7, rho=0.95), 200),
    "four choices, all prompts .40, rho = .8": (right_with(0.4, rho=0.8, m=4), 200),
    "one prompt at .75 among guessers": (right_with(0.75, 0.5), 200),
}
"""Those who know something, and how many prompts they have."""
