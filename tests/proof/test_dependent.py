"""Examples that depend on each other, undeclared: guessers stay red, and who knows stays green."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.dependent import (
    COPIES,
    IN_ORDER,
    KNOWING,
    PAIRS,
    PASSAGES,
    verdict,
    whole_verdict,
)
from tests.proof.scale import WHOLE, affordable, most, scaled

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 24)
KNOW = scaled(400, 24)
ALSO_WHOLE = 3
"""Runs of a cell that are also judged as a suite is."""
COLUMNS = "guessers and right answers | t | without the flags | with them"
WITHOUT_TEXTS = [name for name in COPIES if "answers alone" in name]
CELLS = [
    *((name, t) for name in IN_ORDER for t in (1, 10)),
    *((name, t) for name in PAIRS for t in (1, 10)),
    *((name, t) for name in PASSAGES for t in affordable((1, 10, 50), lambda t: t == 50)),
    *((name, t) for name in COPIES for t in affordable((10, 50), lambda t: t == 50)),
    *((name, 6) for name in WITHOUT_TEXTS),
]


@pytest.mark.parametrize(("name", "t"), CELLS)
def test_what_nobody_declares_helps_no_guesser(name: str, t: int, measured: Measured) -> None:
    generator = np.random.default_rng(32)
    draw = (IN_ORDER | PAIRS | PASSAGES | COPIES)[name]
    for _ in range(ALSO_WHOLE):
        untold = draw(generator, t)
        assert verdict(untold) == whole_verdict(untold)
    found = np.array([verdict(draw(generator, t)) for _ in range(RUNS)])
    table, shares = f"undeclared dependence ({RUNS} runs)", found.mean(axis=0)
    measured(table, COLUMNS, f"{name} | {t}", *shares)
    assert found[:, 1].sum() <= most(RUNS)


@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("name", WITHOUT_TEXTS)
def test_one_to_three_prompts_do_not_tell_copies_without_texts(
    name: str, t: int, measured: Measured
) -> None:
    """What a green run does not mean: nothing that is recorded could tell these copies."""
    generator = np.random.default_rng(32)
    found = np.array([verdict(COPIES[name](generator, t)) for _ in range(RUNS)])
    shares = found.mean(axis=0)
    table = f"copies that few prompts do not tell ({RUNS} runs)"
    measured(table, COLUMNS, f"{name} | {t}", *shares)
    assert shares[1] >= shares[0] / 2
    if WHOLE and name.startswith("40 %"):
        assert found[:, 1].sum() > most(RUNS)


@pytest.mark.parametrize("t", affordable((4, 5), lambda t: t == 5))
@pytest.mark.parametrize("name", WITHOUT_TEXTS)
def test_four_and_five_prompts_tell_many_copies_without_texts(
    name: str, t: int, measured: Measured
) -> None:
    """Fewer guessers pass than without the flags, and still more than the level says."""
    generator = np.random.default_rng(32)
    found = np.array([verdict(COPIES[name](generator, t)) for _ in range(RUNS)])
    table = f"copies that few prompts do not tell ({RUNS} runs)"
    measured(table, COLUMNS, f"{name} | {t}", *found.mean(axis=0))
    before, after = found.sum(axis=0)
    if name.startswith("20 %"):
        assert after <= most(RUNS)
    elif WHOLE:
        assert after <= (0.6 if name.startswith("40 %") else 0.9) * before


@pytest.mark.parametrize("name", KNOWING)
def test_who_knows_is_not_accused(name: str, measured: Measured) -> None:
    generator = np.random.default_rng(32)
    found = np.array([verdict(KNOWING[name](generator, 10)) for _ in range(KNOW)])
    before, after = found.mean(axis=0)
    table = f"undeclared dependence, knowledge ({KNOW} runs)"
    measured(table, COLUMNS, f"{name} | 10", before, after)
    assert after >= before - 0.05


@pytest.mark.parametrize("t", [4, 6])
def test_nor_is_who_knows_without_texts_and_with_few_prompts(t: int, measured: Measured) -> None:
    generator, draw = np.random.default_rng(32), KNOWING["know .7, gold in no order"]
    found = np.array([verdict(draw(generator, t)) for _ in range(KNOW)])
    before, after = found.mean(axis=0)
    table = f"undeclared dependence, knowledge ({KNOW} runs)"
    measured(table, COLUMNS, f"know .7, no texts | {t}", before, after)
    assert after >= before - 0.05
