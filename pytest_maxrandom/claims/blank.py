"""Examples without their question: whatever is right then is right by the choices alone.

The text of the question is left out of the validation examples only. Demonstrations, instruction,
the words around question and answer, the choices and the order in which they are shown stay.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.tasks.task import Example


def blanked(examples: Sequence[Example]) -> list[Example]:
    """Return the examples with blank inputs; their ids, and so the order of choices, stay."""
    return [dataclasses.replace(example, input="") for example in examples]


def no_control_reason(examples: Sequence[Example]) -> str | None:
    """Say in one sentence why blank inputs would tell nothing; None where they tell something."""
    if len({example.input for example in examples}) > 1:
        return None
    return (
        "There is no control with blank inputs, because all examples have the same input: the "
        "choices are the question."
    )
