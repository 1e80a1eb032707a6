"""Answers that a model writes, and what is read of them: scorers that generate.

Other ways to ask, and the table of all of them, stand in :mod:`pytest_maxrandom.sweeps.scorers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host.limits import limits, raised
from pytest_maxrandom.models.questions import Answer, Generation, Question
from pytest_maxrandom.stats.seeding import Stream
from pytest_maxrandom.sweeps.named_choices import choices_named

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.references import Filter, Matching
    from pytest_maxrandom.tasks.task import Example

_NOTHING = "[invalid]"
"""What filters of lm-eval return, unless told otherwise, where they find nothing."""


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
    score: float | None = None
    """How good a graded answer is, from 0 to 1; None where it is right or wrong."""


@dataclass(frozen=True, slots=True)
class Generate:
    """The choice that a generated answer names; see :mod:`pytest_maxrandom.sweeps.named_choices`.

    With a `pattern`, its first group is read in place of the whole answer. What a model refuses to
    answer is no answer, whatever it says. Of choices with one text a lot decides.
    """

    criterion: str
    states_choices: ClassVar[bool] = False
    generates: ClassVar[bool] = True
    is_open: ClassVar[bool] = False
    is_graded: ClassVar[bool] = False
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
        equal = sorted(choices_named(text, answers_of, example.choices, cut=cut))
        if not equal:
            return Reading(None)
        return Reading(lot(equal, prompt, example), len(equal) > 1)


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


@dataclass(frozen=True, slots=True)
class Graded(Generate):
    """How good a generated answer is, from 0 to 1: what the reference it suits best says of it.

    A package gives an instance with a function of its own, or of a class that derives from this
    where a score depends on more than the answer and a reference.
    """

    score: Callable[[str, str, Matching], float]
    """From what was said, a reference, and how the suite lets texts be compared."""
    is_open: ClassVar[bool] = True
    is_graded: ClassVar[bool] = True

    def answer(self, prompt: Prompt, example: Example, answers: Sequence[Answer]) -> Reading:
        """Read what was written, and score it; what nobody can read scores 0."""
        text, _ = _written(prompt, answers)
        matching = prompt.format.matching
        assert matching is not None
        if text is None:
            return Reading(None, score=0.0)
        scores = [self.score(text, reference, matching) for reference in example.choices]
        return Reading(None, said=text, score=max(scores))


def _written(prompt: Prompt, answers: Sequence[Answer]) -> tuple[str | None, bool]:
    """Return what counts of a generated answer, None where nothing does, and if it was cut."""
    (answer,) = answers
    how = prompt.format.generation
    assert how is not None
    if answer.text is None:
        raise ScoreError(
            "the model gave no text to read; report this to the authors of its backend"
        )
    text: str | None = answer.text
    cut = answer.finish == "length"
    if how.pattern is not None:
        match = first_match(how.pattern, answer.text)
        text = None if match is None else match.group(1)
        cut = cut and match is not None and match.end(1) == len(answer.text)
    elif (matching := prompt.format.matching) is not None:
        text = filtered(answer.text, matching.filters)
    return (None if answer.finish == "refused" else text), cut


def first_match(pattern: str, text: str) -> re.Match[str] | None:
    """Return where a pattern is first found in what a model wrote.

    Raises
    ------
    ScoreError
        If that takes too long, or the package `regex` is missing.
    """
    match: re.Match[str] | None = _by_regex(
        lambda regex, seconds: regex.search(pattern, text, flags=regex.VERSION0, timeout=seconds),
        f"`generation: pattern: {pattern}`",
        text,
    )
    return match


def _by_regex(look: Callable[[Any, float], Any], what: str, text: str) -> Any:
    """Read a text with the package `regex`, which reads what `re` does, and can be told to give up.

    Where it does, there is no reading at all: an answer must not be wrong on a slow machine alone.
    """
    try:
        import regex
    except ImportError:
        raise ScoreError(
            f"{what.partition(':')[0].strip('`')} needs the package regex to read answers, which "
            "is not installed; `pip install regex`"
        ) from None
    seconds = limits().pattern_seconds
    try:
        return look(regex, seconds)
    except TimeoutError:
        raise ScoreError(
            f"{what} takes more than {seconds} s on an answer of {len(text):,} characters; write "
            f"it without repetitions within repetitions, or {raised('pattern_seconds')}"
        ) from None


def filtered(text: str, filters: tuple[Filter, ...]) -> str | None:
    """Return what the filters of a task of lm-evaluation-harness leave of an answer.

    None where they find nothing, and no other text is to stand for that.
    """
    for each in filters:
        settings = dict(each.settings)
        match each.name:
            case "regex":
                one = _matched(text, **settings)
                if one is None:
                    return None
                text = one
            case "remove_whitespace":
                text = text.strip()
            case "lowercase":
                text = text.lower()
            case "uppercase":
                text = text.upper()
    return text


def _matched(
    text: str,
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
    group_select: int = 0,
    fallback: str = _NOTHING,
) -> str | None:
    """Do what the filter `regex` of lm-evaluation-harness does; None for its usual fallback."""
    every = _by_regex(
        lambda regex, seconds: regex.findall(
            regex_pattern, text, flags=regex.VERSION0, timeout=seconds
        ),
        f"`regex_pattern: {regex_pattern}`",
        text,
    )
    nothing = None if fallback == _NOTHING else fallback
    if not every:
        return nothing
    match = every[group_select]
    if isinstance(match, tuple):
        groups = [group for group in match if group]
        match = groups[0] if groups else nothing
    return None if match is None else str(match).strip()


def lot(equal: Sequence[int], prompt: Prompt, example: Example) -> int:
    """Return one of several choices, whose places in the file decide nothing."""
    if len(equal) == 1:
        return equal[0]
    lot = Stream("tie", prompt.digest, example.id, *(example.order or ()))
    return equal[lot.below(len(equal))]
