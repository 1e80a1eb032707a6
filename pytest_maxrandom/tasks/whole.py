"""Examples that make a whole task: what each must hold, and what is remarkable in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.tasks.reading import HALF_A_PAIR, UNPAIRED, Findings
from pytest_maxrandom.tasks.task import Example, Layout, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_SHOWN = 3
"""Ids of examples that a remark names."""


def finished_task(
    name: str,
    drafts: Iterable[tuple[int, Example]],
    findings: Findings,
    layout: Layout = Layout(),  # noqa: B008 - immutable
    notes: Iterable[Remark] = (),
) -> Task:
    """Return the task of all examples, each given with its place.

    Raises
    ------
    SuiteError
        With all that was found wrong, here and before.
    """
    examples = tuple(_checked(drafts, findings))
    findings.raise_any()
    if len({each.open is None for each in examples}) > 1:
        first = next(each for each in examples if each.open is not None)
        raise findings.error(
            f"some examples have choices, and {quoted(first.id)} has none; make two tasks of them"
        )
    if not examples:
        raise findings.error("there are no examples; a task needs at least one")
    return Task(name, examples, layout, tuple(notes))


def checked_task(task: Task, findings: Findings) -> Task:
    """Return a task that a source gave, held to the same, and say which inputs are empty.

    Places are numbers from 1.

    Raises
    ------
    SuiteError
        With all that is wrong in its examples and in its pool.
    """
    list(_checked(enumerate(task.pool or (), 1), findings))
    numbered = enumerate(task.examples, 1)
    whole = finished_task(task.name, numbered, findings, task.layout, task.notes)
    notes, n = whole.notes, len(whole.examples)
    if empty := [example.id for example in whole.examples if not example.text.strip()]:
        first = empty[:_SHOWN]
        notes += (Remark("empty_inputs", {"empty": len(empty), "examples": n, "first": first}),)
    if contradicting := _contradicting(whole.examples):
        first = contradicting[:_SHOWN]
        values = {"examples": len(contradicting), "first": first}
        notes += (Remark("contradictory_answers", values),)
    return replace(
        whole,
        notes=notes,
        pool=task.pool,
        pool_source=task.pool_source,
        matching=task.matching,
    )


def _contradicting(examples: Iterable[Example]) -> list[str]:
    """Return the ids of examples whose question stands again with other right answers only."""
    asked: dict[tuple[str, ...], list[tuple[str, set[str]]]] = {}
    for example in examples:
        right = {example.choices[index] for index in example.right}
        offered = sorted(example.choices) if example.open is None else ()
        asked.setdefault((example.text, *offered), []).append((example.id, right))
    return [
        id_
        for answers in asked.values()
        for id_, own in answers
        if any(own.isdisjoint(other) for _, other in answers)
    ]


def _checked(drafts: Iterable[tuple[int, Example]], findings: Findings) -> Iterator[Example]:
    places: dict[str, int] = {}
    for place, example in drafts:
        for message in _mistakes(example):
            findings.add(place, message)
        if example.id in places:
            findings.add(
                place,
                f"{findings.name(places[example.id])} already has the id {quoted(example.id)}; ids "
                "must differ",
            )
        places.setdefault(example.id, place)
        yield example


def _mistakes(example: Example) -> Iterator[str]:
    choices, right = example.choices, example.right
    if example.open is not None:
        yield from _unreadable(example)
        return
    if len(choices) < 2:
        yield f"an example needs two or more choices, found {len(choices)}"
    elif len(set(right) & set(range(len(choices)))) < len(right):
        found = ", ".join(map(str, right))
        yield (
            f"`right` holds different numbers of choices, from 0 to {len(choices) - 1}, "
            f"found {found}"
        )
    elif not right:
        yield "no choice is right; a task needs a right choice in each example"
    elif len(right) == len(choices):
        yield f"all {len(choices)} choices are right, so no guess can be wrong; remove the example"
    for number, choice in enumerate(choices, 1):
        if not choice.strip():
            yield f"choice {number} is empty"
    repeated = len(set(choices)) < len(choices)
    for choice, count in Counter(choices).items() if repeated else ():
        if count > 1:
            yield f"choices must differ, found {quoted(choice)} {count} times"
    yield from _unreadable(example)


def _unreadable(example: Example) -> Iterator[str]:
    for text in (example.id, example.input, *example.choices):
        if UNPAIRED.search(text):
            yield f"no tokenizer can read {quoted(text)}, because {HALF_A_PAIR}; repair the text"
        if "\0" in text:
            yield f"{quoted(text)} holds a NUL character; remove it"
