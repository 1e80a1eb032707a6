from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.stats.gold import membership, right_labels


def test_one_right_label_and_a_set_of_one_are_the_same() -> None:
    assert right_labels([1, {0}, [2, 0]]) == [{1}, {0}, {0, 2}]
    assert right_labels(np.array([1, 0])) == [{1}, {0}]


def test_a_label_is_marked_where_it_is_right() -> None:
    marked = membership(right_labels([1, {0, 2}, 5]), 3)
    assert marked.tolist() == [[False, True, False], [True, False, True], [False] * 3]


@pytest.mark.parametrize(
    ("gold", "error", "told"),
    [
        ([0, []], ValueError, "gold of example 1 names no right choice"),
        ([0, -1], ValueError, "gold of example 1 must be at least 0, found -1"),
        ([{0}, {1.5}], TypeError, "gold of example 1 must be an integer, found 1.5"),
    ],
)
def test_what_is_no_label_is_refused(gold: list[int], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        right_labels(gold)
