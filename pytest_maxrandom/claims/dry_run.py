"""What the claims of a run will cost, model by model, before anything of them is judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.decided import undecidable
from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.models.questions import Estimate
from pytest_maxrandom.models.training import Size, Trained, Training
from pytest_maxrandom.sweeps.estimate import MOST_TEXTS, estimate, left, probe, seconds_of
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState

    Asked = tuple[PlannedClaim, Sequence[Job]]


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """One training of an arm."""

    arm: str
    task: str
    replicate: int
    """0 is the claim itself."""
    texts: int
    labelled: int
    """How many it reads."""
    words: int = 0
    tokens: int | None = 0
    steps: int = 0
    """What is left to read, each text as often as it is read, and steps of the optimizer. Tokens
    are None where the model's tokenizer is not on this machine."""
    kept: Trained | None = None
    """What the training found, where it was done before and its weights are kept."""


@dataclass(slots=True)
class ModelCost:
    """What a run asks of one model."""

    model: str
    backend: str
    claims: int = 0
    """How many claims are about it; their replicates are none."""
    stored: int = 0
    prompts: int = 0
    """Prompts whose answers the store has, and those that are to be computed, with what is asked
    besides claims."""
    examples: int = 0
    """(prompt, example) pairs that are to be computed."""
    estimate: Estimate | None = None
    """None if there is nothing to compute, or that is unknown."""
    counted: bool = True
    """Whether tokens and forward passes are counted rather than scaled from some prompts."""
    seconds: float | None = None
    """By a probe."""
    probed: int = 0
    """Prompts of the probe."""
    device: str = ""
    """Where it was."""
    early: bool = False
    """Whether a sweep may stop before all of this is computed."""
    trained: list[TrainingCost] = field(default_factory=list)
    """What is trained before anything is asked. Classification heads are not measured: training
    them takes longer than asking them."""
    later: bool = False
    """Whether more is asked where a claim passes."""
    problem: str | None = None
    """What will not let it run."""
    _names: set[tuple[str, str]] = field(default_factory=set)

    def add(self, claim: PlannedClaim, session: SessionState) -> None:
        """Take note of a claim."""
        self._names.add((str(claim.base), claim.name))
        self.claims = len(self._names)
        self.early |= session.stops(claim) and undecidable(claim) is None
        test = bool(claim.condition.test) and not session.no_test
        self.later |= not claim.replicate and (test or "choices_only" in claim.suite.shortcuts)


def costs(asked: Iterable[Asked], session: SessionState) -> list[ModelCost]:
    """Return what claims, and the checks that go with them, will take.

    Each model is loaded and tried on a few prompts, whose answers are forgotten: nothing is judged,
    stored, trained, or written to a ledger. The trainings of an arm are one model here,
    because what they cost when they are asked is the same.
    """
    by_model: dict[tuple[str, ...], list[Asked]] = {}
    for claim, jobs in asked:
        key = claim.backends.locate(claim.model, claim.base).key
        if claim.training is not None:
            key += (claim.arm.name,)
        by_model.setdefault(key, []).append((claim, jobs))
    return [_cost(own, session) for own in by_model.values()]


def _cost(asked: Sequence[Asked], session: SessionState) -> ModelCost:
    first = asked[0][0]
    cost = ModelCost(first.arm.name, first.model.backend)
    known: set[tuple[str, ...]] = set()
    todo: list[tuple[PlannedClaim, list[Job]]] = []
    trained: dict[str, TrainingCost] = {}
    try:
        for claim, jobs in asked:
            cost.add(claim, session)
            training, new = claim.training, []
            trains = "" if training is None else training.digest
            for job in jobs:
                key = trains, job.task, job.prompt.digest, job.scoring
                if key not in known:
                    known.add(key)
                    new.append(job)
            rest = left(new, None if session.fresh else session.cache(claim))
            cost.stored += len(new) - len(rest)
            cost.prompts += len(rest)
            cost.examples += sum(len(job.examples) for job in rest)
            if rest:
                todo.append((claim, rest))
                if training is not None and trains not in trained:
                    trained[trains] = _training(claim, training, session)
        cost.trained = list(trained.values())
        if todo and not (first.training and first.training.classify):
            _measure(cost, todo, session)
    except MaxRandomError as error:
        cost.problem = str(error)
    return cost


def _training(claim: PlannedClaim, training: Training, session: SessionState) -> TrainingCost:
    """Return what is trained for a claim whose answers are to be computed."""
    pool, located = session.pool, claim.located
    found = TrainingCost(
        claim.arm.name, claim.task, claim.replicate, len(training.texts), len(training.labelled)
    )
    if (known := pool.trained(located)) is not None:
        return replace(found, kept=known)
    size = pool.training_size(located) or Size(0, 0, None)
    return replace(found, words=size.words, tokens=size.tokens, steps=size.steps)


def _measure(
    measured: ModelCost, todo: Sequence[tuple[PlannedClaim, list[Job]]], session: SessionState
) -> None:
    """Load the model, count what all of its work takes, and try a part of that.

    Further pretraining changes no cost, so the base stands for what is trained.
    """
    claim = todo[0][0]
    generates = SCORERS[claim.suite.scoring].generates
    base = claim.backends.locate(claim.model, claim.base)
    model = session.pool.get(base, generates=generates)
    measured.estimate = Estimate(0, 0, 0, 0)
    for _, jobs in todo:
        LocalExecutor(lambda: model).check(jobs)
        share = sum(len(job.examples) for job in jobs) / max(1, measured.examples)
        own, counted = estimate(jobs, model, int(MOST_TEXTS * share))
        measured.estimate += own
        measured.counted &= counted
    tried = probe([job for _, jobs in todo for job in jobs], model)
    measured.probed, measured.device = tried.prompts, model.device
    measured.seconds = seconds_of(measured.estimate, measured.examples, tried)
