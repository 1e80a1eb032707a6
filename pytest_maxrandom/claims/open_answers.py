"""Claims about open answers: their view, and what is right there without any knowledge.

Controls are scored like prompts, and shown beside the best of them: each type's commonest
reference, and what stands in the question. Shuffled references hold the level without them, because
what questions offer or hold is exchanged by its place, or not at all; a best prompt that is no
better than a control fails by the red flag `heuristic`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.samples import scores_samples
from pytest_maxrandom.claims.shortcuts import OF_OPEN, compare, exact
from pytest_maxrandom.claims.shuffles import Shuffle, permuted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.clusters import named_clusters
from pytest_maxrandom.stats.sample_chance import earned_in_turn
from pytest_maxrandom.stats.samples import profiles
from pytest_maxrandom.sweeps.open_answers import coded, said_of, voices_of
from pytest_maxrandom.sweeps.open_controls import controls, in_turn
from pytest_maxrandom.sweeps.open_roles import COPIED, is_offered
from pytest_maxrandom.sweeps.predictions import PromptPredictions, samples_of, texts_of, unread_of
from pytest_maxrandom.sweeps.samples import by_sample, with_samples

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from pytest_maxrandom.answers import Voices
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.flags.kind import Compared
    from pytest_maxrandom.record import HeuristicName
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
    if samples.open is not None:
        rows = [
            [row.get(name) for name in samples.examples] for row in said_of(samples_of(predictions))
        ]
        voices = voices_of(rows, planned.condition.matching)
        samples = replace(samples, open=samples.open._replace(voices=voices))
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
    """Compare a sweep's best prompt with what needs no knowledge, and as many different answers."""
    examples, samples = best.examples, best.samples
    return _beside(
        best.scores,
        best.aggregate,
        voices_of([each.said for each in samples], matching) if samples else None,
        controls(examples, matching, max(1, len(samples))),
        [(each.cluster, each.cluster or each.id) for each in examples],
    )


def beside_told(answers: Answers) -> Compared:
    """Compare the best prompt of recorded answers so."""
    best = answers.of_prompts([answers.best])
    assert best.open is not None
    asked = np.flatnonzero(best.evaluated[0]).tolist()
    voices = None
    if best.sampled is not None and best.sampled.open is not None:
        voices = best.sampled.open.voices
    groups = answers.groups
    return _beside(
        best.values[0, asked].tolist(),
        answers.aggregate,
        None if voices is None else voices._replace(labels=voices.labels[:, asked]),
        {name: [own[at] for at in asked] for name, own in best.open.controls.items()},
        None if groups is None else [groups[place] for place in asked],
    )


def _beside(
    scores: Sequence[float],
    aggregate: Aggregate | None,
    voices: Voices | None,
    own: Mapping[HeuristicName, Sequence[int]],
    clusters: Sequence[Hashable] | None,
) -> Compared:
    """Compare scores with those of controls, which give as many different answers.

    Where nobody tells which samples say the same, all are taken to be different.
    """
    most = 1 if aggregate is None else aggregate.samples
    spread = np.ones((len(scores), most), dtype=np.int64)
    if voices is not None:
        spread = profiles(by_sample(voices.labels, most))[0]
    rules = {
        name: earned_in_turn([in_turn(name, each, most) for each in own[name]], aggregate, spread)
        for name in OF_OPEN
        if name in own
    }
    return compare(exact(scores, aggregate), rules, aggregate=aggregate, clusters=clusters)
