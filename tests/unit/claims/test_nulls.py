"""Guessers for more prompts than this run tried: those that the ledger or a budget adds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from pytest_maxrandom.claims.nulls import guessers
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
from pytest_maxrandom.tasks.task import Example, Layout


def example(number: int, choices: int) -> Example:
    return Example(str(number), f"q{number}", tuple("abcdef"[:choices]), (0,))


def prompt_set(sizes: list[int], left_out: list[int]) -> PromptSet:
    """One prompt for each example that it leaves out; examples by their number of choices."""
    examples = tuple(example(number, choices) for number, choices in enumerate(sizes))
    prompts = tuple(Prompt((examples[place],), Format(Layout())) for place in left_out)
    return PromptSet(prompts, examples, "leave_out", len(sizes), len(sizes), ())


def cdf(chances: list[Fraction], correct: int) -> Fraction:
    """P(one guesser has fewer than `correct` right), by enumeration."""
    total = Fraction()
    for answers in product((0, 1), repeat=len(chances)):
        if sum(answers) < correct:
            weight = Fraction(1)
            for right, chance in zip(answers, chances, strict=True):
                weight *= chance if right else 1 - chance
            total += weight
    return total


@pytest.mark.parametrize("t", [3, 10, 1000])
def test_further_guessers_of_equal_examples_are_like_the_first(t: int) -> None:
    null = guessers(prompt_set([2] * 8, [0, 1, 2]), t)
    baseline = MaxRandomBaseline(n=7, chance=0.5, t=t)
    assert null.t == t
    assert null.max_random_baseline == pytest.approx(baseline.expected_accuracy, rel=1e-14)
    for correct in range(8):
        assert null.p_max(correct) == pytest.approx(baseline.p_value(correct), rel=1e-12)


def test_further_guessers_of_unlike_examples_are_never_worse_than_any_of_the_set() -> None:
    sizes, left_out, t = [2, 2, 5, 5, 3], [0, 2, 4], 7
    null = guessers(prompt_set(sizes, left_out), t)
    chances = [[Fraction(1, m) for i, m in enumerate(sizes) if i != place] for place in left_out]
    for correct in range(1, 5):
        own = [cdf(row, correct) for row in chances]
        expected = 1 - own[0] * own[1] * own[2] * min(own) ** (t - 3)
        assert null.p_max(correct) == pytest.approx(float(expected), rel=1e-12)
    assert null.chance == sum(sum(row) for row in chances) / 12


def test_no_fewer_guessers_than_prompts_stand_beside_a_sweep() -> None:
    assert guessers(prompt_set([2] * 8, [0, 1, 2]), 2).t == 3
