"""From a suite to its claims: everything that is known before a model is loaded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.claims.arms import arms_of
from pytest_maxrandom.claims.condition import Condition
from pytest_maxrandom.claims.drawn import NoTexts, set_apart, trains, without, without_copies
from pytest_maxrandom.claims.incumbents import NoIncumbent, incumbent_of, without_model
from pytest_maxrandom.claims.nulls import LearntGuessers, NoMetric, guessers, score_guessers
from pytest_maxrandom.claims.open_tasks import follows_only, refuse_unasked
from pytest_maxrandom.claims.planned import ClaimOfSuite, PlannedClaim
from pytest_maxrandom.claims.training import wrong_files
from pytest_maxrandom.claims.unpassable import unpassable
from pytest_maxrandom.claims.untestable import (
    contradicting,
    in_named_files,
    missing_claims,
    missing_data,
    missing_models,
    missing_named,
    no_texts,
    untestable,
    untrainable,
)
from pytest_maxrandom.claims.verdict import APPROXIMATE, CONTROLLED, EXACT, PERMUTED, Claim
from pytest_maxrandom.errors import (
    ExtensionError,
    ModelError,
    ModelNotFound,
    Problem,
    SuiteError,
    dotted,
)
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.record import Remark
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.suite.base import repeats
from pytest_maxrandom.suite.claims import AssertSpec, claimed
from pytest_maxrandom.suite.loader import RecordedSuite, SkippedTask, load_any_suite
from pytest_maxrandom.sweeps.lettered import texts_untold
from pytest_maxrandom.sweeps.open_answers import generation_of, matching_of
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, draw_prompts, validation_set
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.load import load_task, members, set_aside
from pytest_maxrandom.tasks.task import NO_LAYOUT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.arms import Arm
    from pytest_maxrandom.claims.incumbents import Incumbent
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
    from pytest_maxrandom.tasks.task import Example, Task

    _Condition = tuple[Condition, Incumbent | None]
    _Examples = tuple[Task, tuple[Example, ...], tuple[Example, ...]]

_Claims = TypeVar("_Claims", bound=ClaimOfSuite)


def read_suite(path: Path, backends: Backends | None = None) -> Suite | RecordedSuite:
    """Read a suite file, with a task for each that one of its tasks stands for.

    `backends` are as for :func:`plan`.

    Raises
    ------
    SuiteError
        With all the mistakes of the file.
    """
    backends = backends or Backends()
    try:
        suite = load_any_suite(path)
    except SuiteError as error:
        told = dict.fromkeys([*error.problems, *in_named_files(path, backends)])
        raise SuiteError(sorted(told, key=lambda one: (one.path != path, one.line or 0))) from None
    if isinstance(suite, RecordedSuite):
        return suite
    with suite.spec.limits.in_force():
        return _with_members(suite, backends)


def _with_members(suite: Suite, backends: Backends) -> Suite:
    """Return a suite with a task for each that one of its tasks stands for."""
    path = suite.path
    problems: list[Problem] = []
    expanded: list[tuple[int, TaskSpec]] = []
    skipped: list[SkippedTask] = []
    for index, task in enumerate(suite.spec.tasks):
        if reason := missing_data(task, path.parent):
            skipped.append(SkippedTask(task, suite.line("tasks", index), reason))
            continue
        where = partial(_where, suite, index)
        try:
            for one in members(task, path.parent, where):
                if reason := missing_named(one, path.parent, where):
                    skipped.append(SkippedTask(one, suite.line("tasks", index), reason))
                else:
                    expanded.append((index, one))
        except SuiteError as error:
            problems += error.problems
    if problems:
        try:
            plan(suite, backends)  # which finds what else is wrong
        except SuiteError as error:
            problems += error.problems
        raise SuiteError(dict.fromkeys(problems))
    tasks = [one for _, one in expanded]
    for later, earlier in repeats(one.name for one in tasks):
        place, name = expanded[later][0], tasks[later].name
        message = f"one of its tasks is {name}, which is the name of tasks[{expanded[earlier][0]}]"
        problems.append(suite.problem(("tasks", place), f"{message}; give it another `name`"))
    if problems:
        raise SuiteError(problems)
    bias = suite.spec.label_bias
    if bias is not None and bias.tasks is not None:
        checked = [
            one.name for index, one in expanded if suite.spec.tasks[index].name in bias.tasks
        ]
        bias = bias.model_copy(update={"tasks": checked})
    spec = suite.spec.model_copy(update={"tasks": tasks, "label_bias": bias})
    entries = tuple(index for index, _ in expanded)
    return replace(suite, spec=spec, entries=entries, skipped=tuple(skipped))


def plan(suite: Suite, backends: Backends | None = None) -> list[PlannedClaim]:
    """Return the suite's claims, in the order model or arm, task, shots.

    `backends` are those of the session, which find its models; new ones if not given.

    Raises
    ------
    SuiteError
        With all the mistakes in the files that the suite names, and all that its tasks cannot give.
    """
    problems: list[Problem] = []
    backends = backends or Backends()
    absent = {claim.arm.name for claim in missing_models(suite, backends)}
    arms = [arm for arm in arms_of(suite.spec) if arm.name not in absent]
    for arm in arms:
        try:
            backends.locate(arm.model, suite.path.parent)
        except ModelError as error:
            wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
            problems += [suite.problem(arm.model_place(key), told) for key, told in wrong.items()]
    problems += untestable(suite)
    files = {name: arm.train.path for name, arm in (suite.spec.arms or {}).items() if arm.train}
    of_paths = {name: path for name, path in files.items() if path is not None}
    problems += wrong_files(of_paths, suite.path.parent, suite.line, suite.path)
    with suite.spec.limits.in_force():
        tasks = [_examples(suite, index, problems) for index in range(len(suite.spec.tasks))]
    problems += without_model(suite, backends)
    conditions: dict[tuple[str, str], list[list[_Condition]]] = {}
    for arm in arms:
        if (asked := arm.asked) not in conditions:
            conditions[asked] = [_conditions(suite, arm, each, problems) for each in tasks if each]
    if problems:
        raise SuiteError(dict.fromkeys(problems))
    claims = [
        _claim(suite, arm, index, condition, incumbent, backends)
        for arm in arms
        for index, of_task in enumerate(conditions[arm.asked])
        for condition, incumbent in of_task
    ]
    # What is skipped keeps its share, so that levels are the same wherever a suite runs.
    shared = settled([*claims, *missing_claims(suite, backends)])
    claims = [claim for claim in shared if isinstance(claim, PlannedClaim)]
    if problems := [
        *contradicting(suite, claims),
        *untrainable(suite, claims),
        *unpassable(suite, claims),
    ]:
        raise SuiteError(dict.fromkeys(problems))
    return claims


def settled(claims: Sequence[_Claims]) -> list[_Claims]:
    """Return the claims of a suite, which are known now, with what they claim as it is tested.

    Those that are a family share their levels (Bonferroni). Their number is known when the suite is
    read, so a share depends neither on what is selected nor on how the work is spread. Where too
    few clusters exchange right answers, a claim cannot be told.
    """
    size = sum(each.claim.family is not None and bool(each.claim.bounds()) for each in claims)
    shared = (
        each
        if each.claim.family is None
        else replace(each, claim=replace(each.claim, family=max(1, size)))
        for each in claims
    )
    return [*map(told_by_clusters, shared)]


def told_by_clusters(each: _Claims) -> _Claims:
    """Return a claim, which cannot be told if too few clusters exchange right answers."""
    # What guessers of open answers reach is learnt from the same shuffles.
    learnt = each.claim.beats is not None and isinstance(each.null, LearntGuessers)
    if each.claim.permutation_p is None and not learnt:
        return each
    t, exchanges = each.exchanges
    return replace(each, claim=each.claim.beside(exchanges, t))


def _where(suite: Suite, index: int, *keys: str) -> tuple[Path, int | None]:
    return suite.path, suite.line("tasks", index, *keys)


def _examples(suite: Suite, index: int, problems: list[Problem]) -> _Examples | None:
    """Return a task, its validation examples and its test set, or add to the problems."""
    spec, where = suite.spec.tasks[index], partial(_where, suite, index)
    try:
        task = load_task(spec, suite.path.parent, where)
        task, test = set_aside(task, spec, suite.path.parent, partial(where, "test"))
    except SuiteError as error:
        problems += error.problems
        return None
    if test and trains(suite.spec) and not (task := without_copies(task, test)).examples:
        told = (
            f"{dotted(('tasks', suite.entry(index), 'test'))}: all other examples of {task.name} "
            "have the text of one in the test set, and nothing is trained or scored that has; "
            "remove `test`, or do not train on this task"
        )
        problems.append(Problem(*where("test"), told))
        return None
    asked, n = spec.validation.max_examples, len(task.examples)
    if "max_examples" in spec.validation.model_fields_set and asked > n:
        fewer = Remark("fewer_examples", {"asked": asked, "examples": n})
        task = replace(task, notes=(*task.notes, fewer))
    try:
        return task, validation_set(task, spec.validation), test
    except NoPrompts as error:
        problems.append(Problem(*where(error.key), f"tasks[{suite.entry(index)}]: {error}"))
        return None


def _conditions(
    suite: Suite, arm: Arm, given: _Examples, problems: list[Problem]
) -> list[_Condition]:
    """Return the conditions of a task, each with the incumbent, or add to the problems."""
    spec = arm.of(suite.spec)
    task, validation, test = given
    conditions = []
    for shots in spec.prompts.shots:
        try:
            condition = draw_condition(task, validation, spec, shots, test)
            conditions.append((condition, incumbent_of(spec, condition, suite.path.parent)))
        except NoIncumbent as error:
            problems.append(suite.problem(error.place, str(error)))
        except NoPrompts as error:
            own = error.key not in ("scoring", "control", "exact_match")
            place = arm.prompts_place(error.key) if own else (error.key,)
            problems.append(suite.problem(place, str(error), named=False))
        except NoTexts as error:
            problems += no_texts(suite, error)
        except NoMetric as error:
            problems.append(suite.problem(("metric",), f"{task.name}: {error}", named=False))
        except ExtensionError as error:
            of_arm = ("arms", str(arm.key)) if arm.scoring != suite.spec.scoring else ()
            told = f"{task.name}: {error}"
            problems.append(suite.problem((*of_arm, "scoring"), told, named=False))
    return conditions


def draw_condition(
    task: Task,
    validation: Sequence[Example],
    suite: SuiteSpec,
    shots: int,
    test: tuple[Example, ...] = (),
) -> Condition:
    """Draw the prompts of one task with one number of shots, and their guessers.

    Raises
    ------
    NoPrompts, NoMetric, NoTexts
        In one sentence, where the task cannot give what the suite asks for.
    """
    prompts, apart = suite.prompts, set_apart(task, validation, suite, test)
    shown = without(task, validation, apart) if shots else task
    if suite.scoring == "classify":
        shown = replace(shown, layout=NO_LAYOUT)
    drawn = draw_prompts(shown, validation, prompts, shots)
    refuse_unasked(suite, task, drawn)
    prompt_set = asked_by(suite, task, drawn)
    if SCORERS[suite.scoring].generates:
        beginnings = any(example.continuation is not None for example in validation)
        if beginnings and not all(
            prompt.format.layout.append_choices for prompt in prompt_set.prompts
        ):
            raise NoPrompts(
                f"{task.name} asks how a text begins, but does not list the choices for a model "
                "that writes its answer; list them (`prompts: {formats: {labels: letter}}`), or "
                "use `scoring: sum_logprob`",
                key="formats",
            )
    score_null = score_guessers(suite.metric, prompt_set, prompts.budget)
    return Condition(
        task, shots, prompt_set, guessers(prompt_set, prompts.budget), score_null, test, apart
    )


def asked_by(suite: SuiteSpec, task: Task, prompt_set: PromptSet) -> PromptSet:
    """Return prompts as the suite's scoring asks for their answers."""
    scorer = SCORERS[suite.scoring]
    if scorer.states_choices:
        return prompt_set.asked(suite.counterfactual)
    if not scorer.generates:
        return prompt_set
    return prompt_set.asked(None, generation_of(suite, task), matching_of(suite, task))


def _claim(
    suite: Suite,
    arm: Arm,
    index: int,
    condition: Condition,
    incumbent: Incumbent | None,
    backends: Backends,
) -> PlannedClaim:
    spec: SuiteSpec = arm.of(suite.spec)
    task: TaskSpec = spec.tasks[index]
    assertion = claimed(task.assertion, spec.assertion)
    usual = EXACT
    if not METRICS[spec.metric].guessers_judge:
        usual = PERMUTED
    elif condition.prompt_set.leaves_out:
        usual = APPROXIMATE
    untold = None
    if SCORERS[spec.scoring].is_graded:
        usual = EXACT if spec.control is None else CONTROLLED
        untold = Remark("no_guessers") if spec.control is None else None
    elif condition.task.is_open:
        untold = follows_only(
            [*Counter(condition.roles).elements()], condition.shuffled[0].arrangements
        )
    elif texts_untold(condition.prompt_set.validation):
        untold = Remark("only_letters")
    return PlannedClaim(
        **PlannedClaim.stated(spec, task, arm.name, condition.shots),
        line=suite.line("tasks", index),
        base=suite.path.parent,
        file=suite.path.name,
        backends=backends,
        model=arm.model,
        condition=condition,
        claim=Claim.of(assertion, usual, untold),
        counted=assertion.count if isinstance(assertion, AssertSpec) else "claim",
        suite=spec,
        arm=arm,
        model_line=suite.line(*arm.model_place("name")),
        incumbent=incumbent,
    )
