"""From the fields of documents to examples, and to the texts that lm-evaluation-harness writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import described, quoted
from pytest_maxrandom.tasks.reading import Mistake
from pytest_maxrandom.tasks.task import Example, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.tasks.lm_eval.documents import Document


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts between the parts of a prompt."""

    target_delimiter: str = " "
    """Between a question and its answer."""
    shown_delimiter: str = " "
    """The same in demonstrations."""
    fewshot_delimiter: str = "\n\n"
    """After each demonstration."""

    def layout(self, description: str) -> Layout:
        """Return the layout that writes these texts."""
        return Layout(
            task_prefix=description,
            input_prefix="",
            output_prefix="",
            separator=self.fewshot_delimiter,
            append_choices=False,
            target_delimiter=self.target_delimiter,
        )


class Unanswerable(Exception):
    """A document is no question with a right and a wrong choice; the reason is one of few."""


def example(document: Document, name: str, texts: Texts, *, multiple: bool) -> Example:
    """Return the example of a document.

    With `multiple` (lm-eval's `multiple_input`), `doc_to_text` is the number of the right choice,
    and the choices are texts that the target follows.

    Raises
    ------
    Unanswerable
        Where no guess can be right or wrong.
    Mistake
        Where a field is nothing that it can be.
    """
    choices = _choices(document)
    right = _right(document.text if multiple else document.target, choices)
    if len(choices) < 2:
        raise Unanswerable("fewer_choices")
    if not all(choice.strip() for choice in choices):
        raise Unanswerable("empty_choice")
    if len(set(choices)) < len(choices):
        raise Unanswerable("equal_choices")
    if not right:
        raise Unanswerable("no_right_choice")
    if len(right) == len(choices):
        raise Unanswerable("all_right")
    prefix = prefix_of(document)
    if multiple:
        if prefix:
            raise Mistake("`gen_prefix` is not supported with choices that are texts of their own")
        target = text_of(document.target, "doc_to_target")
        return Example(name, "", tuple(choices), right, continuation=target)
    text = text_of(document.text, "doc_to_text")
    return Example(name, joined(text, prefix, texts.target_delimiter), tuple(choices), right)


def demonstration(document: Document, texts: Texts, *, multiple: bool) -> str | None:
    """Return a document as it stands in a prompt, solved; None where it has no answer to show.

    A list of right answers is shown by its first, a number by its choice.
    """
    answer, choices = document.target, document.choices
    if multiple:
        place = document.text
        if not isinstance(place, int) or not 0 <= place < len(choices or ()):
            return None
        text: Any = choices[place]
    else:
        text = document.text
        if isinstance(answer, list):
            answer = answer[0] if answer else None
        if isinstance(answer, int):
            answer = choices[answer] if choices and 0 <= answer < len(choices) else None
    if not isinstance(answer, str) or not answer or not isinstance(text, str):
        return None
    prefix, delimiter = prefix_of(document), texts.shown_delimiter
    if not prefix:
        return text + delimiter + answer
    between = "" if prefix[-1].isspace() or answer[0].isspace() else " "
    return joined(text, prefix, delimiter) + between + answer


def with_solution(drawn: Example, solved: str | None, texts: Texts) -> Example:
    """Return an example with its text as a demonstration, where its layout would write another."""
    right = drawn.choices[drawn.right[0]]
    before, last = drawn.input, right
    if drawn.continuation is not None:
        before, last = before + right, drawn.continuation
    if len(drawn.right) == 1 and solved == before + texts.target_delimiter + last:
        return drawn
    return replace(drawn, solved=solved)


def _choices(document: Document) -> list[str]:
    choices = document.choices
    if not isinstance(choices, list):
        raise Mistake(f"`doc_to_choice`: found {described(choices)}, expected a list of choices")
    for choice in choices:
        if not isinstance(choice, str):
            raise Mistake(
                f"`doc_to_choice`: found {described(choice)} as a choice, expected a text"
                + ("; YAML reads yes and no as true and false" if isinstance(choice, bool) else "")
            )
    return choices


def _right(gold: Any, choices: Sequence[str]) -> tuple[int, ...]:
    """Return which choices are right, as lm-evaluation-harness compares them."""
    if isinstance(gold, list):
        return tuple(sorted({place for each in gold for place in _right(each, choices)}))
    if isinstance(gold, str):
        return (choices.index(gold),) if gold in choices else ()
    if isinstance(gold, int) or (isinstance(gold, float) and gold.is_integer()):
        return (int(gold),) if 0 <= gold < len(choices) else ()
    return ()


def prefix_of(document: Document) -> str:
    """Return what a document's answer begins with."""
    return text_of(document.prefix or "", "gen_prefix")


def joined(text: str, prefix: str, delimiter: str) -> str:
    """Return a question with what its answer begins with."""
    if not prefix or not text or text[-1].isspace() or prefix[0].isspace():
        return text + prefix
    return text + delimiter + prefix


def text_of(value: object, field: str) -> str:
    """Return a field that is a text.

    Raises
    ------
    Mistake
        If it is none.
    """
    if not isinstance(value, str):
        found = quoted(str(value)) if isinstance(value, int | float) else described(value)
        raise Mistake(f"`{field}`: found {found}, expected a text")
    return value
