"""Guessers of open answers, whose chance is learnt: each passes no more often than the level."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.shuffles import Shuffle, permuted_open
from pytest_maxrandom.stats.samples import Aggregate, How
from pytest_maxrandom.sweeps.open_answers import coded
from pytest_maxrandom.tasks.references import Matching, Open, kind_of
from pytest_maxrandom.tasks.task import Example
from tests.proof.scale import LEVEL, WHOLE, most, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(400, 20)
CITIES, NUMBERS = ("Paris", "Oslo", "Rome", "Bonn", "Lima"), ("5", "6", "7", "8", "9")
BALANCED, SKEWED = (0.2, 0.2, 0.2, 0.2, 0.2), (0.5, 0.2, 0.1, 0.1, 0.1)

Said = dict[str, str]


def asked(draw: random.Random, n: int, *, skewed: bool) -> list[Example]:
    """Return questions of five kinds, whose right answers follow nothing but frequencies."""
    weights, first = (SKEWED, 0.7) if skewed else (BALANCED, 0.5)
    found = []
    for i in range(n):
        match i % 5:
            case 0:
                text, right = f"Which city is number {i}?", draw.choices(CITIES, weights)[0]
            case 1:  # whose right number stands there now and then
                shown = " and ".join(draw.choices(NUMBERS, k=2))
                text, right = f"{shown}: what comes next?", draw.choices(NUMBERS, weights)[0]
            case 2:
                text, right = f"Is thing {i} real?", "No" if draw.random() < first else "Yes"
            case 3:
                pair = f"x{i}a", f"x{i}b"
                text = f"Which is larger, {pair[0]} or {pair[1]}?"
                right = pair[0] if draw.random() < first else pair[1]
            case _:
                names = [f"Nam{i}{letter}" for letter in "abc"]
                text, right = f"So {', '.join(names)} met. Who won?", draw.choice(names)
        how = Open(kind_of(right))
        found.append(Example.without_choices(str(i), text, (right,), how))
    return found


def by_frequency(draw: random.Random, example: Example, weights: tuple[float, ...]) -> str:
    """Draw from the frequencies of the right answers to questions of this kind."""
    place = int(example.id)
    match place % 5:
        case 0:
            return draw.choices(CITIES, weights)[0]
        case 1:
            return draw.choices(NUMBERS, weights)[0]
        case 2:
            return "No" if draw.random() < (0.7 if weights is SKEWED else 0.5) else "Yes"
        case _:
            return copied(draw, example, weights)


def copied(draw: random.Random, example: Example, weights: tuple[float, ...]) -> str:
    """Say something that stands in the question."""
    words = [word.strip(",.?:") for word in example.input.split()]
    match int(example.id) % 5:
        case 1:
            return draw.choice([word for word in words if word.isdigit()])
        case 3:
            return draw.choices(words[-3::2], [weights[0], 1 - weights[0]])[0]
        case 4:
            return draw.choice([word for word in words if word.startswith("Nam")])
        case _:
            return draw.choice(words)


def commonest(draw: random.Random, example: Example, weights: tuple[float, ...]) -> str:
    """Say the commonest right answer of the question's kind, nine times of ten."""
    if draw.random() < 0.1:
        return "I do not know"
    match int(example.id) % 5:
        case 0:
            return CITIES[0]
        case 1:
            return NUMBERS[0]
        case 2:
            return "No"
        case 3:
            return example.input.split()[3]
        case _:
            return example.input.split()[1].strip(",")


def one_word(draw: random.Random, example: Example, weights: tuple[float, ...]) -> str:
    """Say one word, and now and then another."""
    return "No" if draw.random() < 0.95 else CITIES[0]


GUESSERS: dict[str, Callable[[random.Random, Example, tuple[float, ...]], str]] = {
    "one word": one_word,
    "the commonest of each kind": commonest,
    "by each kind's frequencies": by_frequency,
    "what stands in the question": copied,
}


def passes(
    draw: random.Random,
    name: str,
    n: int,
    t: int,
    *,
    skewed: bool,
    alike: float,
    how: Aggregate | None = None,
) -> bool:
    """Tell whether the best of t guessers passes, who share some of their answers.

    With several samples of each, these are the t guessers' own, those of one together.
    """
    k = 1 if how is None else how.samples
    examples, guess = asked(draw, n, skewed=skewed), GUESSERS[name]
    weights = SKEWED if skewed else BALANCED
    shared = {each.id: guess(draw, each, weights) for each in examples}
    said: list[Said] = [
        {
            each.id: shared[each.id] if draw.random() < alike else guess(draw, each, weights)
            for each in examples
        }
        for _ in range(t * k)
    ]
    found = coded(examples, said, Matching())
    shuffle = Shuffle(found.said, found.gold, None, found.strata, None, is_open=True, aggregate=how)
    test = permuted_open(shuffle, t, level=LEVEL)
    assert test.learnt is not None
    rights = [
        [said in own for said, own in zip(row, found.gold, strict=True)] for row in found.said
    ]
    scores = np.array(rights)
    if how is not None:
        scores = how.credits(scores.reshape(t, k, n).sum(axis=1)) / how.unit
    best = scores.mean(axis=1).max()
    return bool(test.p <= LEVEL and best > test.learnt.expected)


@pytest.mark.parametrize("name", GUESSERS)
@pytest.mark.parametrize(
    ("n", "t"),
    [(30, 1), (100, 10), (30, 200), (100, 1), (400, 1), (400, 10), (100, 200), (400, 200)][
        : None if WHOLE else 2
    ],
)
@pytest.mark.parametrize("skewed", [False, True])
def test_guessers_pass_no_more_than_the_level(
    name: str, n: int, t: int, skewed: bool, measured: Measured
) -> None:
    draw = random.Random(f"{name} {n} {t} {skewed}")
    shares = []
    for alike in (0.0, 0.8):
        passed = sum(passes(draw, name, n, t, skewed=skewed, alike=alike) for _ in range(RUNS))
        shares.append(passed / RUNS)
        assert passed <= most(RUNS)
    row = f"{name}, n = {n}, t = {t}, {'skewed' if skewed else 'balanced'}"
    measured(f"open answers: apart, and .8 shared ({RUNS} runs)", row, *shares)


@pytest.mark.parametrize("how", ["mean", "pass", "all"])
@pytest.mark.parametrize("name", ["one word", "by each kind's frequencies"])
def test_samples_help_no_guesser_of_open_answers(name: str, how: How, measured: Measured) -> None:
    """Samples are drawn anew, nearly alike, or the same each time."""
    cells = [(30, 1, 5), (100, 10, 5), (100, 1, 20), (400, 10, 5)]
    for n, t, k in cells if WHOLE else cells[:1]:
        draw, shares = random.Random(f"{name} {how} {n} {t} {k}"), []
        for alike in (0.0, 0.8, 1.0):
            aggregate = Aggregate(how, k)
            passed = sum(
                passes(draw, name, n, t, skewed=True, alike=alike, how=aggregate)
                for _ in range(RUNS)
            )
            shares.append(passed / RUNS)
            assert passed <= most(RUNS)
        row = f"{name} | {how} | n = {n}, k = {k} | t = {t}"
        measured(f"open answers, samples: apart, .8 and all alike ({RUNS} runs)", row, *shares)
