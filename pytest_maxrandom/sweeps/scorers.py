"""How a question is asked, and what is read from what a model says: one scorer for each `scoring`.

A new way of asking is a new scorer, here or in a package, under the name by which suites ask for
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host import packages
from pytest_maxrandom.host.packages import NamedParts, blamed, package_of
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.stats.seeding import Stream
from pytest_maxrandom.sweeps.extracting import filtered, found
from pytest_maxrandom.sweeps.said import choices_said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.questions import Answer, Span
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example


class Reading(NamedTuple):
    """What is read from the answers to one example."""

    chosen: int | None
    """Index into the example's choices; None where nothing was chosen."""
    tied: bool = False
    """Whether a lot decided between equal scores."""
    margin: float = 0.0
    """By how much the best score is above the second, in the scorer's unit; 0 for a tie."""
    said: str | None = None
    """What was read of an open answer, of which no choice need be one; None where nothing was."""


class Scorer(Protocol):
    """Turns an example into questions, and their answers into a choice.

    A package adds one, often an instance of `Cloze`, by an entry point of the group
    ``pytest_maxrandom.scorers``, whose name is what a suite says (``scoring: NAME``). Questions and
    readings must depend on prompt and example alone. The results store knows answers by that name
    and the package's version, so raise the version where other questions are asked. Where a
    package's scorer raises, or returns something else, the claims that use it fail with one
    sentence that names the package. Every machine that computes needs the package.
    """

    @property
    def criterion(self) -> str:
        """What the chosen one has, for a reader: "the highest total log-likelihood"."""

    @property
    def states_choices(self) -> bool:
        """Whether it is for prompts that state a choice and go on with what all choices share."""

    @property
    def generates(self) -> bool:
        """Whether it is for prompts whose answers are generated, and reads what they say."""

    @property
    def is_open(self) -> bool:
        """Whether it is for examples without choices; a scorer that lacks this is not."""

    @property
    def whole_answer(self) -> bool:
        """Whether log-likelihoods are those of the whole continuation."""

    @property
    def base_rate(self) -> Scoring:
        """Name of the scorer that gives the whole probability of a label without a question."""

    def questions(self, prompt: Prompt, example: Example) -> list[Question]:
        """Return what a model is asked.

        Returns
        -------
        list of Question
            Whose answers are together those of all choices, in their order.
        """

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Read the answers to those questions.

        Parameters
        ----------
        answers : sequence of Answer
            One to each question in their order, or, from the store, one that joins them all
            (`joined`). Log-likelihoods are in nats, one for each choice in their order.

        Raises
        ------
        ScoreError
            If a log-likelihood is not a number.
        """


@dataclass(frozen=True, slots=True)
class Cloze:
    """The choice with the highest score is the answer; all are scored after one text.

    Equal scores are decided by a lot that depends on the prompt and the example as it is shown,
    never on where in the file a choice stands: where the right choice often stands first, "the
    first wins" would make a model that scores all choices alike look knowing.
    """

    criterion: str
    score: Callable[[float, int, str], float]
    """From the log-likelihood of an answer in nats, its tokens and its text."""
    span: Span = "boundary"
    states_choices: ClassVar[bool] = False
    generates: ClassVar[bool] = False
    is_open: ClassVar[bool] = False
    base_rate: ClassVar[Scoring] = "sum_logprob"

    @property
    def whole_answer(self) -> bool:
        """Whether log-likelihoods are those of the whole continuation."""
        return self.span == "boundary"

    def questions(self, prompt: Prompt, example: Example) -> list[Question]:
        """Return one question with all choices as its continuations, or one for each choice."""
        scored = prompt.format.scored(example, prompt.context(example))
        return [Question(context, after, example, self.span) for context, after in scored]

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Return the choice with the highest score."""
        (values, tokens), texts = joined(answers), prompt.format.answers(example)
        scores = [self.score(*each) for each in zip(values, tokens, texts, strict=True)]
        *_, second, top = sorted(scores)
        if math.isnan(sum(scores)):  # of an infinite score as well
            for value, text in zip(values, texts, strict=True):
                if math.isnan(value):
                    told = f"the log-likelihood of the answer {text!r} is not a number (NaN)"
                    raise ScoreError(told)
        if second < top:
            return Reading(scores.index(top), False, top - second)
        equal = [index for index, score in enumerate(scores) if score == top]
        return Reading(_lot(equal, prompt, example), tied=True)


@dataclass(frozen=True, slots=True)
class StatedChoices(Cloze):
    """The choice after whose statement the continuation that all share is likeliest."""

    states_choices: ClassVar[bool] = True
    base_rate: ClassVar[Scoring] = "counterfactual"

    def questions(self, prompt: Prompt, example: Example) -> list[Question]:
        """Return a question for each choice, with one continuation."""
        after = prompt.format.counterfactual
        assert after is not None
        before = prompt.text
        return [
            Question(
                before + prompt.format.answered(example, index) + after.statement,
                (after.continuation,),
                example,
            )
            for index in range(len(example.choices))
        ]


@dataclass(frozen=True, slots=True)
class Generate:
    """The choice that a generated answer names; see :mod:`pytest_maxrandom.sweeps.said`.

    With a `pattern`, its first group is read in place of the whole answer. What a model refuses to
    answer is no answer, whatever it says. Of choices with one text a lot decides.
    """

    criterion: str
    states_choices: ClassVar[bool] = False
    generates: ClassVar[bool] = True
    is_open: ClassVar[bool] = False
    whole_answer: ClassVar[bool] = False
    base_rate: ClassVar[Scoring] = "sum_logprob"

    def questions(self, prompt: Prompt, example: Example) -> list[Question]:
        """Return one question, whose answer is generated."""
        how = prompt.format.generation
        assert how is not None
        asked = Generation(how.max_tokens, prompt.format.stops, how.temperature, how.seed)
        answers = prompt.format.answers(example)
        return [Question(prompt.context(example), answers, example, generation=asked)]

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Read what was written."""
        text, cut = _written(prompt, answers)
        if text is None:
            return Reading(None)
        answers_of = prompt.format.answers(example)
        equal = sorted(choices_said(text, answers_of, example.choices, cut=cut))
        if not equal:
            return Reading(None)
        return Reading(_lot(equal, prompt, example), len(equal) > 1)


@dataclass(frozen=True, slots=True)
class ExactMatch(Generate):
    """The reference that a generated answer is; see :mod:`pytest_maxrandom.tasks.references`."""

    is_open: ClassVar[bool] = True

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Read what was written, and compare it with the references."""
        text, _ = _written(prompt, answers)
        matching = prompt.format.matching
        assert matching is not None
        if text is None or example.open is None:
            return Reading(None)
        return Reading(matching.matched(text, example.choices, example.open), said=text)


def _written(prompt: Prompt, answers: Sequence[Answer]) -> tuple[str | None, bool]:
    """Return what counts of a generated answer, None where nothing does, and if it was cut."""
    (said,) = answers
    how = prompt.format.generation
    assert how is not None
    if said.text is None:
        raise ScoreError(
            "the model gave no text to read; report this to the authors of its backend"
        )
    text: str | None = said.text
    cut = said.finish == "length"
    if how.pattern is not None:
        match = found(how.pattern, said.text)
        text = None if match is None else match.group(1)
        cut = cut and match is not None and match.end(1) == len(said.text)
    elif (matching := prompt.format.matching) is not None:
        text = filtered(said.text, matching.filters)
    return (None if said.finish == "refused" else text), cut


def joined(answers: Sequence[Answer]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the log-likelihoods and tokens of all answers to one example."""
    if len(answers) == 1:
        return answers[0].log_likelihoods, answers[0].tokens
    values = tuple(value for one in answers for value in one.log_likelihoods)
    return values, tuple(count for one in answers for count in one.tokens)


def _lot(equal: Sequence[int], prompt: Prompt, example: Example) -> int:
    """Return one of several choices, whose places in the file decide nothing."""
    if len(equal) == 1:
        return equal[0]
    lot = Stream("tie", prompt.digest, example.id, *(example.order or ()))
    return equal[lot.below(len(equal))]


def _per_token(value: float, tokens: int, _: str) -> float:
    return value / tokens


def _total(value: float, tokens: int, text: str) -> float:
    return value


_BUILT_IN: Mapping[str, Scorer] = {
    "mean_logprob": Cloze("the highest log-likelihood per token", _per_token),
    "sum_logprob": Cloze("the highest total log-likelihood", _total),
    "char_logprob": Cloze(
        "the highest log-likelihood per character", lambda value, _, text: value / len(text)
    ),
    "paper": Cloze(
        "the highest log-likelihood per token of its last tokens, as many as it has when encoded "
        "alone (the span of arXiv 2404.13020's code)",
        _per_token,
        "paper",
    ),
    "counterfactual": StatedChoices(
        "the highest log-likelihood of a continuation that all choices share, after a text that "
        "states the choice",
        _total,
    ),
    "classify": Cloze("the highest probability by the model's classification head", _total),
    "generate": Generate(
        "the label or the text that begins what it wrote, as whole words, else with the only one "
        "that occurs there (case, spaces, quotes, brackets and closing punctuation aside; what "
        "names none, or several, is wrong)"
    ),
    "exact_match": ExactMatch("a text that is one of the references"),
}


@dataclass(frozen=True, slots=True)
class _OfPackage:
    """A scorer of a package, whose mistakes name it."""

    name: str
    scorer: Scorer
    criterion: str
    states_choices: bool
    generates: bool
    whole_answer: bool
    base_rate: Scoring
    is_open: ClassVar[bool] = False

    @classmethod
    def of(cls, name: str, loaded: Any) -> _OfPackage:
        """Take what a package gave.

        Raises
        ------
        TypeError
            If it lacks what a scorer has.
        """
        kinds = {"criterion": str, "states_choices": bool, "generates": bool}
        kinds |= {"whole_answer": bool, "base_rate": str}
        said: dict[str, Any] = {key: getattr(loaded, key, None) for key in kinds}
        lacks = [key for key, kind in kinds.items() if not isinstance(said[key], kind)]
        lacks += [
            each for each in ("questions", "answer") if not callable(getattr(loaded, each, 0))
        ]
        if lacks:
            raise TypeError(
                f"what pytest_maxrandom.sweeps.scorers.Scorer lists ({', '.join(lacks)} missing or "
                "of another type)"
            )
        return cls(name, loaded, **said)

    def questions(self, prompt: Prompt, example: Example) -> list[Question]:
        """Return what a model is asked."""
        with blamed(packages.SCORERS, self.name):
            asked = list(self.scorer.questions(prompt, example))
            if not all(isinstance(each, Question) for each in asked):
                raise TypeError("it asks something else than Question")
            given, wanted = sum(len(each.answers) for each in asked), len(example.choices)
            if given != wanted:
                raise ValueError(f"its questions have {given} answers to {wanted} choices")
            return asked

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Read the answers to those questions."""
        with blamed(packages.SCORERS, self.name):
            read = self.scorer.answer(prompt, example, answers)
            if not isinstance(read, Reading):
                raise TypeError(f"it returned {type(read).__name__}, expected Reading")
            chosen = None if read.chosen is None else index(read.chosen)
            if chosen is not None and not 0 <= chosen < len(example.choices):
                raise ValueError(f"it chose {chosen} of {len(example.choices)} choices, from 0")
            return Reading(chosen, bool(read.tied), float(read.margin))


SCORERS: NamedParts[Scorer] = NamedParts(packages.SCORERS, _BUILT_IN, _OfPackage.of)
"""By the names by which suites ask for them."""


def stored_as(scoring: Scoring) -> str:
    """Return what the results store calls a scoring: another version of a package asks anew."""
    package = "" if scoring in _BUILT_IN else package_of(packages.SCORERS, scoring)
    return f"{scoring} of {package}" if package else scoring
