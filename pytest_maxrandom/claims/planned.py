"""What is known of a claim before a model is loaded."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.claims.samples import aggregate_of, scores_samples
from pytest_maxrandom.claims.training import training_of, training_record
from pytest_maxrandom.ledger import FOLDER, SIMULATED, examples_digest
from pytest_maxrandom.record import (
    SCORE,
    ClaimRecord,
    Generated,
    PromptCount,
    ValidationSet,
    note,
)
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.sweeps.scorers import SCORERS, stored_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.arms import Arm
    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.claims.incumbents import Incumbent
    from pytest_maxrandom.claims.nulls import Null
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.models.base import Located
    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.record import ClaimHeading, Record
    from pytest_maxrandom.stats.exchanges import Exchange
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.recorded import (
        RecordedModelSpec,
        RecordedSuiteSpec,
        RecordedTaskSpec,
    )
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.prompts.formats import Prompt


@dataclass(frozen=True, eq=False, kw_only=True)
class Planned:
    """What a suite asks to be tested, known when it has been read."""

    name: str
    """In test ids."""
    line: int
    """Its line in the suite file, from 1; that of its task where it is about one."""
    xfail: str | None
    """Why it is expected to fail."""
    marks: tuple[str, ...]
    """Its pytest marks."""
    missing: str | None = None
    """What to do where results are missing; None where they are not, or models are run."""

    @abstractmethod
    def record(self, node_id: str, suite: str) -> Record:
        """Return what can be said of it before it is tested."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClaimOfSuite(Planned):
    """A claim of a suite, whether its model is run or its results exist already.

    Its name is ``task[model-kshot]``, or ``task[model-quantization-kshot]`` where that is known.
    """

    model: ModelSpec | RecordedModelSpec
    task: str
    shots: int | None
    """None where only results would tell, and they are missing."""
    claim: Claim
    share: Literal["nothing", "texts"] = "nothing"
    """Whether what is made in CI may hold its texts."""

    @property
    def simulated(self) -> bool:
        """Whether a rule made the answers up."""
        return False

    @property
    def exchanges(self) -> tuple[int, Iterable[Exchange]]:
        """As the best of how many it is tested, and all ways to exchange right answers, if any."""
        return 0, ()

    @property
    def null(self) -> Null | None:
        """The guessers; None where no guess has a chance."""
        return None

    def heading(self, node_id: str, suite: str) -> ClaimHeading:
        """Return what the records of a claim, and of the checks that go with it, begin with."""
        return {
            "id": node_id,
            "suite": suite,
            "line": self.line,
            "task": self.task,
            "model": self.model.name,
            "quantization": self.model.variant,
            "shots": self.shots or 0,
            "simulated": self.simulated,
        }

    def begun(self, node_id: str, suite: str, **known: Any) -> ClaimRecord:
        """Return the claim's record as it begins, with what else is known of it."""
        return ClaimRecord(
            **self.heading(node_id, suite),
            asserted=self.claim.asserted(),
            severities=self.claim.deviations(),
            backend=self.model.backend,
            xfail=self.xfail,
            share=self.share,
            **known,
        )

    @staticmethod
    def stated(
        spec: SuiteSpec | RecordedSuiteSpec,
        task: TaskSpec | RecordedTaskSpec,
        model: str,
        shots: int | None,
    ) -> dict[str, Any]:
        """Return what a suite says of a claim on one of its tasks, about a model of this name."""
        return {
            "name": f"{task.name}[{model}{'' if shots is None else f'-{shots}shot'}]",
            "task": task.name,
            "shots": shots,
            "xfail": task.xfail or spec.xfail,
            "marks": tuple(dict.fromkeys([*spec.marks, *task.marks])),
            "share": spec.share,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedClaim(ClaimOfSuite):
    """A claim about a model that is run, ready to be tested."""

    base: Path
    """Folder that the suite's paths are relative to."""
    file: str = ""
    """Name of the suite's file there."""
    backends: Backends = field(repr=False, compare=False)
    """Those of the session, which know its model."""
    model: ModelSpec
    condition: Condition
    counted: Literal["claim", "task"]
    suite: SuiteSpec
    """The suite with what its arm changes."""
    arm: Arm
    """The arm, or else the model, that the claim is about."""
    replicate: int = 0
    """Which replicate of the claim this is; 0 is the claim itself."""
    design: Design | None = field(default=None, repr=False, compare=False)
    """All replicates of the suite's claims; None where it has none."""
    model_line: int | None = None
    """Where in the suite file the model stands, from 1."""
    incumbent: Incumbent | None = None
    """What runs today, which the best prompt is compared with; None where the suite names none."""

    @property
    def aggregate(self) -> Aggregate | None:
        """What several samples of each answer come to; None where each is asked for once."""
        return aggregate_of(self.suite)

    @property
    def is_graded(self) -> bool:
        """Whether its answers have scores from 0 to 1, which no guesser is compared with."""
        return SCORERS[self.suite.scoring].is_graded

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What its model is asked."""
        return self.condition.jobs(self.suite.scoring, self.aggregate)

    @property
    def exchanges(self) -> tuple[int, Iterable[Exchange]]:
        """As the best of how many it is tested, and all ways to exchange right answers."""
        exchanges = (labels.exchange for labels in self.condition.shuffled)
        return self.claim.tried(self.null.t), exchanges

    def with_t(self, t: int) -> PlannedClaim:
        """Return the claim with t prompts in all, of which the sweep's are a part."""
        condition = self.condition.with_t(t, self.suite.metric)
        return (
            self if condition is self.condition else dataclasses.replace(self, condition=condition)
        )

    @property
    def simulated(self) -> bool:
        """Whether a rule makes the answers up."""
        return self.model.simulated

    @cached_property
    def training(self) -> Training | None:
        """What the model is trained on before it is asked; None where it is run as it is.

        Raises
        ------
        NoTexts, SuiteError
            Where there is nothing to train on; planning tells that.
        """
        return training_of(self.suite, self.arm.key, self.condition, self.base, self.replicate)

    @property
    def located(self) -> Located:
        """Where its model is, with what it is trained on.

        Raises
        ------
        ModelError
            If it is nowhere, or cannot be trained so.
        """
        return self.backends.locate(self.model, self.base, self.training)

    @property
    def ledger(self) -> Path:
        """The folder of the ledger that counts it: one of their own for simulated models."""
        return self.base / (SIMULATED if self.simulated else FOLDER)

    @property
    def null(self) -> Null:
        """The guessers, in the metric of the suite."""
        return self.condition.score_null or self.condition.null

    @property
    def _baselines(self) -> dict[str, float | None]:
        """Its baselines, as far as they are known before the answers of several samples are."""
        if scores_samples(self.aggregate):
            return {}
        return {
            "standard_baseline": self.null.standard_baseline,
            "max_random_baseline": self.null.max_random_baseline,
        }

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim before it is tested."""
        condition, prompts = self.condition, self.suite.prompts
        spec = next(task for task in self.suite.tasks if task.name == self.task)
        prompt_set = condition.prompt_set
        # Chance is learnt where there are no choices.
        chances = Counter(str(each.chance) for each in prompt_set.validation if each.open is None)
        scored = prompt_set.scored(prompt_set.prompts[0])
        clusters, effective_n = summary(example.cluster for example in scored)
        record = self.begun(
            node_id,
            suite,
            levels=self.claim.levels(self.null.t),
            revision=getattr(self.model, "revision", None),
            scoring=self.suite.scoring,
            generated=generated_by(prompt_set.prompts[0]),
            roles={} if self.is_graded else condition.roles,
            n=prompt_set.n,
            clusters=clusters,
            effective_n=effective_n,
            t=self.null.t,
            metric=SCORE if self.is_graded else self.suite.metric,
            judge=stored_as(self.suite.scoring) if self.is_graded else None,
            rule=condition.matching.digest if condition.task.is_open else None,
            **self._baselines,
            prompts=PromptCount(
                asked=prompts.count,
                possible=prompt_set.possible,
                regime=prompt_set.regime,
                pool=prompt_set.pool,
                instructions=len(prompts.instructions or [""]),
                formats=len(prompts.formats or [""]),
                combine=prompts.combine,
                seed=prompts.seed,
                source=condition.task.pool_source or None if prompt_set.regime == "pool" else None,
            ),
            validation=ValidationSet(
                examples=len(prompt_set.validation),
                available=len(condition.task.examples),
                duplicates=condition.task.duplicates,
                seed=spec.validation.seed,
                chances=dict(sorted(chances.items())),
                test=len(condition.test),
                digest=examples_digest(prompt_set.validation),
            ),
            validation_ids=[example.id for example in prompt_set.validation],
            task_digest=condition.task.digest,
            training=training_record(self.training, condition),
        )
        return note(
            record, *self.claim.notes, *self.arm.notes, *condition.task.notes, *prompt_set.notes
        )


def generated_by(prompt: Prompt) -> Generated | None:
    """Return how answers are generated to a prompt; None where choices are scored."""
    how = prompt.format.generation
    if how is None:
        return None
    stop = None if how.stop is None else list(how.stop)
    return Generated(how.max_tokens, stop, how.temperature, how.pattern)


class Design:
    """The replicates of a suite's claims, and which prompts each of them tries on which examples.

    To the latter neither a model's name nor its revision matters: the design is the same for all.
    """

    def __init__(self) -> None:
        self._claims: dict[str, list[PlannedClaim]] = {}
        self._tried: dict[str, dict[str, int]] = {}  # set, prompt: a bit for each replicate
        self._conditions: set[Condition] = set()

    def add(self, replicates: Sequence[PlannedClaim]) -> list[PlannedClaim]:
        """Make the replicates of a claim a part of the design."""
        added = [dataclasses.replace(planned, design=self) for planned in replicates]
        self._claims[added[0].name] = added
        for planned in added:
            condition = planned.condition
            if condition in self._conditions:  # models share their conditions
                continue
            self._conditions.add(condition)
            digest = examples_digest(condition.prompt_set.validation)
            of_set = self._tried.setdefault(digest, {})
            for prompt in condition.prompt_set.digests:
                of_set[prompt] = of_set.get(prompt, 0) | 1 << planned.replicate
        return added

    def of(self, claim: str) -> list[PlannedClaim]:
        """Return the replicates of the claim that has this name."""
        return self._claims[claim]

    def siblings(self, replicate: int) -> Callable[[str], frozenset[str]]:
        """Return what tells the prompts that only other replicates try on a set of examples."""

        def of_set(digest: str) -> frozenset[str]:
            return frozenset(
                prompt
                for prompt, tried in self._tried.get(digest, {}).items()
                if not tried >> replicate & 1
            )

        return of_set
