"""From answers, of a sweep or recorded, to the record of their claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Unread
from pytest_maxrandom.claims.flag_input import (
    flag_input_of_recorded,
    flag_input_of_sweep,
    judged_score,
)
from pytest_maxrandom.claims.new_questions import new_questions
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle, permuted_p
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL, apply_red_flags, judge
from pytest_maxrandom.flags import find, majority, preferences
from pytest_maxrandom.flags.compare import beside_shortcuts
from pytest_maxrandom.flags.flag_input import JudgedResult
from pytest_maxrandom.record import BestPrompt, Remark, note
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.sweeps.labels import shuffled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from pytest_maxrandom.claims.nulls import Null
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.planned_recorded import RecordedClaim
    from pytest_maxrandom.claims.verdict import Claim, Verdict
    from pytest_maxrandom.flags import Flag, FlagInput
    from pytest_maxrandom.flags.flag_input import JudgedScore
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.stats.maximum import BestOfPrompts
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Sweep


def judged(
    seen: FlagInput,
    claim: Claim,
    null: Null,
    verdict: Verdict,
    best: int,
    *,
    arrangements: int | None,
    score: JudgedScore | None = None,
) -> FlagInput:
    """Return what is shown with a verdict on the best of the distinct prompts, by its row.

    Parameters
    ----------
    seen : FlagInput
        Prompts may repeat.
    arrangements : int or None
        In how many ways its right answers can be shuffled; None where nothing is claimed of that.
    score : JudgedScore, optional
        Where the metric is not accuracy.
    """
    identities = seen.identities
    outcome = JudgedResult(
        best=identities.index([*dict.fromkeys(identities)][best]) if identities else best,
        correct=verdict.best_correct,
        n=verdict.n,
        passed=verdict.passed,
        p_max=verdict.p_max,
        permutation_p=verdict.permutation_p,
        level=verdict.levels.get("p_max", DEFAULT_LEVEL),
        impossible=tuple(claim.impossible(null, arrangements)),
        score=score,
    )
    return replace(seen, outcome=outcome)


def assess(
    planned: PlannedClaim,
    sweep: Sweep,
    record: ClaimRecord,
    others: Sequence[tuple[PlannedClaim, Sweep]] = (),
    *,
    thrifty: bool = False,
    without_inputs: Callable[[PromptPredictions], PromptPredictions | None] | None = None,
    searched: bool = False,
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
    searched : bool
        Whether t is of all prompts that a search could have tried.
    """
    claim, null, predictions = planned.claim, planned.null, sweep.predictions
    metric = planned.suite.metric
    readings = shuffled(planned.condition.prompt_set)
    shuffles = [Shuffle.of(predictions, each) for each in readings]
    labels = readings[0]
    counts = [prompt.correct for prompt in predictions]
    scores = _scores(metric, labels, shuffles[0].answers)
    ranked = [float(count) for count in counts] if scores is None else scores
    best = ranked.index(max(ranked))
    tested = shuffles if not thrifty or claim.permutation_p is not None else []
    score = None if scores is None else scores[best]
    verdict = judge_best(
        claim,
        null,
        counts[best],
        best,
        tested,
        record,
        score=score,
        metric=metric,
        searched=searched,
    )
    record.correct_counts = counts
    winner = predictions[best]
    record.clusters, record.effective_n = summary(each.cluster for each in winner.examples)
    record.ties = sum(prompt.ties for prompt in predictions)
    record.best_ties = winner.ties
    _count_unread(predictions, record)
    if unread := sum(prompt.unread for prompt in predictions):
        note(record, Remark("unread_answers", {"answers": unread, "best": winner.unread}))
    before, after = sweep.engine.chat or ("", "")
    record.best_prompt = BestPrompt(
        index=best,
        digest=winner.prompt.digest,
        text=before + winner.prompt.text,
        question=winner.prompt.format.question(winner.examples[0]) + after,
        answers=list(winner.prompt.format.answers(winner.examples[0])),
        demonstration_ids=[example.id for example in winner.prompt.demonstrations],
        tied_with=ranked.count(ranked[best]) - 1,
    )
    record.engine = sweep.engine
    if thrifty:
        return
    compared = beside_shortcuts(
        winner,
        None if without_inputs is None else without_inputs(winner),
        shared=labels.shared,
        by_class=scores is not None,
    )
    record.shortcuts = compared.record()
    seen = [
        judged(
            flag_input_of_sweep(
                planned,
                sweep,
                view,
                [flag_input_of_sweep(*other, view) for other in others if view is labels],
                compared,
            ),
            claim,
            null,
            verdict,
            best,
            arrangements=None if claim.permutation_p is None else shuffle.arrangements,
            score=judged_score(metric, view, verdict.best_score),
        )
        for view, shuffle in zip(readings, shuffles, strict=True)
    ]
    record.new_questions = new_questions(
        seen[0],
        best,
        null.t,
        metric,
        searched=record.searched is not None and record.searched.learned,
    )
    warn(claim, planned.condition.null.best, seen, record)


def _count_unread(predictions: Sequence[PromptPredictions], record: ClaimRecord) -> None:
    """Write down how many generated answers could not be read, and why."""
    if record.generated is None:
        return
    why = Counter(each for prompt in predictions for each in prompt.unread_why)
    record.generated = replace(
        record.generated,
        answers=why.total(),
        unreadable=why[Unread.UNREADABLE],
        cut=why[Unread.CUT],
        refused=why[Unread.REFUSED],
    )


def assess_recorded(claim: RecordedClaim, record: ClaimRecord) -> None:
    """Judge the best prompt of recorded results and write down what was found."""
    evidence = claim.evidence
    assert evidence is not None
    results, null, shuffles = evidence.results, evidence.null, evidence.shuffles
    if isinstance(shuffles, NoPermutations):
        note(record, Remark("no_permutations", {"why": evidence.untestable}))
        shuffles = []
    best = results.best
    verdict = judge_best(claim.claim, null, results.best_correct, best, shuffles, record)
    record.n = evidence.n
    if results.prompts:
        record.correct_counts = results.correct_counts.tolist()
        record.new_questions = new_questions(results, best, null.t)
    seen = flag_input_of_recorded(claim)
    ways = evidence.arrangements
    seen = judged(seen, claim.claim, null, verdict, best, arrangements=ways)
    warn(claim.claim, null.best, [seen], record)


def judge_best(
    claim: Claim,
    null: Null,
    correct: int,
    best: int,
    shuffles: Sequence[Shuffle],
    record: ClaimRecord,
    *,
    score: float | None = None,
    metric: Metric = "accuracy",
    searched: bool = False,
) -> Verdict:
    """Judge the best prompt, and write the verdict down.

    Parameters
    ----------
    correct, best : int
        The best prompt's right answers, and its row among the distinct prompts.
    shuffles : sequence of Shuffle
        The largest of their p-values counts; none where there is no permutation test.
    score : float, optional
        The best prompt's, where the metric is not accuracy.
    searched : bool
        Whether t is of all prompts that a search could have tried.
    """
    permutation_p = None
    if shuffles and searched:
        permutation_p = max(permuted_p_of_tree(each, best, null.t) for each in shuffles)
    elif shuffles:
        level = min(claim.levels(null.t).values(), default=DEFAULT_LEVEL)
        tests = [permuted_p(each, null.t, level=level, metric=metric) for each in shuffles]
        # Whatever is preferred must not look like knowledge.
        permutation_p, notes = max(tests, key=lambda test: test[0])
        note(record, *notes)
        if permutation_p > level >= tests[0][0] and shuffles[0].choices is None:
            note(record, Remark("choices_not_told"))
    verdict = judge(claim, null, correct, best, score=score, permutation_p=permutation_p)
    verdict.write_into(record)
    return verdict


def warn(
    claim: Claim, guessers: BestOfPrompts, views: Sequence[FlagInput], record: ClaimRecord
) -> None:
    """Write down red flags, and what the label that is right most often reaches.

    Parameters
    ----------
    guessers : BestOfPrompts
        Who are compared by their accuracy.
    views : sequence of FlagInput
        What answers show by each way of reading labels. First that of the reports; of the others
        only preferences are looked at.
    """
    flags: dict[Flag, None] = {}
    for seen in views:
        constant = majority(seen)
        if constant is not None and constant.rate > (record.majority_rate or 0):
            record.majority_rate = constant.rate
            record.majority_p = constant.p_value(guessers)
        flags |= dict.fromkeys(find(seen) if seen is views[0] else preferences(seen))
    apply_red_flags(record, claim, flags)


def _scores(metric: Metric, labels: Labels, answers: ArrayLike) -> list[float] | None:
    """Return each prompt's value of the metric; None where the metric is accuracy."""
    classes = labels.classes()
    if metric == "accuracy" or classes is None:
        return None
    return [METRICS[metric].score(row, classes) for row in np.asarray(answers).tolist()]
