"""The samples of answers that were asked for several times, and what they come to."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.flags.things import choice_of
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.stats.samples import UNREAD, Aggregate, voted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.stats.samples import How


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
    values = samples.values
    # Only those that come from lists of choices can be counted by what was said.
    scored = samples.scores is not None and samples.chances is None
    if scored or ((values > 0) & (values < 1)).any():
        return _graded(samples, k)
    return _made_one(samples, Aggregate("mean", k))


def _graded(samples: Answers, k: int) -> Answers:
    """Return the mean scores of samples that are neither right nor wrong, or no choices."""
    first = samples.of_prompts([*range(0, len(samples.prompts), k)])
    means = samples.values.reshape(-1, k, len(samples.examples)).mean(axis=1)
    return replace(
        first,
        scores=means,
        correct=means == 1,
        answers=None,
        gold=None,
        log_likelihoods=None,
        labelled=None,
        unread=None,
        ties=None,
        notes=(*first.notes, Remark("graded_samples", {"samples": k})),
    )


def aggregated(answers: Answers, how: How, asked: int | None = None) -> Answers:
    """Return answers whose samples come to something else.

    Parameters
    ----------
    answers : Answers
        With samples.
    how : str
        What they come to.
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
    if how == "vote" and (samples.answers is None or samples.gold is None):
        raise RecordedError(
            f"{where}: a vote needs what was answered and what is right, and "
            + (
                "only right and wrong are known; use mean, pass or all, or record the predictions"
                if answers.open is None
                else "of recorded answers without choices all wrong ones are alike; use mean, pass "
                "or all"
            )
        )
    made = _made_one(samples, Aggregate(how, before.samples, asked))
    return replace(made, notes=answers.notes)


def with_samples(answers: Answers, samples: Answers, aggregate: Aggregate) -> Answers:
    """Return a sweep's answers, which are the commonest of samples, by what these come to.

    Parameters
    ----------
    answers, samples : Answers
        Of prompts, and as if each of their samples were a prompt.
    """
    if aggregate.how == "vote":
        return replace(answers, sampled=samples, aggregate=aggregate)
    made = _made_one(samples, aggregate)
    return replace(made, answers=answers.answers, unread=answers.unread)


def _made_one(samples: Answers, aggregate: Aggregate) -> Answers:
    k, n = aggregate.samples, len(samples.examples)
    first = samples.of_prompts([*range(0, len(samples.prompts), k)])
    evaluated = first.evaluated
    answers, scores = None, None
    if samples.answers is not None:
        said = by_sample(samples.answers, k)
        answers = voted(choices_of_samples(samples, k), partial(_name, samples), samples.examples)
        answers = np.where(answers == UNREAD, said[..., 0], answers)
        answers[~evaluated] = NOT_EVALUATED
    right = samples.correct.reshape(-1, k, n).sum(axis=1)
    if aggregate.how == "vote":
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
        log_likelihoods=None,
        labelled=None,
        unread=None,
        ties=None,
        sampled=samples,
        aggregate=aggregate,
    )


def by_sample(labels: NDArray[np.signedinteger[Any]], k: int) -> NDArray[np.int64]:
    """Return labels of samples as if each were a prompt, (t * k, n), by prompt: (t, n, k)."""
    n = labels.shape[1]
    return np.ascontiguousarray(labels.reshape(-1, k, n).transpose(0, 2, 1), dtype=np.int64)


def choices_of_samples(samples: Answers, k: int) -> NDArray[np.int64]:
    """Return the labels of samples by prompt, (t, n, k); `UNREAD` where they are no choice.

    Without lists of choices, each label is one but that of what nobody could read.
    """
    assert samples.answers is not None
    said, labels = by_sample(samples.answers, k), samples.labels
    known = np.ones((1, 1 + int(said.max())), dtype=np.bool_)
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
    known = np.broadcast_to(known, (said.shape[1], known.shape[1]))
    is_choice = known[np.arange(said.shape[1])[:, None], said] | (said == NOT_EVALUATED)
    return np.where(is_choice, said, UNREAD)


def _name(answers: Answers, example: int, label: int) -> str:
    """Return the text of a label of an example; its place where nobody tells the text."""
    if answers.labels:
        return answers.labels[label]
    if answers.offered is not None and label < len(answers.offered[example]):
        return answers.offered[example][label]
    return str(label)
