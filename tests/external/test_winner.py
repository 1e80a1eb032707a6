"""The winner on the other half of the examples, in the published experiments (arXiv 2404.13020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.winner import out_of_bag

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

SPLITS, RESAMPLES = 50, 100
LEAST = 40
"""Examples that an experiment must have, on which nine of ten prompts were scored."""


def experiments(data_dir: Path) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield which answers are right and which were given, shape (prompts, examples)."""
    for path in sorted((data_dir / "paper").glob("correct_*.npz")):
        with np.load(path) as arrays:
            for name in sorted(arrays):
                key, _, kind = name.rpartition("__")
                if kind == "correct":
                    yield arrays[name], arrays[f"{key}__evaluated"]


def test_the_estimate_is_unbiased_where_the_naive_accuracy_is_too_high(data_dir: Path) -> None:
    rows = []
    for correct, evaluated in experiments(data_dir):
        n = correct.shape[1]
        if (evaluated.mean(axis=0) >= 0.9).sum() < LEAST:
            continue
        found = []
        for split in range(SPLITS):
            order = np.random.default_rng(split).permutation(n)
            here, there = order[: n // 2], order[n // 2 :]
            hits, sizes = correct[:, here].sum(axis=1), evaluated[:, here].sum(axis=1)
            best = int((hits / sizes).argmax())
            elsewhere = correct[best, there].sum() / evaluated[best, there].sum()
            scores = np.where(evaluated, correct, np.nan)
            estimate = out_of_bag(scores[:, here], resamples=RESAMPLES)
            assert estimate is not None
            naive = hits[best] / sizes[best]
            found.append((naive - elsewhere, estimate - elsewhere))
        rows.append(np.mean(found, axis=0))
    assert len(rows) >= 130
    naive, estimate = np.mean(rows, axis=0)
    assert naive == pytest.approx(0.082, abs=0.01)
    assert abs(estimate) < 0.01
