"""Scores become answers: the highest wins, and no position is ever preferred."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from pytest_maxrandom.answers import NO_CHOICE
from pytest_maxrandom.claims.shuffles import Shuffle, permuted
from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.suite.base import SCORINGS, Scoring
from pytest_maxrandom.sweeps.labels import label, label_things
from pytest_maxrandom.sweeps.predictions import (
    PromptPredictions,
    labelled,
    of_predictions,
    predict,
)
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.task import Example, Layout

PROMPT = Prompt((), Format(Layout()))
FRUIT = Example("fruit", "Which?", ("fig", "banana", "apple pie"), (1,))


def answer(
    *scores: tuple[float, int],
    scoring: Scoring = "mean_logprob",
    example: Example = FRUIT,
    prompt: Prompt = PROMPT,
) -> PromptPredictions:
    return predict(
        prompt, [example], [[Answer((value,), (count,)) for value, count in scores]], scoring
    )


@pytest.mark.parametrize(
    ("scoring", "chosen"),
    [
        ("sum_logprob", 0),  # -5 > -8 > -8.5
        ("counterfactual", 0),  # all have the same text
        ("mean_logprob", 1),  # -8/2 = -4 > -8.5/2 = -4.25 > -5/1
        ("char_logprob", 2),  # -8.5/9 = -.94 > -8/6 = -1.33 > -5/3
    ],
)
def test_each_kind_of_score_has_its_own_winner(scoring: Scoring, chosen: int) -> None:
    found = answer((-5.0, 1), (-8.0, 2), (-8.5, 2), scoring=scoring)
    assert (found.chosen, found.correct, found.ties) == ((chosen,), int(chosen == 1), 0)
    assert found.log_likelihoods == ((-5.0, -8.0, -8.5),)
    assert found.tokens == ((1, 2, 2),)


def test_each_scoring_that_a_suite_may_ask_for_has_its_scorer() -> None:
    assert set(SCORERS) == set(SCORINGS)


def test_characters_are_those_of_the_label_that_is_scored() -> None:
    labelled = Prompt((), Format(Layout(choice_prefix="\n"), "letter"))
    found = answer((-5.0, 1), (-6.0, 1), (-7.0, 1), scoring="char_logprob", prompt=labelled)
    assert found.chosen == (0,)


def test_each_of_several_right_choices_is_right() -> None:
    both = Example("both", "?", ("a", "b", "c"), (0, 2))
    rows = [[-1.0, -2.0, -3.0], [-2.0, -1.0, -3.0], [-3.0, -2.0, -1.0]]
    scores = [[Answer((value,), (1,)) for value in row] for row in rows]
    found = predict(PROMPT, [both] * 3, scores, "sum_logprob")
    assert (found.chosen, found.correct) == ((0, 1, 2), 2)


@pytest.mark.parametrize("tied", [(0, 1, 2), (0, 2), (1, 2)])
def test_ties_fall_on_each_choice_equally_often_wherever_it_stands(tied: tuple[int, ...]) -> None:
    fallen: Counter[int] = Counter()
    for number in range(3000):
        example = Example(f"id {number}", "?", ("a", "b", "c"), (0,))
        scores = [(-2.0 if index in tied else -9.0, 1) for index in range(3)]
        found = answer(*scores, example=example)
        assert found.ties == 1
        (chosen,) = found.chosen
        assert chosen is not None
        fallen[chosen] += 1
    assert set(fallen) == set(tied)
    assert chisquare(list(fallen.values())).pvalue > 1e-4


def test_other_prompts_decide_the_same_tie_by_another_lot() -> None:
    fallen = Counter(
        answer((-2.0, 1), (-2.0, 1), (-2.0, 1), prompt=prompt).chosen[0]
        for number in range(900)
        for prompt in [Prompt((), Format(Layout(task_prefix=str(number))))]
    )
    assert chisquare([fallen[index] for index in range(3)]).pvalue > 1e-4


def test_a_tie_is_decided_alike_each_time() -> None:
    scores = [(-4.0, 2), (-2.0, 1), (-6.0, 3)]
    assert len({answer(*scores).chosen for _ in range(5)}) == 1
    assert answer(*scores).ties == 1


@given(
    st.lists(st.floats(max_value=0, allow_nan=False), min_size=3, max_size=3),
    st.lists(st.integers(1, 9), min_size=3, max_size=3),
)
def test_the_answer_has_the_highest_score(values: list[float], tokens: list[int]) -> None:
    found = answer(*zip(values, tokens, strict=True))
    means = [value / count for value, count in zip(values, tokens, strict=True)]
    assert found.chosen[0] is not None
    assert means[found.chosen[0]] == max(means)
    assert found.ties == (means.count(max(means)) > 1)


def test_margins_are_in_the_unit_of_the_score() -> None:
    rows = ((-5.0, 1), (-8.0, 2), (-8.5, 2))
    assert answer(*rows, scoring="sum_logprob").margins == (3.0,)
    assert answer(*rows, scoring="mean_logprob").margins == (0.25,)
    assert answer((-3.0, 1), (-3.0, 1), (-9.0, 1)).margins == (0.0,)
    assert answer((-math.inf, 1), (-math.inf, 1), (-math.inf, 1)).margins == (0.0,)


def test_impossible_answers_tie_and_lose() -> None:
    assert answer((-math.inf, 1), (-50.0, 1), (-math.inf, 1)).chosen == (1,)
    assert answer((-math.inf, 1), (-math.inf, 1), (-math.inf, 1)).ties == 1


@pytest.mark.parametrize("scoring", ["mean_logprob", "sum_logprob", "char_logprob"])
def test_a_score_that_is_no_number_is_refused(scoring: Scoring) -> None:
    with pytest.raises(ScoreError) as caught:
        answer((-1.0, 1), (math.nan, 1), (-2.0, 1), scoring=scoring)
    assert str(caught.value) == "the log-likelihood of the answer 'banana' is not a number (NaN)"


def test_scores_of_another_number_of_examples_or_choices_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        answer((-1.0, 1), (-2.0, 1))
    with pytest.raises(ValueError, match="zip"):
        predict(PROMPT, [FRUIT, FRUIT], [[Answer((-1.0,), (1,))] * 3], "sum_logprob")


def test_an_answer_that_nobody_could_read_is_wrong_and_a_label_of_its_own() -> None:
    examples = [Example(str(k), "?", ("no", "yes"), (k % 2,)) for k in range(4)]
    scores = [[Answer((-1.0,), (1,)), Answer((-2.0,), (1,))]] * 4
    read = predict(PROMPT, examples, scores, "sum_logprob")
    unread = replace(read, chosen=(None, 1, None, 1))
    assert (unread.unread, unread.correct) == (2, 2)
    labels = label(examples)
    found = of_predictions([read, unread], labels, model="m", shots=0)
    assert found.evaluated.all()
    assert found.correct.tolist() == [[True, False] * 2, [False, True] * 2]
    assert found.labels == ("no", "yes", NO_CHOICE)
    assert found.answers is not None
    assert found.answers[1].tolist() == [2, 1, 2, 1]
    p, *_ = permuted(Shuffle.of([read, unread], labels), 2)
    assert p == pytest.approx(1.0)


def test_an_answer_that_nobody_could_read_is_none_of_the_things_that_are_compared() -> None:
    pairs = [*zip("abcdefg", "bcdefga", strict=True)]
    examples = [Example(two[0], f"{two}?", two, (place % 2,)) for place, two in enumerate(pairs)]
    things = label_things(examples)
    assert things is not None
    said = [[Answer((-1.0, -2.0), (1, 1))]] * len(examples)
    read = predict(PROMPT, examples, said, "sum_logprob")
    number = {name: place for place, name in enumerate("abcdefg")}
    assert labelled([read], things).tolist() == [[number[first] for first, _ in pairs]]
    assert set(labelled([replace(read, chosen=(None,) * 7)], things).ravel()) == {len(number)}


def test_a_tie_is_drawn_anew_where_the_choices_stand_in_another_order() -> None:
    """Else a model that scores all alike would be right at every label or at none."""
    scores = [(-1.0, 1)] * 3
    both: Counter[tuple[int | None, ...]] = Counter()
    for number in range(900):
        plain = replace(FRUIT, id=f"f{number}")
        pair = [answer(*scores, example=replace(plain, order=o)) for o in ((0, 1, 2), (1, 0, 2))]
        both[pair[0].chosen + pair[1].chosen] += 1
    assert len(both) == 9
    assert chisquare(list(both.values())).pvalue > 1e-4
