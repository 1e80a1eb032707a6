"""From a suite's claims to the checks of their labels: what is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.planned import Planned, PlannedClaim
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.record import LabelBiasRecord, Remark, note
from pytest_maxrandom.stats.labels.priors import held_back
from pytest_maxrandom.studies.label_bias.answers import NoLabels, recorded
from pytest_maxrandom.studies.label_bias.interactions import InteractionPlan, interaction_of
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.suite.loader import RecordedSuite, Suite

    Mistake = tuple[str, str]
    """A key of `label_bias`, or "", and one sentence."""


@dataclass(frozen=True, kw_only=True)
class PlannedLabelBias(Planned):
    """The check of one claim's labels, ready to be made."""

    claim: PlannedClaim | RecordedClaim
    """The claim."""
    spec: LabelBiasSpec
    notes: tuple[Remark, ...]
    """What a reader must know."""
    interactions: tuple[InteractionPlan, ...] = field(default=(), repr=False)
    """How its labels are asked for; empty where results are recorded, and nobody can be asked."""
    answers: Answers | None = field(default=None, repr=False)
    """The answers of recorded results; None where they are missing, or a model is run."""

    def record(self, node_id: str, suite: str) -> LabelBiasRecord:
        """Return what can be said of the check before it is made."""
        record = LabelBiasRecord(
            **self.claim.heading(node_id, suite),
            claim=f"{suite}::{self.claim.name}",
            check=self.spec.check,
            base_rate=self.spec.base_rate,
            seed=self.spec.seed,
            asserted={} if self.spec.assertion == "report" else {"above_random": self.spec.level},
        )
        return note(record, *self.notes)


def plan_label_bias(suite: Suite | RecordedSuite, planned: Sequence[Planned]) -> list[Planned]:
    """Return what is planned, with the check of its labels after each claim that has one.

    Raises
    ------
    SuiteError
        With all the reasons why there is no such check of a task as the suite asks for.
    """
    spec = suite.spec.label_bias
    problems: dict[Problem, None] = {}
    with_checks: list[Planned] = []
    several = len(suite.spec.tasks) > 1
    without = "name the other tasks in `label_bias.tasks`" if several else "remove `label_bias`"
    for claim in planned:
        with_checks.append(claim)
        if not isinstance(claim, PlannedClaim | RecordedClaim):
            continue
        if spec is None or not spec.is_about(claim.task):
            continue
        mistakes: list[Mistake] = []
        if isinstance(claim, PlannedClaim):
            about = claim.task
            own = InteractionPlan.of(claim, interaction_of(claim.suite.scoring), spec)
            if not (mistakes := list(_mistakes(own, spec, without))):
                with_checks.append(_planned(claim, own, spec))
        else:
            about = claim.name
            try:
                answers = None if claim.evidence is None else recorded(claim)
            except NoLabels as reason:
                mistakes = [("", f"{reason}, or {without}")]
            else:  # recalls only, because nobody can be asked again
                without_rates = spec.model_copy(update={"base_rate": "off"})
                notes = (Remark("no_base_rate_of_results"),)
                with_checks.append(_check(claim, spec=without_rates, notes=notes, answers=answers))
        for key, message in mistakes:
            place = ("label_bias", key) if key else ("label_bias",)
            problems[suite.problem(place, f"{about}: {message}")] = None
    if problems:
        raise SuiteError(problems)
    return with_checks


def _check(claim: PlannedClaim | RecordedClaim, **known: Any) -> PlannedLabelBias:
    return PlannedLabelBias(
        name=f"{claim.name}::label_bias",
        line=claim.line,
        xfail=None,  # it may fail where the claim is expected to, and need not
        marks=claim.marks,
        missing=claim.missing,
        claim=claim,
        **known,
    )


def _planned(claim: PlannedClaim, own: InteractionPlan, spec: LabelBiasSpec) -> PlannedLabelBias:
    notes = []
    if own.no_base_rate_reason and spec.base_rate != "off":
        notes.append(Remark("no_base_rate", {"why": own.no_base_rate_reason}))
        spec = spec.model_copy(update={"base_rate": "off"})
    if any(len(example.right) > 1 for example in own.asked.validation):
        notes.append(Remark("several_right" if spec.check == "recall" else "first_right_moved"))
    plans = [
        InteractionPlan.of(claim, each, spec) for each in spec.interactions or [own.interaction]
    ]
    notes += [
        Remark("interaction_is_no_try", {"interaction": plan.interaction})
        for plan in plans
        if not plan.own
    ]
    return _check(claim, spec=spec, notes=tuple(notes), interactions=tuple(plans))


def _mistakes(own: InteractionPlan, spec: LabelBiasSpec, without: str) -> Iterator[Mistake]:
    """Yield why there is no such check of a task; `without` is how the suite goes without it."""
    labels, pinned, reason = own.labels, own.unmovable, own.no_base_rate_reason
    if not labels.meaningful(own.asked.prompts):
        yield (
            "",
            "choices differ from example to example and are not listed, so no answer has a label; "
            f"list them (`append_choices: true`), or {without}",
        )
        return
    if spec.check != "recall" and pinned:
        yield "check", f"{_clause(pinned)}; use `check: recall`"
    gold = dict(zip((example.id for example in labels.examples), labels.gold, strict=True))
    scored = map(own.asked.scored, own.asked.prompts)
    one_is_right = any(len(set().union(*(gold[e.id] for e in each))) < 2 for each in scored)
    if spec.check == "recall" and one_is_right:
        yield (
            "",
            "a prompt is scored on examples whose right answers all have the same label, so "
            "knowledge cannot be distinguished from a preference for it; use other examples",
        )
    if reason and spec.base_rate != "off" and "base_rate" in spec.model_fields_set:
        yield "base_rate", f"{_clause(reason)}; use `base_rate: off`"
    if reason and "contextual" in spec.calibration:
        yield "calibration", f"{_clause(reason)}; remove `contextual`"
    if "pride" in spec.calibration:
        if SCORERS[own.scoring].generates:
            yield "calibration", f"{_clause(str(reason))}; remove `pride`"
        elif pinned:
            yield "calibration", f"{_clause(pinned)}; remove `pride`"
        else:
            try:
                held_back([e.id for e in labels.examples], labels.choices, seed=spec.seed)
            except ValueError as error:
                yield "calibration", f"{error}; remove `pride`"


def _clause(sentence: str) -> str:
    """Return a sentence as a part of one."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
