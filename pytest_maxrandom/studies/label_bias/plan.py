"""From a suite's claims to the checks of their labels: what is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.record import LabelBiasRecord, Remark, note
from pytest_maxrandom.stats.labels.priors import held_back
from pytest_maxrandom.studies.label_bias.controls import no_base_rate_reason
from pytest_maxrandom.studies.label_bias.interactions import (
    InteractionPlan,
    formats_of,
    interaction_of,
)
from pytest_maxrandom.studies.label_bias.of_claim import OfClaim
from pytest_maxrandom.studies.label_bias.placements import unmovable
from pytest_maxrandom.sweeps.labels import preferable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.sweeps.labels import Labels

    Mistake = tuple[str, str]
    """A key of `label_bias`, or "", and one sentence."""

Planned = TypeVar("Planned")


@dataclass(frozen=True)
class PlannedLabelBias(OfClaim):
    """The check of one claim's labels, ready to be made.

    Attributes
    ----------
    claim : PlannedClaim
        The claim.
    interactions : tuple of InteractionPlan
        How its labels are asked for.
    notes : tuple of Remark
        What a reader must know.
    """

    claim: PlannedClaim
    spec: LabelBiasSpec
    interactions: tuple[InteractionPlan, ...] = field(repr=False)
    notes: tuple[Remark, ...]

    def record(self, node_id: str, suite: str) -> LabelBiasRecord:
        """Return what can be said of the check before it is made."""
        claim = self.claim
        record = LabelBiasRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            claim=f"{suite}::{claim.name}",
            task=claim.cell.task.name,
            model=claim.model.name,
            quantization=claim.model.variant,
            shots=claim.cell.shots,
            check=self.spec.check,
            base_rate=self.spec.base_rate,
            seed=self.spec.seed,
            asserted=asserted(self.spec),
            simulated=claim.model.simulated,
        )
        return note(record, *self.notes)


def asserted(spec: LabelBiasSpec) -> dict[str, float]:
    """Return what a suite asserts of its labels, as a record has it."""
    return {} if spec.assertion == "report" else {"above_random": spec.level}


def leaving_out(tasks: Sequence[object]) -> str:
    """Return how a suite with these tasks goes without the check of one of them."""
    return "name the other tasks in `label_bias.tasks`" if len(tasks) > 1 else "remove `label_bias`"


def plan_label_bias(
    suite: Suite, planned: Sequence[PlannedClaim | Planned]
) -> list[PlannedClaim | PlannedLabelBias | Planned]:
    """Return what is planned, with the check of its labels after each claim that has one.

    Raises
    ------
    SuiteError
        With all the reasons why there is no such check of a task as the suite asks for.
    """
    spec = suite.spec.label_bias
    if spec is None:
        return list(planned)
    problems: dict[Problem, None] = {}
    found: list[PlannedClaim | PlannedLabelBias | Planned] = []
    for each in planned:
        found.append(each)
        if not isinstance(each, PlannedClaim) or not spec.is_about(each.cell.task.name):
            continue
        labelled = _Labelled.of(each.cell.prompt_set)
        if mistakes := list(_mistakes(labelled, spec, leaving_out(suite.spec.tasks))):
            for key, message in mistakes:
                line = suite.line("label_bias", *([key] if key else []))
                dotted = f"label_bias.{key}" if key else "label_bias"
                text = f"{dotted}: {each.cell.task.name}: {message}"
                problems[Problem(suite.path, line, text)] = None
        else:
            found.append(_planned(each, labelled, spec))
    if problems:
        raise SuiteError(problems)
    return found


@dataclass(frozen=True)
class _Labelled:
    """A prompt set with its labels, and why not everything can be asked of them."""

    prompt_set: PromptSet
    labels: Labels
    no_base_rate_reason: str | None
    """Why they have no probability without a question."""
    unmovable: str | None
    """Why right answers cannot stand at other labels."""

    @classmethod
    def of(cls, prompt_set: PromptSet) -> _Labelled:
        labels, formats = preferable(prompt_set)[-1], formats_of(prompt_set)
        reasons = (no_base_rate_reason(form, labels) for form in formats)
        pinned = (unmovable(form, prompt_set.validation) for form in formats)
        return cls(
            prompt_set, labels, next(filter(None, reasons), None), next(filter(None, pinned), None)
        )

    @property
    def has_two(self) -> bool:
        """Whether each prompt is scored on right answers with different labels."""
        gold = dict(zip((e.id for e in self.labels.examples), self.labels.gold, strict=True))
        scored = map(self.prompt_set.scored, self.prompt_set.prompts)
        return all(len(set().union(*(gold[e.id] for e in examples))) > 1 for examples in scored)


def _planned(claim: PlannedClaim, labelled: _Labelled, spec: LabelBiasSpec) -> PlannedLabelBias:
    own = interaction_of(claim.suite.scoring)
    notes = []
    if labelled.no_base_rate_reason and spec.base_rate != "off":
        notes.append(Remark("no_base_rate", {"why": labelled.no_base_rate_reason}))
        spec = spec.model_copy(update={"base_rate": "off"})
    interactions = tuple(
        InteractionPlan.of(claim, interaction, spec) for interaction in spec.interactions or [own]
    )
    notes += _notes(labelled, spec, interactions)
    return PlannedLabelBias(claim, spec, interactions, tuple(notes))


def _mistakes(labelled: _Labelled, spec: LabelBiasSpec, without: str) -> Iterator[Mistake]:
    """Yield why there is no such check of a task.

    Parameters
    ----------
    without : str
        How the suite goes without it.
    """
    labels, pinned, reason = labelled.labels, labelled.unmovable, labelled.no_base_rate_reason
    if not labels.meaningful(labelled.prompt_set.prompts):
        yield (
            "",
            "choices differ from example to example and are not listed, so no answer has a label; "
            f"list them (`append_choices: true`), or {without}",
        )
        return
    if spec.check != "recall" and pinned:
        yield "check", f"{_clause(pinned)}; use `check: recall`"
    if spec.check == "recall" and not labelled.has_two:
        yield (
            "",
            "a prompt is scored on examples whose right answers all have the same label, so that "
            "nothing tells knowledge from a preference for it; use other examples",
        )
    if reason and spec.base_rate != "off" and "base_rate" in spec.model_fields_set:
        yield "base_rate", f"{_clause(reason)}; use `base_rate: off`"
    if reason and "contextual" in spec.calibration:
        yield "calibration", f"{_clause(reason)}; remove `contextual`"
    if "pride" in spec.calibration:
        if pinned:
            yield "calibration", f"{_clause(pinned)}; remove `pride`"
        else:
            try:
                held_back([e.id for e in labels.examples], labels.choices, seed=spec.seed)
            except ValueError as error:
                yield "calibration", f"{error}; remove `pride`"


def _notes(
    labelled: _Labelled, spec: LabelBiasSpec, interactions: Sequence[InteractionPlan]
) -> Iterator[Remark]:
    if any(len(example.right) > 1 for example in labelled.prompt_set.validation):
        yield Remark("several_right" if spec.check == "recall" else "first_right_moved")
    for plan in interactions:
        if not plan.own:
            yield Remark("interaction_is_no_try", {"interaction": plan.interaction})


def _clause(sentence: str) -> str:
    """Return a sentence as a part of one."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
