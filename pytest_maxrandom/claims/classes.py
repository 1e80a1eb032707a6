"""Recorded results in a metric about classes, which are labels that all examples share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers, letter_place
from pytest_maxrandom.claims.evidence import Evidence, of_best
from pytest_maxrandom.claims.listed import answers_by_text
from pytest_maxrandom.claims.nulls import NoMetric, guessers_in
from pytest_maxrandom.claims.samples import scored_by_samples
from pytest_maxrandom.record.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.claims import Metric

_LISTS = (
    "list the same choices for each example (column `choices` of a table, array `choice_texts` of "
    "an archive)"
)


def in_metric(evidence: Evidence, metric: Metric) -> Evidence:
    """Return what a claim about recorded results is judged by in a metric.

    Labels are then texts in alphabetical order, as those of a sweep are, so that the same answers
    have the same numbers by every way in.

    Raises
    ------
    NoMetric
        In one sentence, where the results do not tell classes.
    """
    if METRICS[metric].guessers is None:
        return evidence
    if evidence.null is None:
        raise NoMetric(
            f"`metric: {metric}` is one of right answers among choices, and those in "
            f"{evidence.read.path} are none; remove it"
        )
    if (why := _unclassed(evidence)) is not None:
        raise NoMetric(
            f"`metric: {metric}` cannot be computed, because in {evidence.read.path} {why}, or use "
            "`metric: accuracy`"
        )
    read = _by_class(evidence.read, _choices(evidence))
    results = read.distinct()
    assert results.gold is not None
    assert results.answers is not None
    classes = [label for right in results.gold for label in right]
    choices = [_choices(evidence)] * len(classes)
    values = [METRICS[metric].score(row, classes) for row in results.answers.tolist()]
    return replace(
        evidence,
        read=read,
        results=results,
        score_null=guessers_in(metric, classes, choices, evidence.t),
        of_best=of_best(results, values),
    )


def _unclassed(evidence: Evidence) -> str | None:
    """Return why results do not tell classes, and a way out; None where they do."""
    results = evidence.results
    if results.open is not None:
        return "there are no choices; remove `metric`"
    if scored_by_samples(results):
        return "each answer has several samples; use `aggregate: vote`, which makes one of them"
    if results.answers is None or results.gold is None:
        return f"{evidence.untestable}; record the predictions and the right answers"
    if evidence.by_places:
        return f"nobody tells the texts that its labels stand for; {_LISTS}"
    if any(len(right) != 1 for right in results.gold):
        return "examples have several right choices; give results with one each"
    if not results.evaluated.all():
        return "prompts were scored on different examples; give results on the same ones"
    if any((1 / chance).denominator > 1 for chance in evidence.chances or ()):
        return "chances are not 1 over a whole number of choices; give that number"
    if not _alike(evidence):
        return f"examples do not share their choices, or do not list them; {_LISTS}"
    if len(set(results.gold)) == 1:
        return "all right answers are the same; give results with several"
    return None


def _shared(results: Answers) -> Sequence[str] | None:
    """Return the texts that all lists of choices have; None where they differ, or are not known."""
    [first, *others] = ({*choices} for choices in results.offered or [()])
    alike = all(own == first for own in others)
    return sorted(first) if alike and {*map(len, results.offered or ())} == {len(first)} else None


def _alike(evidence: Evidence) -> bool:
    """Tell whether a label means the same in all examples."""
    results = evidence.results
    if results.offered is not None:
        return _shared(results) is not None or _lettered(results)
    if isinstance(evidence.shuffles, Exception):
        return False
    return len({*np.asarray(evidence.shuffles[0].strata).tolist()}) == 1


def _lettered(results: Answers) -> bool:
    """Tell whether labels are letters of texts that differ, as in a sweep of such questions."""
    assert results.offered is not None
    [many, *others] = {*map(len, results.offered)}
    places = [_letter(label) for label in results.labels if label != NO_CHOICE]
    return bool(places) and not others and 0 <= min(places) <= max(places) < many


def _letter(label: str) -> int:
    return letter_place(label.strip(" ().[]:"))


def _choices(evidence: Evidence) -> int:
    """Return how many choices each example has."""
    if evidence.results.offered is not None:
        return len(evidence.results.offered[0])
    assert evidence.chances is not None
    return int(1 / evidence.chances[0])


def _by_class(results: Answers, choices: int) -> Answers:
    """Return results whose labels are texts in alphabetical order, those of no choice behind."""
    if (texts := _shared(results)) is not None:
        answers, gold = answers_by_text(results, texts)
        unread = bool((answers == len(texts)).any())
        names = (*texts, NO_CHOICE) if unread else tuple(texts)
        return replace(results, answers=answers, gold=gold, labels=names)
    assert results.answers is not None
    assert results.gold is not None
    if results.offered is not None:
        names = tuple(chr(ord("A") + place) for place in range(choices))
        number = {
            label: choices if name == NO_CHOICE else _letter(name)
            for label, name in enumerate(results.labels)
        }
        names = (*names, NO_CHOICE) if NO_CHOICE in results.labels else names
    else:
        right = {label for own in results.gold for label in own}
        known = right.union(np.unique(results.answers).tolist())
        first = known if len(known) <= choices else right
        order = sorted(known, key=lambda label: (label not in first, results.labels[label]))
        number = {label: place for place, label in enumerate(order)}
        names = tuple(results.labels[label] for label in order)
    table = np.array([number.get(label, -1) for label in range(len(results.labels))])
    return replace(
        results,
        answers=table[results.answers],
        gold=tuple(frozenset(number[label] for label in own) for own in results.gold),
        labels=names,
    )
