"""Patterns that read generated answers: how long they may take, and what they mean."""

from __future__ import annotations

import re
import signal

import pytest

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host import limits
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


ENDLESS = r"((a|aa|a?a)+)+$", "a" * 43 + "!"


def test_a_pattern_that_takes_for_ever_is_told() -> None:
    with limits.in_force({"pattern_seconds": 1}), pytest.raises(ScoreError) as caught:
        scorers._found(*ENDLESS)
    assert "takes more than 1 s on an answer of 44 characters" in str(caught.value)
    assert "raise `limits: pattern_seconds`" in str(caught.value)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a timer of POSIX stands for Ctrl-C")
def test_an_interrupt_is_not_kept_waiting_by_a_pattern() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with limits.in_force({"pattern_seconds": 1000}), pytest.raises(KeyboardInterrupt):
            scorers._found(*ENDLESS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
