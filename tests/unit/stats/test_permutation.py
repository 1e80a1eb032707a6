from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.stats.labels.scores import NEVER_X
from pytest_maxrandom.stats.majority import majority_answer
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import STOP_AFTER, max_t_of_all, max_t_test


def every_permutation(
    predictions: list[list[int]], gold: list[set[int]], choices: list[int]
) -> float:
    """Share of all within-stratum permutations whose best accuracy reaches the observed one."""

    def best(labels: list[set[int]]) -> Fraction:
        return max(
            Fraction(
                sum(p in right for p, right in zip(row, labels, strict=True) if p >= 0),
                sum(p >= 0 for p in row),
            )
            for row in predictions
        )

    orders = [
        order
        for order in permutations(range(len(gold)))
        if all(choices[i] == choices[j] for i, j in enumerate(order))
    ]
    reached = sum(best([gold[j] for j in order]) >= best(gold) for order in orders)
    return reached / len(orders)


cases = {
    "one stratum": (
        [[0, 1, 1, 0, 2, 1], [2, 2, 1, 0, 2, 1]],
        [{0}, {1}, {1}, {0}, {2}, {0}],
        [3] * 6,
    ),
    "two strata": (
        [[0, 1, 1, 3, 2, 1], [1, 0, 1, 0, 2, 3]],
        [{0}, {1}, {1}, {0}, {2}, {3}],
        [2, 2, 2, 4, 4, 4],
    ),
    "several right": ([[0, 1, 2, 0, 1, 2]], [{0, 1}, {1}, {2}, {0}, {1, 2}, {0}], [3] * 6),
    "not evaluated": (
        [[0, -1, 1, 0, 0, 1], [1, 0, 1, -1, -1, 0]],
        [{0}, {1}, {1}, {0}, {0}, {1}],
        [2] * 6,
    ),
}


@pytest.mark.parametrize("case", cases)
def test_the_p_value_estimates_the_share_of_all_permutations(case: str) -> None:
    predictions, gold, choices = cases[case]
    result = max_t_test(predictions, gold, choices, permutations=39_999, seed=1)
    assert result.p_value == pytest.approx(every_permutation(predictions, gold, choices), abs=0.01)
    assert result.p_value == (1 + result.exceedances) / 40_000


@pytest.mark.parametrize("case", cases)
def test_what_labels_are_called_does_not_matter(case: str) -> None:
    predictions, gold, choices = cases[case]
    other = [7, 3, 0, 5]
    renamed = [[other[p] if p >= 0 else p for p in row] for row in predictions]
    named = [{other[g] for g in right} for right in gold]
    assert max_t_test(renamed, named, strata=choices, permutations=300) == max_t_test(
        predictions, gold, choices, permutations=300
    )


def test_the_best_accuracy_is_a_fraction_of_the_examples_that_the_prompt_was_scored_on() -> None:
    result = max_t_test([[0, 1, 1, 0], [-1, 0, 1, 1]], [0, 0, 1, 1])
    assert (result.best, result.best_prompt) == (1, 1)


def test_perfect_predictions_reach_the_smallest_p_value() -> None:
    gold = np.random.default_rng(0).integers(0, 4, 100)
    result = max_t_test(gold[None, :], gold, np.full(100, 4), permutations=999)
    assert (result.p_value, result.exceedances) == (0.001, 0)


def test_constant_predictions_are_never_evidence() -> None:
    gold = np.repeat([0, 1], [70, 30])
    constant = np.array([np.zeros(100, dtype=int), np.ones(100, dtype=int)])
    assert max_t_test(constant, gold, permutations=99).p_value == 1.0


def test_an_early_stop_comes_at_the_permutation_that_brings_the_last_exceedance() -> None:
    generator = np.random.default_rng(5)
    predictions, gold = generator.integers(0, 2, (20, 50)), generator.integers(0, 2, 50)
    whole = max_t_test(predictions, gold, permutations=5000, seed=3)
    early = max_t_test(predictions, gold, permutations=5000, stop_after=40, seed=3)
    before = max_t_test(predictions, gold, permutations=early.permutations - 1, seed=3)
    assert (early.exceedances, before.exceedances) == (40, 39)
    assert early.p_value == 40 / early.permutations
    assert early.permutations < whole.permutations == 5000
    rare = max_t_test(predictions, gold, permutations=5000, stop_after=5000, seed=3)
    assert rare == whole


def test_scores_by_label_are_permuted_until_they_are_decided_too() -> None:
    generator = np.random.default_rng(7)
    answers, gold = generator.integers(0, 2, (20, 50)), generator.integers(0, 2, 50)

    def p_value(answers: Any, permutations: int, stop_after: int | None = None) -> float:
        return max_t_test(
            answers, gold, statistic=NEVER_X, permutations=permutations, stop_after=stop_after
        ).p_value

    whole, early = p_value(answers, 20_000), p_value(answers, 20_000, 400)
    assert early != whole
    assert 400 / early == pytest.approx(round(400 / early))
    assert 400 / early < 20_000
    assert early == pytest.approx(whole, rel=0.15)
    assert p_value(gold[None], 999, 1) == 0.001


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 20])
def test_who_runs_the_best_of_earlier_prompts_again_with_copies_gains_nothing(copies: int) -> None:
    generator = np.random.default_rng(8)
    gold, runs, passed = np.repeat([1, 0], [70, 30]), 150, 0
    for seed in range(runs):
        earlier = (generator.random((200, 100)) < 0.9).astype(np.int64)
        best = earlier[np.argmax((earlier == gold).sum(axis=1))]
        changed = generator.random((copies, 100)) < 0.02
        again = np.where(changed, generator.random((copies, 100)) < 0.9, best)
        again[0] = best
        p, *_ = max_t_of_all(again, gold, None, 199 + copies, level=0.05, seed=seed)
        passed += p <= 0.05
    assert passed / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_prompts_that_are_not_at_hand_add_the_p_value_of_the_best_one() -> None:
    generator = np.random.default_rng(8)
    gold = generator.integers(0, 2, 60)
    answers = np.where(generator.random((5, 60)) < 0.3, gold, generator.integers(0, 2, (5, 60)))
    p, test, _ = max_t_of_all(answers, gold, None, 5, level=0.05)
    assert p == test.p_value == max_t_test(answers, gold, stop_after=STOP_AFTER).p_value
    more, *_ = max_t_of_all(answers, gold, None, 9, level=0.05)
    alone = max_t_test(answers[test.best_prompt][None], gold, stop_after=STOP_AFTER).p_value
    assert more == pytest.approx(p + 4 * alone, rel=0.1)
    known, *_ = max_t_of_all(gold[None], gold, None, 1000, level=0.05)
    assert known <= 0.01  # a perfect result passes among many


@pytest.mark.parametrize("level", [0.05, 0.0005])
@pytest.mark.parametrize("others", [0, 1, 60, 500])
def test_no_score_is_said_to_be_too_low_where_a_perfect_prompt_would_pass(
    level: float, others: int
) -> None:
    """A test of guesses stops early: its few draws do not tell that no score is enough."""
    generator = np.random.default_rng(3)
    gold = generator.integers(0, 2, 60)
    guesses = generator.integers(0, 2, (4, 60))
    guesses[:] = np.where(generator.random((4, 60)) < 0.5, gold, 1 - gold)[0]
    p, test, bound = max_t_of_all(guesses, gold, None, 4 + others, level=level)
    assert p > level
    assert test.exceedances >= STOP_AFTER
    perfect = np.concatenate([gold[None], guesses[1:]])
    passes, _, reached = max_t_of_all(perfect, gold, None, 4 + others, level=level)
    assert passes <= level
    assert bound is None or bound < 1
    assert reached is not None
    assert reached < 1


def test_the_same_seed_gives_the_same_result_and_gold_may_be_labels_or_sets() -> None:
    generator = np.random.default_rng(6)
    predictions, gold = generator.integers(0, 3, (10, 40)), generator.integers(0, 3, 40)
    first = max_t_test(predictions, gold, permutations=500, seed=8)
    assert first == max_t_test(predictions, [{int(g)} for g in gold], permutations=500, seed=8)
    assert first != max_t_test(predictions, gold, permutations=500, seed=9)


refused: list[tuple[dict[str, Any], str]] = [
    ({"predictions": [[0, 1, 2]]}, "prediction of prompt 0 for example 2 must be a choice from 0"),
    ({"predictions": [[0, -2, 1]]}, "prediction of prompt 0 for example 1"),
    ({"predictions": [[-1, -1, -1]]}, "prompt 0 was evaluated on no example"),
    ({"predictions": [0, 1, 0]}, "predictions must have 2 dimension"),
    ({"predictions": np.zeros((0, 3), dtype=int)}, "none empty"),
    ({"gold": [0, 1]}, "gold names 2 examples, the predictions 3"),
    ({"gold": [0, 1, 2]}, "gold of example 2 must be a choice from 0 to 1, found 2"),
    ({"gold": [{0}, set(), {1}]}, "gold of example 1 names no right choice"),
    ({"strata": [1, 2]}, "strata names 2 examples"),
    ({"choices": [2, 2]}, "choices names 2 examples"),
    ({"choices": [2, 2, 0]}, "choices must be at least 1"),
    ({"permutations": 0}, "permutations must be at least 1"),
    ({"stop_after": 0}, "stop_after must be at least 1"),
]


@pytest.mark.parametrize(("change", "message"), refused)
def test_arrays_that_do_not_fit_are_refused_in_one_sentence(
    change: dict[str, Any], message: str
) -> None:
    good: dict[str, Any] = {"predictions": [[0, 1, 0]], "gold": [0, 1, 1], "choices": [2, 2, 2]}
    with pytest.raises(ValueError, match=message):
        max_t_test(**(good | change))


def test_predictions_that_are_no_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="predictions must hold integers"):
        max_t_test([[0.0, 1.0]], [0, 1])


def test_the_majority_answer_is_the_best_constant_one() -> None:
    answer = majority_answer(["no"] * 27 + ["yes"] * 13)
    assert (answer.answer, answer.correct, answer.n, answer.rate) == ("no", 27, 40, 0.675)
    assert answer.p_value(MaxRandomBaseline(40, 0.5, 200)) == (
        MaxRandomBaseline(40, 0.5, 200).p_value(27)
    )


def test_a_constant_answer_counts_every_example_it_is_right_for() -> None:
    found = majority_answer([{0, 1}, {1}, {1, 2}, {0}])
    assert (found.answer, found.correct) == (1, 3)


def test_no_example_has_no_majority_answer() -> None:
    with pytest.raises(ValueError, match="at least 1 example"):
        majority_answer([])


def test_permutations_that_tests_share_are_those_that_each_would_draw() -> None:
    answers = np.random.default_rng(5)
    gold = answers.integers(0, 2, 30)
    knowing = np.where(answers.random(30) < 0.7, gold, 1 - gold)
    drawn = np.random.default_rng(0)
    orders = np.concatenate(
        [drawn.permuted(np.tile(np.arange(30), (size, 1)), axis=1) for size in (1024, 976)]
    )
    # One that stops early leaves permutations for others to draw.
    for said in (1 - knowing, knowing, answers.integers(0, 2, 30), 1 - knowing, knowing):
        reached = (gold[orders] == said).sum(axis=1) >= (gold == said).sum()
        exceeded = np.cumsum(reached)
        found = max_t_test([said], gold, permutations=2000, stop_after=400)
        stop = int(np.searchsorted(exceeded, 400))
        if stop < 2000:
            assert (found.permutations, found.p_value) == (stop + 1, 400 / (stop + 1))
        else:
            assert (found.permutations, found.exceedances) == (2000, exceeded[-1])


@pytest.mark.parametrize("held", [0, 2**20])
@pytest.mark.parametrize("labels", [2, 3])
def test_prompts_that_are_multiplied_two_as_one_are_those_that_are_counted(
    labels: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(labels)
    gold = [{int(each)} for each in generator.integers(0, labels, 60)]
    answers = generator.integers(-1, labels, (9, 60))
    name = "pytest_maxrandom.stats.arranged."
    monkeypatch.setattr(name + "_HELD", held)
    monkeypatch.setattr(name + "_FEWEST_AT_ONCE", 1)
    monkeypatch.setattr(name + "_EXACT", 1 << 12)  # so that few examples are summed at a time
    for right in (gold, [*gold[:-1], {0, 1}]):  # the last of which no label tells alone
        scored = (answers >= 0).sum(axis=1)
        counted = [sum(x in r for x, r in zip(row, right, strict=True)) for row in answers]
        found = []
        for worth in (0, 10**9):
            monkeypatch.setattr(name + "_WORTH_PACKING", worth)
            found.append(max_t_test(answers, right, [labels] * 60, permutations=300))
            assert found[-1].best == (counted / scored).max()
        assert (found[0].maxima == found[1].maxima).all()


@pytest.mark.parametrize("labels", [2, 4])
def test_credits_that_do_not_stay_in_memory_are_those_that_do(
    labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(labels)
    gold = generator.integers(0, labels, 60)
    answers = generator.integers(-1, labels, (9, 60))
    wide = max_t_test(answers, gold, permutations=300)
    monkeypatch.setattr("pytest_maxrandom.stats.arranged._HELD", 0)
    monkeypatch.setattr("pytest_maxrandom.stats.arranged._CELLS", 400)  # of several batches as one
    narrow = max_t_test(answers.astype(np.int8), gold, permutations=300)
    assert narrow == wide
    assert (narrow.maxima == wide.maxima).all()
    scored = (answers >= 0).sum(axis=1)
    assert wide.best == ((answers == gold).sum(axis=1) / scored).max()
