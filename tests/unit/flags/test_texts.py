"""Texts that were cut end in the middle, all at the greatest length."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.flags import find
from tests.unit.flags.made import seen

TEXT = "the quick brown fox jumps over a lazy dog and then rests near some old river bank"
WORDS = TEXT.split()


def sentences(number: int, seed: int = 0) -> list[str]:
    """Return texts of 30 to 149 words, each with a full stop at its end."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(30, 150))) for _ in range(number)]
    return [f"{text} number {place}." for place, text in enumerate(texts)]


def kinds(texts: list[str]) -> list[str]:
    correct = np.random.default_rng(0).random((3, len(texts))) < 0.25
    return [flag.kind for flag in find(seen(correct, inputs=tuple(texts)))]


def test_whole_texts_raise_no_flag() -> None:
    assert kinds(sentences(200)) == []


@pytest.mark.parametrize("characters", [200, 400, 500])
def test_texts_cut_at_a_number_of_characters_are_told(characters: int) -> None:
    texts = [text[:characters] for text in sentences(200)]
    correct = np.random.default_rng(0).random((3, 200)) < 0.25
    (flag,) = find(seen(correct, inputs=tuple(texts)))
    # At a space the text ends one character before.
    assert flag.kind == "cut_text"
    assert (flag.parameters["unit"], flag.parameters["lengths"][1]) == ("characters", characters)


def test_texts_cut_at_a_number_of_words_are_told() -> None:
    cut = [" ".join(text.split()[:100]) for text in sentences(200)]
    correct = np.random.default_rng(0).random((3, 200)) < 0.25
    (flag,) = find(seen(correct, inputs=tuple(cut)))
    assert (flag.parameters["unit"], flag.parameters["lengths"]) == ("words", [100, 100])


@pytest.mark.parametrize("whole", [0, 3, 10])
def test_texts_of_sentences_are_told_where_all_or_nearly_all_of_them_were_cut(whole: int) -> None:
    rng = np.random.default_rng(0)
    paragraphs = [
        " ".join(" ".join(rng.choice(WORDS, size=size)) + "." for size in rng.integers(5, 25, 20))
        for _ in range(100)
    ]
    cut = [text[:500] for text in paragraphs[whole:]]
    short = [f"The whole of number {place}. It is short." for place in range(whole)]
    assert kinds([*cut, *short]) == ["cut_text"]
    assert kinds([*(text.strip() for text in cut), *short]) == ["cut_text"]
    chinese = [text.replace(". ", "\u3002").replace(" ", "") for text in paragraphs]
    assert kinds([*(text[:400] for text in chinese[whole:]), *short]) == ["cut_text"]
    assert kinds([*paragraphs[whole:], *short]) == []


def test_sentences_from_a_pattern_end_all_in_the_same_way() -> None:
    pattern = "Here is a number. It is written in the usual way, with all of its digits. " * 2
    assert kinds([f"{pattern}It is {place}" for place in range(100, 300)]) == []


def test_texts_from_a_pattern_may_have_equal_lengths() -> None:
    pattern = "Here is a number with three digits, and it is written in the usual way: " * 2
    assert kinds([f"{pattern}{place}. Is it even?" for place in range(100, 300)]) == []
    assert kinds([f"{pattern}{place}" for place in range(1, 200)]) == []


def test_the_longest_texts_from_a_pattern_end_as_the_others_do() -> None:
    pattern = "Here is a number, and it is written in the usual way with all of its digits: " * 2
    assert kinds([f"{pattern}{place}. Is it even?" for place in range(10, 300)]) == []


@pytest.mark.parametrize(("full", "told"), [(0, False), (29, False), (30, True)])
def test_many_texts_as_long_as_the_context_are_told(full: int, *, told: bool) -> None:
    correct = np.random.default_rng(0).random((3, 200)) < 0.25
    flags = find(seen(correct, full_texts=full))
    assert [flag.kind for flag in flags] == ["cut_text"] * told
    parameters = {"case": "context", "texts": full, "pairs": 600}
    assert not told or flags[0].parameters == parameters


@pytest.mark.parametrize(("texts", "longest", "told"), [(200, 7, False), (200, 20, True),
                         (30, 4, False), (30, 5, True)])  # fmt: skip
def test_a_few_texts_of_the_same_length_are_accident(texts: int, longest: int, told: bool) -> None:
    long = [f"{'x' * 1500}{place:03}" for place in range(longest)]
    assert (kinds(sentences(texts) + long) == ["cut_text"]) == told


def test_short_texts_are_not_cut() -> None:
    short = [f"{'x' * (place % 50)} {place}." for place in range(200)]
    for characters, told in ((90, []), (100, ["cut_text"])):
        longest = [f"{place:03}".ljust(characters, "x") for place in range(50)]
        assert kinds(short + longest) == told
