"""Patterns that read generated answers: how long they may take, and what they mean."""

from __future__ import annotations

import re
import signal
import tracemalloc
from re import _parser  # type: ignore[attr-defined]

import pytest

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host import limits
from pytest_maxrandom.suite.prompts import GenerationSpec, written_out
from pytest_maxrandom.sweeps.written import first_match

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
        found, expected = first_match(pattern, text), re.search(pattern, text)
        assert (found and (found.span(), found.groups())) == (
            expected and (expected.span(), expected.groups())
        )


ENDLESS = r"((a|aa|a?a)+)+$", "a" * 43 + "!"


def test_a_pattern_that_takes_for_ever_is_told() -> None:
    with limits.in_force({"pattern_seconds": 1}), pytest.raises(ScoreError) as caught:
        first_match(*ENDLESS)
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
            first_match(*ENDLESS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (r"(?:\d{20}){3}", 60),
        (r"\d{20}" * 5, 100),
        (r"(?:[ab]{100}){2}[ab]{50}", 250),
        (r"(?:[ab]{3,9}?c*){10}", 40),
        (r"(?x)(?: [ab]{10} ) (?#{7}) {10,} \{99}", 104),
        (r"(?:(?>[ab]{2}|c)(?=[ab]{4})[ab]{5}+){10}", 120),
        (r"([ab])(?(1)[ab]{7}|[ab]{2}){10}", 91),
        (r"[ab]{0,1000}", 1),
    ],
)
def test_as_many_parts_are_counted_as_are_written_out(pattern: str, parts: int) -> None:
    assert written_out(_parser.parse(pattern)) == parts


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:[ab]{100}){100}",
        r"(?:[ab]{50}[cd]{50}){100}",
        r"[ab]{2000}" * 5,
        r"(?:(?:[ab]{2}|[cd]{3}){20}){100}",
        r"(?:[ab]{10}(?:[cd]*[ef]){5}){500}",
        r"(?x)(?: [ab]{100} ) (?#{7}) {100}",
    ],
)
def test_each_part_takes_as_much_memory(pattern: str) -> None:
    regex = pytest.importorskip("regex", reason="patterns need the package regex")
    tracemalloc.start()
    compiled = regex.compile(pattern, flags=regex.VERSION0, cache_pattern=False)
    took, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert compiled.pattern == pattern
    assert 100 < took / written_out(_parser.parse(pattern)) < 500  # a branch has a node, too


def test_what_stands_in_a_row_adds_up_and_may_be_long() -> None:
    pattern = r"(\d{20})" * 5
    assert GenerationSpec.model_validate({"pattern": pattern}).pattern == pattern
