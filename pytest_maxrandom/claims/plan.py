"""From a suite to its claims: everything that is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.arms import arms_of
from pytest_maxrandom.claims.impossible import contradicting, unpassable, untestable
from pytest_maxrandom.claims.nulls import NoMetric, guessers, score_guessers
from pytest_maxrandom.claims.planned import Condition, PlannedClaim
from pytest_maxrandom.claims.verdict import Claim, share_levels
from pytest_maxrandom.errors import ModelError, ModelNotFound, Problem, SuiteError, dotted
from pytest_maxrandom.models.registry import locate
from pytest_maxrandom.prompts.sampling import NoPrompts, draw_prompts, validation_set
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.suite.spec import AssertSpec, claimed
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.load import load_task, set_aside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.arms import Arm
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.spec import SuiteSpec, TaskSpec
    from pytest_maxrandom.tasks.task import Example, Task


@dataclass(frozen=True)
class _Examples:
    """What the prompts of a task are drawn from, whatever the arm."""

    task: Task
    validation: tuple[Example, ...]
    test: tuple[Example, ...]


def plan(suite: Suite) -> list[PlannedClaim]:
    """Return the suite's claims, in the order model or arm, task, shots.

    Raises
    ------
    SuiteError
        With all the mistakes in the files that the suite names, and all that its tasks cannot give.
    """
    problems: list[Problem] = []
    arms = arms_of(suite.spec)
    for arm in arms:
        try:
            locate(arm.model, suite.path.parent)
        except ModelError as error:
            wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
            for key, message in wrong.items():
                place = arm.says(key)
                told = f"{dotted(place)}: {message}"
                problems.append(Problem(suite.path, suite.line(*place), told))
    problems += untestable(suite)
    tasks = [_examples(suite, index, problems) for index in range(len(suite.spec.tasks))]
    conditions: dict[str, list[list[Condition]]] = {}
    for arm in arms:
        if (asked := arm.prompts.model_dump_json()) not in conditions:
            conditions[asked] = [_conditions(suite, arm, each, problems) for each in tasks if each]
    if problems:
        raise SuiteError(dict.fromkeys(problems))
    claims = [
        _claim(suite, arm, index, condition)
        for arm in arms
        for index, of_task in enumerate(conditions[arm.prompts.model_dump_json()])
        for condition in of_task
    ]
    claims = share_levels(claims)
    if problems := [*contradicting(suite, claims), *unpassable(suite, claims)]:
        raise SuiteError(dict.fromkeys(problems))
    return claims


def _examples(suite: Suite, index: int, problems: list[Problem]) -> _Examples | None:
    """Return what the task's prompts are drawn from, or add to the problems."""
    spec = suite.spec.tasks[index]

    def where(key: str) -> tuple[Path, int | None]:
        return suite.path, suite.line("tasks", index, key)

    def where_test(key: str) -> tuple[Path, int | None]:
        return suite.path, suite.line("tasks", index, "test", key)

    try:
        task = load_task(spec, suite.path.parent, where)
        task, test = set_aside(task, spec, suite.path.parent, where_test)
    except SuiteError as error:
        problems += error.problems
        return None
    try:
        return _Examples(task, validation_set(task, spec.validation), test)
    except NoPrompts as error:
        problems.append(Problem(*where(error.key), f"tasks[{index}]: {error}"))
        return None


def _conditions(
    suite: Suite, arm: Arm, given: _Examples, problems: list[Problem]
) -> list[Condition]:
    """Return the conditions of a task, or add to the problems."""
    spec = arm.of(suite.spec)
    conditions = []
    for shots in spec.prompts.shots:
        try:
            conditions.append(draw_condition(given.task, given.validation, spec, shots, given.test))
        except NoPrompts as error:
            line = suite.line(*arm.asks(error.key))
            problems.append(Problem(suite.path, line, str(error)))
        except NoMetric as error:
            message = f"{given.task.name}: {error}"
            problems.append(Problem(suite.path, suite.line("metric"), message))
    return conditions


def draw_condition(
    task: Task,
    validation: Sequence[Example],
    suite: SuiteSpec,
    shots: int,
    test: tuple[Example, ...] = (),
) -> Condition:
    """Draw the prompts of one task with one number of shots, and the guessers beside them.

    Raises
    ------
    NoPrompts, NoMetric
        In one sentence, where the task cannot give what the suite asks for.
    """
    prompts = suite.prompts
    prompt_set = draw_prompts(task, validation, prompts, shots)
    if SCORERS[suite.scoring].states_choices:
        prompt_set = prompt_set.asked(suite.counterfactual)
    score_null = score_guessers(suite.metric, prompt_set, prompts.budget)
    return Condition(
        task, shots, prompt_set, guessers(prompt_set, prompts.budget), score_null, test
    )


def _claim(suite: Suite, arm: Arm, index: int, condition: Condition) -> PlannedClaim:
    spec: SuiteSpec = arm.of(suite.spec)
    task: TaskSpec = spec.tasks[index]
    assertion = claimed(task.assertion, spec.assertion)
    judge = METRICS[spec.metric].guessers_judge
    return PlannedClaim(
        name=f"{task.name}[{arm.name}-{condition.shots}shot]",
        line=suite.line("tasks", index),
        base=suite.path.parent,
        model=arm.model,
        task=task.name,
        shots=condition.shots,
        condition=condition,
        claim=Claim.of(assertion, ("p_max", "permutation_p") if judge else ("permutation_p",)),
        xfail=task.xfail or spec.xfail,
        marks=tuple(dict.fromkeys([*spec.marks, *task.marks])),
        counted=assertion.count if isinstance(assertion, AssertSpec) else "claim",
        suite=spec,
        arm=arm,
    )
