"""Names and numbers in figures, and labels that do not touch."""

from __future__ import annotations

import doctest
import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.figures import labels, panels
from pytest_maxrandom.figures.labels import LONGEST, apart, decimal, plain, short
from pytest_maxrandom.figures.panels import file_name, pages

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("module", [labels, panels])
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=8).map(sorted))
def test_labels_keep_their_order_and_their_distance(heights: list[float]) -> None:
    placed = apart(heights, 9.0)
    assert len(placed) == len(heights)
    assert all(upper - lower > 9 - 1e-6 for lower, upper in itertools.pairwise(placed))


@given(st.lists(st.integers(0, 50).map(lambda step: 9.0 * step), unique=True).map(sorted))
def test_labels_that_do_not_touch_stay(heights: list[float]) -> None:
    assert apart(heights, 9.0) == heights


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=8).map(sorted))
def test_no_label_is_below_the_panel(heights: list[float]) -> None:
    placed = apart(heights, 9.0, lowest=5.0)
    assert placed[0] >= 5
    assert all(upper - lower > 9 - 1e-6 for lower, upper in itertools.pairwise(placed))


@given(st.lists(st.text("ab_", min_size=1, max_size=60), unique=True))
def test_shortened_names_are_still_different(names: list[str]) -> None:
    assert len(set(short(names))) == len(names)


def test_a_long_name_is_cut_in_the_middle() -> None:
    [shown] = short(["formal_fallacies_syllogisms_negation_and_more"])
    assert len(shown) == LONGEST
    assert shown.startswith("formal_")
    assert shown.endswith("_more")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("модель α", "модель α"),  # noqa: RUF001
        ("中", "\\u4e2d"),
        ("😀", "😀"),
        ("\U0001faa8", "\\U0001faa8"),
        ("a\nb\x1b", "a\\nb\\x1b"),
        ("$x$", "$x$"),
    ],
)
def test_what_cannot_be_seen_is_shown_by_its_code(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.05, ".05"), (1.0, "1"), (0.0, "0"), (-1.0, "−1"), (-0.5, "−.5"), (1e-6, "1e-06")],  # noqa: RUF001
)
def test_ticks_are_written_as_in_reports(value: float, shown: str) -> None:
    assert decimal(value) == shown


@given(st.lists(st.integers()), st.integers(1, 10))
def test_pages_hold_everything_in_order(items: list[int], size: int) -> None:
    cut = pages(items, size)
    assert [item for page in cut for item in page] == items
    assert all(0 < len(page) <= size for page in cut)
    assert max(map(len, cut), default=0) - min(map(len, cut), default=0) <= 1


@given(st.text())
def test_a_file_name_is_one_on_every_system(text: str) -> None:
    name = file_name(text)
    assert name
    assert not set(name) & set('/\\:*?"<>| \n\0')
    assert name.strip(".-") == name
