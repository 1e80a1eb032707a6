"""From a finished sweep to the record of its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.new_questions import of_answers
from pytest_maxrandom.claims.seen import seen_of_sweep
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL, apply_red_flags, judge
from pytest_maxrandom.flags import find, majority, preferences
from pytest_maxrandom.flags.compare import beside_shortcuts
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import BestPrompt
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.metrics import LIFT, SCORES, STATISTICS
from pytest_maxrandom.stats.permutation import (
    NOT_EVALUATED,
    max_t_of_all,
)
from pytest_maxrandom.sweeps.labels import shuffled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.flags import Flag
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.suite.spec import Metric
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Sweep


def assess(
    planned: PlannedClaim,
    sweep: Sweep,
    record: ClaimRecord,
    others: Sequence[tuple[PlannedClaim, Sweep]] = (),
    *,
    thrifty: bool = False,
    without_inputs: Callable[[PromptPredictions], PromptPredictions | None] | None = None,
) -> None:
    """Judge the best prompt of a sweep and write down what was found.

    Parameters
    ----------
    others : sequence of (PlannedClaim, Sweep)
        Those of other models with the same prompts and examples.
    thrifty : bool
        Whether red flags are left out, and the permutation p where nothing is claimed of it.
    without_inputs : callable, optional
        Asks the best prompt again with blank inputs, where the suite wants that.
    """
    cell, predictions = planned.cell, sweep.predictions
    views = [(labels, labels.answers(predictions)) for labels in shuffled(cell.prompt_set)]
    labels, answers = views[0]
    counts = predictions.correct_counts
    scores = _scores(planned, labels, answers)
    ranked = [float(count) for count in counts] if scores is None else scores
    best = ranked.index(max(ranked))
    permutation_p, t = None, planned.null.t
    if not thrifty or planned.claim.permutation_p is not None:
        # Whatever is preferred must not look like knowledge.
        permutation_p, notes = max(
            (
                permuted_p(
                    said,
                    seen.gold,
                    seen.choices,
                    t,
                    level=min(planned.claim.levels(t).values(), default=DEFAULT_LEVEL),
                    metric=planned.suite.metric,
                    strata=seen.strata,
                    groups=seen.groups,
                )
                for seen, said in views
            ),
            key=lambda test: test[0],
        )
        record.notes += notes
    verdict = judge(
        planned.claim,
        planned.null,
        counts[best],
        best,
        score=None if scores is None else scores[best],
        permutation_p=permutation_p,
    )
    verdict.write_into(record)
    winner = predictions.prompts[best]
    record.clusters, record.effective_n = summary(each.cluster for each in winner.examples)
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
    if thrifty:
        return
    record.new_questions = of_answers(
        answers,
        labels,
        best,
        planned.null.t,
        metric=planned.suite.metric,
        clusters=labels.groups,
    )
    compared = beside_shortcuts(
        winner,
        None if without_inputs is None else without_inputs(winner),
        shared=labels.shared,
        by_class=scores is not None,
    )
    record.shortcuts = compared.record()
    flags: dict[Flag, None] = {}
    for view, said in views:
        seen = seen_of_sweep(
            planned,
            sweep,
            view,
            said,
            best,
            verdict,
            [
                seen_of_sweep(other, found, view, view.answers(found.predictions))
                for other, found in others
                if view is labels
            ],
            compared,
        )
        constant = majority(seen)
        if constant is not None and constant.rate > (record.majority_rate or 0):
            record.majority_rate = constant.rate
            record.majority_p = constant.p_value(cell.null.best)
        flags |= dict.fromkeys(find(seen) if view is labels else preferences(seen))
    apply_red_flags(record, planned.claim, flags)


def permuted_p(
    answers: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None,
    t: int,
    *,
    level: float = DEFAULT_LEVEL,
    metric: Metric = "accuracy",
    strata: ArrayLike | None = None,
    groups: Sequence[str] | None = None,
) -> tuple[float, list[str]]:
    """Return the max-T p-value of t prompts, and what a reader must know of it.

    Parameters
    ----------
    answers, gold, choices, strata, groups
        As `pytest_maxrandom.stats.permutation.max_t_test` takes them; of the prompts at hand.
    t : int
        All prompts.
    level : float
        The smallest level that a p-value of the claim is compared with.
    metric : str
        What the best prompt is best in. Where prompts leave out their own demonstrations, accuracy
        counts beyond what the same answers are expected to reach on the examples that are left.
    """
    said = np.asarray(answers)
    left_out = metric == "accuracy" and bool((said == NOT_EVALUATED).any())
    p, test = max_t_of_all(
        said,
        gold,
        choices,
        t,
        level=level,
        statistic=LIFT if left_out else STATISTICS[metric],
        strata=strata,
        groups=groups,
    )
    notes, others = [], t - len(said)
    if test.fixed:
        alone = "cluster with as many examples" if groups else "example with the same choices"
        needed = "; clusters of equal size are needed" if groups else ""
        notes.append(
            f"Of {count(said.shape[1])} right answers {count(test.fixed)} stay where they are when "
            f"right answers are shuffled, because there is no other {alone}{needed}."
        )
    if others > 0:
        notes.append(
            f"t counts {count(others)} more {'prompt' if others == 1 else 'prompts'} than this run "
            "has answers of; each adds the best prompt's own permutation p."
        )
    return p, notes


def _scores(planned: PlannedClaim, labels: Labels, answers: list[list[int]]) -> list[float] | None:
    """Return each prompt's balanced accuracy or macro-F1; None where the metric is accuracy."""
    metric, classes = planned.suite.metric, labels.classes()
    if metric == "accuracy" or classes is None:
        return None
    return [SCORES[metric](row, classes) for row in answers]
