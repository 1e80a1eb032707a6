"""Answers of several samples: their guessers, and how their right answers are shuffled."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.nulls import Guessers, LearntGuessers, SampleGuessers
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle, earned_of
from pytest_maxrandom.record import Sampled
from pytest_maxrandom.stats.chances import choices_of
from pytest_maxrandom.stats.components import components
from pytest_maxrandom.stats.learnt import mean_credits
from pytest_maxrandom.stats.maximum import BestOfPrompts
from pytest_maxrandom.stats.sample_chance import Kinds
from pytest_maxrandom.stats.samples import Aggregate, How, profiles
from pytest_maxrandom.suite.prompts import PassSpec
from pytest_maxrandom.sweeps.samples import by_sample, choices_of_samples
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers, OpenAnswers
    from pytest_maxrandom.suite.spec import SuiteSpec

VOTE = "use `aggregate: vote`, which makes one answer of the samples"
"""The way out where answers must be right or wrong."""


class NoSamples(ValueError):
    """Why samples cannot be judged by what they come to, in one sentence."""


def aggregate_of(suite: SuiteSpec) -> Aggregate | None:
    """Return what several samples of each answer come to; None where each is asked for once."""
    how = suite.generation
    if how.samples == 1 or not SCORERS[suite.scoring].generates:
        return None
    return as_stated(how.aggregate, how.samples)


def as_stated(how: How | PassSpec | None, samples: int) -> Aggregate:
    """Return what a suite says that so many samples come to: their mean, if it says nothing."""
    if isinstance(how, PassSpec):
        return Aggregate("pass", samples, how.asked)
    return Aggregate(how or "mean", samples)


def unlike(aggregate: Aggregate | None, samples: int) -> str | None:
    """Say why so many samples of each answer are not comparable with what others come to.

    None where they are: of a mean, a vote, and an estimate for fewer samples than there are.
    """
    if aggregate is None or aggregate.how in ("mean", "vote"):
        return None
    if samples == aggregate.samples or (aggregate.j <= samples and aggregate.asked is not None):
        return None
    return (
        f"it has {samples} of each answer, and the others come to `aggregate: {aggregate.how}` of "
        f"{aggregate.samples} samples, which is another score whoever answers"
    )


def scores_samples(aggregate: Aggregate | None) -> bool:
    """Whether the score of an answer is that of its samples: any but one, or a vote, is."""
    return aggregate is not None and aggregate.how != "vote"


def scored_by_samples(answers: Answers) -> bool:
    """Whether answers are scored so, and guessers can be, too."""
    return scores_samples(answers.aggregate) and not answers.without_guessers


def guessers_of_samples(
    answers: Answers, chances: Sequence[Fraction] | None, t: int
) -> Guessers | SampleGuessers | LearntGuessers:
    """Return t guessers who gave the same samples as the prompts; of open answers they are learnt.

    Where only right and wrong are known, a guesser by pass gives as many different answers as there
    can be, and by mean and all the same ones: those reach most. Answers are of distinct prompts to
    the same examples, and `scored_by_samples`. `chances` has per example the chance of one guess,
    and t is at least the number of the prompts.

    Raises
    ------
    NoSamples
        If prompts were scored on different examples, or chances are not of a number of choices.
    """
    aggregate = answers.aggregate
    assert aggregate is not None
    if answers.open is not None:
        return LearntGuessers(answers.best_size, t, None if answers.are_counted else aggregate.unit)
    if not answers.evaluated.all():
        raise NoSamples(
            "prompts were scored on different examples, and scores of samples are compared on the "
            f"same ones; give results on the same examples, or {VOTE}"
        )
    if chances is None:
        raise NoSamples("chances are stated of a mix of examples; list the choices of each example")
    right = [1] * len(chances) if answers.gold is None else [*map(len, answers.gold)]
    choices = [*map(choices_of, right, chances)]
    for name, own, of, chance in zip(answers.examples, right, choices, chances, strict=True):
        if own != chance * of:
            raise NoSamples(
                f"example {name!r} has the chance {chance}, which is not that of {own} of a whole "
                f"number of choices; give the number of choices of each example, or {VOTE}"
            )
    kinds = Kinds.of(aggregate, _spread(answers, aggregate), choices, right)
    if not aggregate.binary:
        return SampleGuessers.of(kinds, aggregate.unit, t)
    own_chances = kinds.chances()
    means = [sum(row, Fraction()) / len(row) for row in own_chances]
    copies = [1] * len(means)
    copies[means.index(max(means))] += t - len(means)
    best = BestOfPrompts(list(zip(own_chances, copies, strict=True)))
    places = tuple(range(len(means)))
    return Guessers(best, places, len(choices), sum(means, Fraction()) / len(means))


def _spread(answers: Answers, aggregate: Aggregate) -> NDArray[np.int64]:
    samples, k = answers.sampled, aggregate.samples
    assert samples is not None
    if samples.answers is not None:
        return profiles(choices_of_samples(samples, k))
    spread = np.zeros((*answers.correct.shape, k), dtype=np.int64)
    if aggregate.how == "pass":
        spread[...] = 1
    else:
        spread[..., 0] = k
    return spread


def shuffles_of_samples(
    answers: Answers, ways: Callable[[Answers], list[Shuffle] | NoPermutations]
) -> list[Shuffle] | NoPermutations:
    """Return how the right answers of samples are shuffled, all samples of an example together.

    Answers are of distinct prompts, and `scored_by_samples`; `ways` returns how those of single
    answers are.
    """
    samples, aggregate = answers.sampled, answers.aggregate
    assert samples is not None
    shuffles = ways(samples)
    if isinstance(shuffles, NoPermutations):
        return shuffles
    if not answers.evaluated.all():
        return NoPermutations(f"prompts were scored on different examples: {VOTE}")
    for each in shuffles:
        if each.exchange.by == "orders":
            return NoPermutations(f"examples compare things that recur: {VOTE}")
        if each.exchange.by == "clusters":
            return NoPermutations(f"its clusters differ in size: {VOTE}")
    return [each._replace(aggregate=aggregate) for each in shuffles]


def sampled(answers: Answers, best: int) -> Sampled | None:
    """Return what the samples of the best prompt say; None where there is one of each answer.

    `answers` are of the distinct prompts, and `best` is the row of the best one.
    """
    aggregate, samples = answers.aggregate, answers.sampled
    if aggregate is None or samples is None:
        return None
    k = aggregate.samples
    own = samples.of_prompts([*range(best * k, best * k + k)])
    right = own.values[:, answers.evaluated[best]]
    parts = components(right.T) if right.shape[1] > 1 else None
    record = Sampled(
        samples=k,
        aggregate=aggregate.how,
        asked=aggregate.asked,
        right=float(right.mean(axis=0).mean()),
        any_right=float(right.max(axis=0).mean()),
        all_right=float(right.min(axis=0).mean()),
        noise_of_data=None if parts is None else parts.of_data,
        noise_of_prediction=None if parts is None else parts.of_prediction,
        between=None if parts is None else parts.between,
        within=None if parts is None else parts.within,
    )
    spread = _spread_of(own, k)
    if spread is not None:
        spread = spread[:, answers.evaluated[best]]
        record = replace(
            record,
            different=float((spread > 0).sum(axis=2).mean()),
            alike=float((spread[..., 0] == k).mean()),
        )
    if own.open is not None and own.evaluated.all():
        return _beside_learnt(record, own, own.open, k)
    chances = answers.chances
    if spread is None or chances is None or answers.gold is None:
        return record
    scored = np.flatnonzero(answers.evaluated[best]).tolist()
    counts = [len(answers.gold[place]) for place in scored]
    many = [choices_of(n, chances[place]) for n, place in zip(counts, scored, strict=True)]

    def by_chance(how: How) -> float:
        """Return what a guesser who gave these samples reaches."""
        [row] = Kinds.of(Aggregate(how, k), spread, many, counts).chances()
        return float(sum(row) / len(row))

    return replace(record, any_by_chance=by_chance("pass"), all_by_chance=by_chance("all"))


def _spread_of(samples: Answers, k: int) -> NDArray[np.int64] | None:
    """Return how often each different answer was given, (t, n, k); None where nobody tells."""
    if samples.answers is not None:
        return profiles(choices_of_samples(samples, k))
    voices = None if samples.open is None else samples.open.voices
    return None if voices is None else profiles(by_sample(voices.labels, k))


def _beside_learnt(record: Sampled, samples: Answers, opened: OpenAnswers, k: int) -> Sampled:
    """Add what samples of open answers reach with the references of other examples."""
    shuffle = Shuffle(opened.said, opened.gold, None, opened.strata, samples.groups, is_open=True)

    groups = None if shuffle.exchange.by == "clusters" else samples.groups

    def by_chance(how: How) -> float:
        aggregate = Aggregate(how, k)
        kinds, earned = earned_of(shuffle, aggregate)
        [mean] = mean_credits(earned, kinds, aggregate.unit, strata=opened.strata, groups=groups)
        return float(mean)

    return replace(record, any_by_chance=by_chance("pass"), all_by_chance=by_chance("all"))
