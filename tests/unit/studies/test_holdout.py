"""Splits, the best prompt of each, and how well its validation accuracy foretells its test."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.studies.holdout import (
    Conventions,
    PredictiveValue,
    Trials,
    predictive_values,
    split_trials,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

HALF = Fraction(1, 2)


def splits_of(n: int, splits: int, validation: float, seed: int) -> NDArray[np.bool_]:
    """Which examples are in the validation parts, shape (splits, n), as behaviour shows it.

    A prompt that knows one example of which nearly nothing can be guessed is above the standard
    baseline if and only if that example is in the validation part.
    """
    columns = []
    for place in range(n):
        knows = np.eye(n, dtype=bool)[[place]]
        trials = split_trials(
            knows,
            np.ones_like(knows),
            [Fraction(1, 10**6)] * n,
            splits=splits,
            validation=validation,
            seed=seed,
        )
        columns.append(trials.above_standard)
    return np.array(columns).T


def count_masses(chances: Sequence[Fraction]) -> list[Fraction]:
    """P(number correct of one guesser = k) for k = 0 .. n, exactly."""
    masses = [Fraction(1)]
    for chance in chances:
        wrong = [mass * (1 - chance) for mass in masses]
        right = [mass * chance for mass in masses]
        masses = [a + b for a, b in zip([*wrong, Fraction(0)], [Fraction(0), *right], strict=True)]
    return masses


def best_at_most(accuracy: Fraction, guessers: Sequence[Sequence[Fraction]]) -> Fraction:
    """P(best accuracy of the guessers <= accuracy), exactly."""
    product = Fraction(1)
    for chances in guessers:
        product *= sum(count_masses(chances)[: math.floor(accuracy * len(chances)) + 1])
    return product


def expected_best(guessers: Sequence[Sequence[Fraction]]) -> Fraction:
    points = sorted({Fraction(k, len(own)) for own in guessers for k in range(len(own) + 1)})
    steps = itertools.pairwise(points)
    return sum(((b - a) * (1 - best_at_most(a, guessers)) for a, b in steps), start=Fraction(0))


def sweep(
    prompts: int, n: int, seed: int, accuracy: float = 0.6
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Random answers of prompts of which each leaves out two examples."""
    generator = np.random.default_rng(seed)
    evaluated = np.ones((prompts, n), dtype=bool)
    for row in evaluated:
        row[generator.choice(n, size=2, replace=False)] = False
    return (generator.random((prompts, n)) < accuracy) & evaluated, evaluated


@pytest.mark.parametrize(
    ("chances", "accuracy"),
    [
        ([HALF] * 12, 0.5),
        ([HALF] * 12, 0.8),
        ([Fraction(1, 3)] * 12, 0.2),
        ([Fraction(1, 5)] * 4 + [HALF] * 5 + [Fraction(2, 3)] * 3, 0.5),
    ],
)
def test_every_split_agrees_with_a_loop_in_exact_fractions(
    chances: list[Fraction], accuracy: float
) -> None:
    correct, evaluated = sweep(5, 12, seed=len(set(chances)), accuracy=accuracy)
    trials = split_trials(correct, evaluated, chances, splits=25, seed=3)
    drawn = splits_of(12, 25, 0.75, seed=3)
    assert len(trials) == 25
    for split, part in enumerate(drawn):
        seen = [np.flatnonzero(row & part) for row in evaluated]
        accuracies = [
            Fraction(int(row[own].sum()), len(own)) for row, own in zip(correct, seen, strict=True)
        ]
        best = accuracies.index(max(accuracies))
        guessers = [[chances[place] for place in own] for own in seen]
        standard = sum(guessers[best]) / len(guessers[best])
        tested = np.flatnonzero(evaluated[best] & ~part)
        on_test = Fraction(int(correct[best][tested].sum()), len(tested))

        assert trials.above_standard[split] == (accuracies[best] > standard)
        assert trials.above_maximum[split] == (accuracies[best] > expected_best(guessers))
        assert trials.test_above_chance[split] == (
            on_test > sum(chances[place] for place in tested) / len(tested)
        )
        for score, those in (
            (trials.standard_score[split], [guessers[best]]),
            (trials.maximum_score[split], guessers),
        ):
            above = 1 - best_at_most(accuracies[best], those)
            assert math.exp(-score) == pytest.approx(float(above), rel=1e-12)


def test_the_papers_conventions_count_the_whole_part_and_all_prompts() -> None:
    correct, evaluated = sweep(7, 20, seed=1)
    trials = split_trials(correct, evaluated, [HALF] * 20, splits=40, seed=5, conventions="paper")
    drawn = splits_of(20, 40, 0.75, seed=5)
    counts = np.arange(16)
    cdf = stats.binom.cdf(counts, 15, 0.5)
    expected_maximum = (counts * np.diff(cdf**7, prepend=0)).sum() / 15
    for split, part in enumerate(drawn):
        accuracies = [
            Fraction(int((right & part).sum()), int((seen & part).sum()))
            for right, seen in zip(correct, evaluated, strict=True)
        ]
        best = max(accuracies)
        below = cdf[math.floor(best * 15)]
        assert trials.above_standard[split] == (best > HALF)
        assert trials.above_maximum[split] == (best > expected_maximum)
        assert math.exp(-trials.standard_score[split]) == pytest.approx(1 - below, rel=1e-9)
        assert math.exp(-trials.maximum_score[split]) == pytest.approx(1 - below**7, rel=1e-9)


@pytest.mark.parametrize("choices", [2, 3, 5, 7])
@pytest.mark.parametrize("conventions", ["exact", "paper"])
def test_for_one_prompt_both_baselines_are_the_same(choices: int, conventions: Conventions) -> None:
    n = 4 * choices
    knows = (np.arange(n) % choices == 0)[None, :]
    trials = split_trials(
        knows, np.ones_like(knows), [Fraction(1, choices)] * n, conventions=conventions
    )
    assert (trials.above_maximum == trials.above_standard).all()
    assert 0 < trials.above_standard.mean() < 1


@pytest.mark.parametrize(("validation", "n", "size"), [(0.75, 10, 7), (0.7, 10, 7), (0.5, 3, 1)])
def test_the_validation_part_is_rounded_down_and_every_example_has_the_same_share(
    validation: float, n: int, size: int
) -> None:
    drawn = splits_of(n, 2000, validation, seed=0)
    assert (drawn.sum(axis=1) == size).all()
    spread = math.sqrt(size / n * (1 - size / n) / 2000)
    assert abs(drawn.mean(axis=0) - size / n).max() < 4.5 * spread


def test_splits_have_nothing_in_common_with_answers_simulated_from_the_same_seed() -> None:
    for seed in range(5):
        knows = np.random.default_rng(seed).random((1, 200)) < 0.75
        trials = split_trials(
            knows, np.ones_like(knows), [HALF] * 200, splits=1, validation=0.75, seed=seed
        )
        # Split by the very numbers that made the answers, the validation part would be all right.
        assert math.exp(-trials.standard_score[0]) > 0


def test_a_seed_gives_the_same_splits_again_and_another_seed_gives_others() -> None:
    first, again, other = (splits_of(20, 50, 0.75, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any(axis=1).mean() > 0.9


def test_of_guessers_the_validation_accuracy_foretells_nothing() -> None:
    generator, everywhere = np.random.default_rng(7), np.ones((20, 60), dtype=bool)
    parts = [
        split_trials(generator.random((20, 60)) < 0.5, everywhere, [HALF] * 60, splits=1, seed=seed)
        for seed in range(1000)
    ]
    trials = Trials(
        *(np.concatenate([getattr(part, of.name) for part in parts]) for of in fields(Trials))
    )
    above = float(trials.test_above_chance.mean())
    assert above == pytest.approx(stats.binom.sf(7, 15, 0.5), abs=0.06)
    for value in predictive_values(trials).values():
        assert value.auroc_F == pytest.approx(0.5, abs=0.06)
        assert value.auroc == pytest.approx(0.5, abs=0.06)
        assert value.precision == pytest.approx(above, abs=0.06)
    # The best of guessers is above the standard baseline, and above the maximum half of the time.
    assert trials.above_standard.mean() > 0.99
    assert 0.3 < trials.above_maximum.mean() < 0.7
    assert np.exp(-trials.maximum_score).mean() == pytest.approx(0.5, abs=0.15)


def test_a_model_that_knows_is_recognised_by_both_baselines() -> None:
    correct = np.random.default_rng(0).random((20, 200)) < 0.9
    trials = split_trials(correct, np.ones_like(correct), [HALF] * 200)
    for value in predictive_values(trials).values():
        assert (value.tp, value.accuracy, value.precision, value.recall) == (100, 1, 1, 1)


def test_accuracies_whose_distribution_function_rounds_to_one_keep_their_order() -> None:
    n = 2000
    known = [np.arange(n) % 20 < right for right in (12, 14, 16, 18)]
    chance = [Fraction(1, 10)] * n
    scores = [
        split_trials(row[None, :], np.ones((1, n)), chance, splits=1).maximum_score[0]
        for row in known
    ]
    assert scores == sorted(scores)
    assert len(set(scores)) == 4
    assert scores[0] > -math.log(np.finfo(float).eps)


def trials_of(predicted: Sequence[int], outcome: Sequence[int], score: Sequence[float]) -> Trials:
    flags = np.array(predicted, dtype=bool)
    return Trials(flags, flags, np.array(score), np.array(score), np.array(outcome, dtype=bool))


def test_predictive_values_are_the_quotients_of_four_counts() -> None:
    predicted = [1] * 6 + [0] * 4
    outcome = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    value = predictive_values(trials_of(predicted, outcome, np.arange(10.0)[::-1].tolist()))[
        "maximum"
    ]
    assert (value.tp, value.fp, value.tn, value.fn) == (4, 2, 3, 1)
    assert (value.accuracy, value.precision, value.recall) == (7 / 10, 4 / 6, 4 / 5)
    assert value.auroc == pytest.approx((4 / 5 + 3 / 5) / 2)
    assert value.aupr == pytest.approx(4 / 5 * 4 / 6 + 1 / 5 * 5 / 10)
    pairs = [(10 - i) > (10 - j) for i in range(10) for j in range(10) if outcome[i] > outcome[j]]
    assert value.auroc_F == pytest.approx(sum(pairs) / len(pairs))


def test_an_infinite_score_is_the_highest() -> None:
    value = predictive_values(trials_of([1, 1, 0], [1, 0, 0], [math.inf, 5.0, 1.0]))["standard"]
    assert (value.auroc_F, value.aupr_F) == (1, 1)


def test_what_has_no_value_is_none() -> None:
    never = predictive_values(trials_of([0, 0], [0, 1], [1.0, 2.0]))["standard"]
    assert (never.precision, never.recall, never.auroc) == (None, 0, 0.5)
    alike = predictive_values(trials_of([0, 1], [0, 0], [1.0, 2.0]))["standard"]
    assert alike == PredictiveValue(0, 1, 1, 0, 0.5, 0, None, None, None, None, None)


def test_a_split_without_a_test_example_of_the_best_prompt_is_left_out() -> None:
    correct = np.array([[True, False, False, False], [False] * 4])
    evaluated = np.array([[True, False, False, False], [True] * 4])
    trials = split_trials(correct, evaluated, [HALF] * 4, splits=60)
    drawn = splits_of(4, 60, 0.75, seed=0)
    assert 0 < len(trials) < 60
    # Where its only example is in the validation part, the first prompt is best.
    assert len(trials) == (~drawn[:, 0]).sum()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluated": np.ones((2, 5))}, r"shape \(prompts, 4 examples\), found \(2, 4\)"),
        ({"chances": [HALF] * 3}, r"shape \(prompts, 3 examples\)"),
        ({"validation": 0.2}, "validation 0.2 of 4 examples leaves 0 for validation and 4 for"),
        ({"validation": 1.0}, "leaves 4 for validation and 0 for the test"),
        ({"validation": 1.5}, "validation must be a probability from 0 to 1, found 1.5"),
        ({"splits": 0}, "splits must be at least 1, found 0"),
        ({"seed": -1}, "seed must be at least 0, found -1"),
        ({"conventions": "mine"}, "conventions must be 'exact' or 'paper', found 'mine'"),
        (
            {"conventions": "paper", "chances": [HALF, HALF, HALF, Fraction(1, 3)]},
            "the paper's conventions need one chance for all examples, found 2; use the exact",
        ),
        ({"evaluated": np.eye(4)[[0]], "correct": np.eye(4)[[0]]}, "no split gives the best"),
    ],
)
def test_what_cannot_be_split_is_refused(changes: dict[str, object], message: str) -> None:
    arguments = {
        "correct": np.ones((2, 4)),
        "evaluated": np.ones((2, 4)),
        "chances": [HALF] * 4,
        "splits": 3,
    }
    with pytest.raises(ValueError, match=message):
        split_trials(**(arguments | changes))  # type: ignore[arg-type]
