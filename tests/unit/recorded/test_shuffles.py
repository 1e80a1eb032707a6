"""Which right answers of recorded results can take each other's place, and what that shows."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.shuffles import NoPermutations
from pytest_maxrandom.claims.strata import by_places, strata
from tests.unit.recorded.test_permutations import (
    APART,
    OVERLAPPING,
    RING,
    N,
    T,
    answering,
    listing,
    p_value,
    saying_none,
    shuffles,
    sweep,
    with_answers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

    Write = Callable[[Path, Answers, Sequence[tuple[int, ...]], bool], str]


@pytest.mark.parametrize(
    "choices",
    [
        pytest.param([(0, 1)] * N, id="alike"),
        pytest.param([(0, 1), (2, 3)] * (N // 2), id="two kinds with as many choices"),
        pytest.param([(0, 1, 2, 3), (2, 3)] * (N // 2), id="one kind is part of the other"),
        pytest.param([(0, 1, 2, 3), (4, 5), (6, 7)] * (N // 3), id="three kinds"),
        pytest.param(OVERLAPPING, id="kinds with as many choices, of which they share some"),
        pytest.param(RING, id="a ring of kinds"),
        pytest.param([tuple(range(20))] * N, id="many labels, each seldom given for another"),
    ],
)
def test_guessers_are_found_out_as_often_as_the_level_says(
    choices: list[tuple[int, ...]],
) -> None:
    values = np.array([p_value(sweep(choices, seed), seed) for seed in range(100)])
    # Binomial: 5 expected at .05, 15 is reached with probability .0001; 50 at .5.
    assert (values <= 0.05).sum() < 15
    assert (values <= 0.5).sum() < 70
    assert (values <= 0.5).sum() > 25


def test_examples_whose_choices_are_called_otherwise_are_never_shuffled() -> None:
    own = sweep([(2 * example, 2 * example + 1) for example in range(20)], 0)
    assert own.gold is not None
    with pytest.raises(NoPermutations, match="list the choices of each example"):
        strata(own, own.chances)
    chained = [(example, example + 1) for example in range(20)]
    with pytest.raises(NoPermutations, match="list the choices of each example"):
        strata(*(lambda found: (found, found.chances))(sweep(chained, 0)))


def test_places_are_choices_of_every_example_with_as_many() -> None:
    found = sweep([(0, 1), (0, 1, 2)] * 10, 0, named=False)
    assert [view.tolist() for view in strata(found, found.chances)] == [[1, 2] * 10]


@pytest.mark.parametrize("labels", ["", "012", "123", "ABC", "abc", ["(A)", "(B)", "(C)"]])
def test_places_and_letters_do_not_say_which_text_was_preferred(labels: Sequence[str]) -> None:
    found = replace(sweep([(0, 1), (0, 1, 2)] * 10, 0), labels=tuple(labels))
    assert by_places(found, found.chances)
    assert not by_places(listing(found, [(0, 1), (0, 1, 2)] * 10), found.chances)


@pytest.mark.parametrize("labels", [("no", "yes"), ("N", "Y"), ("-1", "1"), ("10", "20")])
def test_labels_that_are_no_places_are_texts(labels: tuple[str, str]) -> None:
    found = replace(sweep([(0, 1)] * 20, 0), labels=labels)
    assert not by_places(found, found.chances)
    assert [view.tolist() for view in strata(found, found.chances)] == [[1] * 20]


def test_a_model_that_always_knows_is_not_taken_for_many_kinds() -> None:
    found = sweep([(0, 1, 2)] * 12, 0)
    assert found.gold is not None
    assert found.answers is not None
    found.answers[:] = [next(iter(right)) for right in found.gold]
    assert [view.tolist() for view in strata(found, found.chances)] == [[1] * 12]


def test_what_is_not_known_is_said() -> None:
    found = sweep([(0, 1)] * 6, 0)
    with pytest.raises(NoPermutations, match="how many choices"):
        strata(found, None)


@pytest.mark.parametrize("affirmed", [0.7, 0.95])
@pytest.mark.parametrize("choices", [OVERLAPPING, RING], ids=["overlap", "ring"])
def test_who_always_affirms_is_found_out_as_often_as_the_level_says(
    choices: list[tuple[int, ...]], affirmed: float
) -> None:
    values = []
    for seed in range(100):
        # Where one label only is right to questions of a kind, the results may not tell the kinds.
        with contextlib.suppress(NoPermutations):
            values.append(p_value(answering(choices, seed, affirmed=affirmed, affirms=0.7), seed))
    assert len(values) >= 80
    # Binomial: 5 expected, 15 is reached with probability .0001.
    assert (np.array(values) <= 0.05).sum() < 15


@pytest.mark.parametrize("t", [1, 50])
def test_what_is_right_once_does_not_hide_who_affirms(t: int) -> None:
    gold = [0, 2] * (N // 2)
    gold[0], gold[1] = 1, 3
    found = with_answers(sweep(APART, 0), [[0, 2] * (N // 2)] * t, gold)
    assert p_value(found, 0) > 0.5


def straying(found: Answers, share: float) -> Answers:
    """Return a model that gives the first answer to the other questions now and then."""
    assert found.answers is not None
    assert found.gold is not None
    stray = np.random.default_rng(2).random(found.answers.shape) < share
    stray[0, 0] = True
    rows = np.where(stray, np.where(found.answers > 1, 0, 2), found.answers)
    return with_answers(found, rows.tolist(), [min(right) for right in found.gold])


@pytest.mark.parametrize("share", [0, 0.1], ids=["one", "a tenth"])
def test_answers_that_an_example_does_not_offer_hide_nobody_who_affirms(share: float) -> None:
    """Texts that a model writes freely may be choices of other questions."""
    assert p_value(straying(answering(APART, 1, affirmed=0.7, affirms=0.94), share), 0) > 0.05


def test_a_stray_answer_does_not_keep_knowledge_from_being_shown() -> None:
    assert p_value(straying(answering(APART, 1, affirmed=0.7, knows=0.8), 0), 0) <= 0.01


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("knows", [0.6, 0.8])
@pytest.mark.parametrize(
    "choices",
    [
        pytest.param([(0, 1)] * N, id="alike"),
        pytest.param(APART, id="apart"),
        pytest.param(OVERLAPPING, id="overlap"),
    ],
)
def test_who_knows_passes(choices: list[tuple[int, ...]], knows: float, listed: bool) -> None:
    found = answering(choices, 0, affirmed=0.5, knows=knows)
    assert p_value(listing(found, choices) if listed else found, 0) <= 0.01


@pytest.mark.parametrize("knows", [0.97, 1.0])
def test_who_is_hardly_ever_wrong_passes_where_choices_are_told(knows: float) -> None:
    found = answering(APART, 0, affirmed=0.5, knows=knows)
    assert p_value(listing(found, APART), 0) <= 0.01
    four = answering(OVERLAPPING, 0, affirmed=0.5, knows=knows)
    assert p_value(four, 0) <= 0.01
    with pytest.raises(NoPermutations, match="list the choices"):
        strata(found, found.chances)


def test_listed_choices_tell_what_belongs_together() -> None:
    """Labels that are never confused might be those of different questions."""
    gold = [0, 1] * (N // 2 - 1) + [0, 2]
    found = with_answers(sweep([(0, 1, 2)] * N, 0), [[*gold[:-1], 0]] * T, gold)
    assert p_value(found, 0) == 1
    assert p_value(listing(found, [(0, 1, 2)] * N), 0) <= 0.01


def test_listed_choices_that_do_not_recur_are_told_by_their_places() -> None:
    own = [(4 * place, 4 * place + 1, 4 * place + 2, 4 * place + 3) for place in range(20)]
    found = listing(answering(own, 0, affirmed=0.5, knows=0.8), own)
    assert p_value(found, 0) <= 0.01
    first = listing(answering(own, 0, affirmed=0.7, affirms=0.95), own)
    assert p_value(first, 0) > 0.05


def test_lists_that_begin_with_what_is_right_are_in_no_order_that_a_model_saw() -> None:
    gold = [0, 2] * (N // 2)
    gold[::4] = [1] * (N // 4)
    found = with_answers(sweep(APART, 0), [gold] * T, gold)
    lists = [(right, sum(own) - right) for own, right in zip(APART, gold, strict=True)]
    assert [len(shuffles(listing(found, each))) for each in (lists, APART)] == [1, 2]
    assert p_value(listing(found, lists), 0) <= 0.01


def test_a_constant_answer_to_listed_choices_is_not_knowledge() -> None:
    found = answering(APART, 0, affirmed=1.0, knows=1.0)
    assert [each.arrangements for each in shuffles(listing(found, APART))] == [1]


@pytest.mark.parametrize("t", [1, 10])
def test_who_says_none_is_found_out_as_often_as_the_level_says(t: int) -> None:
    random = np.random.default_rng(4)
    values = [p_value(listing(*saying_none(random, t)), 0) for _ in range(100)]
    # Binomial: 5 expected, 15 is reached with probability .0001.
    assert (np.array(values) <= 0.05).sum() < 15


def test_where_none_may_be_said_who_knows_passes() -> None:
    random = np.random.default_rng(4)
    values = [p_value(listing(*saying_none(random, 10, knows=0.4)), 0) for _ in range(20)]
    assert np.mean(np.array(values) <= 0.05) >= 0.9


def test_where_only_the_number_of_choices_is_known_nothing_is_told() -> None:
    found, _ = saying_none(np.random.default_rng(4), 10)
    with pytest.raises(NoPermutations, match="list the choices"):
        strata(found, found.chances)
