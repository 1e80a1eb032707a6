"""More sweeps in which no prompt knows anything: other labels, other choices, other habits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.proof.guessers import N, Sweep, frequent, labels, saying

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.proof.guessers import Draw

_PLACES = np.arange(N)


def constant(generator: np.random.Generator, t: int) -> Sweep:
    """Each prompt says one label everywhere."""
    return Sweep(np.tile(np.arange(t)[:, np.newaxis] % 2, N), labels(generator, 0.7))


def copies(generator: np.random.Generator, t: int) -> Sweep:
    """All prompts answer the same."""
    return Sweep(np.tile(saying(generator, 1, 0.7), (t, 1)), labels(generator, 0.7))


def latent(generator: np.random.Generator, t: int) -> Sweep:
    """All prompts order the questions in one way, and each begins to affirm at another place."""
    order = generator.permutation(N)
    return Sweep(
        (order >= generator.integers(0, N, (t, 1))).astype(np.int64), labels(generator, 0.6)
    )


def mixed(generator: np.random.Generator, t: int) -> Sweep:
    """Half of the questions have two choices and half have four; first labels are preferred."""
    choices = np.where(_PLACES % 2, 4, 2)

    def say(many: int) -> NDArray[np.int64]:
        others = generator.integers(0, choices, (many, N))
        return np.where(generator.random((many, N)) < 0.4, 0, others)

    return Sweep(say(t), say(1)[0], choices=choices)


def several(generator: np.random.Generator, t: int) -> Sweep:
    """One or two of four choices are right, more often the first."""
    ranks = generator.random((N, 4)) - np.array([0.3, 0, 0, 0])
    many = generator.integers(1, 3, (N, 1))
    right = ranks.argsort(axis=1).argsort(axis=1) < many
    answers = np.where(generator.random((t, N)) < 0.4, 0, generator.integers(0, 4, (t, N)))
    return Sweep(answers, right, choices=np.full(N, 4))


def features(generator: np.random.Generator, t: int) -> Sweep:
    """Prompts weigh the same five features of a question, each in its own way."""
    score = generator.normal(size=(t, 5)) @ generator.normal(size=(5, N))
    return Sweep((score > 0).astype(np.int64), labels(generator, 0.6))


def streaks(generator: np.random.Generator, t: int) -> Sweep:
    """A prompt repeats its last answer in nine of ten questions."""
    turns = generator.random((t, N)) < 0.1
    turns[:, 0] = generator.random(t) < 0.5
    return Sweep(np.cumsum(turns, axis=1) % 2, labels(generator, 0.6))


def two_camps(generator: np.random.Generator, t: int) -> Sweep:
    """Half of the prompts answer alike, and the others the opposite, but for a tenth."""
    side = (np.arange(t)[:, np.newaxis] + saying(generator, 1, 0.5)) % 2
    return Sweep(np.where(generator.random((t, N)) < 0.1, 1 - side, side), labels(generator, 0.5))


def counted(generator: np.random.Generator, t: int) -> Sweep:
    """Each prompt says 0 to exactly as many questions as have it right, 70 of 100."""
    answers = np.array([labels(generator, 0.7) for _ in range(t)])
    return Sweep(answers, labels(generator, 0.7))


def changing(generator: np.random.Generator, t: int) -> Sweep:
    """Each prompt prefers one of four labels, in a strength of its own; gold is 55/15/15/15."""
    preferred, strength = generator.integers(0, 4, (t, 1)), generator.random((t, 1))
    others = generator.integers(0, 4, (t, N))
    gold = generator.permutation(np.repeat(np.arange(4), [55, 15, 15, 15]))
    answers = np.where(generator.random((t, N)) < strength, preferred, others)
    return Sweep(answers, gold, choices=np.full(N, 4))


def affirming(generator: np.random.Generator, t: int) -> Sweep:
    """Half of the questions are Yes or No, half True or False; nearly all answers affirm."""
    return Sweep(saying(generator, t, 0.97), labels(generator, 0.7), sets=_PLACES % 2)


MORE: dict[str, Draw] = {
    "say the label frequencies, 80/20": frequent(0.8, 0.8),
    "say the label frequencies, 95/5": frequent(0.95, 0.95),
    "constant, 70/30": constant,
    "copies of one another, 70/30": copies,
    "one order of all, affirming from a place on": latent,
    "two and four choices, first labels preferred": mixed,
    "one or two of four right, first preferred": several,
    "weigh the same five features": features,
    "repeat the last answer, .9": streaks,
    "two camps that answer the opposite": two_camps,
    "exactly the label frequencies, 70/30": counted,
    "four choices, a preference each, 55 % one label": changing,
    "Yes/No beside True/False, nearly always affirm, 70/30": affirming,
}
"""Those who know nothing as well."""
