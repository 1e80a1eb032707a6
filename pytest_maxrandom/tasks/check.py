"""What every task must hold, wherever its examples come from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import described, quoted
from pytest_maxrandom.tasks.findings import Mistake
from pytest_maxrandom.tasks.task import Layout, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.tasks.findings import Findings
    from pytest_maxrandom.tasks.task import Example

HALF_A_PAIR = "it holds half of a surrogate pair"


def as_text(value: object, what: str) -> str:
    """Return `value` as text: a string, or a whole number as it is written.

    Raises
    ------
    Mistake
        For anything else: how a fraction, true or null is written is for the data to say.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "; store it as text" if isinstance(value, bool | float) else ""
    raise Mistake(f"{what} must be a text or a whole number, found {described(value)}{hint}")


def as_id(value: object) -> str:
    """Return an example's id: a text that is not empty, or a whole number."""
    text = as_text(value, "an id")
    if not text:
        raise Mistake("an id must not be empty")
    return text


def as_cluster(value: object, column: str) -> str:
    """Return the name of an example's cluster: a text that is not empty, or a whole number.

    Parameters
    ----------
    column : str
        What the data calls it.
    """
    if value in (None, ""):
        raise Mistake(
            f"there is no cluster in {quoted(column)}; every example needs one as soon as "
            "`columns: cluster:` is given: give one that stands alone a name of its own"
        )
    return as_text(value, f"the cluster in {quoted(column)}")


def finished_task(
    name: str,
    drafts: Iterable[tuple[int, Example]],
    findings: Findings,
    layout: Layout = Layout(),  # noqa: B008 - immutable
    notes: Iterable[str] = (),
) -> Task:
    """Return the task of all examples, each given with its place.

    Raises
    ------
    SuiteError
        With all that was found wrong, here and before.
    """
    examples = tuple(_checked(drafts, findings))
    findings.raise_any()
    if not examples:
        findings.add(None, "there are no examples; a task needs at least one")
        findings.raise_any()
    return Task(name, examples, layout, (*notes, *_notes(examples)))


def _checked(drafts: Iterable[tuple[int, Example]], findings: Findings) -> Iterator[Example]:
    places: dict[str, int] = {}
    for place, example in drafts:
        for message in _mistakes(example):
            findings.add(place, message)
        if example.id in places:
            findings.add(
                place,
                f"the id {quoted(example.id)} is already that of "
                f"{findings.name(places[example.id])}; ids must differ",
            )
        places.setdefault(example.id, place)
        yield example


def _mistakes(example: Example) -> Iterator[str]:
    choices, right = example.choices, example.right
    if len(choices) < 2:
        yield f"an example needs two or more choices, found {len(choices)}"
    elif not right:
        yield "no choice is right; a task needs a right choice in each example"
    elif len(right) == len(choices):
        yield f"all {len(choices)} choices are right, so that no guess can miss; remove the example"
    for number, choice in enumerate(choices, 1):
        if not choice.strip():
            yield f"choice {number} is empty"
    for choice, count in Counter(choices).items():
        if count > 1:
            yield f"choices must differ, found {quoted(choice)} {count} times"
    for text in (example.id, example.input, *choices):
        if not is_unicode(text):
            yield f"no tokenizer can read {quoted(text)}: {HALF_A_PAIR}"


def is_unicode(text: str) -> bool:
    """Say whether `text` can be written as UTF-8; JSON can spell texts that cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _notes(examples: tuple[Example, ...]) -> Iterator[str]:
    empty = sum(not example.input.strip() for example in examples)
    if empty:
        yield f"Empty input in {empty} of {len(examples)} examples."
