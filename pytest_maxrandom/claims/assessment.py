"""From answers, whoever gave them, to the result of their claim."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pytest_maxrandom.claims.beside import Beside, IncumbentAnswers, beside
from pytest_maxrandom.claims.nulls import LearntGuessers, Null
from pytest_maxrandom.claims.samples import sampled
from pytest_maxrandom.claims.searched import fewest_of_tree, permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Permuted, Shuffle, learnt_by, permuted, permuted_open
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.flags import Flag, JudgedAnswers, find, preferences
from pytest_maxrandom.flags.counting import majority
from pytest_maxrandom.record import NewQuestions, RedFlag, Remark
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.metrics import Tally
from pytest_maxrandom.stats.winner import (
    RESAMPLES,
    lower_bound,
    lower_bound_of_scores,
    out_of_bag,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.stats.maximum import BestOfPrompts
    from pytest_maxrandom.stats.winner import Select, Weights
    from pytest_maxrandom.suite.claims import Metric


_ONE_BY_ONE = {"p_max", "union_p"}
"""Parts of a claim that take examples for independent."""
_DIGITS = 12
"""Scores that differ less are the same score, computed differently."""


def new_questions(
    answers: Answers, best: int, t: int, metric: Metric = "accuracy", *, searched: bool = False
) -> NewQuestions:
    """Return what the best prompt is worth.

    Parameters
    ----------
    answers : Answers
        Where the metric is about classes, labels must mean the same in all examples.
    best : int
        Row of the best prompt.
    t : int
        All prompts, of which those at hand may be a part.
    metric : str
        What it is best in.
    searched : bool
        Whether prompts were proposed by what the examples told of others. Examples that are not
        drawn have told of them as well, so that they give no estimate.
    """
    own, groups, select = np.flatnonzero(answers.evaluated[best]), answers.groups, None
    of_best = None if groups is None else [groups[place] for place in own.tolist()]
    if metric != "accuracy":
        assert answers.answers is not None
        assert answers.gold is not None
        classes = np.array([label for right in answers.gold for label in right])
        select = _by_class(metric, answers.answers, classes)
    if answers.is_graded:
        low = lower_bound_of_scores(answers.values[best][own], t, clusters=of_best)
    else:
        low = lower_bound(int(answers.correct_counts[best]), len(own), t, clusters=of_best)
    return NewQuestions(
        low=low,
        estimate=None
        if searched
        else out_of_bag(
            answers.correct if answers.scores is None else answers.values,
            answers.evaluated,
            clusters=groups,
            select=select,
        ),
        resamples=RESAMPLES,
        clusters=None if of_best is None else len(set(of_best)),
    )


def _by_class(metric: Metric, said: NDArray[np.int64], classes: NDArray[np.int64]) -> Select:
    """Select by the metric, of the examples that were drawn."""
    labels, statistic = np.unique(classes), METRICS[metric].statistic
    is_gold = [classes == label for label in labels]
    is_said = [(said == label).astype(np.float32).T for label in labels]

    def scores(weights: Weights) -> NDArray[np.float64]:
        hit = [weights[:, gold] @ given[gold] for gold, given in zip(is_gold, is_said, strict=True)]
        there = [weights[:, gold].sum(axis=1, keepdims=True) for gold in is_gold]
        answered = [weights @ given for given in is_said]
        parts = (np.stack(part, axis=-1, dtype=np.float64) for part in (hit, there, answered))
        hits, seen, answers = parts
        return statistic.of(Tally(hits, seen, answers, seen.sum(axis=-1, keepdims=True)))

    def select(weights: Weights) -> NDArray[np.float64]:
        # As much memory as one label takes, however many there are.
        parts = np.array_split(weights, min(len(labels), len(weights)))
        return np.round(np.concatenate([scores(part) for part in parts]), _DIGITS)

    return select


@dataclass(frozen=True, eq=False, kw_only=True)
class View(JudgedAnswers):
    """Answers by one way of reading labels."""

    shuffles: Sequence[Shuffle]
    """How the right answers of the distinct prompts can be exchanged; of several the largest
    p-value counts, and without any there is no permutation test."""


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
    incumbent: IncumbentAnswers | None = None,
    control: IncumbentAnswers | None = None,
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
        Whether t is the number of prompts as the best of which such a search is judged.
    incumbent, control : IncumbentAnswers, optional
        What runs today, and a blank or constant answer; the best prompt is compared with them.

    Raises
    ------
    RecordedError
        If answers are graded, and not all right or wrong.
    """
    answers = views[0].answers
    if answers.aggregate is None:
        answers.refuse_graded()
    scores, best = _scores(metric, views[0]), best_of(views, metric)
    shuffles = [shuffle for view in views for shuffle in view.shuffles]
    level = min(claim.levels(null.t).values(), default=DEFAULT_LEVEL)
    few, tested = None, shuffles
    if claim.permutation_p is None or claim.cannot_tell is not None:
        few = _too_few(shuffles, level)
        # Without shuffles nobody knows what guessers of open answers reach.
        learns = isinstance(null, LearntGuessers)
        spared = thrifty and claim.permutation_p is None and not learns
        tested = [] if spared or few else shuffles
    test = _permutation_test(claim, null, tested, best, metric, level, tree=tree)
    if isinstance(null, LearntGuessers) and shuffles:
        learnt = test.learnt if test else learnt_by(shuffles[0], null.t, level=level)
        null = null if learnt is None else null.learnt(learnt)
    found_beside = Beside({}, {}, [])
    if answers.prompts:
        found_beside = beside(claim, answers, null.t, best, incumbent, control, tree=tree)
    result = judge(
        claim,
        null,
        int(answers.correct_counts[best]) if answers.are_counted else None,
        best,
        score=None if scores is None else scores[best],
        permutation_p=None if test is None else test.p,
        bound=None if test is None else test.bound,
        beside=found_beside.p,
    )
    result = replace(result, **found_beside.fields).noted(*found_beside.notes)
    notes = [few] if few else test.notes if test else []
    if answers.groups is not None and {*claim.bounds()} & _ONE_BY_ONE and not claim.permutation_p:
        values = {"examples": len(answers.groups), "clusters": len({*answers.groups})}
        notes = [*notes, Remark("counted_one_by_one", values)]
    found = answer_facts(answers, best)
    if answers.prompts and not thrifty:
        found["new_questions"] = new_questions(answers, best, null.t, metric, searched=searched)
    notes = [*notes, *samples_told(answers, found)]
    result = replace(result, notes=(*result.notes, *notes), **found)
    return result if thrifty else _flagged(result, claim, null, guessers, views)


def _too_few(shuffles: Sequence[Shuffle], level: float) -> Remark | None:
    """Return why a permutation p, of which nothing is claimed or can be told, would tell nothing.

    A red flag would take it for right answers that are as good when they are shuffled.
    """
    for each in shuffles:
        if (ways := each.exchange.few_clusters(level)) is not None:
            why = f"only {ways.clusters} of the clusters can take each other's right answers"
            return Remark("no_permutations", {"why": why})
    return None


def ranking(views: Sequence[View], metric: Metric) -> list[float]:
    """Return what the distinct prompts are ranked by: their values of the metric."""
    scores = _scores(metric, views[0])
    return views[0].answers.accuracies.tolist() if scores is None else scores


def best_of(views: Sequence[View], metric: Metric) -> int:
    """Return the row of the first of the best prompts among those that are distinct."""
    ranked = ranking(views, metric)
    return ranked.index(max(ranked))


def answer_facts(answers: Answers, best: int) -> dict[str, Any]:
    """Return what a result says of answers, besides how they compare with guessers."""
    if not answers.prompts:
        return {}
    clusters: tuple[int | None, float | None] = None, None
    if answers.clusters is not None:
        clusters = summary(compress(answers.clusters, answers.evaluated[best]))
    return {
        "correct_counts": answers.correct_counts.tolist() if answers.are_counted else None,
        "sampled": sampled(answers, best),
        "clusters": clusters[0],
        "effective_n": clusters[1],
        "ties": None if answers.ties is None else sum(answers.ties),
        "best_ties": None if answers.ties is None else answers.ties[best],
    }


def samples_told(answers: Answers, facts: Mapping[str, Any]) -> list[Remark]:
    """Return what a reader must know of several samples, of which `facts` tell; else nothing."""
    if (of_samples := facts.get("sampled")) is None:
        return []
    kind = "graded_samples" if answers.without_guessers else "samples"
    return [Remark(kind, {"sampled": asdict(of_samples)})]


def _scores(metric: Metric, view: View) -> list[float] | None:
    """Return each prompt's value of the metric; None where right answers are counted."""
    answers, shuffles = view.answers, view.shuffles
    if metric == "accuracy":
        return None if answers.are_counted else answers.accuracies.tolist()
    classes = [label for right in shuffles[0].gold for label in cast("frozenset[int]", right)]
    return [METRICS[metric].score(row, classes) for row in np.asarray(shuffles[0].answers).tolist()]


def _permutation_test(
    claim: Claim,
    null: Null,
    shuffles: Sequence[Shuffle],
    best: int,
    metric: Metric,
    level: float,
    *,
    tree: bool,
) -> Permuted | None:
    """Return the largest p-value of all ways to shuffle right answers; None without any."""
    if not shuffles:
        return None
    if tree:
        p = max(permuted_p_of_tree(each, best, null.t) for each in shuffles)
        levels = claim.levels(null.t)
        allowed = levels.get("permutation_p", level) / null.t
        least = max(fewest_of_tree(each, best, allowed) for each in shuffles)
        return Permuted(p, math.inf if least > null.n else null.score(least - 1), [])
    if isinstance(null, LearntGuessers):
        (shuffle,) = shuffles
        return permuted_open(shuffle, null.t, level=level)
    tests = [permuted(each, null.t, level=level, metric=metric) for each in shuffles]
    # Whatever is preferred must not look like knowledge.
    p, _, notes, _ = max(tests, key=lambda test: test.p)
    if p > level >= tests[0].p and shuffles[0].choices is None:
        notes = [*notes, Remark("choices_not_told")]
    bounds = [test.bound for test in tests if test.bound is not None]
    of_p = claim.levels(null.t).get("permutation_p", level)
    if any(each.arrangements < 1 / of_p for each in shuffles):  # even if all answers are right
        return Permuted(p, math.inf, notes)
    # Where one of them compares something else than the score, nobody knows what would do.
    return Permuted(p, max(bounds) if len(bounds) == len(tests) else None, notes)


def beside_verdict(view: View, result: Result, claim: Claim, null: Null) -> JudgedAnswers:
    """Return what red flags are found in, with the verdict on the best of the distinct prompts."""
    ways = None
    if claim.permutation_p is not None and claim.cannot_tell is None and view.shuffles:
        ways = min(shuffle.arrangements for shuffle in view.shuffles)
    result = replace(result, passed=_counts_hold(result, claim, null))
    return replace(
        view,
        result=result,
        impossible=tuple(claim.impossible(null, ways)),
        orders_tested=any(shuffle.offered is not None for shuffle in view.shuffles),
    )


def _counts_hold(result: Result, claim: Claim, null: Null) -> bool:
    """Tell whether the claim holds; of one that cannot be told, as far as its counts go."""
    if result.passed is not None:
        return result.passed
    reached = result.best_score if result.best_correct is None else result.best_correct
    assert reached is not None
    return not claim.unmet(null, reached)


def _flagged(
    result: Result,
    claim: Claim,
    null: Null,
    guessers: BestOfPrompts,
    views: Sequence[View],
) -> Result:
    """Add red flags, some of which fail the claim, and what the commonest label reaches."""
    flags: dict[Flag, None] = {}
    failed: list[Remark] = []
    rate: float | None = None
    p: float | None = None
    for view in views:
        seen = beside_verdict(view, result, claim, null)
        constant = majority(seen)
        if constant is not None and constant.rate > (rate or 0):
            rate, p = constant.rate, constant.p_value(guessers)
        look = find if view is views[0] else preferences
        flags |= dict.fromkeys(look(seen, failed))
    compared = views[0].compared
    return with_red_flags(
        result,
        claim,
        flags,
        majority_rate=rate,
        majority_p=p,
        shortcuts=None if compared is None else compared.record(),
        warnings=tuple(dict.fromkeys(failed)),
    )


def with_red_flags(result: Result, claim: Claim, flags: Iterable[Flag], **further: Any) -> Result:
    """Return the result of a claim with red flags, and with further values.

    Some of them fail it, and others say that it can neither pass nor fail.
    """
    found: list[RedFlag] = []
    untold = result.cannot_tell
    for flag in flags:
        severity, parameters = claim.severity(flag), dict(flag.parameters)
        if severity == "fail" and flag.untold:
            severity, untold = "warn", untold or Remark(flag.untold, parameters)
        found.append(RedFlag(flag.kind, severity, parameters=parameters))
    shown = [flag for wanted in ("fail", "warn") for flag in found if flag.severity == wanted]
    fails = any(flag.severity == "fail" for flag in shown)
    passed = result.passed and not fails  # None stays: what cannot be told is not refuted
    if passed and untold is not None:
        passed, further = None, {**further, "cannot_tell": untold}
    return replace(result, red_flags=shown, passed=passed, **further)
