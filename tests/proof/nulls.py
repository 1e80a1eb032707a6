"""Guessers on clusters of unequal size, on pairs of things, and on unbalanced sets of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Answering = Callable[[np.random.Generator, "Clustered", int], Ints]
    Nearing = Callable[[np.random.Generator, "Compared", float], Ints]
    Ordering = Callable[[np.random.Generator, "Compared", int], Ints]

FOLLOW = 0.7
"""Share of the questions that follow their cluster."""


class Clustered(NamedTuple):
    """Questions in clusters: the frequencies of labels, right answers, clusters."""

    shares: NDArray[np.float64]
    gold: Ints
    clusters: Ints

    def say(
        self,
        generator: np.random.Generator,
        t: int,
        shares: NDArray[np.float64] | None = None,
        follow: float = FOLLOW,
    ) -> Ints:
        """Answer with these frequencies, and so that a share of the answers follows the cluster."""
        many, wanted = len(self.shares), self.shares if shares is None else shares
        n, sets = len(self.clusters), int(self.clusters.max()) + 1
        followed = generator.choice(many, (t, sets), p=wanted)[:, self.clusters]
        return np.where(
            generator.random((t, n)) < follow, followed, generator.choice(many, (t, n), p=wanted)
        )

    def right(self, generator: np.random.Generator, is_right: NDArray[np.bool_]) -> Ints:
        """Be right where it is said, and wrong elsewhere."""
        wrong = self.gold + generator.integers(1, len(self.shares), is_right.shape)
        return np.where(is_right, self.gold, wrong % len(self.shares))


def clustered(
    generator: np.random.Generator, clusters: int, m: int, majority: float, follow: float = FOLLOW
) -> Clustered:
    """Draw clusters of 1 to 20 questions, of which the first label is right in a share."""
    shares = np.array([majority, *[(1 - majority) / (m - 1)] * (m - 1)])
    owner = np.repeat(np.arange(clusters), generator.integers(1, 21, clusters))
    [gold] = Clustered(shares, owner, owner).say(generator, 1, follow=follow)
    return Clustered(shares, gold, owner)


def _copied(generator: np.random.Generator, drawn: Clustered, t: int) -> Ints:
    shared, own = drawn.say(generator, 1), drawn.say(generator, t)
    return np.where(generator.random(own.shape) < 0.8, shared, own)


def _nearly_constant(generator: np.random.Generator, drawn: Clustered, t: int) -> Ints:
    own = drawn.say(generator, t)
    return np.where(generator.random(own.shape) < 0.95, 0, own)


CLUSTERED: dict[str, Answering] = {
    "follow their cluster": lambda generator, drawn, t: drawn.say(generator, t),
    "follow it, all labels alike": lambda generator, drawn, t: drawn.say(
        generator, t, np.full(len(drawn.shares), 1 / len(drawn.shares))
    ),
    "follow it, prefer a rare label": lambda generator, drawn, t: drawn.say(
        generator, t, drawn.shares[::-1]
    ),
    "one label a cluster": lambda generator, drawn, t: drawn.say(generator, t, follow=1.0),
    "copies": _copied,
    "constant": lambda _, drawn, t: np.tile(
        np.arange(t)[:, None] % len(drawn.shares), len(drawn.gold)
    ),
    "nearly constant": _nearly_constant,
    "label frequencies": lambda generator, drawn, t: drawn.say(generator, t, follow=0.0),
}
"""Those who know nothing of questions in clusters."""

KNOWING_CLUSTERED: dict[str, Answering] = {
    "right on .9": lambda generator, drawn, t: drawn.right(
        generator, generator.random((t, len(drawn.gold))) < 0.9
    ),
    "right on whole clusters, .8 of them": lambda generator, drawn, t: drawn.right(
        generator, (generator.random((t, drawn.clusters.max() + 1)) < 0.8)[:, drawn.clusters]
    ),
}


class Compared(NamedTuple):
    """Questions which of some things is first: the things, offered in order, and right answers."""

    things: int
    offered: Ints
    strength: NDArray[np.float64]
    gold: Ints

    def by(self, strength: NDArray[np.float64]) -> Ints:
        """Answer by one strength of each thing for each prompt, shape (t, things)."""
        at = strength[..., self.offered].argmax(axis=-1)
        return np.take_along_axis(self.offered[None], at[..., None], axis=2)[..., 0]

    def own(self, generator: np.random.Generator, t: int) -> Ints:
        """Answer by an order of its own for each prompt."""
        return self.by(generator.random((t, self.things)))

    def anything(self, generator: np.random.Generator, t: int) -> Ints:
        """Answer with any of the choices."""
        n, size = self.offered.shape
        return self.offered[np.arange(n), generator.integers(0, size, (t, n))]


def compare(
    generator: np.random.Generator,
    things: int,
    n: int,
    size: int = 2,
    *,
    kind: str = "an order",
) -> Compared:
    """Draw questions that compare so many of the things; right answers are of some kind."""
    offered = generator.permuted(np.tile(np.arange(things), (n, 1)), axis=1)[:, :size]
    strength = generator.permutation(things).astype(np.float64)
    strengths = strength[offered]
    if kind == "an order of which 1 in 5 is an exception":
        strengths[generator.random(n) < 0.2] = 0
        strengths += generator.random((n, size)) * 0.5
    elif kind == "chances by strength":  # Bradley and Terry 1952
        strengths = 4 * strengths / things + generator.gumbel(size=(n, size))
    elif kind == "no order":
        strengths = generator.random((n, size))
    at = strengths.argmax(axis=1)
    if kind == "an order, the first of the pair right on .7":
        to = np.where(generator.random(n) < 0.7, 0, generator.integers(1, size, n))
        every = np.arange(n)
        swapped = offered.copy()
        swapped[every, at], swapped[every, to] = offered[every, to], offered[every, at]
        offered, at = swapped, to
    return Compared(things, offered, strength, offered[np.arange(n), at])


KINDS = (
    "an order",
    "an order, the first of the pair right on .7",
    "an order of which 1 in 5 is an exception",
    "chances by strength",
    "no order",
)


def _latent(generator: np.random.Generator, drawn: Compared, t: int) -> Ints:
    order = generator.random((1, drawn.things))
    return drawn.by(order + generator.normal(0, 0.15, (t, drawn.things)))


def _mostly(share: float, first: bool) -> Ordering:
    def answer(generator: np.random.Generator, drawn: Compared, t: int) -> Ints:
        own, n = drawn.own(generator, t), len(drawn.offered)
        other = drawn.offered[:, 0] if first else drawn.anything(generator, t)
        return np.where(generator.random((t, n)) < share, own, other)

    return answer


def _favourites(generator: np.random.Generator, drawn: Compared, t: int) -> Ints:
    liked = generator.permuted(np.tile(np.arange(drawn.things) < 3, (t, 1)), axis=1)
    at = liked[:, drawn.offered]
    first = np.take_along_axis(drawn.offered[None], at.argmax(axis=2)[..., None], axis=2)[..., 0]
    return np.where(at.any(axis=2), first, drawn.anything(generator, t))


COMPARING: dict[str, Ordering] = {
    "an order of its own each": lambda generator, drawn, t: drawn.own(generator, t),
    "one order of all, with noise": _latent,
    "an order of its own, on .8": _mostly(0.8, first=False),
    "half by an order, half the first": _mostly(0.5, first=True),
    "three favourites each": _favourites,
    "any of the choices": lambda generator, drawn, t: drawn.anything(generator, t),
}
"""Those who know nothing of the things."""


def nearest(drawn: Compared, strength: NDArray[np.float64], share: float) -> Ints:
    """Say which is first, and "about the same" (the number after all things) of the closest."""
    both = np.sort(strength[drawn.offered], axis=1)
    least = np.argsort(both[:, -1] - both[:, -2])[: round(share * len(both))]
    said: Ints = drawn.by(strength[None])[0]
    said[least] = drawn.things
    return said


SAME: dict[str, Nearing] = {
    "never says so": lambda generator, drawn, _: nearest(drawn, generator.random(drawn.things), 0),
    "says so as often": lambda generator, drawn, share: nearest(
        drawn, generator.random(drawn.things), share
    ),
    "says so now and then": lambda generator, drawn, _: nearest(
        drawn, generator.random(drawn.things), generator.random() / 2
    ),
}
"""Those who know nothing of the things, and may say that two are about the same."""


def right_on(share: float) -> Ordering:
    """Return who is right on a share of the questions."""

    def answer(generator: np.random.Generator, drawn: Compared, t: int) -> Ints:
        n, size = drawn.offered.shape
        at = (drawn.offered == drawn.gold[:, None]).argmax(axis=1)
        wrong = drawn.offered[np.arange(n), (at + generator.integers(1, size, (t, n))) % size]
        return np.where(generator.random((t, n)) < share, drawn.gold, wrong)

    return answer
