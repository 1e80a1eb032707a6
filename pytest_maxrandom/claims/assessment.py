"""From answers, whoever gave them, to the result of their claim."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from pytest_maxrandom.claims.new_questions import new_questions
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Permuted, permuted
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL, judge
from pytest_maxrandom.flags import JudgedResult, find, preferences
from pytest_maxrandom.flags.kind import JudgedScore
from pytest_maxrandom.flags.labels import majority
from pytest_maxrandom.record import RedFlag, Remark
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.nulls import Null
    from pytest_maxrandom.claims.shuffles import Shuffle
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.flags import Flag, JudgedAnswers
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.maximum import BestOfPrompts
    from pytest_maxrandom.suite.claims import Metric


class View(NamedTuple):
    """Answers by one way of reading labels.

    Attributes
    ----------
    seen : JudgedAnswers
        What red flags are found in, without a result.
    shuffles : sequence of Shuffle
        How the right answers of the distinct prompts can be exchanged; of several the largest
        p-value counts, and without any there is no permutation test.
    constants : tuple of float
        Where the metric is not accuracy: per label the score of giving it to all examples.
    """

    seen: JudgedAnswers
    shuffles: Sequence[Shuffle]
    constants: tuple[float, ...] = ()


def assess(
    claim: Claim,
    null: Null,
    guessers: BestOfPrompts,
    views: Sequence[View],
    *,
    metric: Metric = "accuracy",
    thrifty: bool = False,
    searched: bool = False,
    tree: bool = False,
) -> Result:
    """Judge the best of t prompts.

    Parameters
    ----------
    null, guessers : Null, BestOfPrompts
        The guessers in the metric, and by their accuracy.
    views : sequence of View
        First that of the reports; of the others only preferences are looked at.
    thrifty : bool
        Whether red flags are left out, and the permutation p where nothing is claimed of it.
    searched : bool
        Whether a search has learned of prompts on these examples.
    tree : bool
        Whether t is of all prompts that such a search could have tried.
    """
    seen = views[0].seen
    answers = seen.answers
    scores, best = _scores(metric, views[0].shuffles), best_of(views, metric)
    shuffles = [shuffle for view in views for shuffle in view.shuffles]
    if thrifty and claim.permutation_p is None:
        shuffles = []
    test = _permutation_test(claim, null, shuffles, best, metric, tree=tree)
    result = judge(
        claim,
        null,
        int(answers.correct_counts[best]),
        best,
        score=None if scores is None else scores[best],
        permutation_p=None if test is None else test.p,
        bound=None if test is None else test.bound,
    )
    result = _with_answers(result.noted(*([] if test is None else test.notes)), answers, best)
    if thrifty:
        return result
    if answers.prompts:
        found = new_questions(answers, best, null.t, metric, searched=searched)
        result = replace(result, new_questions=found)
    return _flagged(result, claim, null, guessers, views, metric)


def ranking(views: Sequence[View], metric: Metric) -> list[float]:
    """Return what the distinct prompts are ranked by: their values of the metric."""
    scores = _scores(metric, views[0].shuffles)
    return views[0].seen.answers.accuracies.tolist() if scores is None else scores


def best_of(views: Sequence[View], metric: Metric) -> int:
    """Return the row of the first of the best prompts among those that are distinct."""
    ranked = ranking(views, metric)
    return ranked.index(max(ranked))


def _with_answers(result: Result, answers: Answers, best: int) -> Result:
    """Add what a record says of answers, besides how they compare with guessers."""
    if not answers.prompts:
        return result
    clusters: tuple[int | None, float | None] = None, None
    if answers.clusters is not None:
        clusters = summary(compress(answers.clusters, answers.evaluated[best]))
    return replace(
        result,
        correct_counts=answers.correct_counts.tolist(),
        clusters=clusters[0],
        effective_n=clusters[1],
        ties=None if answers.ties is None else sum(answers.ties),
        best_ties=None if answers.ties is None else answers.ties[best],
    )


def _scores(metric: Metric, shuffles: Sequence[Shuffle]) -> list[float] | None:
    """Return each prompt's value of the metric; None where the metric is accuracy."""
    if metric == "accuracy":
        return None
    classes = [label for right in shuffles[0].gold for label in cast("frozenset[int]", right)]
    return [METRICS[metric].score(row, classes) for row in np.asarray(shuffles[0].answers).tolist()]


def _permutation_test(
    claim: Claim, null: Null, shuffles: Sequence[Shuffle], best: int, metric: Metric, *, tree: bool
) -> Permuted | None:
    """Return the largest p-value of all ways to shuffle right answers; None without any."""
    if not shuffles:
        return None
    if tree:
        p = max(permuted_p_of_tree(each, best, null.t) for each in shuffles)
        return Permuted(p, None, [])
    level = min(claim.levels(null.t).values(), default=DEFAULT_LEVEL)
    tests = [permuted(each, null.t, level=level, metric=metric) for each in shuffles]
    # Whatever is preferred must not look like knowledge.
    p, bound, notes = max(tests, key=lambda test: test.p)
    if p > level >= tests[0].p and shuffles[0].choices is None:
        notes = [*notes, Remark("choices_not_told")]
    bounds = [test.bound for test in tests if test.bound is not None]
    return Permuted(p, max(bounds) if bound is not None else None, notes)


def beside_verdict(
    view: View, result: Result, claim: Claim, null: Null, metric: Metric
) -> JudgedAnswers:
    """Return what red flags are found in, with the verdict on the best of the distinct prompts."""
    seen, ways = view.seen, None
    if claim.permutation_p is not None and view.shuffles:
        ways = min(shuffle.arrangements for shuffle in view.shuffles)
    score = None
    if view.constants:
        assert result.best_score is not None
        score = JudgedScore(METRICS[metric].words, result.best_score, view.constants)
    assert result.best_correct is not None
    judged = JudgedResult(
        best=result.best,
        correct=result.best_correct,
        n=null.n,
        passed=_counts_hold(result, claim, null),
        p_max=result.p_max,
        permutation_p=result.permutation_p,
        level=result.levels.get("p_max", DEFAULT_LEVEL),
        impossible=tuple(claim.impossible(null, ways)),
        score=score,
    )
    return replace(seen, result=judged)


def _counts_hold(result: Result, claim: Claim, null: Null) -> bool:
    """Tell whether the claim holds; of one that cannot be told, as far as its counts go."""
    if result.passed is not None:
        return result.passed
    assert result.best_correct is not None
    return not claim.unmet(null, result.best_correct)


def _flagged(
    result: Result,
    claim: Claim,
    null: Null,
    guessers: BestOfPrompts,
    views: Sequence[View],
    metric: Metric,
) -> Result:
    """Add red flags, some of which fail the claim, and what the commonest label reaches."""
    flags: dict[Flag, None] = {}
    rate: float | None = None
    p: float | None = None
    for view in views:
        seen = beside_verdict(view, result, claim, null, metric)
        constant = majority(seen)
        if constant is not None and constant.rate > (rate or 0):
            rate, p = constant.rate, constant.p_value(guessers)
        flags |= dict.fromkeys(find(seen) if view is views[0] else preferences(seen))
    compared = views[0].seen.compared
    result = replace(
        result,
        majority_rate=rate,
        majority_p=p,
        shortcuts=None if compared is None else compared.record(),
    )
    return with_red_flags(result, claim, flags)


def with_red_flags(result: Result, claim: Claim, flags: Iterable[Flag]) -> Result:
    """Return the result of a claim with red flags, some of which fail it."""
    found = [
        RedFlag(flag.kind, claim.severity(flag), parameters=dict(flag.parameters)) for flag in flags
    ]
    shown = [flag for wanted in ("fail", "warn") for flag in found if flag.severity == wanted]
    fails = any(flag.severity == "fail" for flag in shown)
    passed = result.passed and not fails  # None stays: what cannot be told is not refuted
    return replace(result, red_flags=shown, passed=passed)
