"""Which choice an answer means: its text, its index from 0, or its letter."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.check import as_text
from pytest_maxrandom.tasks.findings import Mistake

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

AnswerIs: TypeAlias = Literal["text", "index", "letter"]
Slots: TypeAlias = "Sequence[str | None]"  # the choices; None where a row has no such choice

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


def right_slot(answer: object, slots: Slots, answer_is: AnswerIs | None) -> int:
    """Return the position in `slots` of the choice that `answer` means.

    Parameters
    ----------
    answer : object
        As the data has it.
    slots : sequence of str or None
        The choices in their order.
    answer_is : "text", "index", "letter" or None
        How to read the answer; None reads a number as an index, and anything else as a text.

    Raises
    ------
    Mistake
        If the answer means none of the choices, or could mean two.
    """
    if answer_is is not None:
        return _READERS[answer_is](answer, slots)
    if isinstance(answer, bool):
        raise Mistake(
            f"the answer is {described(answer)}, which names no choice; write a choice's text, "
            "or say `answer_is: index` to read false as 0 and true as 1"
        )
    if not isinstance(answer, int):
        return _by_text(answer, slots)
    text = str(answer)
    if text in slots and slots.index(text) != answer:
        raise Mistake(
            f"the answer {answer} is the text of choice {slots.index(text)} (counted from 0), and "
            "may be an index too; say `answer_is: text` or `answer_is: index`"
        )
    return _by_index(answer, slots)


def _by_text(answer: object, slots: Slots) -> int:
    text = as_text(answer, "the answer")
    if text in slots:
        return slots.index(text)
    choices = [choice for choice in slots if choice is not None]
    hint = did_you_mean(text, choices)
    if not hint and _WHOLE_NUMBER.fullmatch(text):
        hint = "; if it is an index, say `answer_is: index`"
    if not hint and text.upper() in _letters(slots):
        hint = "; if it is a letter, say `answer_is: letter`"
    raise Mistake(f"the answer {quoted(text)} is none of the choices {listed(choices)}{hint}")


def _by_index(answer: object, slots: Slots) -> int:
    expected = f"an index must be a whole number from 0 to {len(slots) - 1}"
    if isinstance(answer, str) and _WHOLE_NUMBER.fullmatch(answer.strip()):
        answer = int(answer)
    if not isinstance(answer, int):
        raise Mistake(f"{expected}, found {described(answer)}")
    if not 0 <= answer < len(slots):
        raise Mistake(f"{expected}, found {int(answer)}")
    return _filled(int(answer), slots, f"the index {int(answer)}")


def _by_letter(answer: object, slots: Slots) -> int:
    letters = _letters(slots)
    letter = answer.strip().upper() if isinstance(answer, str) else ""
    if letter not in letters:
        raise Mistake(f"a letter must be one from A to {letters[-1]}, found {described(answer)}")
    return _filled(letters.index(letter), slots, f"the letter {letter}")


def _letters(slots: Slots) -> list[str]:
    return list(string.ascii_uppercase[: len(slots)])


def _filled(slot: int, slots: Slots, what: str) -> int:
    if slots[slot] is None:
        raise Mistake(f"the answer is {what}, but that choice is empty in this row")
    return slot


_READERS: dict[AnswerIs, Callable[[object, Slots], int]] = {
    "text": _by_text,
    "index": _by_index,
    "letter": _by_letter,
}
