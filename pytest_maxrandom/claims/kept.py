"""The answers of a claim as reports keep them, so that a later run can be compared with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.record.packed import KeptAnswers, named_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.sweeps.predictions import PromptPredictions


def of_sweep(predictions: Sequence[PromptPredictions]) -> KeptAnswers:
    """Return the answers of a whole sweep; examples are told apart by their content."""
    asked = list(
        {example.id: example for each in predictions for example in each.examples}.values()
    )
    clusters = tuple(example.cluster for example in asked)
    rows: list[list[float | None]] = []
    for each in predictions:
        pairs = zip(each.examples, each.scores, strict=True)
        scores = {example.id: score for example, score in pairs}
        rows.append([scores.get(example.id) for example in asked])
    return KeptAnswers(
        tuple(each.prompt.digest for each in predictions),
        named_apart([example_digest(example) for example in asked]),
        _rows(rows),
        None if set(clusters) == {None} else clusters,
    )


def of_answers(answers: Answers) -> KeptAnswers | None:
    """Return recorded answers, by the ids of their examples; None of a published maximum."""
    if not answers.prompts:
        return None
    known = answers.distinct()
    rows: tuple[str, ...] | tuple[tuple[float | None, ...], ...]
    if known.scores is None:
        cells = np.frombuffer(b"01-", dtype=np.uint8)
        rows = tuple(
            cells[np.where(there, right, 2)].tobytes().decode()
            for there, right in zip(known.evaluated, known.correct, strict=True)
        )
    else:
        rows = _rows(
            [
                [None if math.isnan(value) else value for value in row]
                for row in known.values.tolist()
            ]
        )
    return KeptAnswers(known.identities, known.examples, rows, known.clusters)


def _rows(
    scores: list[list[float | None]],
) -> tuple[str, ...] | tuple[tuple[float | None, ...], ...]:
    """Return scores as `KeptAnswers.rows` has them."""
    if any(score not in (None, 0, 1) for row in scores for score in row):
        return tuple(map(tuple, scores))
    return tuple(
        "".join("-" if score is None else "01"[int(score)] for score in row) for row in scores
    )
