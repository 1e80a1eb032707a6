"""Columns as numbers: whatever is kept of them, rows are what was put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.recorded.tables import codes
from pytest_maxrandom.recorded.tables.codes import Codes, Column, Cycle, Looked, first_of

if TYPE_CHECKING:
    from random import Random

NUMBER = st.integers(0, 4)
SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
"""Prompts, examples, and how many of them share a right answer."""


def kept(*columns: list[str]) -> list[tuple[list[str], Column]]:
    """Return the distinct texts and the rows of columns, the first of them that of examples."""
    made = [Codes()]
    made += [Codes(made[0]) for _ in columns[1:]]
    for start in range(0, len(columns[0]), 3):
        for column, texts in zip(made, columns, strict=True):
            column.extend(texts[start : start + 3])
    return [([*column.of], column.rows()) for column in made]


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> object:
    """Have some pieces of what would be one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "PIECE", 4)
        yield


@given(SHAPES, st.lists(st.tuples(NUMBER, NUMBER, NUMBER), max_size=3), st.randoms())
def test_rows_are_those_that_were_put_in_however_they_are_kept(
    shape: tuple[int, int, int], others: list[tuple[int, int, int]], random: Random
) -> None:
    t, n, shared = shape
    rows = [(j, i, j // shared) for i in range(t) for j in range(n)]
    for other in others:  # what breaks the order anywhere, or what an example has
        rows.insert(random.randrange(len(rows) + 1), other)
    columns = [list(map(str, each)) for each in zip(*rows, strict=True)]
    for texts, (distinct, found) in zip(columns, kept(*columns), strict=True):
        assert len(found) == len(rows)
        assert [distinct[code] for code in found[:]] == texts
        assert [distinct[found[row]] for row in range(len(rows))] == texts
        assert first_of(found, int(found[len(rows) - 1])) == texts.index(texts[-1])


@given(st.lists(st.lists(NUMBER, min_size=1, max_size=9), min_size=1, max_size=4))
def test_rows_given_by_the_places_of_texts_are_those_texts(parts: list[list[int]]) -> None:
    column = Codes()
    for part in parts:
        column.append(map(str, range(5)), np.array(part))
    codes, distinct = column.rows()[:], [*column.of]
    texts = [str(number) for part in parts for number in part]
    assert [distinct[code] for code in codes] == texts
    assert distinct == [*dict.fromkeys(texts)]  # and none that no row has


def test_where_there_are_no_rows_there_are_no_numbers() -> None:
    assert Codes().rows()[:].tolist() == []


@pytest.mark.parametrize(
    "texts",
    [
        "0000010",  # six rows, and then one that ends the second number after one of its five
        "000010000100",  # a number that comes again before its time
        "00110",
        "0011220",
    ],
)
def test_a_number_that_begins_again_within_its_rows_is_not_taken_for_an_order(texts: str) -> None:
    column = Codes()
    column.extend(texts[:6])
    column.extend(texts[6:])
    distinct = [*column.of]
    assert [distinct[code] for code in column.rows()[:]] == [*texts]


def test_what_follows_from_the_order_of_rows_or_from_the_example_takes_no_byte_for_each() -> None:
    t, n = 30, 7
    example = [f"e{j}" for _ in range(t) for j in range(n)]
    prompt = [f"p{i}" for i in range(t) for _ in range(n)]
    gold = ["ABBABAA"[j] for _ in range(t) for j in range(n)]
    said = ["AB"[i * j % 2] for i in range(t) for j in range(n)]
    by_example, by_prompt, shared, own = (rows for _, rows in kept(example, prompt, gold, said))
    assert by_example == Cycle(1, n, t * n)
    assert by_prompt == Cycle(n, t, t * n)
    assert isinstance(shared, Looked)
    assert len(shared.table) == n
    assert own[:].nbytes == t * n


def test_repeated_rows_come_one_time_after_the_other() -> None:
    column = Codes()
    column.extend("abca")
    column.repeat(2)
    assert column.rows()[:].tolist() == [0, 1, 2, 0] * 2
