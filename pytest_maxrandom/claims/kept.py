"""The answers of a claim as reports keep them, so that a later run can be compared with them."""

from __future__ import annotations

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
    found: list[list[float | None]] = []
    for each in predictions:
        pairs = zip(each.examples, each.scores, strict=True)
        scores = {example.id: score for example, score in pairs}
        found.append([scores.get(example.id) for example in asked])
    rows: tuple[str, ...] | tuple[tuple[float | None, ...], ...] = tuple(map(tuple, found))
    if all(score in (None, 0, 1) for row in found for score in row):
        rows = tuple(
            "".join("-" if score is None else str(int(score)) for score in row) for row in found
        )
    return KeptAnswers(
        tuple(each.prompt.digest for each in predictions),
        named_apart([example_digest(example) for example in asked]),
        rows,
        None if set(clusters) == {None} else clusters,
    )


def of_answers(answers: Answers) -> KeptAnswers | None:
    """Return recorded answers, by the ids of their examples; None of a published maximum."""
    if not answers.prompts:
        return None
    known = answers.distinct()
    rows: tuple[str, ...] | tuple[tuple[float | None, ...], ...]
    if known.scores is None:
        cells = np.where(known.evaluated, known.correct.astype(np.int64), -1) + 1
        rows = tuple("".join("-01"[cell] for cell in row) for row in cells.tolist())
    else:
        rows = tuple(
            tuple(None if np.isnan(value) else value for value in row)
            for row in known.values.tolist()
        )
    return KeptAnswers(known.identities, known.examples, rows, known.clusters)
