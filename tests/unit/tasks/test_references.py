"""When an open answer is a reference, and of which kind references are."""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from fractions import Fraction
from typing import get_args

import pytest

from pytest_maxrandom.suite.prompts import ExactMatchSpec, TextPart
from pytest_maxrandom.tasks.references import PARTS, Matching, Open, f1, kind_of, number_of
from pytest_maxrandom.tasks.task import Example

SQUAD = Matching()
EXACT = Matching(parts=(), numbers=False)


def matched(said: str, asked: Example) -> int | None:
    assert asked.open is not None
    return SQUAD.matched(said, asked.choices, asked.open)


def example(*references: str, tolerance: float = 0.0, relative: bool = False) -> Example:
    how = Open(kind_of(references[0]), tolerance, relative)
    return Example.without_choices("1", "?", references, how)


@pytest.mark.parametrize(
    ("said", "reference", "is_same"),
    [
        ("The Eiffel Tower.", "eiffel tower", True),
        ("  an   apple ", "Apple", True),
        ("St. John's", "st johns", True),
        ("35", "3.5", False),  # what punctuation alone would make the same
        ("1,200", "1200", True),
        ("$18.00", "18", True),
        ("\u22124", "-4", True),
        ("3/4", "0.75", True),
        ("50 %", "50", True),
        ("18 apples", "18", False),
        ("A", "B", False),
        ("a", "A", True),  # a letter, and no article
        ("", "the", False),
    ],
)
def test_squads_normalisation_and_numbers(said: str, reference: str, is_same: bool) -> None:
    assert SQUAD.same(said, reference) is is_same
    assert (matched(said, example(reference)) is not None) is is_same


@pytest.mark.parametrize(
    ("said", "reference", "is_same"),
    [("-", "+", False), ("+", "+", True), (" + ", "+", True), ("", "+", False), ("?", "x", False),
     ("plus +", "plus", True), ("<=", "<", False), ("", "", True)],
)  # fmt: skip
def test_signs_count_in_suites_where_nothing_else_is_there(
    said: str, reference: str, is_same: bool
) -> None:
    """lm-eval and SQuAD's script take all of them for the same."""
    of_suite = Matching.of(ExactMatchSpec())
    assert of_suite.same(said, reference) is is_same
    assert f1(said, reference, of_suite) == (is_same and reference != "")
    assert SQUAD.same("-", "+")
    assert SQUAD.content != of_suite.content


def test_signs_beside_numbers_do_not_count() -> None:
    assert f1("- 35 .", "35", Matching.of(ExactMatchSpec())) == 1


def test_suites_name_all_parts() -> None:
    assert get_args(TextPart) == PARTS


def test_to_the_character_means_it() -> None:
    assert EXACT.same("Paris", "Paris")
    assert not EXACT.same("paris", "Paris")
    assert not EXACT.same("18.0", "18")


def test_the_first_alias_that_matches_is_named() -> None:
    assert matched("big apple", example("New York", "NYC", "The Big Apple")) == 2


@pytest.mark.parametrize(
    ("said", "is_right"), [("3.14", True), ("3.2415", True), ("3.25", False), ("three", False)]
)
def test_a_tolerance_is_exact_at_its_end(said: str, is_right: bool) -> None:
    near = example("3.1415", tolerance=0.1)
    assert (matched(said, near) is not None) is is_right


def test_a_relative_tolerance_is_a_share_of_the_reference() -> None:
    near = example("-200", tolerance=0.01, relative=True)
    assert [matched(said, near) for said in ("-198", "-202", "-202.01", "198")] == [
        0,
        0,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e3", Fraction(1000)),
        ("-.5", Fraction(-1, 2)),
        ("-3/4", Fraction(-3, 4)),
        ("12.", Fraction(12)),
        ("1/0", None),
        ("1,00", None),
        ("", None),
    ],
)
def test_numbers_are_read_exactly(text: str, number: Fraction | None) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("kind", "references"),
    [
        ("yes/no", ["yes", "No.", "TRUE"]),
        ("letter", ["B", "(C)", "D."]),
        ("date", ["1969", "2024-05-01", "May 5, 1821", "5 May 1821", "3/4/2020"]),
        ("number", ["18", "1,200", "-3.5", "$20", "75%", "3/4"]),
        ("name", ["Paris", "Marie Curie", "The Lord of the Rings"]),
        ("other", ["a red ball", "photosynthesis"]),
    ],
)
def test_kinds_are_told_by_rule(kind: str, references: list[str]) -> None:
    assert {kind_of(each) for each in references} == {kind}


def squad_f1(prediction: str, ground_truth: str) -> float:
    """Return what SQuAD's evaluate-v1.1.py does (Rajpurkar et al. 2016), without its edits here."""

    def normalize(text: str) -> list[str]:
        bare = "".join(each for each in text.lower() if each not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", bare).split()

    said, truth = normalize(prediction), normalize(ground_truth)
    same = (Counter(said) & Counter(truth)).total()
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(truth)
    return 2 * precision * recall / (precision + recall)


def test_f1_is_that_of_squads_script_where_numbers_are_texts() -> None:
    draw, as_texts = random.Random(4), Matching(numbers=False)
    words = ["the", "Red", "ball,", "a", "ball", "3.5", "35", "--", "red-ball", "An", "box."]
    for _ in range(500):
        # Articles alone are a text of their own here, as of the letter A.
        said, truth = (" ".join([*draw.choices(words, k=4), end]) for end in ("x", "y"))
        assert f1(said, truth, as_texts) == pytest.approx(squad_f1(said, truth))


@pytest.mark.parametrize(
    ("said", "reference", "score"),
    [
        ("1,000 men", "1000.0 men", 1.0),
        ("35 men", "3.5 men", 0.5),
        ("$35.", "35", 1.0),
        ("about (35)", "35", 2 / 3),
        ("", "35", 0.0),
    ],
)
def test_f1_takes_numbers_by_their_values(said: str, reference: str, score: float) -> None:
    assert f1(said, reference, Matching()) == pytest.approx(score)
