"""The held-out test set: examples that are set aside before anything else is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.seeding import digest
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.suite.spec import TaskSpec, TestSpec
    from pytest_maxrandom.tasks.load import Where
    from pytest_maxrandom.tasks.task import Example, Task


def set_aside(
    task: Task, spec: TaskSpec, base: Path, where: Where
) -> tuple[Task, tuple[Example, ...]]:
    """Return the task without its test set, and the test set; nothing where there is none.

    Examples that repeat each other go to the same side, and one of the task that repeats an example
    of a test file is left out of the task: what is tested is never shown.

    Raises
    ------
    SuiteError
        If the test file is wrong, or a side is left without examples.
    """
    if spec.test is None:
        return task, ()
    if spec.test.path is None:
        tested = _drawn(task, spec.test)
        test = tuple(example for example in task.examples if _shown(example) in tested)
    else:
        changed = {"path": spec.test.path, "test": None}
        of_file = load_task(spec.model_copy(update=changed), base, where)
        test = of_file.examples
        tested = {_shown(example) for example in test}
    kept = tuple(example for example in task.examples if _shown(example) not in tested)
    if not test or not kept:
        raise SuiteError(
            [
                Problem(
                    *where("test"),
                    f"{task.name} has {len(task.examples)} examples, of which the test set leaves "
                    f"{len(kept)} and takes {len(test)}; expected some on both sides, so give the "
                    "task more examples or `test` another fraction",
                )
            ]
        )
    dropped = len(task.examples) - len(kept) if spec.test.path else 0
    notes = task.notes
    if dropped:
        notes += (f"Examples left out because they stand in the test set as well: {dropped}.",)
    return replace(task, examples=kept, notes=notes), test


def _drawn(task: Task, spec: TestSpec) -> set[tuple[str, ...]]:
    """Return the given share of the distinct examples: those that a seeded hash ranks first.

    So neither the order of the file nor a few added examples draw another test set.
    """
    assert spec.fraction is not None
    distinct = {_shown(example) for example in task.examples}
    ranked = sorted(distinct, key=lambda shown: digest("test", spec.seed, *shown))
    return set(ranked[: round(spec.fraction * len(ranked))])


def _shown(example: Example) -> tuple[str, ...]:
    """Return what makes two examples the same question: the order of the choices does not."""
    return (example.input, *sorted(example.choices))
