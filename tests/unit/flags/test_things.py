"""Right answers that follow which things are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.flags import KINDS, Flag
from pytest_maxrandom.flags.kinds.compared_things import as_choices, compared_in
from tests.proof.nulls import KINDS as ORDERS, Compared, compare, right_on
from tests.unit.flags.made import answered, result, seen, worded


def flags(drawn: Compared, kind: str = "compared_things", **given: Any) -> list[Flag]:
    """Return what is found of a prompt that is right on all of some questions."""
    things = [sorted(f"T{each}" for each in own) for own in drawn.offered.tolist()]
    right = [own.index(f"T{each}") for own, each in zip(things, drawn.gold.tolist(), strict=True)]
    made = seen(
        np.ones((1, len(things))),
        offered=tuple(map(tuple, things)),
        alphabetical=tuple(frozenset([each]) for each in right),
        **given,
    )
    return [*KINDS[kind].check(made)]


@pytest.mark.parametrize("size", [2, 3])
def test_right_answers_that_follow_an_order_are_told_where_no_order_was_tried(size: int) -> None:
    drawn = compare(np.random.default_rng(0), 15, 100, size)
    (flag,) = flags(drawn)
    assert flag.parameters == {"case": "choices", "examples": 100, "n": 100, "things": 15}
    assert flags(drawn, orders_tested=True) == []


def test_things_that_are_right_by_chance_are_not_told() -> None:
    generator = np.random.default_rng(1)
    found = [bool(flags(compare(generator, 15, 100, kind="no order"))) for _ in range(40)]
    assert sum(found) <= 3  # of 40 at .01, 4 are reached with probability .0007


def test_labels_that_all_examples_share_are_not_compared() -> None:
    generator = np.random.default_rng(2)
    drawn = compare(generator, 2, 100, kind="no order")
    assert flags(drawn) == []


def test_pairs_that_recur_in_an_order_are_no_clusters_to_be_named() -> None:
    drawn = compare(np.random.default_rng(3), 15, 100, kind=ORDERS[0])
    assert len(set(map(frozenset, drawn.offered.tolist()))) < 80
    assert flags(drawn, "clustered_answers") == []


NAMES = [
    "Mercury", "Venus", "Mars", "the Moon", "Ganymede", "Titan", "the Black Forest", "Io", "Pluto",
    "Ceres", "polar Vesta", "Eris", "Triton", "Rhea", "Oberon",
]  # fmt: skip


def asks(drawn: Compared, *templates: str) -> tuple[str, ...]:
    """Ask of each pair by one template after the other."""
    return tuple(
        templates[at % len(templates)].format(*(NAMES[each] for each in own))
        for at, own in enumerate(drawn.offered.tolist())
    )


def yes_or_no(drawn: Compared, said: np.ndarray, opposite: int = 0) -> np.ndarray:
    """Say yes to the first thing of a pair; with a second template that asks the opposite, no."""
    answers = np.asarray(said == drawn.offered[:, 0], dtype=np.int64)
    if opposite:
        answers[..., 1::2] = 1 - answers[..., 1::2]
    return answers


LARGER = "Q: Is {} larger than {}? Answer yes or no."
SMALLER = "Q: Is {} smaller than {}? Answer yes or no."


def asked(drawn: Compared, said: np.ndarray, *templates: str, **given: Any) -> list[Flag]:
    """Return what is found of a claim that passes."""
    gold, answers = (yes_or_no(drawn, each, len(templates) - 1) for each in (drawn.gold, said))
    correct = (answers == gold).sum(axis=1)
    judged = answered(
        answers,
        gold.tolist(),
        m=2,
        choices=(2,) * len(gold),
        inputs=asks(drawn, *templates),
        result=result(int(correct.max()), len(gold), best=int(correct.argmax())),
        **given,
    )
    return [*KINDS["compared_things"].check(judged)]


def test_the_things_of_a_question_are_those_that_recur_in_its_frame() -> None:
    drawn = compare(np.random.default_rng(4), 15, 100)
    found = compared_in(asks(drawn, LARGER, SMALLER))
    things = [NAMES[each].casefold() for each in range(15)]
    for own, each in zip(drawn.offered.tolist(), found, strict=True):
        assert each is not None
        assert (each.first, each.second) == (things[own[0]], things[own[1]])
    assert len({each.template for each in found if each is not None}) > 1
    yes = (yes_or_no(drawn, drawn.gold, 1) == 1).tolist()
    first = as_choices([each for each in found if each is not None], yes)
    right = [two[0] if said else two[1] for two, said in zip(first, yes, strict=True)]
    assert right == [things[each] for each in drawn.gold.tolist()]


@pytest.mark.parametrize("templates", [(LARGER,), (LARGER, SMALLER)])
def test_an_order_of_ones_own_fails_yes_or_no_about_two_things(templates: tuple[str, ...]) -> None:
    random = np.random.default_rng(5)
    drawn = compare(random, 15, 100)
    (flag,) = asked(drawn, drawn.own(random, 10), *templates)
    assert flag.parameters["case"] == "questions"
    assert flag.parameters["things"] == 15
    assert flag.parameters["p"] > 0.05
    assert "ask about more things" in worded(flag)
    assert asked(drawn, right_on(0.8)(random, drawn, 10), *templates) == []


def test_things_that_stand_in_one_question_each_are_not_compared() -> None:
    assert compared_in(tuple(f"Is a{at} larger than b{at}?" for at in range(50))) == [None] * 50
    assert compared_in(tuple(f"Is the sum of {at} and {3 * at} even?" for at in range(50))) == (
        [None] * 50
    )
