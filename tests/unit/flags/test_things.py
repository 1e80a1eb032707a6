"""Right answers that follow which things are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.flags import KINDS
from tests.proof.nulls import KINDS as ORDERS, compare
from tests.unit.flags.made import seen

if TYPE_CHECKING:
    from pytest_maxrandom.flags import Flag
    from tests.proof.nulls import Compared


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
    assert flag.parameters == {"examples": 100, "n": 100, "things": 15}
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
