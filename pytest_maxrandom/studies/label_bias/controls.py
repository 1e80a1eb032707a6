"""Texts that ask for a label without asking anything: what labels are worth by themselves.

In all of them choice i of an example is label i, so results stand in the order of the labels; their
right answers mean nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

from pytest_maxrandom.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.labels import label_words
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.sweeps.labels import Labels

CONTENT_FREE = ("N/A", "", "[MASK]")
"""Inputs of contextual calibration (Zhao et al. 2021, arXiv 2102.09690)."""

_SELECT, _CHOICE = "Select an answer choice", "choice"
"""The words of the control text of arXiv 2406.11634."""
_ALL_ORDERS = 4
"""Labels of which all orders are written, at most; of more, the rotations."""


def no_base_rate_reason(form: Format, labels: Labels) -> str | None:
    """Say in one sentence why labels have no probability without a question; None: they have."""
    if form.labels == "text" and not labels.shared:
        return (
            "The answers are texts that differ from example to example, and a place in their list "
            "has no probability without a question."
        )
    if form.labels != "text" and labels.shared:
        return "The answers are labels of places, and probabilities are asked of texts."
    return None


def control_prompt(form: Format) -> Prompt:
    """Return the prompt of control texts in a format: its instruction, without demonstrations.

    The texts bring their own listing, because labels stand in orders in which no example has them.
    """
    layout = dataclasses.replace(form.layout, append_choices=False)
    return Prompt((), Format(layout, "text", form.counterfactual))


def control_examples(form: Format, labels: Labels) -> list[Example]:
    """Return ``Select an answer choice (A) choice (B) choice ...`` in a format, in many orders.

    These are all orders of up to 4 labels and the rotations of more (arXiv 2406.11634), for each
    number of choices that examples have; one text where a format lists no choices. Empty where
    :func:`no_base_rate_reason` says why.
    """
    found = []
    for m, words in _words(form, labels):
        orders = list(itertools.permutations(range(m)) if m <= _ALL_ORDERS else _rotations(m))
        texts = dict.fromkeys(_SELECT + _listing(form, words, order) for order in orders)
        found += [
            Example(f"control {m} {number}", text, words, (0,))
            for number, text in enumerate(texts, 1)
        ]
    return found


def content_free_examples(form: Format, labels: Labels) -> list[Example]:
    """Return examples whose input says nothing, for the demonstrations of any prompt in a format.

    Where labels are listed, what they stand for says nothing either. Texts that all examples share
    are listed in their rotations, so that none has a place of its own. Empty where
    :func:`no_base_rate_reason` says why.
    """
    found: list[Example] = []
    for m, words in _words(form, labels):
        own = form.labels != "text"
        turned = not own and form.layout.append_choices
        orders = list(_rotations(m)) if turned else [tuple(range(m))]
        for text, order in itertools.product(CONTENT_FREE, orders):
            name = f"content-free {m} {len(found)}"
            found.append(Example(name, text, (text,) * m if own else words, (0,), order))
    return found


def _words(form: Format, labels: Labels) -> Iterator[tuple[int, tuple[str, ...]]]:
    for m in sorted(set(labels.choices)):
        if (words := label_words(form, labels, m)) is not None:
            yield m, words


def _listing(form: Format, words: tuple[str, ...], order: tuple[int, ...]) -> str:
    if not form.layout.append_choices:
        return ""
    content = words if form.labels == "text" else (_CHOICE,) * len(words)
    return "".join(form.listed(words[place], content[place]) for place in order)


def _rotations(m: int) -> Iterator[tuple[int, ...]]:
    for by in range(m):
        yield (*range(by, m), *range(by))
