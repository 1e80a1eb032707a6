"""What t prompts answered to n examples: one type, whoever asked and wherever it was written down.

A sweep's predictions give it (`of_predictions`), and so do the readers of results that exist
(`pytest_maxrandom.recorded`). What follows need not know which of them it was.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.sweeps.labels import common_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path
    from typing import Any, Self

    from numpy.typing import NDArray

    from pytest_maxrandom.record import Note
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import Predictions
    from pytest_maxrandom.tasks.task import Example

_SHORT = 20
"""Characters up to which a text that all examples share is a label rather than a statement."""


class Maximum(NamedTuple):
    """What alone is known of the best of t prompts on n examples; t is None where it is not."""

    n: int
    t: int | None
    correct: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """The answers of t prompts to n examples.

    Of a published maximum there is no prompt and no example, and so no cell.

    Attributes
    ----------
    model : str
        Name of the model, with its quantization if the results tell one.
    task : str
        Name of the task; empty where what is made of the answers does not need it.
    shots : int
        Demonstrations per prompt.
    path : Path or None
        The file or folder that they were read from; None where a model was asked.
    claim : str
        What tells them from others of the same file: the claim's id, or task, model and shots.
    prompts, examples : tuple of str
        Names of the prompts, length t, and ids of the examples, length n.
    identities : tuple of str
        Per prompt what makes it the prompt that it is: its digest or its demonstrations. Prompts
        may repeat; see `distinct`.
    demonstration_ids : tuple of tuple of str
        Per prompt, in the order of its text.
    correct, evaluated : ndarray of bool
        Shape (t, n): whether the answer is right; whether there is one.
    answers : ndarray of int or None
        Shape (t, n): the label of each answer, NOT_EVALUATED (-1) where there is none; None where
        it is not known what was answered.
    gold : tuple of frozenset of int or None
        Per example the labels of its right choices; None where they are not known.
    labels : tuple of str
        What labels are called where they are texts; empty where they are places of choices.
    unshown : bool
        Whether those are places in the task's file, which no model sees and which may tell the
        right answer.
    chances : tuple of Fraction or None
        Per example the chance of one guess; None where it is not known.
    choices_counted : bool
        Whether those come from numbers of choices that somebody wrote, without the choices.
    choices : tuple of int or None
        Per example how many choices it has; None where they are not known, or `chances` tell.
    log_likelihoods : ndarray of float or None
        Shape (t, n, most choices), in nats; NaN where an example has fewer choices, or one that
        repeats the text of another.
    labelled : ndarray of bool or None
        Per prompt whether its log-likelihoods are those of whole labels: letters, numbers, or
        short texts that all examples share. None where that is not known.
    inputs : tuple of str or None
        The texts of the examples.
    copies : tuple of int or None
        Per example the place of the first one with the same text and choices.
    alphabetical : tuple of frozenset of int or None
        Per example the places of its right choices among all its choices in alphabetical order:
        the same for the same answer wherever choices are the same, and by chance elsewhere.
    offered : tuple of tuple of str or None
        Per example its choices in alphabetical order.
    clusters : tuple of str or None
        Per example what it shares with others, such as its passage, None for one that stands alone;
        None where none is stated of any.
    notes : tuple of str or Remark
        What a reader must know.
    simulated : bool
        Whether a rule made them up, so that they say nothing of any model.
    maximum : Maximum or None
        What was published, where that is the best prompt's accuracy alone.

    Raises
    ------
    RecordedError
        If ids repeat where they must not, the shapes disagree, a prompt was evaluated on no
        example, or an answer is right that does not exist.
    """

    model: str
    shots: int
    prompts: tuple[str, ...]
    examples: tuple[str, ...]
    identities: tuple[str, ...]
    correct: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    task: str = ""
    path: Path | None = None
    claim: str = ""
    demonstration_ids: tuple[tuple[str, ...], ...] = ()
    answers: NDArray[np.int64] | None = None
    gold: tuple[frozenset[int], ...] | None = None
    labels: tuple[str, ...] = ()
    unshown: bool = False
    chances: tuple[Fraction, ...] | None = None
    choices_counted: bool = False
    choices: tuple[int, ...] | None = None
    log_likelihoods: NDArray[np.float64] | None = None
    labelled: NDArray[np.bool_] | None = None
    inputs: tuple[str, ...] | None = None
    copies: tuple[int, ...] | None = None
    alphabetical: tuple[frozenset[int], ...] | None = None
    offered: tuple[tuple[str, ...], ...] | None = None
    clusters: tuple[str | None, ...] | None = None
    notes: tuple[Note, ...] = ()
    simulated: bool = False
    maximum: Maximum | None = None

    @classmethod
    def published(cls, maximum: Maximum, chance: Fraction | None, **named: Any) -> Answers:
        """Return what is known of a published maximum; see `Answers` for the names."""
        nothing = np.zeros((0, 0), dtype=np.bool_)
        return cls(
            **named,
            prompts=(),
            examples=(),
            identities=(),
            correct=nothing,
            evaluated=nothing,
            chances=None if chance is None else (chance,) * maximum.n,
            maximum=maximum,
        )

    def __post_init__(self) -> None:
        if self.maximum is not None:
            return
        shape = (len(self.prompts), len(self.examples))
        if 0 in shape:
            raise self._error(f"holds {shape[0]} prompts and {shape[1]} examples; give a sweep")
        for name, cells in (("correct", self.correct), ("evaluated", self.evaluated)):
            if cells.shape != shape:
                raise self._error(
                    f"'{name}' has the shape {cells.shape}, but there are {shape[0]} prompt ids "
                    f"and {shape[1]} example ids; write the three from the same run"
                )
        if self.demonstration_ids and len(self.demonstration_ids) != shape[0]:
            raise self._error(
                f"demonstrations of {len(self.demonstration_ids)} prompts, but there are "
                f"{shape[0]} prompt ids; write both from the same run"
            )
        if self.clusters is not None and len(self.clusters) != shape[1]:
            raise self._error(
                f"clusters of {len(self.clusters)} examples, but there are {shape[1]} example "
                "ids; write both from the same run"
            )
        if len(set(self.examples)) < shape[1]:
            twice = next(each for each, size in Counter(self.examples).items() if size > 1)
            raise self._error(
                f"the example id {twice!r} stands for more than one column; give every example "
                "an id of its own"
            )
        empty = np.flatnonzero(~self.evaluated.any(axis=1))
        if len(empty):
            raise self._error(
                f"prompt {self.prompts[empty[0]]!r} was evaluated on no example; leave it out, "
                "or finish the run"
            )
        ghosts = np.argwhere(self.correct & ~self.evaluated)
        if len(ghosts):
            prompt, example = ghosts[0]
            raise self._error(
                f"prompt {self.prompts[prompt]!r} is right on example "
                f"{self.examples[example]!r}, on which it was not evaluated; 'correct' must "
                "be False wherever 'evaluated' is"
            )

    def _error(self, message: str) -> RecordedError:
        return RecordedError(f"{self.path or self.model}: {self.claim}: {message}")

    @property
    def tried(self) -> int | None:
        """How many prompts were tried, as far as the answers tell."""
        return len(self.prompts) if self.maximum is None else self.maximum.t

    @cached_property
    def correct_counts(self) -> NDArray[np.int64]:
        """Right answers of each prompt, shape (t,); of a published maximum those of the best."""
        if self.maximum is not None:
            return np.array([self.maximum.correct])
        counts: NDArray[np.int64] = self.correct.sum(axis=1)
        return counts

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of examples that each prompt was scored on, shape as `correct_counts`."""
        if self.maximum is not None:
            return np.array([self.maximum.n])
        sizes: NDArray[np.int64] = self.evaluated.sum(axis=1)
        return sizes

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """Accuracy of each prompt, shape as `correct_counts`."""
        # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
        return self.correct_counts / self.sizes

    @cached_property
    def best(self) -> int:
        """Row of the first prompt with the highest accuracy."""
        return int(np.argmax(self.accuracies))

    @property
    def best_correct(self) -> int:
        """Right answers of the best prompt."""
        return int(self.correct_counts[self.best])

    @property
    def best_size(self) -> int:
        """Number of examples that the best prompt was scored on."""
        return int(self.sizes[self.best])

    @property
    def groups(self) -> tuple[str, ...] | None:
        """The cluster of each example, or what is its own where it has none; None where all are."""
        if self.clusters is None:
            return None
        named = zip(self.clusters, self.examples, strict=True)
        known = tuple(own for own in self.clusters if own is not None)
        if len(known) == len(self.clusters):
            return known
        return tuple(f"id {name}" if own is None else f"cluster {own}" for own, name in named)

    def distinct(self) -> Self:
        """Return the answers without those of prompts that repeat an earlier one."""
        first: dict[str, int] = {}
        for place, identity in enumerate(self.identities):
            first.setdefault(identity, place)
        return self if len(first) == len(self.identities) else self.of_prompts([*first.values()])

    def of_prompts(self, rows: list[int]) -> Self:
        """Return the answers of some prompts, which are named by their rows."""
        return replace(
            self,
            prompts=tuple(self.prompts[row] for row in rows),
            identities=tuple(self.identities[row] for row in rows),
            demonstration_ids=tuple(self.demonstration_ids[row] for row in rows)
            if self.demonstration_ids
            else (),
            correct=self.correct[rows],
            evaluated=self.evaluated[rows],
            answers=None if self.answers is None else self.answers[rows],
            log_likelihoods=(None if self.log_likelihoods is None else self.log_likelihoods[rows]),
            labelled=None if self.labelled is None else self.labelled[rows],
        )


def of_predictions(
    predictions: Predictions,
    labels: Labels,
    *,
    model: str,
    shots: int,
    whole: bool = True,
    said: NDArray[np.int64] | None = None,
) -> Answers:
    """Return a sweep's answers, where a label means the same in all examples as far as it can.

    Parameters
    ----------
    labels : Labels
        Of all examples that prompts were scored on.
    whole : bool
        Whether log-likelihoods are those of the whole choices.
    said : ndarray of int, optional
        Shape (t, n), as `Labels.answers` returns them, where they are at hand.
    """
    coded = np.array(labels.answers(predictions)) if said is None else said
    prompts = [each.prompt for each in predictions.prompts]
    names = common_words((prompt.format for prompt in prompts), labels) or ()
    gold = labels.gold
    if labels.shared:
        names, coded, gold = _by_name(labels, coded)
    elif any(stratum < 0 for stratum in labels.strata):
        names, coded, gold = _by_usual(labels, coded)
    rights, examples = tuple(map(frozenset, gold)), labels.examples
    clusters = tuple(example.cluster for example in examples)
    return Answers(
        model=model,
        shots=shots,
        prompts=tuple(prompt.digest[:8] for prompt in prompts),
        identities=tuple(prompt.digest for prompt in prompts),
        examples=tuple(example.id for example in examples),
        demonstration_ids=tuple(
            tuple(example.id for example in prompt.demonstrations) for prompt in prompts
        ),
        correct=hits(coded, rights, np.arange(len(rights))),
        evaluated=coded != NOT_EVALUATED,
        answers=coded,
        gold=rights,
        labels=names,
        chances=tuple(example.chance for example in examples),
        choices=tuple(labels.choices),
        log_likelihoods=_log_likelihoods(labels, predictions),
        labelled=_labelled(labels, predictions, names) if whole else None,
        inputs=tuple(example.input for example in examples),
        copies=_copies(examples),
        alphabetical=tuple(map(_alphabetical, examples)),
        offered=tuple(tuple(sorted(example.choices)) for example in examples),
        clusters=None if set(clusters) == {None} else clusters,
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


def _labelled(
    labels: Labels, predictions: Predictions, names: tuple[str, ...]
) -> NDArray[np.bool_]:
    short = labels.shared and max(map(len, names)) <= _SHORT
    formats = [prompt.prompt.format for prompt in predictions.prompts]
    return np.array(
        [(short or each.labels != "text") and each.counterfactual is None for each in formats]
    )
