"""What a sweep of a model shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.flags.seen import Outcome, ScoreOutcome, Seen
from pytest_maxrandom.notation import METRICS
from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.stats.metrics import SCORES
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.sweeps.labels import common_words, label
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.verdict import Verdict
    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import Predictions
    from pytest_maxrandom.sweeps.sweep import Sweep
    from pytest_maxrandom.tasks.task import Example

_SHORT = 20
"""Characters up to which a text that all examples share is a label rather than a statement."""


def seen_of_sweep(
    planned: PlannedClaim,
    sweep: Sweep,
    labels: Labels,
    answers: ArrayLike,
    best: int = 0,
    verdict: Verdict | None = None,
    others: Sequence[Seen] = (),
    compared: Compared | None = None,
) -> Seen:
    """Return what a sweep shows.

    Parameters
    ----------
    labels : Labels
        Of the validation set.
    answers : array_like of int
        Shape (t, n): the label of each answer, as `Labels.answers` returns them.
    best : int
        Row of the best prompt.
    verdict : Verdict, optional
        What the claim comes to; not needed where the sweep stands beside another.
    others : sequence of Seen
        The same of other models.
    compared : Compared, optional
        The best prompt beside heuristics.
    """
    cell, prompt_set = planned.cell, planned.cell.prompt_set
    predictions, scorer = sweep.predictions, SCORERS[planned.suite.scoring]
    coded = np.asarray(answers, dtype=np.int64)
    names = common_words((prompt.format for prompt in prompt_set.prompts), labels) or ()
    gold = labels.gold
    if labels.shared:
        names, coded, gold = _by_name(labels, coded)
    elif any(stratum < 0 for stratum in labels.strata):
        names, coded, gold = _by_usual(labels, coded)
    rights = tuple(map(frozenset, gold))
    return Seen(
        model=planned.model.name,
        shots=cell.shots,
        t=planned.null.t,
        prompts=tuple(prompt.digest[:8] for prompt in prompt_set.prompts),
        identities=tuple(prompt.digest for prompt in prompt_set.prompts),
        examples=tuple(example.id for example in labels.examples),
        correct=hits(coded, rights, np.arange(len(rights))),
        evaluated=coded != NOT_EVALUATED,
        chance=cell.null.chance,
        choices=tuple(labels.choices),
        answers=coded,
        gold=rights,
        labels=names,
        comparable=labels.meaningful(prompt_set.prompts),
        log_likelihoods=_log_likelihoods(labels, predictions),
        labelled=_labelled(labels, predictions, names) if scorer.whole_answer else None,
        inputs=tuple(example.input for example in labels.examples),
        copies=_copies(labels.examples),
        alphabetical=tuple(map(_alphabetical, labels.examples)),
        offered=tuple(tuple(sorted(example.choices)) for example in labels.examples),
        clusters=_clusters(labels.examples),
        full_texts=sweep.full_texts,
        asked=_asked(planned),
        outcome=None if verdict is None else _outcome(planned, labels, best, verdict),
        compared=compared,
        others=tuple(others),
    )


def _by_name(
    labels: Labels, answers: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], list[set[int]]]:
    """Give shared texts the same numbers, also where some examples have fewer of them."""
    names = tuple(sorted({text for example in labels.examples for text in example.choices}))
    places = {name: place for place, name in enumerate(names)}
    number = np.full((len(labels.examples), max(labels.choices) + 1), NOT_EVALUATED)
    gold = []
    for row, (example, codes) in enumerate(zip(labels.examples, labels.codes, strict=True)):
        for code, text in zip(codes, example.choices, strict=True):
            number[row, code] = places[text]
        gold.append({places[example.choices[index]] for index in example.right})
    # The last column, at NOT_EVALUATED from behind, stays what it is.
    return names, number[np.arange(len(number)), answers], gold


def _by_usual(
    labels: Labels, answers: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64], list[set[int]]]:
    """Give the text that is most often right among the same choices number 0 everywhere."""
    others = (f"choice {place}" for place in range(1, max(labels.choices) + 1))
    names = ("what is usually right among the texts that recur", *others)
    # The last column, at NOT_EVALUATED from behind, stays what it is.
    table = np.tile([*range(1, len(names)), NOT_EVALUATED], (len(labels.examples), 1))
    for row, usual in zip(table, labels.usual, strict=True):
        if usual is not None:
            row[usual] = 0
    gold = [set(row[[*right]].tolist()) for row, right in zip(table, labels.gold, strict=True)]
    return names, table[np.arange(len(table)), answers], gold


def _log_likelihoods(labels: Labels, predictions: Predictions) -> NDArray[np.float64]:
    """Return the scores by choice; those of repeated texts are left out, as they must tie."""
    places = {example.id: place for place, example in enumerate(labels.examples)}
    most = max(labels.choices)
    found = np.full((len(predictions.prompts), len(places), most), np.nan)
    for row, prompt in zip(found, predictions.prompts, strict=True):
        for example, scores in zip(prompt.examples, prompt.log_likelihoods, strict=True):
            row[places[example.id], : len(scores)] = scores
    for place, example in enumerate(labels.examples):
        choices = example.choices
        twice = [index for index, text in enumerate(choices) if text in choices[:index]]
        found[:, place, twice] = np.nan
    return found


def _copies(examples: Sequence[Example]) -> tuple[int, ...]:
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    asked = [(example.input, tuple(sorted(example.choices))) for example in examples]
    return tuple(first.setdefault(each, place) for place, each in enumerate(asked))


def _alphabetical(example: Example) -> frozenset[int]:
    order = sorted(range(len(example.choices)), key=lambda place: example.choices[place])
    return frozenset(order.index(right) for right in example.right)


def _clusters(examples: Sequence[Example]) -> tuple[str | None, ...] | None:
    clusters = tuple(example.cluster for example in examples)
    return None if set(clusters) == {None} else clusters


def _labelled(
    labels: Labels, predictions: Predictions, names: tuple[str, ...]
) -> NDArray[np.bool_]:
    short = labels.shared and max(map(len, names)) <= _SHORT
    formats = [prompt.prompt.format for prompt in predictions.prompts]
    return np.array(
        [(short or each.labels != "text") and each.counterfactual is None for each in formats]
    )


def _asked(planned: PlannedClaim) -> int | None:
    """Return how many prompts were asked for; one without demonstrations has no variants."""
    prompts, found = planned.suite.prompts, planned.cell.prompt_set
    if found.possible == 1:
        return None
    if prompts.combine == "cross":
        variants = found.possible // math.perm(found.pool, planned.cell.shots)
        return prompts.count - prompts.count % variants
    return prompts.count


def _outcome(planned: PlannedClaim, labels: Labels, best: int, verdict: Verdict) -> Outcome:
    claim = planned.claim
    ways = None if claim.permutation_p is None else labels.arrangements
    return Outcome(
        best=best,
        correct=verdict.best_correct,
        n=verdict.n,
        passed=verdict.passed,
        p_max=verdict.p_max,
        permutation_p=verdict.permutation_p,
        level=verdict.levels.get("p_max", DEFAULT_LEVEL),
        impossible=tuple(claim.impossible(planned.null, ways)),
        score=_score(planned, labels, verdict),
    )


def _score(planned: PlannedClaim, labels: Labels, verdict: Verdict) -> ScoreOutcome | None:
    """Score every constant answer as the claim does: whose classes are texts."""
    metric = planned.suite.metric
    if metric == "accuracy":
        return None
    texts = label(labels.examples)
    classes = texts.classes()
    assert classes is not None
    constants = [
        [
            of_texts[codes.index(said)]
            for codes, of_texts in zip(labels.codes, texts.codes, strict=True)
        ]
        for said in range(labels.choices[0])
    ]
    scores = tuple(SCORES[metric](row, classes) for row in constants)
    return ScoreOutcome(METRICS[metric], verdict.best_score, scores)
