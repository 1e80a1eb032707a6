"""Tasks made in place."""

from __future__ import annotations

from typing import Any

from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import ValidationSpec
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet, draw_prompts, validation_set
from pytest_maxrandom.tasks.task import Example, Task


def example(
    name: str, text: str | None = None, choices: tuple[str, ...] = ("yes", "no"), right: int = 0
) -> Example:
    return Example(name, text or f"question {name}", choices, (right,))


def task_of(size: int) -> Task:
    """Return a task of examples e0, e1, ... of which all say something else."""
    return Task("t", tuple(example(f"e{number}") for number in range(size)))


def draw(
    task: Task, shots: int, /, *, n: int = 200, validation_seed: int = 0, **keys: Any
) -> PromptSet:
    """Draw prompts as a suite with these keys below `prompts` does."""
    chosen = validation_set(task, ValidationSpec(max_examples=n, seed=validation_seed))
    spec = PromptsSpec.model_validate({"shots": shots, **keys})
    return draw_prompts(task, chosen, spec, shots)


def names(prompt_set: PromptSet) -> list[tuple[str, ...]]:
    """Return the ids of each prompt's demonstrations."""
    return [tuple(shown.id for shown in p.demonstrations) for p in prompt_set.prompts]
