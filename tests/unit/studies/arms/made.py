"""Answers of two arms that are made, not computed by a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.studies.arms.answers import PairedAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence


def answers(
    first: Sequence[Sequence[int]],
    second: Sequence[Sequence[int]],
    evaluated: Sequence[Sequence[int]] | None = None,
    examples: Sequence[str] | None = None,
) -> PairedAnswers:
    """Return answers, one row for each prompt: 1 is right."""
    one, two = np.array(first, dtype=np.bool_), np.array(second, dtype=np.bool_)
    known = np.ones_like(one) if evaluated is None else np.array(evaluated, dtype=np.bool_)
    names = tuple(examples or (f"e{place}" for place in range(one.shape[1])))
    return PairedAnswers(names, one, two, known)


def random_answers(
    seed: int, t: int = 3, n: int = 12, shared: int = 0, *, missing: bool = False
) -> PairedAnswers:
    """Return answers of two arms that are independent; examples from `shared` on are its own."""
    generator = np.random.default_rng(seed)
    known = generator.random((t, n)) < (0.8 if missing else 2)
    known[:, 0] = True
    first, second = (generator.random((t, n)) < chance for chance in (0.7, 0.4))
    names = [f"e{place}" if place < shared else f"e{seed}-{place}" for place in range(n)]
    return PairedAnswers(tuple(names), first & known, second & known, known)
