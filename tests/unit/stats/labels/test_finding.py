from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chisquare

from pytest_maxrandom.stats.labels import null, scores
from pytest_maxrandom.stats.labels.finding import finding, preference_p_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.record import LabelFinding
    from pytest_maxrandom.stats.maximum import ScoreBaseline

UNBALANCED = np.repeat(range(4), [45, 19, 18, 18])
BALANCED = np.repeat(range(4), 25)
DRAWS = 199
"""(DRAWS + 1) * .05 is whole, so that a simulated test at .05 loses no level by so few."""


def guesses(generator: np.random.Generator, t: int, n: int, m: int) -> NDArray[np.int64]:
    return generator.integers(m, size=(t, n))


def knowing(
    generator: np.random.Generator, gold: NDArray[np.int64], t: int, m: int, share: float
) -> NDArray[np.int64]:
    known = generator.random((t, len(gold))) < share
    return np.where(known, gold, guesses(generator, t, len(gold), m))


def found(
    answers: NDArray[np.int64], gold: NDArray[np.int64], m: int, baseline: ScoreBaseline
) -> LabelFinding:
    """What the guessers of a `recall` check find in these answers."""
    recall = scores.recalls(answers, gold, m)
    best = int((answers == gold).mean(axis=1).argmax())
    score = scores.best_of_prompts(scores.never_score(recall))[1]
    p = preference_p_value(answers[best], gold, [m] * len(gold), draws=DRAWS)
    return finding([baseline.p_value(score)], p, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gold", "m"), [(UNBALANCED, 4), (BALANCED, 4), (np.repeat([0, 1], [90, 10]), 2)]
)
def test_guessers_are_said_to_know_or_to_prefer_a_label_as_rarely_as_the_level_says(
    gold: NDArray[np.int64], m: int
) -> None:
    generator = np.random.default_rng(10)
    baseline = null.recall_baseline(gold, [m] * len(gold), 10)
    runs = 1500
    kinds = Counter(
        found(guesses(generator, 10, len(gold), m), gold, m, baseline) for _ in range(runs)
    )
    most = runs * 0.05 + 3 * np.sqrt(runs * 0.05 * 0.95)
    assert kinds["knowledge"] <= most
    assert kinds["label preference"] <= most


@pytest.mark.parametrize("label", range(4))
def test_a_constant_answer_is_a_preference(label: int) -> None:
    baseline = null.recall_baseline(UNBALANCED, [4] * 100, 10)
    assert found(np.full((10, 100), label), UNBALANCED, 4, baseline) == "label preference"


def test_a_constant_answer_is_a_preference_even_where_it_is_nearly_always_right() -> None:
    gold = np.repeat([0, 1], [90, 10])
    baseline = null.recall_baseline(gold, [2] * 100, 10)
    assert found(np.zeros((10, 100), dtype=int), gold, 2, baseline) == "label preference"


def test_knowledge_is_found_where_there_is_enough_data_and_labels_are_unbalanced() -> None:
    generator = np.random.default_rng(3)
    baseline = null.recall_baseline(UNBALANCED, [4] * 100, 10)
    kinds = Counter(
        found(knowing(generator, UNBALANCED, 10, 4, 0.3), UNBALANCED, 4, baseline)
        for _ in range(200)
    )
    assert kinds == {"knowledge": 200}


@pytest.mark.parametrize("counts", [[18, 8, 7, 7], [10, 10, 10, 10]])
def test_weak_knowledge_with_little_data_is_hardly_ever_a_preference(counts: list[int]) -> None:
    generator = np.random.default_rng(4)
    gold = np.repeat(range(4), counts)
    baseline = null.recall_baseline(gold, [4] * 40, 3)
    runs = 600
    kinds = Counter(
        found(knowing(generator, gold, 3, 4, 0.08), gold, 4, baseline) for _ in range(runs)
    )
    assert kinds["cannot tell"] > runs / 2
    assert kinds["label preference"] <= runs * 0.05 + 3 * np.sqrt(runs * 0.05 * 0.95)


def test_strong_knowledge_of_unbalanced_labels_is_no_preference() -> None:
    generator = np.random.default_rng(5)
    ps = [
        preference_p_value(row, UNBALANCED, [4] * 100, draws=DRAWS)
        for row in knowing(generator, UNBALANCED, 400, 4, 0.6)
    ]
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_on_balanced_labels_the_p_value_is_that_of_the_chi_square_test() -> None:
    generator = np.random.default_rng(6)
    gold = np.repeat(range(4), 250)
    for tilt in (0.25, 0.28, 0.31):
        rest = (1 - tilt) / 3
        answers = generator.choice(4, 1000, p=[tilt, rest, rest, rest])
        truth = chisquare(np.bincount(answers, minlength=4)).pvalue
        p = preference_p_value(answers, gold, [4] * 1000)
        assert abs(p - truth) < 4 * np.sqrt(truth * (1 - truth) / 20_000) + 0.004


def test_presentations_of_one_example_are_not_counted_as_several_examples() -> None:
    # The same answer at all placements: as uneven as n answers may be, not as 4 n.
    generator = np.random.default_rng(7)
    ps = [
        preference_p_value(
            np.repeat(generator.integers(4, size=(60, 1)), 4, axis=1),
            [0] * 60,
            [4] * 60,
            draws=DRAWS,
        )
        for _ in range(400)
    ]
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    constant = preference_p_value(np.zeros((60, 4), dtype=int), [0] * 60, [4] * 60)
    assert constant < 0.001


def test_examples_with_different_numbers_of_choices_are_guessed_as_they_are() -> None:
    generator = np.random.default_rng(8)
    choices = np.repeat([2, 3, 5], 30)
    gold = (np.arange(90) % 2).tolist()
    answers = [(generator.random(90) * choices).astype(int) for _ in range(400)]
    ps = [preference_p_value(row, gold, choices.tolist(), draws=DRAWS) for row in answers]
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_several_right_labels_are_known_in_equal_parts() -> None:
    generator = np.random.default_rng(9)
    gold = [{0, 1}] * 50 + [{2}] * 10
    ps = []
    for _ in range(300):
        answers = np.array([generator.choice(sorted(right)) for right in gold])
        ps.append(preference_p_value(answers, gold, [3] * 60, draws=DRAWS))
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_answers_that_were_not_given_or_are_no_label_count_for_nothing() -> None:
    answers = np.array([0, 0, 1, -1, 1, 0, -1])
    gold = [0, 1, 1, 1, 0, 0, 0]
    evaluated = answers >= 0
    left = [right for right, seen in zip(gold, evaluated, strict=True) if seen]
    assert preference_p_value(answers, gold, [2] * 7) == preference_p_value(
        answers[evaluated], left, [2] * 5
    )
    unread = np.where(evaluated, answers, 2 + np.arange(7))
    assert preference_p_value(unread, gold, [2] * 7) == preference_p_value(answers, gold, [2] * 7)
    assert preference_p_value(np.full(2, 2), [0, 1], [2, 2]) == 1
    with pytest.raises(ValueError, match="no example was evaluated"):
        preference_p_value(np.full(2, -1), [0, 1], [2, 2])
    with pytest.raises(ValueError, match="answers to 2 examples, gold of 3"):
        preference_p_value(np.zeros(2, dtype=int), [0, 1, 1], [2, 2])


def test_every_test_of_the_score_decides_and_then_the_shares_of_the_labels() -> None:
    assert finding([0.05], 1.0, 0.05) == "knowledge"
    assert finding([0.05, 0.02], 0.06, 0.05) == "knowledge"
    assert finding([0.02, 0.051], 0.4, 0.05) == "cannot tell"
    assert finding([0.051, 0.02], 0.05, 0.05) == "label preference"
    assert finding([0.051, 0.02], 0.061, 0.06) == "knowledge"
    assert finding([0.9], 0.06, 0.05) == "cannot tell"


def test_where_a_label_is_preferred_the_last_test_must_show_ten_times_as_much() -> None:
    assert finding([0.05, 0.005], 0.01, 0.05) == "knowledge"
    assert finding([0.001, 0.0051], 5e-5, 0.05) == "cannot tell"
    assert finding([0.001, 0.0051], 0.051, 0.05) == "knowledge"
    assert finding([0.0051], 0.05, 0.05) == "cannot tell"
    assert finding([0.051, 0.0001], 0.05, 0.05) == "label preference"


def test_nobody_knows_whose_claim_fails() -> None:
    assert finding([1e-6, 1e-4], 1.0, 0.05, claim_holds=False) == "cannot tell"
    assert finding([1e-6, 1e-4], 5e-5, 0.05, claim_holds=False) == "cannot tell"
    assert finding([0.9, 0.9], 5e-5, 0.05, claim_holds=False) == "label preference"
