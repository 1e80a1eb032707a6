"""Replicates: the same claim with other validation examples and other demonstrations.

The first replicate is the claim itself. In each of them the best prompt is chosen; between them
nothing is, so the prompts of one are no tries of another's claim.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.drawn import NoTexts
from pytest_maxrandom.claims.nulls import NoMetric
from pytest_maxrandom.claims.plan import draw_condition, told_by_clusters
from pytest_maxrandom.claims.planned import Design, Planned, PlannedClaim
from pytest_maxrandom.claims.untestable import no_texts, untrainable
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.ledger import examples_digest
from pytest_maxrandom.record import ClaimRecord, Remark, Replicate, ReplicatesRecord, note
from pytest_maxrandom.stats.replication import contradicting_share
from pytest_maxrandom.stats.seeding import Stream
from pytest_maxrandom.suite.claims import AssertSpec, claimed
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, validation_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.tasks import TaskSpec


@dataclass(frozen=True, kw_only=True)
class PlannedReplicates(Planned):
    """A claim that is repeated, ready to be tested."""

    claims: list[PlannedClaim]
    """The replicates; the first is the claim itself."""
    in_replicates: Fraction | None
    """Share of them of which the claim must hold."""
    seed: int

    @classmethod
    def of(cls, claims: list[PlannedClaim], seed: int) -> PlannedReplicates:
        """Return the replicates of a claim, itself first."""
        claim, asserted = claims[0], _share(claims[0])
        return cls(
            # The bracket at the end is what pytest 9.2 expects of an id that has one.
            name=f"{claim.name}::replicates[{len(claims)}]",
            line=claim.line,
            xfail=None if asserted is None else claim.xfail,  # what asserts nothing cannot fail
            marks=claim.marks,
            claims=claims,
            in_replicates=asserted,
            seed=seed,
        )

    @property
    def claim(self) -> PlannedClaim:
        """The claim itself."""
        return self.claims[0]

    def record(self, node_id: str, suite: str) -> ReplicatesRecord:
        """Return what can be said of the replicates before they are tested."""
        claim = self.claim
        asserted = dataclasses.replace(claim.claim, test_p=None).asserted()  # they open no test set
        if self.in_replicates is not None:
            asserted["in_replicates"] = float(self.in_replicates)
        record = ReplicatesRecord(
            **claim.heading(node_id, suite),
            claim=f"{suite}::{claim.name}",
            asserted=asserted,
            count=len(self.claims),
            seed=self.seed,
            xfail=self.xfail,
        )
        return note(record, *self._notes())

    def _notes(self) -> Iterator[Remark]:
        examples, prompts = _drawn(claim.condition for claim in self.claims)
        kind = "replicates_draw"
        if examples == 1:
            kind = "replicates_draw_prompts"
        elif prompts == 1:
            kind = "replicates_draw_examples"
        yield Remark(kind, {"seed": self.seed, "shots": self.claim.condition.shots})
        if self.claim.training is not None:
            yield Remark("replicates_train")
        yield Remark("replicates_are_no_tries")
        if budget := self.claim.suite.prompts.budget:
            yield Remark("budget_of_each", {"budget": budget})


def replicated(planned: PlannedClaim) -> list[PlannedClaim]:
    """Return the replicates of a claim, itself first; itself alone where its suite has none."""
    return [planned] if planned.design is None else planned.design.of(planned.name)


def plan_replicates(suite: Suite, claims: Sequence[PlannedClaim]) -> Sequence[Planned]:
    """Return the suite's claims, each with its replicates after it, if the suite asks for them.

    Replicate k draws validation examples and demonstrations with seeds that depend on k and the
    seed of `replicates` only, so that claims which share a task share its replicates, whatever
    their models. They have no test set: replicates never open one.

    Raises
    ------
    SuiteError
        With all that the tasks cannot give for replicates.
    """
    spec = suite.spec.replicates
    if spec is None:
        return claims
    design = Design()
    problems: dict[Problem, None] = {}
    planned: list[Planned] = []
    conditions: dict[Condition, list[Condition]] = {}
    for claim in claims:
        own = claim.condition
        suites = {k: replicate_suite(claim.suite, k) for k in range(1, spec.count)}
        try:
            if own not in conditions:
                conditions[own] = [own, *(_redrawn(own, each) for each in suites.values())]
        except (NoPrompts, NoMetric) as error:
            problems[suite.problem(("replicates",), f"{own.task.name}: {error}")] = None
            continue
        except NoTexts as error:
            problems |= dict.fromkeys(_of_replicates(no_texts(suite, error)))
            continue
        drawn = conditions[own]
        if _drawn(drawn) == (1, 1):
            problems[suite.problem(("replicates",), _all_the_same(drawn[0]))] = None
            continue
        # What cannot be told was said of other examples.
        asked = dataclasses.replace(claim.claim, cannot_tell=None)
        further = [
            told_by_clusters(
                dataclasses.replace(
                    claim, claim=asked, condition=drawn[k], suite=suites[k], replicate=k
                )
            )
            for k in suites
        ]
        if wrong := dict.fromkeys(_of_replicates(untrainable(suite, further))):
            problems |= wrong
            continue
        replicates = design.add([claim, *further])
        planned += [replicates[0], PlannedReplicates.of(replicates, spec.seed)]
    if problems:
        raise SuiteError(problems)
    return planned


def _of_replicates(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield what is wrong with replicates alone: the claim itself has been planned."""
    for each in problems:
        yield dataclasses.replace(each, message=f"in some replicates, {each.message}")


def replicate_suite(suite: SuiteSpec, k: int) -> SuiteSpec:
    """Return the suite with the seeds of its replicate k, which is at least 1."""
    assert suite.replicates is not None
    stream = Stream(suite.replicates.seed, "replicate", k)
    of_examples, of_prompts = {"seed": stream.below(2**63)}, {"seed": stream.below(2**63)}
    tasks = [
        task.model_copy(update={"validation": task.validation.model_copy(update=of_examples)})
        for task in suite.tasks
    ]
    prompts = suite.prompts.model_copy(update=of_prompts)
    return suite.model_copy(update={"tasks": tasks, "prompts": prompts})


def replicate(record: ClaimRecord | Result) -> Replicate:
    """Return what a replicate's claim says, when it has been judged; red flags are the claim's."""
    assert record.best_prompt is not None
    assert record.holds is not None or record.cannot_tell is not None
    names = {field.name for field in dataclasses.fields(Replicate)}
    shared = names.intersection(field.name for field in dataclasses.fields(record))
    fields: dict[str, Any] = {
        **{name: getattr(record, name) for name in shared},
        "passed": record.holds,
        "best_prompt": record.best_prompt.digest,
        "demonstration_ids": record.best_prompt.demonstration_ids,
    }
    return Replicate(**fields)


def record_replicates(
    record: ReplicatesRecord, runs: Sequence[Replicate], in_replicates: Fraction | None
) -> None:
    """Write down what the replicates say together; their order does not matter.

    Where the claim asserts nothing, each replicate's verdict is where its best accuracy stands
    compared with the baselines, else whether the claim holds. Where that cannot be told of so many
    that they decide, neither can it of all.
    """
    held, total = sum(bool(run.passed) for run in runs), len(runs)
    untold = [run.cannot_tell for run in runs if run.passed is None]
    claims = record.asserted.keys() - {"in_replicates"}
    record.runs = list(runs)
    record.share_passed = held / total if claims else None
    told = [run.passed if claims else run.verdict for run in runs if run.passed is not None]
    record.contradicting = contradicting_share(told) if told else None
    needed = 0 if in_replicates is None else math.ceil(in_replicates * total)
    record.passed = held >= needed
    if held < needed <= held + len(untold):
        record.passed, record.cannot_tell = None, untold[0]


def _drawn(conditions: Iterable[Condition]) -> tuple[int, int]:
    """Count the different validation sets and the different prompt sets of replicates."""
    sets = [condition.prompt_set for condition in conditions]
    examples = {examples_digest(one.validation) for one in sets}
    prompts = {frozenset(one.digests) for one in sets}
    return len(examples), len(prompts)


def _all_the_same(condition: Condition) -> str:
    n, t = len(condition.prompt_set.validation), len(condition.prompt_set.prompts)
    return (
        f"those of {condition.task.name} at {condition.shots} shots would all be the "
        f"same, because there are only the claim's {n} validation examples and {t} prompts; remove "
        "`replicates`, or use a smaller validation.max_examples or prompts.count, or more shots"
    )


def _redrawn(condition: Condition, suite: SuiteSpec) -> Condition:
    validation = validation_set(condition.task, _task(condition, suite).validation)
    drawn = draw_condition(condition.task, validation, suite, condition.shots, condition.test)
    return dataclasses.replace(drawn, test=())


def _share(planned: PlannedClaim) -> Fraction | None:
    """Return the share of replicates that is asserted, as it is written: .9 is 9/10."""
    assertion = claimed(_task(planned.condition, planned.suite).assertion, planned.suite.assertion)
    if not isinstance(assertion, AssertSpec) or assertion.in_replicates is None:
        return None
    return Fraction(str(assertion.in_replicates))


def _task(condition: Condition, suite: SuiteSpec) -> TaskSpec:
    return next(task for task in suite.tasks if task.name == condition.task.name)
