from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.labels import scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

close = pytest.approx


def test_recalls_match_a_worked_example() -> None:
    answers = np.array([[0, 1, 0, 2, 0], [0, 0, -1, 2, 2]])
    recall = scores.recalls(answers, [0, 0, 0, 2, {1, 2}], 4)
    assert recall[0].tolist() == close([2 / 3, 0, 1 / 2, np.nan], nan_ok=True)
    assert recall[1].tolist() == close([1, 0, 1, np.nan], nan_ok=True)
    assert scores.never_score(recall).tolist() == close([(2 / 3 + 1 / 2 - 2 / 3) / 2, 1 / 2])


golds = st.lists(
    st.integers(2, 5).flatmap(
        lambda k: st.sets(st.integers(0, k - 1), min_size=1, max_size=3).map(lambda s: (s, k))
    ),
    min_size=2,
    max_size=12,
).filter(lambda rows: len(set().union(*(right for right, _ in rows))) > 1)


@given(golds, st.integers(0, 4))
def test_a_constant_answer_scores_zero_whatever_is_right(
    rows: list[tuple[set[int], int]], label: int
) -> None:
    answers = np.full((1, len(rows)), label)
    recall = scores.recalls(answers, [right for right, _ in rows], 5)
    assert scores.never_score(recall).tolist() == [0.0]


def placed(choices: list[int], *, knowing: bool) -> NDArray[np.int64]:
    """Answers of one prompt that knows all, or always says label 0: shape (1, n, m)."""
    labels = np.arange(max(choices))
    there = labels < np.array(choices)[:, None]
    return np.where(there, labels if knowing else 0, NOT_EVALUATED)[None]


@given(st.lists(st.integers(2, 5), min_size=1, max_size=8), st.integers(0, 9))
def test_a_constant_answer_scores_zero_and_knowledge_one_wherever_right_answers_stand(
    choices: list[int], seed: int
) -> None:
    places = scores.redraw_places([str(i) for i in range(len(choices))], choices, seed=seed)
    for knowing, score in ((False, 0.0), (True, 1.0)):
        answers = placed(choices, knowing=knowing)
        recall = scores.moved_recalls(answers)
        assert scores.never_score(recall).tolist() == [score]
        redrawn = scores.redrawn_accuracies(answers, places)
        assert scores.worst_redraw(redrawn).tolist() == [score]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 99))
def test_redrawn_places_avoid_the_label_and_serve_one_redraw_each(
    choices: list[int], seed: int
) -> None:
    ids = [f"e{i}" for i in range(len(choices))]
    places = scores.redraw_places(ids, choices, seed=seed)
    assert places.shape == (max(choices), len(choices))
    for i, k in enumerate(choices):
        drawn = places[:, i].tolist()
        if k == 1:
            assert set(drawn) == {NOT_EVALUATED}
            continue
        assert sorted(drawn[:k]) == list(range(k))
        assert all(place != label for label, place in enumerate(drawn))
        assert set(drawn[k:]) <= set(range(k))
    # An example's places depend on its name alone.
    again = scores.redraw_places(ids[::-1], choices[::-1], seed=seed)
    assert again[:, ::-1].tolist() == places.tolist()


def test_redrawn_places_are_uniform_over_the_other_labels() -> None:
    places = scores.redraw_places([str(i) for i in range(6000)], [4] * 6000, seed=5)
    for label in range(4):
        counts = np.bincount(places[label], minlength=4)
        others = np.delete(counts, label)
        assert counts[label] == 0
        assert np.all(np.abs(others - 2000) < 4.5 * np.sqrt(6000 * 2 / 9))


def test_the_accuracy_of_a_redraw_is_on_average_the_mean_of_the_other_recalls() -> None:
    generator = np.random.default_rng(2)
    right = generator.random((1, 4000, 4)) < [0.9, 0.4, 0.2, 0.1]
    answers = np.where(right, np.arange(4), (np.arange(4) + 1) % 4)
    recall = scores.moved_recalls(answers)[0]
    places = scores.redraw_places([str(i) for i in range(4000)], [4] * 4000)
    redrawn = scores.redrawn_accuracies(answers, places)[0]
    for label in range(4):
        assert redrawn[label] == close(np.delete(recall, label).mean(), abs=0.03)
    least = scores.worst_redraw(redrawn[None])[0]
    assert least == close(scores.never_score(recall), abs=0.03)


def test_a_redraw_looks_at_the_placements_that_were_drawn_and_at_no_other() -> None:
    answers = np.array([[[0, 0], [1, 1], [-1, -1]]])
    places = np.array([[1, 1, 1], [0, 0, 0]])
    assert scores.redrawn_accuracies(answers, places).tolist() == [[0.5, 0.5]]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_rstd_is_the_population_standard_deviation(recall: list[float]) -> None:
    known = np.array(recall)
    assert scores.rstd(known) == close(np.std(known), abs=1e-12)
    assert scores.rstd(np.append(known, np.nan)) == close(np.std(known), abs=1e-12)


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 99))
def test_shares_are_of_the_evaluated_answers(t: int, n: int, seed: int) -> None:
    answers = np.random.default_rng(seed).integers(-1, 3, (t, n))
    shares = scores.label_shares(answers, 3)
    for row, own in zip(answers, shares, strict=True):
        said = row[row != NOT_EVALUATED]
        expected = [np.mean(said == label) if len(said) else np.nan for label in range(3)]
        assert own.tolist() == close(expected, nan_ok=True)


def test_the_best_prompt_is_the_first_that_has_the_highest_score() -> None:
    assert scores.best_of_prompts(np.array([np.nan, 0.2, 0.5, 0.5])) == (2, 0.5)


def test_fewer_than_two_labels_have_no_score() -> None:
    recall = scores.recalls(np.array([[0, 1, 1]]), [1, 1, 1], 2)
    with pytest.raises(ValueError, match="at least 2 labels"):
        scores.best_of_prompts(scores.never_score(recall))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="gold names 2 examples, answers 3"):
        scores.recalls(np.zeros((1, 3), dtype=int), [0, 1], 2)
    with pytest.raises(ValueError, match="3 axes"):
        scores.moved_recalls(np.zeros((1, 3), dtype=int))
    with pytest.raises(ValueError, match="2 ids and 1 numbers"):
        scores.redraw_places(["a", "b"], [2])
