"""Answers that are compared as mathematics, by the real package, which never hangs."""

from __future__ import annotations

import time

import pytest

from pytest_maxrandom.host.limits import in_force
from pytest_maxrandom.suite.prompts import ExactMatchSpec
from pytest_maxrandom.sweeps.open_answers import coded
from pytest_maxrandom.tasks import mathematics
from pytest_maxrandom.tasks.mathematics import is_same
from pytest_maxrandom.tasks.references import Matching, Open
from pytest_maxrandom.tasks.task import Example

pytest.importorskip("math_verify")
pytestmark = pytest.mark.slow  # it loads SymPy, in a process of its own

MATH = Matching.of(ExactMatchSpec(math=True))


@pytest.mark.parametrize(
    ("said", "reference", "same"),
    [
        (r"\frac{1}{2}", "0.5", True),
        ("1/2", r"\frac{2}{4}", True),
        (r"x^2+2x+1", "(x+1)^2", True),
        ("x^2+2x", "(x+1)^2", False),
        (r"2\sqrt{2}", r"\sqrt{8}", True),
        (r"\boxed{7}", "7", True),
        (r"\{2, 1\}", r"\{1, 2\}", True),
        (r"\{2, 3\}", r"\{1, 2\}", False),
        ("-5", "5", False),
        ("x2", "x^2", False),  # which is one text without punctuation
        ("no idea", "7", False),
        ("on idea", "no idea", False),  # which are products of the same letters
        ("The answer is $\\frac{14}{2}$.", "7", True),
    ],
)
def test_formulas_are_the_same_however_they_are_written(
    said: str, reference: str, *, same: bool
) -> None:
    assert MATH.same(said, reference) is same
    assert (MATH.matched(said, [reference], Open("other")) == 0) is same
    examples = [Example.without_choices("1", "?", [reference], Open("other"))]
    found = coded(examples, [{"1": said}], MATH)
    assert (int(found.said[0, 0]) in found.gold[0]) is same


def test_what_nobody_can_compute_is_no_reference_after_the_time_limit() -> None:
    with in_force({"pattern_seconds": 2}):
        assert is_same("x + 1", "1 + x")
        start = time.monotonic()
        assert not is_same("9^{9^{9^{9}}} + x", "x + 3")
        assert time.monotonic() - start < 30
        assert is_same("x + 2", "2 + x")  # by a new process, which may take its time to load


def test_a_suite_without_the_package_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert mathematics.is_missing()
    assert 'pip install "pytest-maxrandom[math]"' in mathematics.MISSING
