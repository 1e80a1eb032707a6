"""How a question is asked, and what is read from what a model says: one scorer for each `scoring`.

A new way of asking is a new scorer, here or in a package, under the name by which suites ask for
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host import packages
from pytest_maxrandom.host.packages import NamedParts, blamed, package_of
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.sweeps.written import ExactMatch, Generate, Graded, Reading, lot
from pytest_maxrandom.tasks.references import f1

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.questions import Answer, Span
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example


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
    def is_graded(self) -> bool:
        """Whether a reading has a score from 0 to 1, for examples without choices alone.

        A scorer that lacks this reads answers that are right or wrong.
        """

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
    is_graded: ClassVar[bool] = False
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
        return Reading(lot(equal, prompt, example), tied=True)


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


def joined(answers: Sequence[Answer]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the log-likelihoods and tokens of all answers to one example."""
    if len(answers) == 1:
        return answers[0].log_likelihoods, answers[0].tokens
    values = tuple(value for one in answers for value in one.log_likelihoods)
    return values, tuple(count for one in answers for count in one.tokens)


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
    "f1": Graded("the F1 of its tokens and those of the reference that it is most like", f1),
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
    is_open: bool
    is_graded: bool

    @classmethod
    def of(cls, name: str, loaded: Any) -> _OfPackage:
        """Take what a package gave.

        Raises
        ------
        TypeError
            If it lacks what a scorer has.
        """
        kinds = {"criterion": str, "states_choices": bool, "generates": bool}
        kinds |= {"whole_answer": bool, "base_rate": str, "is_open": bool, "is_graded": bool}
        traits: dict[str, Any] = dict.fromkeys(("is_open", "is_graded"), False)
        traits = {key: getattr(loaded, key, traits.get(key)) for key in kinds}
        lacks = [key for key, kind in kinds.items() if not isinstance(traits[key], kind)]
        lacks += [
            each for each in ("questions", "answer") if not callable(getattr(loaded, each, 0))
        ]
        if lacks:
            raise TypeError(
                f"what pytest_maxrandom.sweeps.scorers.Scorer lists ({', '.join(lacks)} missing or "
                "of another type)"
            )
        if (traits["is_open"] or traits["is_graded"]) and not (
            traits["generates"] and traits["is_open"]
        ):
            raise TypeError(
                "a scorer of written answers (`generates`) where it is for examples without "
                "choices (`is_open`), and of those where it is graded (`is_graded`)"
            )
        return cls(name, loaded, **traits)

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
            score = float(read.score) if self.is_graded and read.score is not None else None
            if self.is_graded and (score is None or not 0 <= score <= 1):
                raise ValueError(f"its score is {score}, expected a number from 0 to 1")
            return Reading(chosen, bool(read.tied), float(read.margin), read.said, score)


SCORERS: NamedParts[Scorer] = NamedParts(packages.SCORERS, _BUILT_IN, _OfPackage.of)
"""By the names by which suites ask for them."""


def stored_as(scoring: Scoring) -> str:
    """Return what the results store calls a scoring: another version of a package asks anew."""
    package = "" if scoring in _BUILT_IN else package_of(packages.SCORERS, scoring)
    return f"{scoring} of {package}" if package else scoring
