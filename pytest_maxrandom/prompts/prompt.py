"""A prompt: one fixed text, and how an example is appended to it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from pytest_maxrandom.prompts.formats import Counterfactual, Format
    from pytest_maxrandom.tasks.task import Example


@dataclass(frozen=True)
class Prompt:
    """One of the t prompts of a sweep.

    Attributes
    ----------
    demonstrations : tuple of Example
        The k solved examples, in the order of the text.
    format : Format
        How they and the question are written.
    """

    demonstrations: tuple[Example, ...]
    format: Format

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
        return digest(self.text, layout.input_prefix, *listing, self.format.output_prefix, *asked)

    def asked(self, counterfactual: Counterfactual | None) -> Prompt:
        """Return the prompt with answers that are stated so, or, with None, scored themselves."""
        form = dataclasses.replace(self.format, counterfactual=counterfactual)
        return Prompt(self.demonstrations, form)

    def context(self, example: Example) -> str:
        """Return all the text before the answer."""
        return self.text + self.format.question(example)
