"""Things that are compared and given another order, against all orders."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.compared import comparisons, follows_things
from pytest_maxrandom.stats.orders import order_test, ways_of_orders
from tests.unit.stats.test_clustered import lift

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAIRS = [*combinations(range(5), 2)]
TRIPLES = [*combinations(range(5), 3)]


def places(answers: list[int], offered: list[tuple[int, ...]]) -> list[int]:
    return [choices.index(each) for each, choices in zip(answers, offered, strict=True)]


def shown(sets: Sequence[tuple[int, ...]], seed: int) -> list[tuple[int, ...]]:
    generator = np.random.default_rng(seed)
    return [tuple(generator.permutation(each).tolist()) for each in sets]


def first(order: tuple[int, ...], offered: list[tuple[int, ...]]) -> list[int]:
    return [min(choices, key=order.index) for choices in offered]


@pytest.mark.parametrize("sets", [PAIRS, PAIRS[:7], PAIRS + PAIRS[:4], TRIPLES])
@pytest.mark.parametrize("exceptions", [0, 2])
def test_the_p_value_is_that_of_all_orders(sets: list[tuple[int, ...]], exceptions: int) -> None:
    offered = shown(sets, 1)
    gold = first((3, 1, 4, 0, 2), offered)
    for at in range(exceptions):
        gold[at] = next(each for each in offered[at] if each != gold[at])
    predictions = [first((3, 4, 1, 2, 0), offered), first((0, 1, 2, 3, 4), offered)]
    observed = max(lift(places(row, offered), places(gold, offered)) for row in predictions)
    every = [first(order, offered) for order in permutations(range(5))]
    best = [
        max(lift(places(row, offered), places(other, offered)) for row in predictions)
        for other in every
    ]
    p = float(np.mean(np.array(best) >= observed - 1e-12))
    test = order_test(predictions, gold, offered, permutations=20_000)
    assert test is not None
    assert test.p_value == pytest.approx(p, abs=5 * (p * (1 - p) / 20_000) ** 0.5 + 1e-4)
    assert test.best == pytest.approx(observed)
    assert ways_of_orders(gold, offered) >= len(set(map(tuple, every)))
    assert (test.things, test.compared) == (5, len(sets))


def test_labels_may_have_any_numbers() -> None:
    offered = shown(PAIRS, 2)
    gold, said = first((3, 1, 4, 0, 2), offered), first((3, 4, 1, 2, 0), offered)
    other = np.array([70, 3, 12, 5, 41])
    test = order_test([said], gold, offered, permutations=999)
    again = order_test(
        other[[said]], other[gold], [other[list(each)].tolist() for each in offered],
        permutations=999,
    )  # fmt: skip
    assert test == again


def test_answers_that_are_no_choice_are_wrong_and_others_may_be_missing() -> None:
    offered = shown(PAIRS, 2)
    gold = first((3, 1, 4, 0, 2), offered)
    whole = order_test([gold], gold, offered, permutations=99)
    unread = order_test([[9, *gold[1:]]], gold, offered, permutations=99)
    missing = order_test([[-1, *gold[1:]]], gold, offered, permutations=99)
    assert whole is not None
    assert unread is not None
    assert missing is not None
    assert unread.best < whole.best
    rest = lift(places(gold, offered)[1:], places(gold, offered)[1:])
    assert missing.best == pytest.approx(rest)


def test_always_the_first_choice_is_worth_nothing() -> None:
    offered = shown(PAIRS, 3)
    gold = first((3, 1, 4, 0, 2), offered)
    test = order_test([[each[0] for each in offered]], gold, offered, permutations=99)
    assert test is not None
    assert (test.best, test.p_value) == (0, 1)


def test_questions_with_several_right_choices_exchange_their_places() -> None:
    offered = shown(PAIRS, 4)
    gold: list[set[int]] = [{each} for each in first((3, 1, 4, 0, 2), offered)]
    gold[0] = set(offered[0])
    said = [min(each) for each in gold]
    test = order_test([said], gold, offered, permutations=99)
    assert test is not None
    assert test.compared == len(PAIRS) - 1


@pytest.mark.parametrize(
    ("offered", "marks"),
    [
        ([("Yes", "No")] * 6, [False] * 6),
        ([("Yes", "No", f"own {at}") for at in range(6)], [False] * 6),
        ([*["ABCD"] * 5, *["ABC"] * 5], [False] * 10),
        ([*["ab", "bc", "ca"]], [False] * 3),  # three things have too few orders
        ([*["ab", "bc", "cd", "de", "ea"]], [True] * 5),
        ([*["ab", "bc", "cd", "de", "ef"]], [False] * 5),  # a chain has ends
        ([("x", f"{at}") for at in range(8)], [False] * 8),  # one thing in all pairs
        ([*["ab", "bc", "cd", "de", "ea"], *["vw", "wx", "xv"]], [True] * 5 + [False] * 3),
        ([*["ab=", "bc=", "cd=", "=de", "ea="]], [True] * 5),  # "=" is "about the same"
        ([*["ab=?", "bc=?", "?cd=", "de=?", "ea?="], "yn=?"], [True] * 5 + [False]),
        ([*["ab=", "bc=", "cd=", "de=", "ea="], *["ac", "bd"]], [True] * 7),
        ([("x", f"{at}", f"{(at + 1) % 8}") for at in range(8)], [True] * 8),
        ([], []),
    ],
)
def test_things_recur_where_each_occurs_in_several_sets(
    offered: list[tuple[str, ...]], marks: list[bool]
) -> None:
    assert [bool(things) for things in comparisons(offered)] == marks


def closest(strength: np.ndarray, sets: Sequence[tuple[int, ...]], same: int) -> list[int]:
    """Return what is first, and 9 of as many sets whose first two things are closest."""
    gaps = [sorted(strength[[*each]])[-1] - sorted(strength[[*each]])[-2] for each in sets]
    near = np.argsort(gaps)[:same].tolist()
    own = [max(each, key=strength.__getitem__) for each in sets]
    return [9 if at in near else each for at, each in enumerate(own)]


@pytest.mark.parametrize("sets", [PAIRS, TRIPLES])
def test_about_the_same_is_right_of_as_many_questions_whose_things_are_closest(
    sets: list[tuple[int, ...]],
) -> None:
    generator = np.random.default_rng(8)
    offered = [tuple(generator.permutation([*each, 9]).tolist()) for each in sets]
    gold = closest(generator.random(5), sets, 3)
    predictions = [closest(generator.random(5), sets, 2) for _ in range(2)]
    listed = [(*(each for each in own if each != 9), 9) for own in offered]

    def best(right: list[int]) -> float:
        return max(lift(places(row, listed), places(right, listed)) for row in predictions)

    drawn = np.array([best(closest(generator.random(5), sets, 3)) for _ in range(4_000)])
    p = float((drawn >= best(gold) - 1e-12).mean())
    test = order_test(predictions, gold, offered, permutations=20_000)
    assert test is not None
    assert (test.things, test.compared) == (5, len(sets))
    assert test.best == pytest.approx(best(gold))
    assert test.p_value == pytest.approx(p, abs=5 * (p * (1 - p) / 3_000) ** 0.5 + 1e-3)


def test_without_things_that_recur_there_is_no_test() -> None:
    offered = [(0, 1)] * 6
    assert order_test([[0] * 6], [0] * 6, offered) is None
    assert follows_things([0] * 6, offered) is None


def test_right_answers_that_follow_things_are_found_and_others_are_not() -> None:
    generator = np.random.default_rng(0)
    found, false, runs = 0, 0, 60
    for _ in range(runs):
        offered = [
            tuple(generator.choice(15, 2, replace=False).tolist()) for _ in range(100)
        ]  # fmt: skip
        order = tuple(generator.permutation(15).tolist())
        p = follows_things(first(order, offered), offered, permutations=199)
        assert p is not None
        found += p <= 0.01
        # A question that recurs has the same right answer.
        right: dict[frozenset[int], int] = {}
        for each in offered:
            right.setdefault(frozenset(each), each[int(generator.random() < 0.3)])
        p = follows_things([right[frozenset(each)] for each in offered], offered, permutations=199)
        assert p is not None
        false += p <= 0.01
    assert found == runs
    assert false <= 4


def test_no_real_task_compares_things_that_recur(data_dir: Path) -> None:
    tasks = sorted((data_dir / "bigbench").glob("*.json"))
    assert tasks
    for path in tasks:
        examples = json.loads(path.read_text(encoding="utf-8"))["examples"]
        assert not any(comparisons([tuple(each["target_scores"]) for each in examples])), path.stem


def test_an_early_stop_keeps_the_p_value() -> None:
    offered = shown(PAIRS, 5)
    gold, said = first((3, 1, 4, 0, 2), offered), first((3, 4, 1, 2, 0), offered)
    early = order_test([said], gold, offered, permutations=9_999, stop_after=50)
    whole = order_test([said], gold, offered, permutations=9_999)
    assert early is not None
    assert whole is not None
    assert early.exceedances == 50 < whole.exceedances
    assert early.p_value == pytest.approx(whole.p_value, rel=0.5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gold": [0]}, "gold names 1 examples, the predictions 10"),
        ({"offered": PAIRS[:3]}, "offered names 3 examples"),
        ({"gold": [4] * 10}, "example 0 must offer different labels, the right ones among them"),
        ({"offered": [(0, 0), *PAIRS[1:]]}, "example 0 must offer different labels"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], words: str) -> None:
    gold = [choices[0] for choices in PAIRS]
    known: dict[str, object] = {"predictions": [gold], "gold": gold, "offered": PAIRS}
    with pytest.raises(ValueError, match=words):
        order_test(**(known | given))  # type: ignore[arg-type]
