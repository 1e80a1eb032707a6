"""Patterns that read generated answers: how long they may take, and what they mean."""

from __future__ import annotations

import re

import pytest

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.sweeps import scorers

OF_LM_EVAL = (
    r"(-?[$0-9.,]{2,})|(-?[0-9]+)",
    r"#### (\-?[0-9\.\,]+)",
    r"(?<=The answer is )(.*)(?=.)",
    r"answer is \(?([ABCDEFGHIJ])\)?",
    r"((?<=The answer is )(.*)(?=.)|(?<=answer is )(.*)(?=.)|(?<=The answer: )(.*)(?=.))",
    r"(\([A-Z]\))",
    r"(?i)the best answer is[^A-Z]*([A-Z])",
)
SAID = (
    "so The answer is (B).", "#### -1,234.50", "answer is C", "The best answer is [D]", "$ 12",
    "", "nothing\nThe answer: (A)!\n",
)  # fmt: skip


@pytest.mark.parametrize("pattern", OF_LM_EVAL)
def test_a_pattern_finds_what_python_finds(pattern: str) -> None:
    for text in SAID:
        found, expected = scorers._found(pattern, text), re.search(pattern, text)
        assert (found and (found.span(), found.groups())) == (
            expected and (expected.span(), expected.groups())
        )


def test_a_pattern_that_takes_for_ever_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorers, "_SECONDS", 0.05)
    with pytest.raises(ScoreError, match=r"takes more than 0\.05 s on an answer of 44 characters"):
        scorers._found(r"((a|aa|a?a)+)+$", "a" * 43 + "!")
