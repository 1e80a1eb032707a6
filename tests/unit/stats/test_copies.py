"""Examples that are answered alike, beside a comparison of all pairs one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pytest_maxrandom.stats import copies
from pytest_maxrandom.stats.copies import answered_alike


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_once", [(512, 1_024), (4, 7)])
def test_pairs_are_those_that_all_prompts_answer_alike(
    seed: int, at_once: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_PROMPTS", at_once[0])
    monkeypatch.setattr(copies, "_ROWS", at_once[1])
    generator = np.random.default_rng(seed)
    gold = generator.integers(0, 3, 40)
    known = generator.random(40) * 0.9
    answers = np.where(generator.random((13, 40)) < known, gold, generator.integers(0, 3, (13, 40)))
    answers[:, :8] = answers[:, generator.integers(8, 40, 8)]
    found = answered_alike(answers.astype(np.int8), gold.tolist())
    assert len(np.unique(answers, axis=0)) == 13
    usual = np.empty_like(answers)
    for right in range(3):
        own = gold == right
        times = [(answers[:, own] == label).sum(axis=1) for label in range(3)]
        usual[:, own] = np.argmax(times, axis=0)[:, None]
    unlike = (answers != usual).sum(axis=0)
    least = 1 if found.told == "untold" else 3
    expected = [
        (one, other)
        for one, other in combinations(range(40), 2)
        if min(unlike[[one, other]]) >= least and (answers[:, one] == answers[:, other]).all()
    ]
    assert found.pairs == expected
    assert found.pairs
