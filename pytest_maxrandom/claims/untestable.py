"""Claims that no run can test: what suites name is missing or wrong.

All of it is told before a model is loaded. `if_missing` of a task or a model says where to get what
is missing, and skips its claims; without it, a file that is not there is a mistake. What is wrong
with the files of a wrong suite is reported together with its own mistakes, so that nobody mends one
after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.arms import Arm, arms_of
from pytest_maxrandom.claims.drawn import NoTexts
from pytest_maxrandom.claims.nulls import LearntGuessers
from pytest_maxrandom.claims.planned import ClaimOfSuite, PlannedClaim
from pytest_maxrandom.claims.samples import VOTE, scores_samples
from pytest_maxrandom.claims.training import wrong_files
from pytest_maxrandom.claims.verdict import CLAIMABLE, OF_GUESSERS, Claim
from pytest_maxrandom.errors import (
    MaxRandomError,
    ModelError,
    ModelNotFound,
    Problem,
    RecordedError,
    SuiteError,
    dotted,
)
from pytest_maxrandom.record import ClaimRecord, note
from pytest_maxrandom.recorded.sources import ModelResults
from pytest_maxrandom.suite.claims import AssertSpec, claimed
from pytest_maxrandom.suite.parts import Part, sound_parts, sound_results, sound_texts
from pytest_maxrandom.suite.tasks import TaskSpec
from pytest_maxrandom.tasks.load import absent_data, absent_file, load_task, members, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.tasks.task import Where


@dataclass(frozen=True, eq=False, kw_only=True)
class MissingClaim(ClaimOfSuite):
    """A claim that is skipped, because its data or its model are not here."""

    model: ModelSpec
    arm: Arm
    """The arm, or else the model, that the claim is about."""
    suite: SuiteSpec
    """The suite with what its arm changes."""

    @property
    def simulated(self) -> bool:
        """Whether a rule would make the answers up."""
        return self.model.simulated

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim; its message will say why it is skipped."""
        revision = getattr(self.model, "revision", None)
        record = self.begun(node_id, suite, revision=revision, scoring=self.suite.scoring)
        return note(record, *self.arm.notes)


def missing_data(task: TaskSpec, base: Path) -> str | None:
    """Say which file of a task is missing, and where to get it; None where it must be read."""
    if task.if_missing is None or (why := absent_file(task, base)) is None:
        return None
    return f"{task.if_missing} ({why})"


def missing_named(task: TaskSpec, base: Path, where: Where) -> str | None:
    """Say which data of one task the hub would have, and where to get them; None where it is read.

    Raises
    ------
    SuiteError
        If its source cannot say.
    """
    if task.if_missing is None or (why := absent_data(task, base, where)) is None:
        return None
    return f"{task.if_missing} ({why})"


def missing_models(suite: Suite, backends: Backends) -> Iterator[MissingClaim]:
    """Yield the claims on tasks that are here about models that are not."""
    for arm in arms_of(suite.spec):
        if reason := _no_model(suite, arm, backends):
            for index, task in enumerate(suite.spec.tasks):
                yield from _claims(suite, arm, task, suite.line("tasks", index), reason)


def missing_claims(suite: Suite, backends: Backends) -> list[MissingClaim]:
    """Return the claims that are skipped: no other is, and none of them is left out."""
    found = [*missing_models(suite, backends)]
    for arm in arms_of(suite.spec) if suite.skipped else ():
        also = _no_model(suite, arm, backends)
        for each in suite.skipped:
            reason = "; ".join(filter(None, (each.reason, also)))
            found += _claims(suite, arm, each.spec, each.line, reason)
    return found


def _no_model(suite: Suite, arm: Arm, backends: Backends) -> str | None:
    """Say that an arm's model is not here, and where to get it; None where it is."""
    if arm.model.if_missing is None:
        return None
    if not (why := backends.absent(arm.model, suite.path.parent)):
        return None
    return f"{arm.model.if_missing} ({why})"


def _claims(
    suite: Suite, arm: Arm, task: TaskSpec, line: int, reason: str
) -> Iterator[MissingClaim]:
    spec = arm.of(suite.spec)
    for shots in spec.prompts.shots:
        yield MissingClaim(
            **MissingClaim.stated(spec, task, arm.name, shots),
            line=line,
            missing=reason,
            model=arm.model,
            claim=Claim.of(claimed(task.assertion, spec.assertion)),
            arm=arm,
            suite=spec,
        )


def in_named_files(path: Path, backends: Backends) -> Iterator[Problem]:
    """Yield what is wrong with the files that a wrong suite names where it is right."""
    parts, line = sound_parts(path)
    for part in parts:

        def where(*keys: str, part: Part = part) -> tuple[Path, int | None]:
            return path, line(*part.place, *keys)

        try:
            _look(part, path, where, backends)
        except SuiteError as error:
            # Without some of its keys, of a task that alone is certain which file there is not.
            yield from (one for one in error.problems if part.whole or one.path == path)
        except MaxRandomError as error:
            wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
            for key, message in wrong.items():
                yield Problem(*where(key), f"{dotted((*part.place, key))}: {message}")
    yield from _in_results(path)
    yield from wrong_files(sound_texts(path), path.parent, line, path)


def _look(
    part: Part,
    path: Path,
    where: Callable[..., tuple[Path, int | None]],
    backends: Backends,
) -> None:
    if not isinstance(part.spec, TaskSpec):
        if part.spec.if_missing is None or backends.absent(part.spec, path.parent) is None:
            backends.locate(part.spec, path.parent)
        return
    if missing_data(part.spec, path.parent):
        return
    for one in members(part.spec, path.parent, where):
        if missing_named(one, path.parent, where):
            continue
        task = load_task(one, path.parent, where)
        if part.whole:
            set_aside(task, one, path.parent, partial(where, "test"))


def _in_results(path: Path) -> Iterator[Problem]:
    suite, places = sound_results(path)
    if suite is None:
        return
    read = ModelResults(suite)
    for model, place in zip(suite.spec.models, places, strict=True):
        try:
            read.of(model)
        except RecordedError as error:
            yield suite.problem(("models", place, "results"), str(error))


def contradicting(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield claims that contradict themselves, or the suite's metric or budget."""
    for claim in claims:
        if idle := claim.claim.idle():
            yield Problem(suite.path, claim.line, f"{claim.task}: {idle}")
        if claim.claim.spend and claim.suite.prompts.budget:
            yield suite.problem(
                ("prompts", "budget"),
                "`looks: spend` is also given, and either of them makes any number of looks valid; "
                "remove one of them",
            )
        if why := next(_beyond_samples(claim), None):
            yield suite.problem(("generation", "samples"), f"{claim.task}: {why}")
        for place, why in _beyond_grades(claim):
            yield suite.problem(place, f"{claim.task}: {why}")
        if claim.is_graded:
            continue
        if unmeasured := claim.claim.unmeasured(claim.null, claim.suite.metric):
            if isinstance(claim.null, LearntGuessers):
                yield Problem(suite.path, claim.line, f"{claim.task}: {unmeasured}")
            else:
                yield suite.problem(("metric",), unmeasured, named=False)


def _beyond_scores(claim: PlannedClaim) -> Iterator[tuple[str, str]]:
    """Yield what a claim asks for that takes answers which are right or wrong, and why."""
    suite = claim.suite
    for key in ("compare", "contamination", "replicates"):
        if getattr(suite, key):
            yield key, f"`{key}` compares answers that are right or wrong"
    if suite.metric != "accuracy":
        yield "metric", f"`metric: {suite.metric}` is of one answer to each example"
    if claim.condition.test:
        yield "test", "a test set is answered once, right or wrong"
    if claim.claim.spend:
        yield "looks", "`looks: spend` needs guessers that are known before the answers"


def _beyond_grades(claim: PlannedClaim) -> Iterator[tuple[Location, str]]:
    """Yield what a claim asks for that graded answers cannot give, and where."""
    if not claim.is_graded:
        return
    scoring = claim.suite.scoring
    index = [task.name for task in claim.suite.tasks].index(claim.task)
    shortcuts = ("shortcuts", "`shortcuts` compares answers that are right or wrong")
    for key, why in (*_beyond_scores(claim), *([shortcuts] if claim.suite.shortcuts else [])):
        place: Location = ("tasks", index, key) if key in ("test", "looks") else (key,)
        yield place, f"{why}, and `scoring: {scoring}` says how good one is; remove `{key}`"
    for key in ("label_bias", "until"):
        if getattr(claim.suite, key) not in (None, "all"):
            yield (key,), f"`scoring: {scoring}` gives no labels and no right answers; remove it"
    guessed = [key for key in claim.claim.bounds() if key in OF_GUESSERS]
    if guessed and claim.claim.cannot_tell is None:
        own = ("tasks", index) if claim.suite.tasks[index].assertion else ()
        yield (
            (*own, "assert", guessed[0]),
            f"`{guessed[0]}` compares with random guessers, but `scoring: {scoring}` gives scores "
            f"between 0 and 1, and no guess has a chance; claim {CLAIMABLE}",
        )


def _beyond_samples(claim: PlannedClaim) -> Iterator[str]:
    """Say what a claim asks for that answers of several samples cannot give."""
    suite, condition = claim.suite, claim.condition
    if claim.aggregate is None:
        return
    if suite.scoring != "generate" and not condition.task.is_open:
        yield f"`scoring: {suite.scoring}` reads one answer each time; use `scoring: generate`"
    if suite.label_bias is not None:
        yield "`label_bias` asks for one answer each time; remove one of the two"
    if suite.until == "decided":
        yield "`until: decided` counts single answers; remove one of the two"
    if not scores_samples(claim.aggregate) or claim.is_graded:
        return
    for key, why in _beyond_scores(claim):
        yield f"{why}; {VOTE}, or remove `{key}`"
    if condition.prompt_set.leaves_out:
        yield (
            "prompts leave out their own demonstrations, and scores of samples are compared on the "
            f"same examples; use a smaller `validation: max_examples`, or {VOTE}"
        )
    by = {each.exchange.by for each in condition.shuffled}
    if "clusters" in by:
        yield f"its clusters differ in size, and right answers are exchanged one by one; {VOTE}"
    if "orders" in by:
        yield f"its examples compare things that recur; {VOTE}"


def no_texts(suite: Suite, error: NoTexts) -> list[Problem]:
    """Return what a task cannot give to train on, each where the suite asks for it."""
    return [suite.problem(place, message) for message, place in error.told.items()]


def untrainable(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield what arms are to be trained on that is not there, and models that cannot be trained."""
    for claim in claims:
        try:
            if claim.training is not None:
                _ = claim.located
        except SuiteError as error:
            yield from error.problems
        except NoTexts as error:
            yield from no_texts(suite, error)
        except ModelError as error:
            own = claim.arm.train is not None
            place = ("arms", claim.arm.name, "train") if own else ("classify",)
            yield suite.problem(place, str(error))


def untestable(suite: Suite) -> Iterator[Problem]:
    """Yield the tasks of whose test set something is claimed, and that have none."""
    for index, task in enumerate(suite.spec.tasks):
        assertion = claimed(task.assertion, suite.spec.assertion)
        if task.test is None and isinstance(assertion, AssertSpec) and assertion.test_p is not None:
            own = isinstance(task.assertion, AssertSpec) and task.assertion.test_p is not None
            place = ("tasks", index, "assert", "test_p") if own else ("assert", "test_p")
            yield suite.problem(
                place,
                f"tasks[{suite.entry(index)}]: `test_p` is about a test set, but {task.name} has "
                "none; add `test: {fraction: 0.25}` to the task, or remove `test_p`",
                named=False,
            )
