"""Guessers of open answers, whose chance is learnt: each passes no more often than the level."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.shuffles import Shuffle, earned_of, permuted_open
from pytest_maxrandom.stats.learnt import learnt_chance, mean_accuracies, mean_credits
from pytest_maxrandom.stats.permutation import max_t_of_credits, max_t_test
from pytest_maxrandom.stats.samples import Aggregate
from pytest_maxrandom.sweeps.open_answers import coded
from pytest_maxrandom.tasks.references import Matching, Open, kind_of
from pytest_maxrandom.tasks.task import Example
from tests.proof.scale import LEVEL, WHOLE, affordable, most, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

    Labels = NDArray[np.int64]

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 20)
ARRANGEMENTS = 99
"""Of each run: with the observed one 100, of which a p-value at the level counts 5."""
ALIKE = 100
"""Runs that share their arrangements, as claims of one suite do."""
CITIES, NUMBERS = ("Paris", "Oslo", "Rome", "Bonn", "Lima"), ("5", "6", "7", "8", "9")
BALANCED, SKEWED = (0.2, 0.2, 0.2, 0.2, 0.2), (0.5, 0.2, 0.1, 0.1, 0.1)


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


Weighted = list[tuple[str, float]]
"""What a guesser may say to a question, and how probably."""


def by_frequency(example: Example, weights: tuple[float, ...]) -> Weighted:
    """Draw from the frequencies of the right answers to questions of this kind."""
    match int(example.id) % 5:
        case 0:
            return [*zip(CITIES, weights, strict=True)]
        case 1:
            return [*zip(NUMBERS, weights, strict=True)]
        case 2:
            first = 0.7 if weights is SKEWED else 0.5
            return [("No", first), ("Yes", 1 - first)]
        case _:
            return copied(example, weights)


def copied(example: Example, weights: tuple[float, ...]) -> Weighted:
    """Say something that stands in the question."""
    words = [word.strip(",.?:") for word in example.input.split()]
    match int(example.id) % 5:
        case 1:
            words = [word for word in words if word.isdigit()]
        case 3:
            return [*zip(words[-3::2], (weights[0], 1 - weights[0]), strict=True)]
        case 4:
            words = [word for word in words if word.startswith("Nam")]
    return [(word, 1 / len(words)) for word in words]


def commonest(example: Example, weights: tuple[float, ...]) -> Weighted:
    """Say the commonest right answer of the question's kind, nine times of ten."""
    match int(example.id) % 5:
        case 0:
            said = CITIES[0]
        case 1:
            said = NUMBERS[0]
        case 2:
            said = "No"
        case 3:
            said = example.input.split()[3]
        case _:
            said = example.input.split()[1].strip(",")
    return [(said, 0.9), ("I do not know", 0.1)]


def one_word(example: Example, weights: tuple[float, ...]) -> Weighted:
    """Say one word, and now and then another."""
    return [("No", 0.95), (CITIES[0], 0.05)]


GUESSERS: dict[str, Callable[[Example, tuple[float, ...]], Weighted]] = {
    "one word": one_word,
    "the commonest of each kind": commonest,
    "by each kind's frequencies": by_frequency,
    "what stands in the question": copied,
}


class Questions:
    """Questions with all that guessers may say to them, as labels: read once, drawn many times."""

    def __init__(self, draw: random.Random, n: int, *, skewed: bool, names: Iterable[str]) -> None:
        examples, weights = asked(draw, n, skewed=skewed), SKEWED if skewed else BALANCED
        of_name = {name: [GUESSERS[name](each, weights) for each in examples] for name in names}
        most = {name: max(map(len, found)) for name, found in of_name.items()}
        said = [
            {each.id: own[place % len(own)][0] for each, own in zip(examples, found, strict=True)}
            for name, found in of_name.items()
            for place in range(most[name])
        ]
        self.found, self._laws, rows = coded(examples, said, Matching()), {}, 0
        for name, found in of_name.items():
            law = np.ones((most[name], n))
            for column, own in enumerate(found):
                law[: len(own), column] = np.cumsum([weight for _, weight in own])
            sizes = np.array([*map(len, found)])
            self._laws[name] = self.found.said[rows : rows + most[name]], law[:-1], sizes
            rows += most[name]

    def drawn(self, rng: np.random.Generator, name: str, t: int, alike: float) -> Labels:
        """Return the answers of t guessers, who share some of theirs: shape (t, n)."""
        labels, law, sizes = self._laws[name]
        n = len(sizes)
        u = np.where(rng.random((t, n)) < alike, rng.random(n), rng.random((t, n)))
        found: Labels = labels[(u >= law[:, None]).sum(axis=0), np.arange(n)]
        return found

    def distinct(self, rng: np.random.Generator, name: str, t: int, k: int) -> Labels:
        """Return samples that differ as far as there is something else to say: (t * k, n)."""
        labels, _, sizes = self._laws[name]
        first = rng.integers(0, sizes, (t, len(sizes)))
        places = (first[:, None] + np.arange(k)[:, None]) % sizes
        found: Labels = labels[places, np.arange(len(sizes))].reshape(t * k, -1)
        return found

    def shuffle(self, said: Labels, how: Aggregate | None = None) -> Shuffle:
        """Return how the references can be shuffled; samples of t guessers are t times k rows."""
        found = self.found
        return Shuffle(said, found.gold, None, found.strata, None, is_open=True, aggregate=how)


def passes(shuffle: Shuffle, seed: int) -> bool:
    """Tell whether the best guesser passes, by fewer arrangements than a claim has."""
    drawn: dict[str, Any] = {
        "strata": shuffle.strata,
        "permutations": ARRANGEMENTS,
        "seed": seed // ALIKE,
    }
    if (how := shuffle.aggregate) is None:
        test = max_t_test(shuffle.answers, shuffle.gold, **drawn)
    else:
        kinds, earned = earned_of(shuffle, how)
        test = max_t_of_credits(earned, kinds, unit=how.unit, **drawn)
    if test.p_value > LEVEL:
        return False
    if how is None:
        means = mean_accuracies(shuffle.answers, shuffle.gold, strata=shuffle.strata)
    else:
        means = mean_credits(earned, kinds, how.unit, strata=shuffle.strata)
    return test.best > learnt_chance(means, test).expected


def test_a_claim_has_more_arrangements_of_the_same_test() -> None:
    draw, rng, name, t = random.Random(3), np.random.default_rng(3), "one word", 10
    questions = Questions(draw, 100, skewed=True, names=[name])
    for how in (None, Aggregate("mean", 5), Aggregate("pass", 5)):
        said = questions.drawn(rng, name, t * (5 if how else 1), 0.0)
        shuffle = questions.shuffle(said, how)
        claim = permuted_open(shuffle, t, level=LEVEL)
        shares = [passes(shuffle, seed) for seed in range(0, 200 * ALIKE, ALIKE)]
        assert abs(np.mean(shares) - (claim.p <= LEVEL)) < 0.5


@pytest.mark.parametrize(
    ("skewed", "n"),
    affordable(
        itertools.product((False, True), (30, 100, 400)),
        lambda cell: cell not in {(True, 30), (True, 100)},
    )
    if WHOLE
    else [(False, 30), (True, 30)],
)
def test_guessers_pass_no_more_than_the_level(n: int, skewed: bool, measured: Measured) -> None:
    tries = affordable((1, 10, 200), lambda t: n > 30 and n * t > 1000)
    cells = [*itertools.product(GUESSERS, tries, (0.0, 0.8))]
    passed = dict.fromkeys(cells, 0)
    draw, rng = random.Random(f"{n} {skewed}"), np.random.default_rng(n)
    for seed in range(RUNS):
        questions = Questions(draw, n, skewed=skewed, names=GUESSERS)
        for cell in cells:
            name, t, alike = cell
            said = questions.drawn(rng, name, t, alike)
            passed[cell] += passes(questions.shuffle(said), seed)
    for name, t, _ in cells[::2]:
        row = f"{name} | {'skewed' if skewed else 'balanced'} | {n} | {t}"
        shares = [passed[name, t, alike] / RUNS for alike in (0.0, 0.8)]
        columns = "guessers | kinds of answers | n | t | prompts apart | .8 shared"
        measured(f"open answers ({RUNS} runs)", columns, row, *shares)
    assert max(passed.values()) <= most(RUNS)


@pytest.mark.parametrize("n", affordable((30, 100, 400), lambda n: n > 30) if WHOLE else [30])
def test_samples_help_no_guesser_of_open_answers(n: int, measured: Measured) -> None:
    """Samples are drawn anew, or all different; the same ones are one answer."""
    name, hows, spreads = (
        "by each kind's frequencies",
        ("mean", "pass", "all"),
        ("anew", "distinct"),
    )
    sizes = [(t, k) for t, k in itertools.product((1, 10, 200), (5, 20)) if n * t * k <= 1e5]
    sizes = affordable(sizes, lambda size: size not in {(1, 5), (1, 20), (10, 5)})
    cells = [*itertools.product(sizes if WHOLE else sizes[:1], hows, spreads)]
    passed = dict.fromkeys(cells, 0)
    draw, rng = random.Random(str(n)), np.random.default_rng(n)
    for seed in range(RUNS):
        questions = Questions(draw, n, skewed=True, names=[name])
        for (t, k), how, spread in cells:
            said = (
                questions.drawn(rng, name, t * k, 0.0)
                if spread == "anew"
                else questions.distinct(rng, name, t, k)
            )
            shuffle = questions.shuffle(said, Aggregate(how, k))  # type: ignore[arg-type]
            passed[(t, k), how, spread] += passes(shuffle, seed)
    for (t, k), how, _ in cells[::2]:
        shares = [passed[(t, k), how, spread] / RUNS for spread in spreads]
        columns = "aggregate | n | samples | t | drawn anew | all different"
        row = f"{how} | {n} | {k} | {t}"
        measured(f"open answers, several samples ({RUNS} runs)", columns, row, *shares)
    assert max(passed.values()) <= most(RUNS)
