"""Hits where right answers are shuffled: against all permutations, and against SciPy."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import hypergeom

from pytest_maxrandom.stats import matching
from pytest_maxrandom.stats.matching import hits_masses, likely_answers, matches_p

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7)


@given(LABELS)
@settings(deadline=None, max_examples=60)
def test_masses_are_those_of_all_permutations(pairs: list[tuple[int, int]]) -> None:
    answers, gold = [a for a, _ in pairs], [g for _, g in pairs]
    counts = Counter(
        sum(a == g for a, g in zip(answers, shuffled, strict=True))
        for shuffled in permutations(gold)
    )
    for hits, mass in enumerate(hits_masses(answers, gold)):
        assert mass == float(Fraction(counts.pop(hits, 0), math.factorial(len(gold))))
    assert not counts


@pytest.mark.parametrize(("n", "said", "right"), [(60, 30, 30), (200, 160, 100), (400, 230, 190)])
def test_two_labels_are_hypergeometric(n: int, said: int, right: int) -> None:
    answers = np.arange(n) < said
    for shift in (0, n // 7, n // 3):
        gold = np.roll(np.arange(n) < right, shift)
        ones = int((answers & gold).sum())
        expected = hypergeom.sf(ones - 1, n, right, said)
        assert matches_p(answers.astype(int), gold.astype(int)) == pytest.approx(expected, rel=1e-9)


def test_examples_that_were_not_scored_keep_their_right_answers() -> None:
    assert matches_p([0, 1, -1, -1], [0, 1, 0, 1]) == matches_p([0, 1], [0, 1]) == 0.5


def test_of_several_right_answers_nothing_is_known() -> None:
    assert matches_p([0, 1], [{0, 1}, {0}]) is None


def test_beyond_what_is_quick_a_bound_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    answers = random.integers(0, 3, 300)
    monkeypatch.setattr(matching, "_MOST_EXAMPLES", 299)
    for knows in (0.0, 0.1, 0.3):
        gold = np.where(random.random(300) < knows, answers, random.integers(0, 3, 300))
        bound = matches_p(answers, gold)
        monkeypatch.setattr(matching, "_MOST_EXAMPLES", 300)
        exact = matches_p(answers, gold)
        monkeypatch.setattr(matching, "_MOST_EXAMPLES", 299)
        assert bound is not None
        assert exact is not None
        assert exact <= bound


@pytest.mark.parametrize("correct", [0, 1, 7, 30, 39, 40])
@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2, 3), (0, 0, 0, 1)])
def test_likely_answers_give_each_label_about_as_often_as_it_is_right(
    labels: tuple[int, ...], correct: int
) -> None:
    gold = [*labels] * (40 // len(labels))
    answers = likely_answers(gold, [2] * 40, correct)
    assert sum(said == right for said, right in zip(answers, gold, strict=True)) == correct
    rare = min(map(gold.count, labels))  # where all of a label are wrong, no turn is left for it
    for label in labels if 40 - correct <= rare * len(set(labels)) else ():
        assert abs(answers.count(label) - gold.count(label)) <= 1
    # Strata of one label have no other to be wrong with; these answers are right nowhere.
    alone = likely_answers([0, 0, 1, 1], [0, 0, 1, 1], 1)
    assert sum(said == right for said, right in zip(alone, [0, 0, 1, 1], strict=True)) == 1


@pytest.mark.parametrize(
    ("ones", "correct"), [(30, 45), (30, 51), (18, 48), (18, 49), (14, 46), (14, 51), (0, 40)]
)
def test_only_who_prefers_the_commonest_label_needs_more(ones: int, correct: int) -> None:
    """Of all answers with two labels and so many hits; each p from SciPy."""
    gold = [1] * ones + [0] * (60 - ones)
    other = [1 - right for right in gold]
    assert matches_p(likely_answers(other, [0] * 60, correct), other) == matches_p(
        likely_answers(gold, [0] * 60, correct), gold
    )
    likely = matches_p(likely_answers(gold, [0] * 60, correct), gold)
    assert likely is not None
    for both in range(max(0, correct - (60 - ones)), min(ones, correct) + 1):
        said = both + 60 - ones - (correct - both)
        if said >= ones - 1 or ones == 30:
            assert hypergeom.sf(both - 1, 60, ones, said) <= likely * (1 + 1e-9)


def test_each_stratum_has_its_share_of_what_is_wrong() -> None:
    gold, strata = [0] * 44 + [1] * 16, [0, 1] * 30
    answers = likely_answers(gold, strata, 48)
    assert Counter(strata[place] for place in range(60) if answers[place] != gold[place]) == {
        0: 6,
        1: 6,
    }
    assert Counter(answers) == Counter(gold)
