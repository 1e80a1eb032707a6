"""Random choices are uniform, and the same on every machine."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from math import factorial

import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from pytest_maxrandom.stats.seeding import Stream, digest


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_digest_is_the_sha_256_of_the_parts_with_their_lengths() -> None:
    assert digest("ab", "", 12, "é") == sha256("2:ab0:2:121:é")
    assert digest() == sha256("")


@given(st.lists(st.text()), st.lists(st.text()))
def test_other_parts_have_another_digest(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_stream_counts_through_the_digests_of_its_names() -> None:
    seed = sha256("7:prompts1:0")
    expected = [int(sha256(f"64:{seed}1:{counter}"), 16) % 1000 for counter in range(5)]
    stream = Stream("prompts", 0)
    assert [stream.below(1000) for _ in range(5)] == expected


def test_a_stream_is_the_same_on_every_machine() -> None:
    """Frozen: other numbers here would change every published sweep."""
    stream = Stream("frozen", 1)
    assert [stream.below(10**6) for _ in range(3)] == [399173, 563328, 355731]
    assert Stream("frozen", 2).shuffled("abcdef") == list("bfdcae")
    assert Stream("frozen", 3).below(2**300) % 10**12 == 984760398530


def test_other_names_give_other_numbers() -> None:
    firsts = {
        Stream(*names).below(2**256)
        for names in itertools.permutations(["a", "b", "ab", ""], 2)
    }  # fmt: skip
    assert len(firsts) == 12


@pytest.mark.parametrize("n", [2, 7, 2**128 + 1, 3 * 2**253, 2**256, 2**257, 10**200])
def test_numbers_below_n_are_below_n_and_fill_it_evenly(n: int) -> None:
    """Eight equal parts; at 3 * 2**253 one word of 256 bits would fill some more often."""
    stream = Stream("even", n)
    numbers = [stream.below(n) for _ in range(2000)]
    assert 0 <= min(numbers) <= max(numbers) < n
    parts = min(n, 8)
    counts = Counter(number * parts // n for number in numbers)
    assert chisquare([counts[part] for part in range(parts)]).pvalue > 1e-4
    assert stream.below(1) == 0


@given(st.integers(0, 60), st.integers())
def test_all_numbers_come_once(n: int, seed: int) -> None:
    assert sorted(Stream(seed).distinct(n)) == list(range(n))


def test_a_few_of_very_many_are_distinct_and_cost_little() -> None:
    few = list(itertools.islice(Stream("few").distinct(10**100), 1000))
    assert len(set(few)) == 1000


def test_every_order_is_equally_likely() -> None:
    orders = Counter(tuple(Stream(seed).shuffled(range(4))) for seed in range(4800))
    assert len(orders) == factorial(4)
    assert chisquare(list(orders.values())).pvalue > 1e-4
