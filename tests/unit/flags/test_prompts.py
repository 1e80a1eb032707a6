"""Which prompts were tried, on which examples."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import outcome, seen

T, N = 40, 100


def guesses(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((T, N)) < 0.25


def test_fewer_distinct_prompts_than_asked_for_are_told() -> None:
    assert find(seen(guesses(), asked=T)) == []
    (live,) = find(seen(guesses(), asked=200))
    assert live == Flag(
        "repeated_prompts",
        "Only 40 of 200 prompts are distinct; t = 40 counts those: look how prompts are drawn, and "
        "from how many examples.",
    )
    (single,) = find(seen(guesses()[:1], asked=10))
    assert single.text.startswith("Only 1 of 10 prompts is distinct; t = 1 counts those")
    (stated,) = find(seen(guesses(), asked=200, t=200))
    assert "distinct; the claim counts t = 200: look" in stated.text


def test_prompts_that_repeat_with_the_same_results_are_only_counted() -> None:
    twice = np.vstack([guesses(), guesses()[:10]])
    names = tuple(str(place % T) for place in range(T + 10))
    (flag,) = find(seen(twice, identities=names, asked=T + 10, t=T))
    assert flag.kind == "repeated_prompts"
    assert flag.text.startswith("Only 40 of 50 prompts are distinct")


def test_prompts_that_repeat_with_other_results_are_told() -> None:
    correct, names = guesses(), tuple(str(max(place, 2)) for place in range(T))
    (flag,) = find(seen(correct, identities=names))
    assert flag.kind == "unsteady_prompts"
    assert flag.text.startswith("2 of 40 prompts repeat the ids of an earlier one, but not its")
    correct[:2] = correct[2]
    assert find(seen(correct, identities=names)) == []


def test_fewer_example_ids_than_examples_are_told() -> None:
    assert find(seen(guesses(), declared_n=N)) == []
    assert find(seen(guesses(), declared_n=N - 4, shots=4)) == []
    (flag,) = find(seen(guesses(), declared_n=102))
    assert flag.kind == "colliding_ids"
    assert flag.text.startswith("The results hold 100 example ids, but n is said to be 102: look")


@pytest.mark.parametrize(("sizes", "told"), [([1] * N, False), ([2] * 10 + [1] * 80, False),
                         ([2] * 50, True), ([5] + [1] * 95, False), ([20] + [1] * 80, True),
                         ([N], True)])  # fmt: skip
def test_examples_that_are_copies_are_told_where_n_is_worth_much_less(
    sizes: list[int], told: bool
) -> None:
    copies = tuple(np.repeat(np.cumsum([0, *sizes[:-1]]), sizes).tolist())
    found = [flag for flag in find(seen(guesses(), copies=copies)) if flag.kind != "max_t"]
    assert [flag.kind for flag in found] == ["repeated_examples"] * told
    # What guessers reach who answer copies alike varies as that of so many examples.
    worth = N**2 / sum(size**2 for size in sizes)
    rng = np.random.default_rng(0)
    accuracy = np.repeat(rng.random((4000, len(sizes))) < 0.25, sizes, axis=1).mean(axis=1)
    assert accuracy.var() == pytest.approx(0.25 * 0.75 / worth, rel=0.1)
    assert told == (worth < 0.8 * N)
    assert not told or f"100 examples, but only {len(sizes)} different one" in found[0].text


def test_a_prompt_scored_on_other_examples_is_told() -> None:
    evaluated = np.ones((T, N), dtype=np.bool_)
    evaluated[:, 60:] = False
    evaluated[9] = ~evaluated[9]
    evaluated[9, :20] = True
    (flag,) = find(seen(guesses() & evaluated, evaluated=evaluated))
    assert flag == Flag(
        "other_examples",
        "1 of 40 prompts was scored on other examples than most: '9' shares 20 of its 60.",
    )


def test_prompts_may_lack_their_own_demonstrations_and_no_more() -> None:
    evaluated = np.ones((T, N), dtype=np.bool_)
    evaluated[3, :2] = False
    assert find(seen(guesses() & evaluated, evaluated=evaluated, shots=2)) == []
    (flag,) = find(seen(guesses() & evaluated, evaluated=evaluated, shots=1))
    assert flag.kind == "other_examples"
    assert flag.text.startswith(
        "1 of 40 prompts was scored on fewer examples than most ('3' on 98, not 100), which their"
    )


def on(*ranges: tuple[int, int], shots: int = 0, best: int = 0) -> list[Flag]:
    """Return the flags of prompts that were scored on these examples."""
    evaluated = np.zeros((len(ranges), N), dtype=np.bool_)
    for row, (first, end) in zip(evaluated, ranges, strict=True):
        row[first:end] = True
    correct = guesses()[: len(ranges)] & evaluated
    judged = outcome(20, 40, best=best, passed=False)
    return find(seen(correct, evaluated=evaluated, shots=shots, outcome=judged))


def test_prompts_in_groups_with_other_examples_are_told() -> None:
    (thirds,) = on(*[(0, 33)] * 3, *[(33, 66)] * 3, *[(66, 99)] * 3, best=8)
    assert thirds == Flag(
        "other_examples",
        "6 of 9 prompts were scored on other examples than the largest group that agrees "
        "(3 prompts): '8', the best, shares 0 of its 33.",
    )
    (halves,) = on(*[(0, 50)] * 5, *[(50, 100)] * 5)
    assert halves.text.startswith("5 of 10 prompts were scored on other examples than the largest")
    (pair,) = on((0, 50), (50, 100))
    assert "1 of 2 prompts was scored on other examples than the largest group that agrees (1 " in (
        pair.text
    )


def test_a_best_prompt_that_shares_half_of_its_examples_is_told() -> None:
    (flag,) = on(*[(0, 66)] * 9, (34, 100), best=9)
    assert flag == Flag(
        "other_examples",
        "1 of 10 prompts was scored on other examples than most: '9', the best, shares 32 of its "
        "66.",
    )


def test_prompts_with_more_examples_than_most_are_told() -> None:
    (flag,) = on((0, 100), *[(0, 60)] * 6, shots=2)
    assert flag.kind == "other_examples"
    assert flag.text.startswith(
        "1 of 7 prompts was scored on more examples than most ('0', the best, on 100, not 60)"
    )


@pytest.mark.parametrize("first", [True, False])
def test_among_prompts_that_leave_out_their_demonstrations_the_odd_one_is_told(
    *, first: bool
) -> None:
    """No two are alike, and so none is commoner than it."""
    rng = np.random.default_rng(0)
    evaluated = np.ones((T, N), dtype=np.bool_)
    for row in evaluated:
        row[rng.choice(N, size=2, replace=False)] = False
    odd = 0 if first else T - 1
    evaluated[odd, 40:] = False
    (flag,) = find(seen(guesses() & evaluated, evaluated=evaluated, shots=2))
    assert flag.text.startswith("1 of 40 prompts was scored on fewer examples than most")
    assert repr(str(odd)) in flag.text
