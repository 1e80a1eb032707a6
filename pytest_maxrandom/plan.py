"""From a suite to its claims: everything that is known before a model is loaded."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.arms.derive import arms_of, dotted
from pytest_maxrandom.errors import ModelError, Problem, SuiteError
from pytest_maxrandom.impossible import contradicting, unpassable, untestable
from pytest_maxrandom.labels import label
from pytest_maxrandom.ledger.digests import example_digest
from pytest_maxrandom.models.registry import locate, locate_adapter
from pytest_maxrandom.nulls import Guessers, NoMetric, guessers, score_guessers
from pytest_maxrandom.prompts.formats import Counterfactual
from pytest_maxrandom.prompts.sampling import NoPrompts, draw_prompts, validation_set
from pytest_maxrandom.record import ClaimRecord, PromptCount, ValidationSet
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.suite.spec import AssertSpec, claimed
from pytest_maxrandom.tasks.held_out import set_aside
from pytest_maxrandom.tasks.load import load_task
from pytest_maxrandom.verdict import Claim, share_levels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.arms.derive import Arm
    from pytest_maxrandom.design import Design
    from pytest_maxrandom.nulls import Null, ScoreGuessers
    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.spec import Metric, ModelSpec, SuiteSpec, TaskSpec
    from pytest_maxrandom.tasks.task import Example, Task


@dataclass(frozen=True)
class _Examples:
    """What the prompts of a task are drawn from, whatever the arm."""

    task: Task
    validation: tuple[Example, ...]
    test: tuple[Example, ...]


@dataclass(frozen=True)
class Cell:
    """One task with one number of shots; shared by all models of a suite."""

    task: Task
    shots: int
    prompt_set: PromptSet
    null: Guessers
    score_null: ScoreGuessers | None
    test: tuple[Example, ...]

    @cached_property
    def example_digests(self) -> tuple[str, ...]:
        """What the ledger knows the validation set by; each claim of a run is asked for it."""
        return tuple(map(example_digest, self.prompt_set.validation))

    def with_t(self, t: int, metric: Metric) -> Cell:
        """Return the cell with t guessers instead."""
        if t == self.null.t:
            return self
        null = guessers(self.prompt_set, t)
        return dataclasses.replace(
            self, null=null, score_null=_score_null(metric, self.prompt_set, t)
        )


@dataclass(frozen=True)
class PlannedClaim:
    """One claim, ready to be tested.

    Attributes
    ----------
    name : str
        ``task[model-quantization-kshot]``.
    line : int
        Line of its task in the suite file, from 1.
    base : Path
        Folder that the suite's paths are relative to.
    suite : SuiteSpec
        The suite with what its arm changes.
    arm : Arm
        The arm, or else the model, that the claim is about.
    replicate : int
        Which replicate of the claim this is; 0 is the claim itself.
    design : Design or None
        All replicates of the suite's claims; None where it has none.
    """

    name: str
    line: int
    base: Path
    model: ModelSpec
    cell: Cell
    claim: Claim
    xfail: str | None
    marks: tuple[str, ...]
    counted: Literal["claim", "task"]
    suite: SuiteSpec
    arm: Arm
    replicate: int = 0
    design: Design | None = field(default=None, repr=False, compare=False)

    def with_t(self, t: int) -> PlannedClaim:
        """Return the claim with t prompts in all, of which the sweep's are a part."""
        return dataclasses.replace(self, cell=self.cell.with_t(t, self.suite.metric))

    @property
    def null(self) -> Null:
        """The guessers, in the metric of the suite."""
        return self.cell.score_null or self.cell.null

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim before it is tested."""
        cell, prompts = self.cell, self.suite.prompts
        found = cell.prompt_set
        chances = Counter(str(example.chance) for example in found.validation)
        scored = found.scored(found.prompts[0])
        clusters, effective_n = summary(example.cluster for example in scored)
        return ClaimRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            task=cell.task.name,
            model=self.model.name,
            quantization=self.model.quantization,
            shots=cell.shots,
            asserted=self.claim.asserted(),
            levels=self.claim.levels(self.null.t),
            severities=self.claim.deviations(),
            revision=self.model.revision,
            backend=self.model.backend,
            scoring=self.suite.scoring,
            n=found.n,
            clusters=clusters,
            effective_n=effective_n,
            t=self.null.t,
            metric=self.suite.metric,
            standard_baseline=self.null.standard_baseline,
            max_random_baseline=self.null.max_random_baseline,
            xfail=self.xfail,
            prompts=PromptCount(
                asked=prompts.count,
                possible=found.possible,
                regime=found.regime,
                pool=found.pool,
                instructions=len(prompts.instructions or [""]),
                formats=len(prompts.formats or [""]),
                combine=prompts.combine,
                seed=prompts.seed,
            ),
            validation=ValidationSet(
                examples=len(found.validation),
                available=len(cell.task.examples),
                duplicates=cell.task.duplicates,
                seed=self._validation_seed,
                chances=dict(sorted(chances.items())),
                test=len(cell.test),
            ),
            validation_ids=[example.id for example in found.validation],
            task_digest=cell.task.digest,
            notes=[*self.claim.notes, *self.arm.notes, *cell.task.notes, *found.notes],
        )

    @property
    def _validation_seed(self) -> int:
        specs = {task.name: task for task in self.suite.tasks}
        return specs[self.cell.task.name].validation.seed


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
        named = [(locate, arm.model.name, arm.named)]
        if arm.model.adapter is not None:
            named.append((locate_adapter, arm.model.adapter, arm.adapted))
        for find, name, place in named:
            try:
                find(name, suite.path.parent)
            except ModelError as error:
                message = f"{dotted(place)}: {error}"
                problems.append(Problem(suite.path, suite.line(*place), message))
    problems += untestable(suite)
    tasks = [_examples(suite, index, problems) for index in range(len(suite.spec.tasks))]
    cells: dict[str, list[list[Cell]]] = {}
    for arm in arms:
        if (asked := arm.prompts.model_dump_json()) not in cells:
            cells[asked] = [_cells(suite, arm, each, problems) for each in tasks if each]
    if problems:
        raise SuiteError(dict.fromkeys(problems))
    claims = [
        _claim(suite, arm, index, cell)
        for arm in arms
        for index, of_task in enumerate(cells[arm.prompts.model_dump_json()])
        for cell in of_task
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


def _cells(suite: Suite, arm: Arm, given: _Examples, problems: list[Problem]) -> list[Cell]:
    """Return the cells of a task, or add to the problems."""
    spec = arm.of(suite.spec)
    cells = []
    for shots in spec.prompts.shots:
        try:
            cells.append(draw_cell(given.task, given.validation, spec, shots, given.test))
        except NoPrompts as error:
            line = suite.line(*arm.asks(error.key))
            problems.append(Problem(suite.path, line, str(error)))
        except NoMetric as error:
            message = f"{given.task.name}: {error}"
            problems.append(Problem(suite.path, suite.line("metric"), message))
    return cells


def draw_cell(
    task: Task,
    validation: Sequence[Example],
    suite: SuiteSpec,
    shots: int,
    test: tuple[Example, ...] = (),
) -> Cell:
    """Draw the prompts of one task with one number of shots, and the guessers beside them.

    Raises
    ------
    NoPrompts, NoMetric
        In one sentence, where the task cannot give what the suite asks for.
    """
    prompts = suite.prompts
    prompt_set = draw_prompts(task, validation, prompts, shots)
    if suite.scoring == "counterfactual":
        prompt_set = prompt_set.asked(Counterfactual.of(suite.counterfactual))
    score_null = _score_null(suite.metric, prompt_set, prompts.budget)
    return Cell(task, shots, prompt_set, guessers(prompt_set, prompts.budget), score_null, test)


def _score_null(metric: Metric, prompt_set: PromptSet, t: int | None) -> ScoreGuessers | None:
    if metric == "accuracy":
        return None
    return score_guessers(metric, prompt_set, label(prompt_set.validation), t)


def _claim(suite: Suite, arm: Arm, index: int, cell: Cell) -> PlannedClaim:
    spec: SuiteSpec = arm.of(suite.spec)
    task: TaskSpec = spec.tasks[index]
    assertion = claimed(task.assertion, spec.assertion)
    return PlannedClaim(
        name=f"{task.name}[{arm.name}-{cell.shots}shot]",
        line=suite.line("tasks", index),
        base=suite.path.parent,
        model=arm.model,
        cell=cell,
        claim=Claim.of(
            assertion,
            ("permutation_p",) if spec.metric == "macro_f1" else ("p_max", "permutation_p"),
        ),
        xfail=task.xfail or spec.xfail,
        marks=tuple(dict.fromkeys([*spec.marks, *task.marks])),
        counted=assertion.count if isinstance(assertion, AssertSpec) else "claim",
        suite=spec,
        arm=arm,
    )
