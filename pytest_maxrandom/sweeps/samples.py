"""The samples of answers that were asked for several times, and what they come to."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers, OpenAnswers
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.flags.things import choice_of
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.stats.samples import UNREAD, Aggregate, How, voted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


S = TypeVar("S", bound=np.generic)


def folded(samples: Answers, k: int) -> Answers:
    """Return the answers of prompts that gave k samples of each, by their mean.

    Parameters
    ----------
    samples : Answers
        As if each were a prompt: t * k rows, those of a prompt together and of one name.
    k : int
        Samples of each answer; with one of each it is returned as it is.

    Raises
    ------
    RecordedError
        If an answer has fewer samples than others.
    """
    if k == 1:
        return samples
    there = samples.evaluated.reshape(-1, k, len(samples.examples))
    for prompt, example in np.argwhere(there.any(axis=1) & ~there.all(axis=1))[:1]:
        raise RecordedError(
            f"{samples.path or samples.model}: {samples.claim}: prompt "
            f"{samples.prompts[prompt * k]!r} has {there[prompt, :, example].sum()} samples of its "
            f"answer to example {samples.examples[example]!r}, and {k} of others; give as many of "
            "each"
        )
    # Only those that come from lists of choices can be counted by what was said.
    if samples.chances is not None and not samples.is_graded:
        samples = replace(samples, scores=None)
    return _made_one(samples, Aggregate("mean", k))


def aggregated(answers: Answers, how: How, asked: int | None = None) -> Answers:
    """Return answers whose samples come to something else.

    Parameters
    ----------
    asked : int, optional
        Of pass@j the number j; all samples if not given.

    Raises
    ------
    RecordedError
        If they cannot: because there are too few, or it is not known what was answered.
    """
    samples, before = answers.sampled, answers.aggregate
    assert samples is not None
    assert before is not None
    where = f"{answers.path or answers.model}: {answers.claim}"
    if asked is not None and asked > before.samples:
        raise RecordedError(
            f"{where}: pass@{asked} needs at least {asked} samples of each answer, found "
            f"{before.samples}; ask for fewer, or take more"
        )
    is_graded = samples.scores is not None
    known = samples.answers is not None and (is_graded or samples.gold is not None)
    if how == "vote" and not known and (samples.open is None or samples.open.voices is None):
        known_alone = "scores" if is_graded else "right and wrong"
        raise RecordedError(
            f"{where}: a vote needs what was answered and what is right, and only {known_alone} "
            "are known; use mean, pass or all, or record the predictions"
        )
    made = _made_one(samples, Aggregate(how, before.samples, asked))
    return replace(made, notes=answers.notes)


def with_samples(answers: Answers, samples: Answers, aggregate: Aggregate) -> Answers:
    """Return a sweep's answers, which are the commonest of samples, by what these come to.

    Grades are already what they come to.

    Parameters
    ----------
    answers, samples : Answers
        Of prompts, and as if each of their samples were a prompt.
    """
    if aggregate.how == "vote" or samples.scores is not None:
        return replace(answers, sampled=samples, aggregate=aggregate)
    made = _made_one(samples, aggregate)
    return replace(made, answers=answers.answers, unread=answers.unread)


def _made_one(samples: Answers, aggregate: Aggregate) -> Answers:
    k, n = aggregate.samples, len(samples.examples)
    first = samples.of_prompts([*range(0, len(samples.prompts), k)])
    evaluated = first.evaluated
    answers, scores, opened = None, None, first.open
    if samples.answers is not None:
        said, labels = by_sample(samples.answers, k), choices_of_samples(samples, k)
        chosen = voted(labels, partial(_name, samples), samples.examples)
        answers = np.where(chosen == UNREAD, said[..., 0], chosen)
        answers[~evaluated] = NOT_EVALUATED
    right = samples.correct.reshape(-1, k, n).sum(axis=1)
    if samples.scores is not None:
        grades = samples.scores.reshape(-1, k, n).transpose(0, 2, 1)
        if aggregate.how == "vote":
            scores = _of_first(grades, labels, chosen)
        else:
            scores, answers = aggregate.of_grades(grades), None
        correct = scores == 1
    elif aggregate.how == "vote" and samples.open is not None:
        opened = _voted(samples.open, samples.examples, k)
        correct = hits(opened.said, opened.gold, np.arange(n))
    elif aggregate.how == "vote":
        assert answers is not None
        assert samples.gold is not None
        correct = hits(answers, samples.gold, np.arange(n))
    else:
        earned = aggregate.credits(right)
        correct = (earned == aggregate.unit) & evaluated
        if not aggregate.binary:
            scores = np.where(evaluated, earned / aggregate.unit, np.nan)
    return replace(
        first,
        correct=correct,
        scores=scores,
        answers=answers,
        open=opened,
        log_likelihoods=None,
        labelled=None,
        unread=None,
        ties=None,
        sampled=samples,
        aggregate=aggregate,
    )


def _voted(samples: OpenAnswers, examples: Sequence[str], k: int) -> OpenAnswers:
    """Return of answers without choices the commonest, by the first sample that says so."""
    voices = samples.voices
    assert voices is not None
    labels = by_sample(voices.labels, k)
    chosen = voted(labels, voices.name, examples)
    return samples._replace(said=_of_first(by_sample(samples.said, k), labels, chosen), voices=None)


def _of_first(
    values: NDArray[S], labels: NDArray[np.int64], chosen: NDArray[np.int64]
) -> NDArray[S]:
    """Return what the first sample has that says what was chosen."""
    first = (labels == chosen[..., None]).argmax(axis=2)[..., None]
    return np.take_along_axis(values, first, axis=2)[..., 0]


def by_sample(labels: NDArray[np.signedinteger[Any]], k: int) -> NDArray[np.int64]:
    """Return labels of samples as if each were a prompt, (t * k, n), by prompt: (t, n, k)."""
    n = labels.shape[1]
    return np.ascontiguousarray(labels.reshape(-1, k, n).transpose(0, 2, 1), dtype=np.int64)


def choices_of_samples(samples: Answers, k: int) -> NDArray[np.int64]:
    """Return the labels of samples by prompt, (t, n, k); `UNREAD` where they are no choice.

    Without lists of choices, each label is one but that of what nobody could read.
    """
    assert samples.answers is not None
    codes, labels = by_sample(samples.answers, k), samples.labels
    known = np.ones((1, 1 + int(codes.max())), dtype=np.bool_)
    if samples.offered is not None:
        lists = {own: place for place, own in enumerate(dict.fromkeys(samples.offered))}
        known = np.array(
            [
                [choice_of(labels, label, own) is not None for label in range(known.shape[1])]
                for own in lists
            ]
        )[[lists[own] for own in samples.offered]]
    elif labels and labels[-1] == NO_CHOICE:
        known[:, len(labels) - 1 :] = False
    known = np.broadcast_to(known, (codes.shape[1], known.shape[1]))
    is_choice = known[np.arange(codes.shape[1])[:, None], codes] | (codes == NOT_EVALUATED)
    return np.where(is_choice, codes, UNREAD)


def _name(answers: Answers, example: int, label: int) -> str:
    """Return the text of a label of an example; its place where nobody tells the text."""
    if answers.labels:
        return answers.labels[label]
    if answers.offered is not None and label < len(answers.offered[example]):
        return answers.offered[example][label]
    return str(label)
