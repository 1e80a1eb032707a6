"""What the samples of a prompt come to: one answer to each example, as of a prompt asked once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.samples import UNREAD, Aggregate, voted
from pytest_maxrandom.sweeps.open_answers import voices_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.sweeps.predictions import PromptPredictions


def made_one(samples: Sequence[PromptPredictions], aggregate: Aggregate) -> PromptPredictions:
    """Return what the samples of a prompt come to; where some are missing, those that are there.

    What is chosen is the commonest answer, with the first text that says so. Between equally common
    ones a lot decides that knows neither which is right nor where it stands.
    """
    first = samples[0]
    votes, names = _votes(samples)
    votes_of_all = voted(
        np.ascontiguousarray(votes.T)[None], names, [example.id for example in first.examples]
    )[0].tolist()
    rows = [*zip(votes.tolist(), samples, strict=True)]
    source = [
        next(each for own, each in rows if own[place] == vote)
        for place, vote in enumerate(votes_of_all)
    ]
    generated = bool(first.texts)
    return replace(
        first,
        chosen=tuple(each.chosen[place] for place, each in enumerate(source)),
        said=tuple(each.said[place] for place, each in enumerate(source)) if first.said else (),
        graded=_grades(samples, source, aggregate),
        ties=0,
        margins=(0.0,) * len(votes_of_all),
        texts=tuple(each.texts[place] for place, each in enumerate(source)) if generated else (),
        finishes=tuple(each.finishes[place] for place, each in enumerate(source))
        if generated
        else (),
        samples=tuple(samples),
        aggregate=aggregate,
    )


def _grades(
    samples: Sequence[PromptPredictions], source: Sequence[PromptPredictions], aggregate: Aggregate
) -> tuple[float, ...]:
    """Return how good each answer is; of a vote the answer with the first text that says so."""
    if aggregate.how == "vote" or not samples[0].graded:
        return tuple(each.graded[place] for place, each in enumerate(source) if each.graded)
    grades = np.array([each.graded for each in samples]).T
    return tuple(aggregate.of_fewer(len(samples)).of_grades(grades).tolist())


def _votes(
    samples: Sequence[PromptPredictions],
) -> tuple[NDArray[np.int64], Callable[[int, int], str]]:
    """Return what each sample says, shape (k, n), as labels that are the same for the same answer.

    Of each label and place there is a text, by which a lot between equals is drawn.
    """
    first = samples[0]
    matching = first.prompt.format.matching
    if not first.said or matching is None:
        rows = [[UNREAD if c is None else c for c in each.chosen] for each in samples]
        found = np.array(rows, dtype=np.int64)
        return (
            found,
            lambda place, choice: "" if choice == UNREAD else first.examples[place].choices[choice],
        )
    voices = voices_of([each.said for each in samples], matching)
    return voices.labels, voices.name
