"""From a finished sweep to the record of its claim."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.labels import label
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import BestPrompt
from pytest_maxrandom.stats.majority import majority_answer
from pytest_maxrandom.stats.metrics import balanced_accuracy, macro_f1
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.verdict import judge

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pytest_maxrandom.labels import Labels
    from pytest_maxrandom.plan import PlannedClaim
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.stats.permutation import Gold
    from pytest_maxrandom.sweep import Sweep

PERMUTATIONS = 9_999
_STOP_AFTER = 1_000
"""Exceedances after which a permutation test is decided: p is then known to 3 %."""


def assess(
    planned: PlannedClaim, sweep: Sweep, record: ClaimRecord, *, thrifty: bool = False
) -> None:
    """Judge the best prompt of a sweep and write down what was found.

    Parameters
    ----------
    thrifty : bool
        Whether the permutation p is computed only where something is claimed of it.
    """
    cell, predictions = planned.cell, sweep.predictions
    labels = label(cell.prompt_set.validation)
    answers = labels.answers(predictions)
    counts = predictions.correct_counts
    scores = _scores(planned, labels, answers)
    ranked = [float(count) for count in counts] if scores is None else scores
    best = ranked.index(max(ranked))
    permutation_p = None
    if not thrifty or planned.claim.permutation_p is not None:
        permutation_p, notes = permuted_p(answers, labels.gold, labels.choices, planned.null.t)
        record.notes += notes
    verdict = judge(
        planned.claim,
        planned.null,
        counts[best],
        best,
        score=None if scores is None else scores[best],
        permutation_p=permutation_p,
    )
    for name, value in dataclasses.asdict(verdict).items():
        setattr(record, name, value)
    if labels.meaningful(cell.prompt_set.prompts):
        majority = majority_answer(labels.gold_names)
        record.majority_rate = majority.rate
        record.majority_p = majority.p_value(cell.null.best)
        if verdict.passed and majority.rate >= verdict.best_accuracy:
            said = f"saying {majority.answer!r}" if labels.shared else "choosing the same place"
            record.red_flags.append(
                f"Always {said} is right on {majority.correct} of {majority.n} validation "
                "examples; the best prompt is not above that."
            )
    winner = predictions.prompts[best]
    record.correct_counts = counts
    record.ties = sum(prompt.ties for prompt in predictions.prompts)
    record.best_ties = winner.ties
    record.best_prompt = BestPrompt(
        index=best,
        digest=winner.prompt.digest,
        text=winner.prompt.text,
        question=winner.prompt.format.question(winner.examples[0]),
        answers=list(winner.prompt.format.answers(winner.examples[0])),
        demonstration_ids=[example.id for example in winner.prompt.demonstrations],
        tied_with=ranked.count(ranked[best]) - 1,
    )
    record.engine = sweep.engine


def permuted_p(
    answers: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None,
    t: int,
    *,
    labels: int | None = None,
) -> tuple[float, list[str]]:
    """Return the max-T p-value of t prompts, and what a reader must know of it.

    Parameters
    ----------
    answers, gold, choices, labels
        As `pytest_maxrandom.stats.permutation.max_t_test` takes them; of the prompts at hand.
    t : int
        All prompts.
    """
    test = max_t_test(
        answers,
        gold,
        choices,
        labels=labels,
        permutations=PERMUTATIONS,
        stop_after=_STOP_AFTER,
    )
    held = len(np.asarray(answers))
    if t <= held:
        return test.p_value, []
    note = (
        f"The permutation p was computed of this run's {count(held)} prompts and multiplied by "
        f"{t / held:.3g}, because t is larger, and other answers are not at hand."
    )
    return min(1.0, test.p_value * t / held), [note]


def _scores(planned: PlannedClaim, labels: Labels, answers: list[list[int]]) -> list[float] | None:
    """Return each prompt's balanced accuracy or macro-F1; None where the metric is accuracy."""
    metric, classes = planned.suite.metric, labels.classes()
    if metric == "accuracy" or classes is None:
        return None
    score = balanced_accuracy if metric == "balanced_accuracy" else macro_f1
    return [score(row, classes) for row in answers]
