"""Texts that say the same have one normalised form, and others have others."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from pytest_maxrandom.ledger.lines import related
from pytest_maxrandom.ledger.questions import normalised, question_digest, visible_text
from pytest_maxrandom.tasks.task import Example


def question(text: str, choices: tuple[str, ...] = ("yes", "no"), right: int = 0) -> Example:
    return Example("id", text, choices, (right,))


NO_INK = {0x2065, 0x2800, *range(0xFFF0, 0xFFF9)}
"""Of other categories, but drawn as nothing: ignorable by default, and Braille without a dot."""


def test_no_character_that_shows_nothing_and_no_space_changes_a_text() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        shows_nothing = code in NO_INK or 0xE0000 <= code <= 0xE0FFF
        if shows_nothing or unicodedata.category(letter) in ("Cf", "Cc", "Zs", "Zl", "Zp"):
            assert normalised(f"so{letter}me text{letter}?") == "sometext", hex(code)


@pytest.mark.parametrize("text", [
    "Straße", "ΑΣ", "ﬁn", "Ⅷ", "e\u0301", "İ", "½ of 3", "ǅ", "ᾳ", "1 2  3", "?", "...", " ", "",
])  # fmt: skip
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
    assert normalised(text.upper()) == normalised(text.upper().lower().casefold())
    assert visible_text(visible_text(text)) == visible_text(text)


def test_space_tells_numbers_apart_and_nothing_else() -> None:
    assert normalised("1 2") != normalised("12")
    assert normalised("1  2") == normalised("1\u00a02") == normalised("1 \u200b 2")
    assert normalised("a part") == normalised("apart")


def test_closing_punctuation_does_not_count_unless_there_is_nothing_else() -> None:
    assert normalised("Is it so?") == normalised("Is it so") == normalised("Is it so ?!")
    assert normalised("?") != normalised("!")
    assert normalised("5 %") != normalised("5")
    assert normalised("What? No") != normalised("What No")


def test_a_question_is_its_text_its_choices_and_which_of_them_are_right() -> None:
    one = question("Is it so?")
    assert question_digest(one) == question_digest(question("is it so", ("NO", "Yes"), 1))
    assert question_digest(one) != question_digest(question("Is it so?", right=1))
    assert question_digest(one) != question_digest(question("Is it so?", ("yes", "no", "maybe")))
    assert question_digest(one) != question_digest(question("Was it so?"))
    blank = Example("id", "It was", ("he", "she"), (0,), continuation=" who came.")
    other = Example("id", "It was", ("he", "she"), (0,), continuation=" who left.")
    assert question_digest(blank) != question_digest(other)


def test_sets_are_related_by_questions_where_they_are_known_and_by_examples_elsewhere() -> None:
    sets = {"old": ["e1", "e2"], "new": ["f1", "f2", "e2"], "apart": ["g1", "g2"]}
    known = {"f1": "q1", "f2": "q2", "e2": "q3", "h1": "q1", "h2": "q2"}
    assert related(sets, ["h1", "h2"]) == {}
    assert related(sets, ["h1", "h2"], known) == {"new": 2, "old": 0}
