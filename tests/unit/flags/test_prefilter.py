"""The cheap look at other models loses none that the thorough one finds, and few others pass it."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_maxrandom.flags import find
from pytest_maxrandom.flags.kinds.identical_models import candidates, compact
from tests.unit.flags.made import answered, seen

GOLD = np.random.default_rng(7).integers(0, 4, 60)


def is_found(one: np.ndarray, other: np.ndarray) -> bool:
    of_other = answered(other, GOLD.tolist(), model="other")
    judged = answered(one, GOLD.tolist(), others=(of_other,))
    return any(flag.kind == "identical_models" for flag in find(judged))


def passes(one: np.ndarray, other: np.ndarray) -> bool:
    own, others = (answered(each, GOLD.tolist()).read for each in (one, other))
    return bool(candidates(own, [others]))


@pytest.mark.parametrize("constant", [0, 3])
def test_who_is_found_identical_passes(constant: int) -> None:
    found, generator = 0, np.random.default_rng(constant)
    for changed in [*range(12)] * 4:
        one = generator.integers(0, 4, (6, 60))
        one[:constant] = 2  # what two models always say tells nothing of them
        other = one.copy()
        cells = generator.choice(one.size, changed, replace=False)
        other.flat[cells] = (other.flat[cells] + 1) % 4
        if is_found(one, other):
            found += 1
            assert passes(one, other)
    assert found >= 12


def test_of_models_that_answer_for_themselves_none_passes() -> None:
    generator = np.random.default_rng(1)
    models = [generator.integers(0, 4, (5, 60)) for _ in range(40)]
    assert not any(passes(models[0], other) for other in models[1:])


def test_what_cannot_be_compared_cheaply_passes() -> None:
    right = np.eye(4, dtype=bool)
    other = seen(right, examples=("a", "b", "c", "d")).read
    assert candidates(seen(~right).read, [other]) == [other]


def test_equal_answers_have_equal_codes_however_many_there_are() -> None:
    codes = np.array([[-1, 0, 126, 127, 400]])
    assert compact(codes).tolist() == [[-1, 0, 126, 0, 400 % 127]]
