from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.stats.labels import null, scores
from pytest_maxrandom.stats.maximum import MaxRandomBaseline, ScoreBaseline
from tests.unit.stats.oracle import best_score

if TYPE_CHECKING:
    from numpy.typing import NDArray


close = pytest.approx
N, M, T = 100, 4, 10


def nvr(recalls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nvr-X score, from its definition: the least mean recall of the labels other than one."""
    others = [np.delete(recalls, label, axis=-1).mean(axis=-1) for label in range(M)]
    return np.asarray(np.min(others, axis=0))


def best_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(scores[: len(scores) // T * T].reshape(-1, T).max(axis=1))


def agree(baseline: ScoreBaseline, best: NDArray[np.float64]) -> None:
    """Expected best score, and p-values where they matter, agree with simulated best scores."""
    error = best.std() / math.sqrt(len(best))
    assert abs(baseline.expected - best.mean()) < 4.5 * math.hypot(error, baseline.expected_error)
    for quantile in (0.5, 0.9, 0.95, 0.99):
        score = float(np.quantile(best, quantile, method="higher"))
        share = np.mean(best >= score - 1e-12)
        spread = math.hypot(
            math.sqrt(share * (1 - share) / len(best)), baseline.p_value_error(score)
        )
        assert abs(baseline.p_value(score) - share) < 4.5 * spread


IDS = [str(i) for i in range(N)]


def presentations(guessers: int, seed: int) -> NDArray[np.bool_]:
    """Whether guessers are right, shape (guessers, n, m): one answer to each presentation."""
    generator = np.random.default_rng(seed)
    return np.asarray(generator.integers(M, size=(guessers, N, M), dtype=np.int8) == 0)


@pytest.fixture(scope="module")
def guessed() -> NDArray[np.bool_]:
    return presentations(40_000, 11)


def test_the_best_of_ten_in_plain_accuracy_is_318(guessed: NDArray[np.bool_]) -> None:
    best = best_of(guessed[:, :, 0].mean(axis=1))
    assert MaxRandomBaseline(N, 1 / M, T).expected_accuracy == close(best.mean(), abs=0.003)
    assert MaxRandomBaseline(N, 1 / M, T).expected_accuracy == close(0.318, abs=0.0005)


def test_the_best_of_ten_with_right_answers_moved_is_270(guessed: NDArray[np.bool_]) -> None:
    baseline = null.move_baseline([M] * N, T)
    agree(baseline, best_of(nvr(guessed.mean(axis=1))))
    assert baseline.expected == close(0.270, abs=0.0005)
    assert baseline.expected_error == 0


def test_the_best_of_ten_with_right_answers_redrawn_is_249(guessed: NDArray[np.bool_]) -> None:
    places = scores.redraw_places(IDS, [M] * N, seed=8)
    baseline = null.redraw_baseline([M] * N, places, T)
    redrawn = [guessed[:, np.arange(N), places[x]].mean(axis=1) for x in range(M)]
    agree(baseline, best_of(np.min(redrawn, axis=0)))
    assert baseline.expected == close(0.249, abs=0.0005)
    assert baseline.expected_error == 0


def test_redraws_that_share_presentations_share_their_guesses(
    guessed: NDArray[np.bool_],
) -> None:
    generator = np.random.default_rng(4)
    places = (np.arange(M)[:, None] + 1 + generator.integers(M - 1, size=(M, N))) % M
    baseline = null.redraw_baseline([M] * N, places, T)
    redrawn = [guessed[:, np.arange(N), places[x]].mean(axis=1) for x in range(M)]
    agree(baseline, best_of(np.min(redrawn, axis=0)))
    assert baseline.expected == close(0.261, abs=0.003)


def test_guessers_who_keep_to_a_choice_do_as_well_as_in_plain_accuracy() -> None:
    plain = MaxRandomBaseline(N, 1 / M, T)
    places = scores.redraw_places(IDS, [M] * N)
    for baseline in (
        null.move_baseline([M] * N, T, by_content=True),
        null.redraw_baseline([M] * N, places, T, by_content=True),
    ):
        assert baseline.expected == close(plain.expected_accuracy, rel=1e-9)
        for correct in (25, 32, 40, 60):
            assert baseline.p_value(correct / N) == close(plain.p_value(correct), rel=1e-9)


def test_a_model_that_keeps_to_a_choice_passes_too_often_unless_compared_with_such_guessers() -> (
    None
):
    held = np.random.default_rng(3).binomial(N, 1 / M, (4000, T)).max(axis=1) / N
    anew = null.move_baseline([M] * N, T)
    kept = null.move_baseline([M] * N, T, by_content=True)
    assert np.mean([anew.p_value(score) <= 0.05 for score in held]) > 0.5
    assert np.mean([kept.p_value(score) <= 0.05 for score in held]) <= 0.05 + 0.012


def by_hand(recalls: list[float]) -> float:
    return (sum(recalls) - max(recalls)) / (len(recalls) - 1)


@pytest.mark.parametrize("t", [1, 4, 50])
@pytest.mark.parametrize(
    ("gold", "choices"),
    [
        ([0, 0, 0, 1, 1, 2, 0], [2, 2, 3, 2, 3, 3, 3]),
        ([0, 1, 1, 3, 3, 3], [4] * 6),
        ([1, 0, 0, 0, 0, 0, 0, 0], [2] * 8),
        ([0, 0, 1, 2], [1, 3, 3, 3]),
    ],
)
def test_recall_agrees_with_every_way_to_guess(gold: list[int], choices: list[int], t: int) -> None:
    def score(guess: list[int]) -> float:
        shares = []
        for label in sorted(set(gold)):
            own = [g == label for g, right in zip(guess, gold, strict=True) if right == label]
            shares.append(sum(own) / len(own))
        return by_hand(shares)

    expected, tails = best_score(score, choices, t)
    baseline = null.recall_baseline(gold, choices, t)
    assert baseline.expected_error == 0
    assert baseline.expected == close(expected, rel=1e-12)
    for value, tail in tails.items():
        assert baseline.p_value(value) == close(tail, rel=1e-11)


def test_several_right_answers_agree_with_every_way_to_guess() -> None:
    gold: list[Any] = [{0, 1}, {1}, 2, {0, 2}, 0, {1, 2}, {0, 1, 2}]
    rights = [right if isinstance(right, set) else {right} for right in gold]
    choices = [3, 3, 3, 4, 2, 3, 3]

    def score(guess: list[int]) -> float:
        shares = []
        for label in range(3):
            own = [g == label for g, right in zip(guess, rights, strict=True) if label in right]
            shares.append(sum(own) / len(own))
        return by_hand(shares)

    expected, tails = best_score(score, choices, 5)
    baseline = null.recall_baseline(gold, choices, 5, seed=1)
    assert abs(baseline.expected - expected) < 4 * baseline.expected_error
    for value, tail in tails.items():
        assert abs(baseline.p_value(value) - tail) < 5 * baseline.p_value_error(value) + 1e-5


@pytest.mark.parametrize("by_content", [False, True])
def test_moves_of_unequal_examples_agree_with_every_way_to_guess(by_content: bool) -> None:
    choices = [2, 3, 2, 3] if by_content else [2, 3, 2]
    cells = [(i, label) for i, k in enumerate(choices) for label in range(k)]

    def score(guess: list[int]) -> float:
        if by_content:
            right = {(i, label): guess[i] == 0 for i, label in cells}
        else:
            right = {cell: g == cell[1] for cell, g in zip(cells, guess, strict=True)}
        shares = []
        for label in range(3):
            own = [hit for (_, at), hit in right.items() if at == label]
            shares.append(sum(own) / len(own))
        return by_hand(shares)

    ranges = choices if by_content else [choices[i] for i, _ in cells]
    expected, tails = best_score(score, ranges, 3)
    baseline = null.move_baseline(choices, 3, by_content=by_content)
    assert abs(baseline.expected - expected) < 4 * baseline.expected_error + 1e-12
    for value, tail in tails.items():
        assert abs(baseline.p_value(value) - tail) < 5 * baseline.p_value_error(value) + 1e-5


def test_redraws_of_unequal_examples_agree_with_every_way_to_guess() -> None:
    choices = [2, 3, 2, 1, 3]
    places = scores.redraw_places(list("abcde"), choices, seed=2)
    cells = [(i, label) for i, k in enumerate(choices) for label in range(k)]

    def score(guess: list[int]) -> float:
        said = dict(zip(cells, guess, strict=True))
        redraws = [
            [said[i, place] == place for i, place in enumerate(row) if place >= 0]
            for row in places.tolist()
        ]
        return float(min(sum(hits) / len(hits) for hits in redraws))

    expected, tails = best_score(score, [choices[i] for i, _ in cells], 3)
    baseline = null.redraw_baseline(choices, places, 3)
    assert abs(baseline.expected - expected) < 4 * baseline.expected_error
    for value, tail in tails.items():
        assert abs(baseline.p_value(value) - tail) < 5 * baseline.p_value_error(value) + 1e-5


def test_prompts_that_leave_out_their_demonstrations_are_guessed_where_they_are_scored() -> None:
    generator = np.random.default_rng(6)
    gold, t = np.repeat([0, 1, 2], [12, 8, 4]), 20
    evaluated = np.ones((t, len(gold)), dtype=bool)
    for row in evaluated:
        row[generator.choice(len(gold), 6, replace=False)] = False
    best = []
    for _ in range(6000):
        answers = np.where(evaluated, generator.integers(3, size=evaluated.shape), -1)
        best.append(scores.never_score(scores.recalls(answers, gold, 3)).max())
    baseline = null.recall_baseline(gold, [3] * len(gold), t, evaluated=evaluated)
    agree(baseline, np.array(best))
    everywhere = null.recall_baseline(gold, [3] * len(gold), t)
    assert everywhere.expected < baseline.expected - 0.01


def test_the_score_of_a_sweep_is_compared_with_equal_scores_as_equal() -> None:
    gold = np.repeat(range(3), [7, 11, 13])
    answers = np.random.default_rng(0).integers(3, size=(200, len(gold)))
    baseline = null.recall_baseline(gold, [3] * len(gold), 1)
    for score in scores.never_score(scores.recalls(answers, gold, 3)):
        at = np.abs(baseline.values - score).argmin()
        assert baseline.p_value(float(score)) == close(baseline.masses[at:].sum(), rel=1e-9)


def test_simulated_and_listed_scores_have_the_same_distribution() -> None:
    gold, choices = np.repeat(range(4), 15), [4] * 60
    exact = null.recall_baseline(gold, choices, 30)
    # One prompt more that misses an example makes it a mix, which is simulated.
    evaluated = np.ones((400, 60), dtype=bool)
    evaluated[0, 0] = False
    drawn = null.recall_baseline(gold, choices, 30, evaluated=evaluated, seed=7)
    assert drawn.draws is not None
    assert abs(drawn.expected - exact.expected) < 5 * drawn.expected_error
    at = next(x for x in exact.values if exact.p_value(x) <= 0.05)
    assert abs(drawn.p_value(at) - exact.p_value(at)) < 5 * drawn.p_value_error(at)
    assert drawn.p_value_error(at) < 0.0015


def test_scores_of_too_many_values_to_list_are_simulated() -> None:
    sizes = [41, 43, 47, 53, 59]
    gold = np.repeat(range(5), sizes)
    baseline = null.recall_baseline(gold, [5] * len(gold), T, draws=400_000)
    generator = np.random.default_rng(12)
    recalls = generator.binomial(sizes, 0.2, (100_000, 5)) / sizes
    others = (recalls.sum(axis=1) - recalls.max(axis=1)) / 4
    assert baseline.draws == 400_000
    agree(baseline, best_of(others))


def test_the_same_seed_gives_the_same_guessers() -> None:
    gold: list[Any] = [{0, 1}, 1, 2, 0, 1]
    same = [null.recall_baseline(gold, [3] * 5, 4, seed=3).expected for _ in range(2)]
    assert same[0] == same[1] != null.recall_baseline(gold, [3] * 5, 4, seed=4).expected


def test_what_cannot_be_guessed_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 labels"):
        null.recall_baseline([1, 1], [2, 2], 3)
    with pytest.raises(ValueError, match="of an example with 2 labels"):
        null.recall_baseline([1, 2], [2, 2], 3)
    with pytest.raises(ValueError, match="choices names 1 examples, gold 2"):
        null.recall_baseline([1, 0], [2], 3)
    with pytest.raises(ValueError, match="second label"):
        null.redraw_baseline([1, 1], np.full((1, 2), -1), 3)
    with pytest.raises(ValueError, match="shape"):
        null.move_baseline([2, 2], 3, evaluated=np.ones((2, 3), dtype=bool))
    with pytest.raises(ValueError, match="no example was evaluated"):
        null.move_baseline([2, 2], 3, evaluated=np.zeros((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="t must be at least 1"):
        null.move_baseline([2, 2], 0)
