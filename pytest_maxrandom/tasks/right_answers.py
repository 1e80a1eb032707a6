"""Which choice is right by the answer in a row: its text, number, letter or label, or marks."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.reading import Mistake, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

Slots: TypeAlias = "Sequence[str | None]"  # the choices; None where a row has no such choice

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


def by_text(answer: object, slots: Slots) -> int:
    """Return the choice whose text an answer is."""
    text = as_text(answer, "the answer")
    if text in slots:
        return slots.index(text)
    choices = [choice for choice in slots if choice is not None]
    hint = did_you_mean(text, choices)
    if not hint and _WHOLE_NUMBER.fullmatch(text):
        hint = "; if it is an index, add `answer_is: index`"
    if not hint and _letter(text) in _letters(slots):
        hint = "; if it is a letter, add `answer_is: letter`"
    parts = [part.strip() for part in re.split("[|;,]", text)]
    if not hint and len(parts) > 1 and set(parts) <= set(choices):
        hint = f"; write several right answers as a list: {json.dumps(parts, ensure_ascii=False)}"
    raise Mistake(f"the answer {quoted(text)} is none of the choices {listed(choices)}{hint}")


def by_index(answer: object, slots: Slots, first: int = 0) -> int:
    """Return the choice that an answer counts from `first`."""
    name, last = ("a number" if first else "an index"), len(slots) - 1 + first
    if isinstance(answer, str) and _WHOLE_NUMBER.fullmatch(answer.strip()):
        answer = int(answer)
    if not isinstance(answer, int) or not first <= answer <= last:
        found = int(answer) if isinstance(answer, int) else described(answer)
        hint = "; if answers count from 1, add `answer_is: number`" if found == last + 1 else ""
        if isinstance(answer, str) and answer in slots:
            hint = "; it is the text of a choice, so remove `answer_is`"
        raise Mistake(f"{name} must be a whole number from {first} to {last}, found {found}{hint}")
    return _filled(int(answer) - first, slots, f"the {name.split()[1]} {int(answer)}")


def by_label(answer: object, labels: Sequence[str]) -> int:
    """Return which of a row's labels an answer is."""
    text = as_text(answer, "the answer")
    if text not in labels:
        raise Mistake(
            f"the answer {quoted(text)} is none of the labels {listed(labels)}"
            f"{did_you_mean(text, labels)}"
        )
    return labels.index(text)


def by_multi_hot(answer: object, slots: Slots) -> set[int]:
    """Return the choices at which an answer has a 1."""
    if not isinstance(answer, list) or len(answer) != len(slots):
        found = f"{len(answer)}" if isinstance(answer, list) else described(answer)
        raise Mistake(
            f"an answer that is `multi_hot` must be a list of {len(slots)} numbers 0 or 1, one for "
            f"each choice, found {found}"
        )
    for each in answer:
        if each not in (0, 1):
            raise Mistake(
                f"an answer that is `multi_hot` must hold 0 and 1 only, found {described(each)}"
            )
    right = [slot for slot, each in enumerate(answer) if each]
    return {_filled(slot, slots, f"choice {slot + 1}") for slot in right}


def by_letter(answer: object, slots: Slots) -> int:
    """Return the choice of an answer's letter."""
    letters = _letters(slots)
    letter = _letter(answer) if isinstance(answer, str) else ""
    if letter not in letters:
        raise Mistake(f"a letter must be one from A to {letters[-1]}, found {described(answer)}")
    return _filled(letters.index(letter), slots, f"the letter {letter}")


def _letter(text: str) -> str:
    """Return the letter in "b", "B.", "B)" or "(B)"."""
    return text.strip().removeprefix("(").rstrip(".)").upper()


def _letters(slots: Slots) -> list[str]:
    return list(string.ascii_uppercase[: len(slots)])


def _filled(slot: int, slots: Slots, what: str) -> int:
    if slots[slot] is None:
        raise Mistake(f"the answer is {what}, but this row has no such choice")
    return slot
