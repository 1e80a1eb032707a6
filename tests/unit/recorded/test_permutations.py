"""What can be shuffled in recorded results."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.recorded.permutations import NoPermutations, strata
from pytest_maxrandom.recorded.sweep import RecordedSweep
from pytest_maxrandom.stats.permutation import arrangements, max_t_test

if TYPE_CHECKING:
    from collections.abc import Sequence

T, N = 20, 60


def sweep(choices: Sequence[Sequence[int]], seed: int, *, named: bool = True) -> RecordedSweep:
    """Return guessers that answer each example with one of its own labels."""
    random = np.random.default_rng(seed)
    places = random.integers(list(map(len, choices)), size=(T + 1, len(choices)))
    drawn = [[own[place] for own, place in zip(choices, row, strict=True)] for row in places]
    gold, answers = tuple(frozenset({label}) for label in drawn[0]), np.array(drawn[1:])
    right = [
        [answer in labels for answer, labels in zip(row, gold, strict=True)] for row in answers
    ]
    ids = tuple(map(str, range(len(choices))))
    return RecordedSweep(
        path=Path("r.csv"),
        claim="guessers",
        model="m",
        task="t",
        shots=0,
        prompt_ids=tuple(map(str, range(T))),
        example_ids=ids,
        identities=tuple(map(str, range(T))),
        demonstration_ids=((),) * T,
        correct=np.array(right),
        evaluated=np.ones((T, len(choices)), dtype=np.bool_),
        chances=tuple(Fraction(1, len(own)) for own in choices),
        answers=answers,
        gold=gold,
        labels=tuple(map(str, range(1 + max(map(max, choices))))) if named else (),
    )


def p_value(guessers: RecordedSweep, seed: int) -> float:
    assert guessers.answers is not None
    assert guessers.gold is not None
    groups = strata(guessers, guessers.chances)
    test = max_t_test(guessers.answers, guessers.gold, strata=groups, permutations=199, seed=seed)
    return test.p_value


@pytest.mark.parametrize(
    "choices",
    [
        pytest.param([(0, 1)] * N, id="alike"),
        pytest.param([(0, 1), (2, 3)] * (N // 2), id="two kinds with as many choices"),
        pytest.param([(0, 1, 2, 3), (2, 3)] * (N // 2), id="one kind is part of the other"),
        pytest.param([(0, 1, 2, 3), (4, 5), (6, 7)] * (N // 3), id="three kinds"),
    ],
)
def test_guessers_are_found_out_as_often_as_the_level_says(
    choices: list[tuple[int, ...]],
) -> None:
    values = np.array([p_value(sweep(choices, seed), seed) for seed in range(200)])
    # Binomial: 10 expected at .05, 22 is reached with probability .0005; 100 at .5.
    assert (values <= 0.05).sum() < 22
    assert (values <= 0.5).sum() < 125
    assert (values <= 0.5).sum() > 60


def test_examples_whose_choices_are_called_otherwise_are_never_shuffled() -> None:
    own = sweep([(2 * example, 2 * example + 1) for example in range(20)], 0)
    assert own.gold is not None
    assert arrangements(own.gold, strata(own, own.chances)) == 1
    chained = [(example, example + 1) for example in range(20)]
    with pytest.raises(NoPermutations, match="call them alike"):
        strata(*(lambda found: (found, found.chances))(sweep(chained, 0)))


def test_places_are_choices_of_every_example_with_as_many() -> None:
    found = sweep([(0, 1), (0, 1, 2)] * 10, 0, named=False)
    assert strata(found, found.chances).tolist() == [1, 2] * 10


def test_a_model_that_always_knows_is_not_taken_for_many_kinds() -> None:
    found = sweep([(0, 1, 2)] * 12, 0)
    assert found.gold is not None
    assert found.answers is not None
    found.answers[:] = [next(iter(right)) for right in found.gold]
    assert strata(found, found.chances).tolist() == [1] * 12


def test_what_is_not_known_is_said() -> None:
    found = sweep([(0, 1)] * 6, 0)
    with pytest.raises(NoPermutations, match="how many choices"):
        strata(found, None)
