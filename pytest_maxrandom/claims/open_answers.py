"""Claims about open answers: their view, and what is right there without any knowledge.

Controls are scored like prompts, and shown beside the best of them: each type's commonest
reference, and what stands in the question. Shuffled references hold the level without them, because
what questions offer or hold is exchanged by its place, or not at all; a best prompt that is no
better than a control fails by the red flag `heuristic`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.samples import scores_samples
from pytest_maxrandom.claims.shortcuts import OF_OPEN, compare
from pytest_maxrandom.claims.shuffles import Shuffle, permuted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.clusters import named_clusters
from pytest_maxrandom.sweeps.open_answers import coded, said_of
from pytest_maxrandom.sweeps.open_controls import controls
from pytest_maxrandom.sweeps.open_roles import COPIED, is_offered
from pytest_maxrandom.sweeps.predictions import PromptPredictions, samples_of, texts_of, unread_of
from pytest_maxrandom.sweeps.samples import with_samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.flags.kind import Compared
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example

_SHARE = 0.1
"""Of questions that hold or offer their own answers, from which on a reader is told."""


def open_answers_of(planned: PlannedClaim, predictions: Sequence[PromptPredictions]) -> Answers:
    """Return the answers of a sweep over a task without choices."""
    how = planned.aggregate
    if how is None:
        return _open_answers(planned, predictions)
    samples = _open_answers(planned, samples_of(predictions))
    return with_samples(_open_answers(planned, predictions), samples, how)


def _open_answers(planned: PlannedClaim, predictions: Sequence[PromptPredictions]) -> Answers:
    examples = planned.condition.prompt_set.validation
    written = said_of(predictions)
    found = [
        dict(zip((each.id for each in one.examples), one.scores, strict=True))
        for one in predictions
    ]
    scores = np.array([[row.get(each.id, np.nan) for each in examples] for row in found])
    prompts, texts = [one.prompt for one in predictions], texts_of(examples)
    return Answers(
        model=planned.model.name,
        shots=planned.condition.shots,
        prompts=tuple(prompt.digest[:8] for prompt in prompts),
        identities=tuple(prompt.digest for prompt in prompts),
        demonstration_ids=tuple(
            tuple(example.id for example in prompt.demonstrations) for prompt in prompts
        ),
        examples=texts["examples"],
        correct=scores == 1,
        evaluated=~np.isnan(scores),
        scores=scores if planned.is_graded else None,
        open=None if planned.is_graded else coded(examples, written, planned.condition.matching),
        unread=unread_of(predictions, planned.condition.labels),
        inputs=texts["inputs"],
        copies=texts["copies"],
        clusters=texts["clusters"],
    )


def shuffle_of_open(
    predictions: Sequence[PromptPredictions], examples: Sequence[Example], *, alike: bool = False
) -> Shuffle:
    """Return how the references of a sweep can be shuffled; `alike` as of `coded`."""
    matching = predictions[0].prompt.format.matching
    assert matching is not None
    how = predictions[0].aggregate
    scored = how if scores_samples(how) else None
    said = said_of(samples_of(predictions) if scored else predictions)
    found = coded(examples, said, matching, alike=alike)
    names = [each.id for each in examples]
    groups = named_clusters(names, (each.cluster for each in examples))
    return Shuffle(
        found.said, found.gold, None, found.strata, groups, is_open=True, aggregate=scored
    )


def follows(
    planned: PlannedClaim, predictions: Sequence[PromptPredictions], level: float
) -> Iterator[Remark]:
    """Tell whether answers follow their questions where these hold or offer what is right.

    Who copies from the question passes as well, so that nothing is claimed of this p-value.
    """
    roles = planned.condition.roles
    within = sum(many for name, many in roles.items() if name == COPIED or is_offered(name))
    examples = planned.condition.prompt_set.validation
    if within < _SHARE * len(examples):
        return
    shuffle = shuffle_of_open(predictions, examples, alike=True)
    p = permuted(shuffle, planned.null.t, level=level).p
    if p <= level:
        yield Remark("answers_follow", {"examples": len(examples), "within": within, "p": p})


def beside_controls(best: PromptPredictions, matching: Matching) -> Compared:
    """Compare a sweep's best prompt with what needs no knowledge, and says it in each sample."""
    examples, own = best.examples, controls(best.examples, matching)
    return compare(
        _exact(best.scores, best.aggregate),
        {name: own[name] for name in OF_OPEN if name in own},
        clusters=[(each.cluster, each.cluster or each.id) for each in examples],
    )


def beside_told(answers: Answers) -> Compared:
    """Compare the best prompt of recorded answers so."""
    assert answers.open is not None
    asked = np.flatnonzero(answers.evaluated[answers.best]).tolist()
    groups = answers.groups
    return compare(
        _exact(answers.values[answers.best, asked].tolist(), answers.aggregate),
        {
            name: [own[place] for place in asked]
            for name in OF_OPEN
            if (own := answers.open.controls.get(name)) is not None
        },
        clusters=None if groups is None else [groups[place] for place in asked],
    )


def _exact(scores: Sequence[float], aggregate: Aggregate | None) -> list[Fraction]:
    """Return scores of examples as the fractions that they are, of right answers or of samples."""
    unit = 1 if aggregate is None else aggregate.unit
    return [Fraction(round(score * unit), unit) for score in scores]
