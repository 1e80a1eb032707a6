"""What t prompts answered to n examples: one type, whoever asked and wherever it was written down.

A sweep's predictions give it (`pytest_maxrandom.sweeps.predictions`), and so do the readers of
results that exist (`pytest_maxrandom.recorded`). What follows need not know which of them it was.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.stats.clusters import named_clusters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.record import HeuristicName, Remark
    from pytest_maxrandom.stats.samples import Aggregate


NO_CHOICE = "no choice"
"""What the label is called of answers in which no choice could be read."""
_BY_PROMPT = ("correct", "evaluated", "scores", "answers", "log_likelihoods", "labelled", "unread")
"""Arrays whose first axis is that of the prompts."""
RECURRING = 5
"""Examples from which on a text recurs often enough to be preferred."""


def letter_place(text: str) -> int:
    """Return the place, from 0, of the choice that a letter stands for; -1 for what is none."""
    return ord(text) - ord("A") if len(text) == 1 and "A" <= text <= "Z" else -1


def are_letters(choices: Sequence[str]) -> bool:
    """Tell whether choices are letters in their order, perhaps in brackets or before a dot."""
    return all(letter_place(text.strip(" ().[]:")) == at for at, text in enumerate(choices))


class Unread(IntEnum):
    """Why no choice could be read in a generated answer."""

    NOT = 0
    """One could be."""
    UNREADABLE = 1
    CUT = 2
    REFUSED = 3


class Voices(NamedTuple):
    """Which of several answers without choices say the same, right or wrong."""

    labels: NDArray[np.int64]
    """Shape (t, n): the same number where nothing tells two texts apart; `UNREAD` where nothing
    could be read, NOT_EVALUATED (-1) where nothing was asked."""
    names: tuple[str, ...]
    """Of each number a digest of the text, by which a lot between equals is drawn."""

    def name(self, _example: int, label: int) -> str:
        """Return the digest of a label, the same for all examples."""
        return self.names[label] if 0 <= label < len(self.names) else ""


class OpenAnswers(NamedTuple):
    """Answers without choices, as labels that shuffled references are compared by."""

    said: NDArray[np.int64]
    """Shape (t, n): what was answered, NOT_EVALUATED (-1) where nothing was asked."""
    gold: tuple[frozenset[int], ...]
    """Per example all that would be right."""
    strata: tuple[int, ...]
    """Per example a number: references can take each other's places where it is the same."""
    roles: tuple[str, ...]
    """What these are called: the kind of the reference, or what it is to its question."""
    controls: Mapping[HeuristicName, Sequence[int]] = MappingProxyType({})
    """Per example which of the answers of a control is right, from 1, by the names of controls; of
    an offer how many there are, and 0 where none is right. Empty where that is computed from the
    examples."""
    asked: bool = True
    """Whether the questions are known, so that what is copied from them is seen."""
    told: bool = False
    """Whether a tool said what is right as well, so that this stands without the references."""
    voices: Voices | None = None
    """Of samples which of them say the same; None where nobody tells, and of single answers."""

    def of_prompts(self, rows: list[int]) -> OpenAnswers:
        """Return the answers of some prompts, which are named by their rows."""
        voices = self.voices
        if voices is not None:
            voices = voices._replace(labels=voices.labels[rows])
        return self._replace(said=self.said[rows], voices=voices)


class Maximum(NamedTuple):
    """What alone is known of the best of t prompts on n examples; t is None where it is not."""

    n: int
    t: int | None
    correct: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """The answers of t prompts to n examples.

    Of a published maximum there is no prompt and no example, and so no cell.

    Raises
    ------
    RecordedError
        If ids repeat where they must not, the shapes disagree, a prompt was evaluated on no
        example, an answer is right that does not exist, or scores are none.
    """

    model: str
    """Name of the model, with its quantization if the results tell one."""
    shots: int
    """Demonstrations per prompt."""
    prompts: tuple[str, ...]
    examples: tuple[str, ...]
    """Names of the prompts, length t, and ids of the examples, length n."""
    identities: tuple[str, ...]
    """Per prompt what makes it the prompt that it is: its digest or its demonstrations. Prompts may
    repeat; see `distinct`."""
    correct: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    """Shape (t, n): whether the answer is right; whether there is one."""
    scores: NDArray[np.float64] | None = None
    """Shape (t, n), or (t, n, samples) where each example was asked several times: how good the
    answers are, in [0, 1], NaN where there is none. An answer is right where all its scores are 1.
    None where an answer is right or wrong and nothing between."""
    sampled: Answers | None = None
    """The samples of answers that were asked for several times, as if each were a prompt: t times k
    rows, those of a prompt together. The rest is what they come to, by `aggregate`."""
    aggregate: Aggregate | None = None
    """What the samples of an answer come to; None where there is one of each."""
    task: str = ""
    """Name of the task; like that of the model empty where what is made of the answers does not
    need it."""
    path: Path | None = None
    """The file or folder that they were read from; None where a model was asked."""
    claim: str = ""
    """What tells them from others of the same file: the claim's id, or task, model and shots."""
    demonstration_ids: tuple[tuple[str, ...], ...] = ()
    """Per prompt, in the order of its text."""
    answers: NDArray[np.signedinteger[Any]] | None = None
    """Shape (t, n): the label of each answer, NOT_EVALUATED (-1) where there is none, in as few
    bytes as they take; None where it is not known what was answered. What a model said and nobody
    could read as a choice is an answer, which is wrong, and has a label of its own: the last one,
    NO_CHOICE if named."""
    gold: tuple[frozenset[int], ...] | None = None
    """Per example the labels of its right choices; None where they are not known."""
    labels: tuple[str, ...] = ()
    """What labels are called where they are texts; empty where they are places of choices."""
    chances: tuple[Fraction, ...] | None = None
    """Per example the chance of one guess; None where it is not known."""
    choices_counted: bool = False
    """Whether those come from numbers of choices that somebody wrote, without the choices."""
    choices: tuple[int, ...] | None = None
    """Per example how many choices it has; None where they are not known, or `chances` tell. A task
    without choices has neither of them, and no `gold` and `answers`."""
    open: OpenAnswers | None = None
    """Of a task without choices, what was answered; None where that is not known."""
    log_likelihoods: NDArray[np.float64] | None = None
    """Shape (t, n, most choices), in nats; NaN where an example has fewer choices, or one that
    repeats the text of another."""
    labelled: NDArray[np.bool_] | None = None
    """Per prompt whether its log-likelihoods are those of whole labels: letters, numbers, or short
    texts that all examples share. None where that is not known."""
    unread: NDArray[np.int64] | None = None
    """Shape (t, n): why no choice could be read in a generated answer, by the numbers of `Unread`;
    None where choices were scored, or that is not known."""
    ties: tuple[int, ...] | None = None
    """Per prompt how many answers were decided by lot between equal scores."""
    inputs: tuple[str, ...] | None = None
    """The texts of the examples."""
    copies: tuple[int, ...] | None = None
    """Per example the place of the first one with the same text and choices."""
    alphabetical: tuple[frozenset[int], ...] | None = None
    """Per example the places of its right choices among all its choices in alphabetical order: the
    same for the same answer wherever choices are the same, and by chance elsewhere."""
    offered: tuple[tuple[str, ...], ...] | None = None
    """Per example its choices in the order in which they are listed; the places that labels are
    where they have no texts."""
    clusters: tuple[str | None, ...] | None = None
    """Per example what it shares with others, such as its passage, None for one that stands alone;
    None where none is stated of any."""
    notes: tuple[Remark, ...] = ()
    """What a reader must know."""
    judge: str | None = None
    """Who, or what, gave the scores: the name and version of a model with its prompt, or of a
    scorer; None where nobody says."""
    rule: str | None = None
    """Digest of how an answer is found right, such as by which comparison with its references; None
    where choices tell it, or nothing does."""
    simulated: bool = False
    """Whether a rule made them up, so that they say nothing of any model."""
    maximum: Maximum | None = None
    """What was published, where that is the best prompt's accuracy alone."""

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
        for name, of, given, ids in (
            ("demonstrations", "prompt", self.demonstration_ids or self.prompts, self.prompts),
            ("clusters", "example", self.clusters, self.examples),
        ):
            if given is not None and len(given) != len(ids):
                raise self._error(
                    f"{name} of {len(given)} {of}s, but there are {len(ids)} {of} ids; write both "
                    "from the same run"
                )
        if len(set(self.examples)) < shape[1]:
            twice = next(each for each, size in Counter(self.examples).items() if size > 1)
            raise self._error(
                f"the example id {twice!r} stands for more than one column; give every example "
                "an id of its own"
            )
        for prompt in np.flatnonzero(~self.evaluated.any(axis=1))[:1]:
            raise self._error(
                f"prompt {self.prompts[prompt]!r} was evaluated on no example; leave it out, "
                "or finish the run"
            )
        # No copy of the cells is made, unless a package gives numbers as truth values.
        if not self.evaluated.all(where=self.correct.astype(np.bool_, copy=False)):
            prompt, example = np.argwhere(self.correct & ~self.evaluated)[0]
            raise self._error(
                f"prompt {self.prompts[prompt]!r} is right on example "
                f"{self.examples[example]!r}, on which it was not evaluated; 'correct' must "
                "be False wherever 'evaluated' is"
            )
        if (scores := self.scores) is None:
            return
        if scores.shape[:2] != shape or scores.ndim > 3 or 0 in scores.shape:
            raise self._error(
                f"'scores' has the shape {scores.shape}, but there are {shape[0]} prompt ids and "
                f"{shape[1]} example ids; give one score for each, or a third axis for samples"
            )
        samples = scores.reshape(*shape, -1)
        there = self.evaluated[..., np.newaxis]
        fits = np.where(there, (samples >= 0) & (samples <= 1), np.isnan(samples)).all(axis=2)
        fits &= self.correct == (samples == 1).all(axis=2)
        for prompt, example in np.argwhere(~fits)[:1]:
            raise self._error(
                f"the scores of prompt {self.prompts[prompt]!r} on example "
                f"{self.examples[example]!r} are {samples[prompt, example].tolist()}; expected "
                "numbers from 0 to 1, NaN where 'evaluated' is False, and 'correct' True exactly "
                "where all of them are 1"
            )

    def _error(self, message: str) -> RecordedError:
        return RecordedError(f"{self.path or self.model}: {self.claim}: {message}")

    def refuse_equal_scores(self) -> None:
        """Refuse answers whose scores tell no choice from another; without scores they pass.

        Raises
        ------
        RecordedError
            If within every evaluated prompt and example all log-likelihoods are equal.
        """
        if self.log_likelihoods is None:
            return
        scores = self.log_likelihoods[self.evaluated]
        # Greatest and least where there are numbers: -inf minus -inf would be none.
        equal = np.fmax.reduce(scores, axis=1) == np.fmin.reduce(scores, axis=1)
        if equal.all() and ((~np.isnan(scores)).sum(axis=1) > 1).any():
            raise self._error(
                "every choice of every example has the same log-likelihood, so the answers mean "
                "nothing; find out what cut off the scored text, and run it again"
            )

    @property
    def is_graded(self) -> bool:
        """Whether an answer is neither right nor wrong, but something between."""
        return self.scores is not None and bool(((self.values > 0) & (self.values < 1)).any())

    @property
    def without_guessers(self) -> bool:
        """Whether no guesser answers so: graded, be it of one sample or of several."""
        if self.sampled is not None:
            return self.sampled.scores is not None
        return self.is_graded

    @property
    def are_counted(self) -> bool:
        """Whether what a prompt scores is its number of right answers."""
        return self.scores is None or (self.aggregate is None and not self.is_graded)

    def refuse_graded(self) -> None:
        """Refuse answers that are neither right nor wrong, which no guesser is compared with.

        Raises
        ------
        RecordedError
            If one has a score between 0 and 1, of one sample or on average.
        """
        if self.scores is None:
            return
        values = self.values
        for prompt, example in np.argwhere((values > 0) & (values < 1))[:1]:
            raise self._error(
                f"prompt {self.prompts[prompt]!r} has the score {values[prompt, example]:.4g} on "
                f"example {self.examples[example]!r}, which no guesser is compared with; give 0 or "
                "1 for each"
            )

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

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """What each answer counts, shape (t, n): its score, the mean of several; else 1 if right.

        NaN where there is no answer.
        """
        if self.scores is None:
            return np.where(self.evaluated, self.correct, np.nan)
        return self.scores if self.scores.ndim == 2 else self.scores.mean(axis=2)

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """Mean score of each prompt, shape as `correct_counts`: its accuracy without `scores`."""
        if self.scores is not None:
            return np.asarray(np.nansum(self.values, axis=1) / self.sizes)
        # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
        return self.correct_counts / self.sizes

    @cached_property
    def best(self) -> int:
        """Row of the first prompt with the highest accuracy, or mean score."""
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
        return None if self.clusters is None else named_clusters(self.examples, self.clusters)

    def distinct(self) -> Self:
        """Return the answers without those of prompts that repeat an earlier one."""
        first: dict[str, int] = {}
        for place, identity in enumerate(self.identities):
            first.setdefault(identity, place)
        return self if len(first) == len(self.identities) else self.of_prompts([*first.values()])

    def of_prompts(self, rows: list[int]) -> Self:
        """Return the answers of some prompts, which are named by their rows."""
        sampled, k = self.sampled, 1 if self.aggregate is None else self.aggregate.samples
        if sampled is not None:
            sampled = sampled.of_prompts([row * k + sample for row in rows for sample in range(k)])
        parts: dict[str, Any] = {"sampled": sampled}
        for name in ("prompts", "identities", "demonstration_ids", "ties"):
            if values := getattr(self, name):
                parts[name] = tuple(values[row] for row in rows)
        for name in _BY_PROMPT:
            if (cells := getattr(self, name)) is not None:
                parts[name] = cells[rows]
        if self.open is not None:
            parts["open"] = self.open.of_prompts(rows)
        return replace(self, **parts)
