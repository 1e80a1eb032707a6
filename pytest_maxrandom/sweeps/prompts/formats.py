"""Prompts: how examples are written, as demonstrations and as the question; one fixed text."""

from __future__ import annotations

import dataclasses
import functools
import string
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.stats.seeding import Stream, digest

if TYPE_CHECKING:
    from pytest_maxrandom.suite.prompts import CounterfactualSpec, GenerationSpec
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example, Layout

Labels = Literal["text", "letter", "parenthesized", "number"]

MOST_LETTERS = len(string.ascii_uppercase)


@dataclass(frozen=True, slots=True)
class Format:
    """A way of writing examples."""

    layout: Layout
    """The texts around an example; its task prefix is the instruction."""
    labels: Labels = "text"
    """"text": choices are named by their text. Else they are listed with labels ("letter": A. B.,
    "parenthesized": (A) (B), "number": 1. 2.), and the label is the answer."""
    counterfactual: CounterfactualSpec | None = None
    """What follows every answer, where that is scored and not the answer itself: one continuation
    that all choices share, in total (arXiv 2406.11634), so that no label's own probability is part
    of a score. Where a tokenizer joins the end of a statement with the continuation, the joined
    token is scored as a whole."""
    generation: GenerationSpec | None = None
    """How an answer is generated and read, where that is done and nothing is scored."""
    matching: Matching | None = None
    """When it is a right one, where it is open."""

    @property
    def stops(self) -> tuple[str, ...]:
        """Texts at which a generated answer ends.

        By itself that is what begins the next question: a model that goes on as the prompt does
        would write questions of its own, whose answers are none to this one.
        """
        given = None if self.generation is None else self.generation.stop
        if given is not None:
            return given
        following = (self.layout.separator + self.layout.input_prefix).rstrip(" ")
        # Between the parts of lm-evaluation-harness's prompts stand line ends alone.
        alone = self.layout.target_delimiter is not None
        return (following,) if following.strip() or (alone and following) else ()

    @property
    def output_prefix(self) -> str:
        """What stands before an answer."""
        after = self.counterfactual
        if after is None or after.output_prefix is None:
            return self.layout.output_prefix
        return after.output_prefix

    def question(self, example: Example) -> str:
        """Return what stands before the answer."""
        layout = self.layout
        listing = ""
        if layout.append_choices:
            answers, end = self.answers(example), ""
            if example.continuation is not None:
                end = (layout.target_delimiter or "") + example.continuation
            listing = "".join(
                self.listed(answers[index], example.choices[index] + end)
                for index in shown_order(example)
            )
        return layout.input_prefix + example.input + listing + self.output_prefix

    def answers(self, example: Example) -> tuple[str, ...]:
        """Return the m texts that answer, one per choice, in the order of the file."""
        if self.labels == "text":
            return example.choices
        order = shown_order(example)
        return tuple(self.label(order.index(index)) for index in range(len(order)))

    def scored(self, example: Example, context: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the texts after a context that ends with the example, and what is scored there.

        That is one text with all answers; or one for each choice, where what follows is scored.

        Parameters
        ----------
        context : str
            All that stands before an answer, :meth:`question` included.
        """
        answers, delimiter = self.answers(example), self.layout.target_delimiter
        followed = self.followed(example)
        contexts = [context] if followed is None else [context + answer for answer in answers]
        after = answers if followed is None else (followed,)
        if delimiter is None:
            return [(text, after) for text in contexts]
        bare = [text.rstrip() for text in contexts]
        return [
            (left, tuple(text[len(left) :] + delimiter + one for one in after))
            for text, left in zip(contexts, bare, strict=True)
        ]

    def followed(self, example: Example) -> str | None:
        """Return what is scored after each choice in its place; None where choices are scored.

        Where choices have labels, a label is the answer whatever would follow its choice.
        """
        return example.continuation if self.labels == "text" else None

    def answered(self, example: Example, index: int) -> str:
        """Return the example with one of its choices as the answer."""
        answer, delimiter = self.answers(example)[index], self.layout.target_delimiter or ""
        if (followed := self.followed(example)) is not None:
            return self.question(example) + answer + delimiter + followed
        return self.question(example) + delimiter + answer

    def demonstration(self, example: Example) -> str:
        """Return the example with a right answer: the first as its choices are shown.

        An example may bring a text of its own, for a layout that adds nothing to a question.
        """
        return _demonstration(self, example)

    def label(self, place: int) -> str:
        """Return the label of a place, from 0; of formats that have labels of their own."""
        if self.labels == "number":
            return str(place + 1)
        letter = string.ascii_uppercase[place]
        return f"({letter})" if self.labels == "parenthesized" else letter

    def listed(self, answer: str, text: str) -> str:
        """Return a listed choice, with its answer as label unless that is the text itself."""
        label = {"text": "", "parenthesized": f"{answer} "}.get(self.labels, f"{answer}. ")
        return f"{self.layout.choice_prefix}{label}{text}"


def shown_order(example: Example) -> tuple[int, ...]:
    """Return the order in which choices are listed: if not given, shuffled once per example.

    Many files hold the right choice first; a prompt that lists them so gives the answer away.
    """
    return _shuffled(example.id, len(example.choices)) if example.order is None else example.order


def shown_as(example: Example, order: tuple[int, ...]) -> Example:
    """Return the example with its choices listed in that order.

    Where that is the order which it has by itself, it is the example as its task holds it.
    """
    given = None if order == _shuffled(example.id, len(example.choices)) else order
    return dataclasses.replace(example, order=given)


@functools.lru_cache(maxsize=100_000)
def _shuffled(name: str, count: int) -> tuple[int, ...]:
    return tuple(Stream("choices", name).shuffled(range(count)))


@functools.lru_cache(maxsize=100_000)
def _demonstration(form: Format, example: Example) -> str:
    right = next(index for index in shown_order(example) if index in example.right)
    text, layout = form.answered(example, right), form.layout
    others = layout.append_choices or layout.input_prefix or layout.output_prefix
    if example.solved is not None and form.labels == "text" and not others:
        text = example.solved
    if form.counterfactual is None:
        return text
    return text + form.counterfactual.statement + form.counterfactual.continuation


@dataclass(frozen=True)
class Prompt:
    """One of the t prompts of a sweep."""

    demonstrations: tuple[Example, ...]
    """The k solved examples, in the order of the text."""
    format: Format
    """How they and the question are written."""

    @property
    def text(self) -> str:
        """What stands before every question."""
        layout = self.format.layout
        solved = (self.format.demonstration(example) for example in self.demonstrations)
        return layout.task_prefix + "".join(text + layout.separator for text in solved)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all the text that the prompt adds to an example."""
        layout = self.format.layout
        listing = (self.format.labels, layout.choice_prefix) if layout.append_choices else ()
        after = self.format.counterfactual
        asked = ("counterfactual", after.statement, after.continuation) if after else ()
        if layout.target_delimiter is not None:
            asked = ("target_delimiter", layout.target_delimiter, *asked)
        if (how := self.format.generation) is not None:
            stops = self.format.stops
            limits = ("generate", how.max_tokens, len(stops), *stops)
            asked = (*asked, *limits, repr(how.temperature), how.pattern or "")
            asked = (*asked, f"seed {how.seed}") if how.seed else asked
        if self.format.matching is not None:
            asked = (*asked, "matching", self.format.matching.content)
        return digest(self.text, layout.input_prefix, *listing, self.format.output_prefix, *asked)

    def asked(
        self,
        counterfactual: CounterfactualSpec | None,
        generation: GenerationSpec | None = None,
        matching: Matching | None = None,
    ) -> Prompt:
        """Return the prompt with answers that are stated or generated so; with None scored."""
        form = dataclasses.replace(
            self.format, counterfactual=counterfactual, generation=generation, matching=matching
        )
        return Prompt(self.demonstrations, form)

    def context(self, example: Example) -> str:
        """Return all the text before the answer."""
        return self.text + self.format.question(example)
