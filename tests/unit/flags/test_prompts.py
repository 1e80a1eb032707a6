"""Which prompts were tried, on which examples."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import result, seen

T, N = 40, 100


def other_examples(
    case: str, told: int, prompts: int, agreeing: int, prompt: str, is_best: bool = False, **on: int
) -> Flag:
    named = {"told": told, "prompts": prompts, "agreeing": agreeing, "prompt": prompt}
    return Flag("other_examples", {"case": case, **named, "is_best": is_best, **on})


def guesses(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((T, N)) < 0.25


def test_fewer_distinct_prompts_than_asked_for_are_told() -> None:
    assert find(seen(guesses(), asked=T)) == []
    (live,) = find(seen(guesses(), asked=200))
    assert live == Flag("repeated_prompts", {"distinct": 40, "asked": 200, "t": 40})
    (single,) = find(seen(guesses()[:1], asked=10))
    assert single.parameters == {"distinct": 1, "asked": 10, "t": 1}
    (stated,) = find(seen(guesses(), asked=200, t=200))
    assert stated.parameters == {"distinct": 40, "asked": 200, "t": 200}


def test_prompts_that_repeat_with_the_same_results_are_only_counted() -> None:
    twice = np.vstack([guesses(), guesses()[:10]])
    names = tuple(str(place % T) for place in range(T + 10))
    (flag,) = find(seen(twice, identities=names, asked=T + 10, t=T))
    assert flag == Flag("repeated_prompts", {"distinct": 40, "asked": 50, "t": 40})


def test_prompts_that_repeat_with_other_results_are_told() -> None:
    correct, names = guesses(), tuple(str(max(place, 2)) for place in range(T))
    (flag,) = find(seen(correct, identities=names))
    assert flag == Flag("unsteady_prompts", {"repeating": 2, "prompts": 40})
    correct[:2] = correct[2]
    assert find(seen(correct, identities=names)) == []


def test_fewer_example_ids_than_examples_are_told() -> None:
    assert find(seen(guesses(), declared_n=N)) == []
    assert find(seen(guesses(), declared_n=N - 4, shots=4)) == []
    (flag,) = find(seen(guesses(), declared_n=102))
    assert flag == Flag("colliding_ids", {"ids": 100, "stated": 102})


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
    assert not told or found[0].parameters == {"n": N, "different": len(sizes)}


def test_a_prompt_scored_on_other_examples_is_told() -> None:
    evaluated = np.ones((T, N), dtype=np.bool_)
    evaluated[:, 60:] = False
    evaluated[9] = ~evaluated[9]
    evaluated[9, :20] = True
    (flag,) = find(seen(guesses() & evaluated, evaluated=evaluated))
    assert flag == other_examples("other", 1, T, 39, "9", size=60, shared=20, usual=60)


def test_prompts_may_lack_their_own_demonstrations_and_no_more() -> None:
    evaluated = np.ones((T, N), dtype=np.bool_)
    evaluated[3, :2] = False
    assert find(seen(guesses() & evaluated, evaluated=evaluated, shots=2)) == []
    (flag,) = find(seen(guesses() & evaluated, evaluated=evaluated, shots=1))
    assert flag == other_examples("fewer", 1, T, 39, "3", size=98, shared=98, usual=100)


def on(*ranges: tuple[int, int], shots: int = 0, best: int = 0) -> list[Flag]:
    """Return the flags of prompts that were scored on these examples."""
    evaluated = np.zeros((len(ranges), N), dtype=np.bool_)
    for row, (first, end) in zip(evaluated, ranges, strict=True):
        row[first:end] = True
    correct = guesses()[: len(ranges)] & evaluated
    judged = result(20, 40, best=best, passed=False)
    return find(seen(correct, evaluated=evaluated, shots=shots, result=judged))


def test_prompts_in_groups_with_other_examples_are_told() -> None:
    (thirds,) = on(*[(0, 33)] * 3, *[(33, 66)] * 3, *[(66, 99)] * 3, best=8)
    assert thirds == other_examples("other", 6, 9, 3, "8", True, size=33, shared=0, usual=33)
    (halves,) = on(*[(0, 50)] * 5, *[(50, 100)] * 5)
    assert halves == other_examples("other", 5, 10, 5, "5", size=50, shared=0, usual=50)
    (pair,) = on((0, 50), (50, 100))
    assert pair == other_examples("other", 1, 2, 1, "1", size=50, shared=0, usual=50)


def test_a_best_prompt_that_shares_half_of_its_examples_is_told() -> None:
    (flag,) = on(*[(0, 66)] * 9, (34, 100), best=9)
    assert flag == other_examples("other", 1, 10, 9, "9", True, size=66, shared=32, usual=66)


def test_prompts_with_more_examples_than_most_are_told() -> None:
    (flag,) = on((0, 100), *[(0, 60)] * 6, shots=2)
    assert flag == other_examples("more", 1, 7, 6, "0", True, size=100, shared=60, usual=60)


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
    named = [flag.parameters[name] for name in ("case", "told", "agreeing", "prompt")]
    assert named == ["fewer", 1, T - 1, str(odd)]
