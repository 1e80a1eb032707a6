"""What a sweep predicts, prompt by prompt as each is done, and all of it as `Answers`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers, Unread
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.sweeps.labels import Labels, common_words
from pytest_maxrandom.sweeps.prompts.formats import Prompt, shown_order
from pytest_maxrandom.sweeps.scorers import SCORERS, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pytest_maxrandom.models.questions import Answer, Finish
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.tasks.task import Example

_SHORT = 20
"""Characters up to which a text that all examples share is a label rather than a statement."""


_WHY: Mapping[Finish, Unread] = {
    "stop": Unread.UNREADABLE,
    "length": Unread.CUT,
    "refused": Unread.REFUSED,
}


@dataclass(frozen=True, slots=True)
class PromptPredictions:
    """One prompt's answers to its n examples."""

    prompt: Prompt
    examples: tuple[Example, ...]
    """What the prompt was scored on."""
    log_likelihoods: tuple[tuple[float, ...], ...]
    """Per example and choice: the sum over the answer's tokens, in nats."""
    tokens: tuple[tuple[int, ...], ...]
    """Per example and choice: the number of those tokens."""
    chosen: tuple[int | None, ...]
    """Per example: the index of the answer; None where none could be read, which is wrong."""
    ties: int
    """How many were decided by lot between equal scores."""
    margins: tuple[float, ...]
    """Per example: by how much the best score is above the second, in the score's own unit (nats,
    nats per token or per character); 0 for a tie, and where nothing is scored."""
    texts: tuple[str, ...] = ()
    finishes: tuple[Finish, ...] = ()
    """Per example what was generated and why that ends; empty where choices were scored."""
    said: tuple[str | None, ...] = ()
    """Per example what was read of an open answer; empty where there are choices."""
    graded: tuple[float, ...] = ()
    """Per example how good the answer is, from 0 to 1; empty where it is right or wrong."""
    samples: tuple[PromptPredictions, ...] = ()
    """The answers of each sample, where the prompt was asked several times; what is chosen is then
    the commonest of them."""
    aggregate: Aggregate | None = None
    """What these come to; None where it was asked once."""

    @property
    def correct(self) -> int:
        """How many answers are right; of scores, and means of samples, the whole number below."""
        return int(sum(self.scores))

    @property
    def known_correct(self) -> int | None:
        """The same; None where it is no whole number, or samples are missing."""
        how = self.aggregate
        if self.graded:
            return None
        if how is None:
            return self.correct
        whole = how.how == "vote" or how.binary
        return self.correct if whole and len(self.samples) == how.samples else None

    @property
    def scores(self) -> tuple[float, ...]:
        """Per example 1 where the answer is right, else 0; or what its samples come to."""
        how = self.aggregate
        if self.graded:
            return self.graded
        if how is None or how.how == "vote" or not self.samples:
            pairs = zip(self.chosen, self.examples, strict=True)
            return tuple(float(choice in example.right) for choice, example in pairs)
        right = np.sum([each.scores for each in self.samples], axis=0).astype(np.int64)
        how = how.of_fewer(len(self.samples))
        earned = how.credits(right)
        return tuple((earned / how.unit).tolist())

    @property
    def accuracy(self) -> float:
        """Mean of the scores."""
        return sum(self.scores) / len(self.examples)

    @property
    def unread(self) -> int:
        """In how many answers nothing could be read."""
        return (self.said or self.chosen).count(None)

    @property
    def unread_why(self) -> tuple[Unread, ...]:
        """Why each generated answer could not be read."""
        pairs = zip(self.said or self.chosen, self.finishes, strict=True)
        return tuple(Unread.NOT if choice is not None else _WHY[finish] for choice, finish in pairs)


def predict(
    prompt: Prompt,
    examples: Sequence[Example],
    answers: Sequence[Sequence[Answer]],
    scoring: Scoring,
) -> PromptPredictions:
    """Turn what a model says into answers, as the scorer reads it.

    Parameters
    ----------
    answers : sequence of n sequences of Answer
        Per example: one to each of the scorer's questions, or one that joins them.
    scoring : str
        Name of the scorer.
    """
    scorer = SCORERS[scoring]
    read = [
        scorer.answer(prompt, example, own) for example, own in zip(examples, answers, strict=True)
    ]
    scored = [*map(joined, answers)]
    generated = [one for own in answers for one in own if one.text is not None]
    return PromptPredictions(
        prompt=prompt,
        examples=tuple(examples),
        log_likelihoods=tuple(values for values, _ in scored),
        tokens=tuple(tokens for _, tokens in scored),
        chosen=tuple(one.chosen for one in read),
        ties=sum(one.tied for one in read),
        margins=tuple(one.margin for one in read),
        texts=tuple(one.text or "" for one in generated),
        finishes=tuple(one.finish or "stop" for one in generated),
        said=tuple(one.said for one in read) if scorer.is_open else (),
        graded=tuple(one.score or 0.0 for one in read) if scorer.is_graded else (),
    )


def samples_of(predictions: Sequence[PromptPredictions]) -> list[PromptPredictions]:
    """Return each sample as if it were a prompt, those of one together; else the prompts."""
    return [each for prompt in predictions for each in prompt.samples or (prompt,)]


def labelled(predictions: Iterable[PromptPredictions], labels: Labels) -> NDArray[np.int64]:
    """Return the label that each prompt gave to each example, shape (t, n).

    One beyond all labels where no choice could be read, and NOT_EVALUATED where a prompt was not
    scored on an example: its own demonstrations.
    """
    rows = []
    for prompt, places in _placed(predictions, labels):
        row = np.full(len(labels.examples), NOT_EVALUATED)
        chosen = [-1 if choice is None else choice for choice in prompt.chosen]
        row[places] = labels.table[places, chosen]
        rows.append(row)
    return np.array(rows, dtype=np.int64)


def _placed(
    predictions: Iterable[PromptPredictions], labels: Labels
) -> Iterator[tuple[PromptPredictions, list[int]]]:
    """Yield each prompt with the places, among all examples, of those that it was scored on."""
    everywhere = [*range(len(labels.examples))]
    places: dict[tuple[str, tuple[int, ...] | None], int] = {}
    for prompt in predictions:
        if prompt.examples == labels.examples:  # as most are, whose examples are the same objects
            yield prompt, everywhere
            continue
        places = places or {each.presentation: place for place, each in enumerate(labels.examples)}
        yield prompt, [places[example.presentation] for example in prompt.examples]


def of_predictions(
    predictions: Sequence[PromptPredictions],
    labels: Labels,
    *,
    model: str,
    shots: int,
    whole: bool = True,
) -> Answers:
    """Return a sweep's answers, where a label means the same in all examples as far as it can.

    Parameters
    ----------
    labels : Labels
        Of all examples that prompts were scored on.
    whole : bool
        Whether log-likelihoods are those of the whole choices.
    """
    prompts = [each.prompt for each in predictions]
    read, examples = _read(predictions, labels), labels.examples
    return Answers(
        **read,
        model=model,
        shots=shots,
        prompts=tuple(prompt.digest[:8] for prompt in prompts),
        identities=tuple(prompt.digest for prompt in prompts),
        demonstration_ids=tuple(
            tuple(example.id for example in prompt.demonstrations) for prompt in prompts
        ),
        correct=hits(read["answers"], read["gold"], np.arange(len(examples))),
        evaluated=read["answers"] != NOT_EVALUATED,
        choices=tuple(labels.choices),
        log_likelihoods=None if predictions[0].texts else _log_likelihoods(labels, predictions),
        labelled=_labelled(labels, predictions, read["labels"]) if whole else None,
        unread=unread_of(predictions, labels),
        ties=tuple(each.ties for each in predictions),
        **texts_of(examples),
    )


def read_as(answers: Answers, predictions: Sequence[PromptPredictions], labels: Labels) -> Answers:
    """Return a sweep's answers by another way of reading labels."""
    read = _read(predictions, labels)
    is_whole = answers.labelled is not None
    of_labels = _labelled(labels, predictions, read["labels"]) if is_whole else None
    return replace(answers, **read, labelled=of_labels)


class _Reading(TypedDict):
    """What answers say by one way of reading labels."""

    answers: NDArray[np.int64]
    gold: tuple[frozenset[int], ...]
    labels: tuple[str, ...]


def _read(predictions: Sequence[PromptPredictions], labels: Labels) -> _Reading:
    coded, gold, named = labelled(predictions, labels), labels.gold, labels.named
    if named is None:
        names = common_words((each.prompt.format for each in predictions), labels) or ()
    else:
        names, coded, gold = named.names, named.numbers[np.arange(len(gold)), coded], named.gold
    if names and any(each.unread for each in predictions):
        names = (*names, NO_CHOICE)
    return _Reading(answers=coded, gold=gold, labels=names)


class Texts(TypedDict):
    """What `Answers` hold of examples whatever was answered."""

    examples: tuple[str, ...]
    chances: tuple[Fraction, ...]
    inputs: tuple[str, ...]
    copies: tuple[int, ...]
    alphabetical: tuple[frozenset[int], ...]
    offered: tuple[tuple[str, ...], ...]
    clusters: tuple[str | None, ...] | None


def texts_of(examples: Sequence[Example]) -> Texts:
    """Return what is known of examples whatever was answered."""
    return _texts_of(tuple(examples))


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _texts_of(examples: tuple[Example, ...]) -> Texts:
    clusters = tuple(example.cluster for example in examples)
    return Texts(
        examples=tuple(example.id for example in examples),
        chances=tuple(example.chance for example in examples),
        inputs=tuple(example.text for example in examples),
        copies=_copies(examples),
        alphabetical=tuple(map(_alphabetical, examples)),
        offered=tuple(
            tuple(example.choices[place] for place in shown_order(example)) for example in examples
        ),
        clusters=None if set(clusters) == {None} else clusters,
    )


def unread_of(predictions: Sequence[PromptPredictions], labels: Labels) -> NDArray[np.int64] | None:
    """Return why answers could not be read, shape (t, n); None where choices were scored."""
    if not predictions[0].texts:
        return None
    found = np.zeros((len(predictions), len(labels.examples)), dtype=np.int64)
    for row, (prompt, places) in zip(found, _placed(predictions, labels), strict=True):
        row[places] = prompt.unread_why
    return found


def _log_likelihoods(
    labels: Labels, predictions: Sequence[PromptPredictions]
) -> NDArray[np.float64]:
    """Return the scores by choice; those of repeated texts are left out, as they must tie."""
    most, everywhere = max(labels.choices), [*range(len(labels.examples))]
    alike = min(labels.choices) == most
    rows: list[Sequence[tuple[float, ...]]] = []
    for prompt, places in _placed(predictions, labels):
        if alike and places == everywhere:
            rows.append(prompt.log_likelihoods)
            continue
        row = [(math.nan,) * most] * len(labels.examples)
        for place, scores in zip(places, prompt.log_likelihoods, strict=True):
            row[place] = (*scores, *(math.nan,) * (most - len(scores)))
        rows.append(row)
    found = np.array(rows, dtype=np.float64)
    for place, example in enumerate(labels.examples):
        choices = example.choices
        if len(set(choices)) < len(choices):
            twice = [index for index, text in enumerate(choices) if text in choices[:index]]
            found[:, place, twice] = np.nan
    return found


def _copies(examples: Sequence[Example]) -> tuple[int, ...]:
    first: dict[tuple[str, tuple[str, ...]], int] = {}
    asked = [(example.text, tuple(sorted(example.choices))) for example in examples]
    return tuple(first.setdefault(each, place) for place, each in enumerate(asked))


def _alphabetical(example: Example) -> frozenset[int]:
    order = sorted(range(len(example.choices)), key=lambda place: example.choices[place])
    return frozenset(order.index(right) for right in example.right)


def _labelled(
    labels: Labels, predictions: Sequence[PromptPredictions], names: tuple[str, ...]
) -> NDArray[np.bool_]:
    short = labels.shared and max(map(len, names)) <= _SHORT
    formats = [prompt.prompt.format for prompt in predictions]
    return np.array(
        [(short or each.labels != "text") and each.counterfactual is None for each in formats]
    )
