"""What rules reach that know nothing."""

from __future__ import annotations

import dataclasses
import itertools
import random
from fractions import Fraction
from typing import get_args

import pytest

from pytest_maxrandom.claims.shortcuts import OF_OPEN, heuristics, heuristics_in_turn
from pytest_maxrandom.record import HeuristicName
from pytest_maxrandom.sweeps.prompts.formats import shown_as, shown_order
from pytest_maxrandom.tasks.task import Example

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def example(choices: list[str], right: int, question: str = "", name: str = "e") -> Example:
    return Example(name, question, tuple(choices), (right,))


def made(n: int, *, m: int = 4, seed: int = 0) -> list[Example]:
    """Examples whose first choice in the file is right, of words of their own."""
    lots = random.Random(seed)
    words = ["".join(lots.choices("abcdefgh", k=lots.randint(1, 6))) for _ in range(40)]
    return [
        example(
            [f"{' '.join(lots.choices(words, k=3))} {place}{number}" for place in range(m)],
            0,
            " ".join(lots.choices(words, k=8)),
            f"e{number}",
        )
        for number in range(n)
    ]


def test_each_rule_by_hand() -> None:
    examples = [
        # The longest and the shortest are unique; two choices share two words with the question.
        shown_as(
            example(["the big dog", "dog the", "cat", "an elephant"], 1, "Which dog? THE one!"),
            (3, 1, 0, 2),
        ),
        # Three of five letters: longest is a guess among three, shortest of two.
        shown_as(example(["bbbbb", "no", "ccccc", "eh", "ddddd"], 2, "c"), (4, 1, 0, 3, 2)),
    ]
    assert heuristics(examples, shared=False, listed=True) == {
        # Right are the places 1 and 4, each once.
        "most_frequent": (HALF, HALF),
        "longest": (0, THIRD),
        "shortest": (0, 0),
        "first": (0, 0),
        "last": (0, 1),
        "most_shared_words": (HALF, Fraction(1, 5)),
    }


def test_words_count_once_and_without_case_or_punctuation() -> None:
    asked = example(["dog dog dog dog", "a Cat, and a DOG"], 1, "dog (cat)")
    found = heuristics([asked], shared=False, listed=False)
    assert found["most_shared_words"] == (Fraction(1),)


def test_places_are_no_rule_where_nobody_sees_them() -> None:
    texts = {"longest", "shortest", "most_shared_words"}
    assert set(heuristics(made(3), shared=False, listed=False)) == texts
    assert set(heuristics(made(3), shared=True, listed=False)) == {*texts, "most_frequent"}
    assert set(heuristics(made(3), shared=False, listed=True)) == {*get_args(HeuristicName)} - {
        *OF_OPEN
    }


def test_the_most_frequent_label_is_a_text_where_choices_are_shared_and_else_a_place() -> None:
    rows = [example(["Yes", "No"], int(i % 10 >= 7), name=f"e{i}") for i in range(100)]
    assert sum(heuristics(rows, shared=True, listed=True)["most_frequent"]) == 70
    first = sum(shown_order(each)[0] in each.right for each in rows)
    places = heuristics(rows, shared=False, listed=True)
    assert sum(places["most_frequent"]) == max(first, 100 - first)
    assert sum(places["first"]) == first
    assert sum(places["last"]) == 100 - first


def test_an_example_without_the_most_frequent_label_is_wrong_and_one_with_several_right_is_not(
) -> None:  # fmt: skip
    rows = [
        Example("a", "", ("x", "y"), (0,)),
        Example("b", "", ("z", "w"), (1,)),
        Example("c", "", ("w", "x", "y"), (1, 2)),
    ]
    # x is right twice, as y and w never are.
    found = heuristics(rows, shared=True, listed=False)
    assert found["most_frequent"] == (Fraction(1), Fraction(0), Fraction(1))
    assert found["longest"] == (HALF, HALF, Fraction(2, 3))


@pytest.mark.parametrize("right", [(1,), (0, 3), (0, 2, 3)])
def test_further_answers_of_a_rule_agree_with_every_way_to_break_ties(
    right: tuple[int, ...],
) -> None:
    """The first right one of five choices, in all orders that the rule cannot tell apart."""
    asked = Example("e", "?", ("aaa", "b", "ccc", "d", "e"), right)
    for most in (1, 2, 3, 5):
        found = heuristics_in_turn([asked], shared=False, listed=False, most=most)
        for name, sign in (("longest", -1), ("shortest", 1)):
            orders = [
                order
                for order in itertools.permutations(range(5))
                if [*order] == sorted(order, key=lambda index: sign * len(asked.choices[index]))
            ]
            assert len(orders) == 2 * 6
            firsts = [next(turn for turn, index in enumerate(o) if index in right) for o in orders]
            chances = [Fraction(firsts.count(turn), len(orders)) for turn in range(most)]
            [own] = found[name]  # type: ignore[index]
            assert [*own, *[0] * (most - len(own))] == chances
    rows = [example(["x", "y", "z"], int(i > 4) + int(i > 7), name=f"e{i}") for i in range(9)]
    labels = heuristics_in_turn(rows, shared=True, listed=False, most=3)["most_frequent"]
    assert [[*own].index(Fraction(1)) for own in labels] == [0] * 5 + [1] * 3 + [2]


@pytest.mark.parametrize("m", [2, 3, 5])
def test_places_are_at_chance_wherever_the_file_holds_the_right_choice(m: int) -> None:
    n = 2_000
    found = heuristics(made(n, m=m), shared=False, listed=True)
    for place in (found["first"], found["last"]):
        assert abs(sum(place) - n / m) < 4 * (n / m * (1 - 1 / m)) ** 0.5


def test_a_rule_that_tells_no_choice_apart_is_exactly_at_chance() -> None:
    lots = random.Random(1)
    for m in (2, 3, 7):
        choices = [f"choice {place}" for place in range(m)]
        right = tuple(sorted(lots.sample(range(m), m // 2)))
        alike = Example("e", "?", tuple(choices), right)
        found = heuristics([alike], shared=False, listed=False)
        assert set(found.values()) == {(alike.chance,)}


def test_of_two_choices_the_longest_is_right_where_the_shortest_is_not() -> None:
    found = heuristics(made(200, m=2), shared=False, listed=True)
    rules: list[tuple[HeuristicName, HeuristicName]] = [("longest", "shortest"), ("first", "last")]
    for one, other in rules:
        pairs = zip(found[one], found[other], strict=True)
        assert {sum(pair) for pair in pairs} == {1}


def test_rules_about_texts_do_not_depend_on_the_order_of_the_file() -> None:
    (asked,) = made(1, m=4)
    rows = [
        dataclasses.replace(
            asked, choices=tuple(asked.choices[index] for index in order), right=(order.index(0),)
        )
        for order in itertools.permutations(range(4))
    ]
    found = [heuristics([row], shared=True, listed=False) for row in rows]
    assert len(found[0]) == 4
    assert all(each == found[0] for each in found)
