"""From a suite's claims to the checks of their labels: what is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.label_bias.of_claim import OfClaim
from pytest_maxrandom.label_bias.ways import Way, formats_of, interaction_of, labels_of
from pytest_maxrandom.plan import PlannedClaim
from pytest_maxrandom.prompts.controls import unasked
from pytest_maxrandom.prompts.placements import unmovable
from pytest_maxrandom.record import LabelBiasRecord
from pytest_maxrandom.stats.calibration import held_back

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.suite.label_bias import LabelBiasSpec
    from pytest_maxrandom.suite.loader import Suite

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
    ways : tuple of Way
        How its labels are asked for.
    notes : tuple of str
        What a reader must know, one sentence each.
    """

    claim: PlannedClaim
    spec: LabelBiasSpec
    ways: tuple[Way, ...] = field(repr=False)
    notes: tuple[str, ...]

    def record(self, node_id: str, suite: str) -> LabelBiasRecord:
        """Return what can be said of the check before it is made."""
        claim = self.claim
        return LabelBiasRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            claim=f"{suite}::{claim.name}",
            task=claim.cell.task.name,
            model=claim.model.name,
            quantization=claim.model.quantization,
            shots=claim.cell.shots,
            check=self.spec.check,
            base_rate=self.spec.base_rate,
            seed=self.spec.seed,
            asserted=asserted(self.spec),
            notes=list(self.notes),
        )


def asserted(spec: LabelBiasSpec) -> dict[str, float]:
    """Return what a suite asserts of its labels, as a record has it."""
    return {} if spec.assertion == "report" else {"above_random": spec.level}


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
        if mistakes := list(_mistakes(each.cell.prompt_set, spec)):
            for key, message in mistakes:
                line = suite.line("label_bias", *([key] if key else []))
                dotted = f"label_bias.{key}" if key else "label_bias"
                text = f"{dotted}: {each.cell.task.name}: {message}"
                problems[Problem(suite.path, line, text)] = None
        else:
            found.append(_planned(each, spec))
    if problems:
        raise SuiteError(problems)
    return found


def _planned(claim: PlannedClaim, spec: LabelBiasSpec) -> PlannedLabelBias:
    own = interaction_of(claim.suite.scoring)
    prompt_set = claim.cell.prompt_set
    if _reason_unasked(prompt_set):
        spec = spec.model_copy(update={"base_rate": "off"})
    ways = tuple(Way.of(claim, interaction, spec) for interaction in spec.interactions or [own])
    return PlannedLabelBias(claim, spec, ways, tuple(_notes(claim, spec, ways)))


def _mistakes(prompt_set: PromptSet, spec: LabelBiasSpec) -> Iterator[Mistake]:
    """Yield why there is no such check of a task."""
    labels, formats = labels_of(prompt_set), formats_of(prompt_set)
    if not labels.meaningful(prompt_set.prompts):
        yield (
            "",
            "choices differ from example to example and are not listed, so no answer has a label; "
            "list them (`append_choices: true`), or name the other tasks in `label_bias.tasks`",
        )
        return
    pinned = next(filter(None, (unmovable(form, prompt_set.validation) for form in formats)), None)
    if spec.check != "recall" and pinned:
        yield "check", f"{_clause(pinned)}; use `check: recall`"
    if spec.check == "recall" and not _two_labels(prompt_set):
        yield (
            "",
            "a prompt is scored on examples whose right answers all have the same label, so that "
            "nothing tells knowledge from a preference for it; use other examples",
        )
    reason = _reason_unasked(prompt_set)
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


def _notes(claim: PlannedClaim, spec: LabelBiasSpec, ways: Sequence[Way]) -> Iterator[str]:
    prompt_set = claim.cell.prompt_set
    asked = claim.suite.label_bias
    if (reason := _reason_unasked(prompt_set)) and asked and asked.base_rate != "off":
        yield f"There is no base rate: {_clause(reason)}."
    if any(len(example.right) > 1 for example in prompt_set.validation):
        yield (
            "Some examples have several right answers: an answer counts for its own label only."
            if spec.check == "recall"
            else "Some examples have several right answers: the first of them is moved, and only "
            "that one counts."
        )
    for way in ways:
        if not way.own:
            yield (
                f"The prompts of the {way.interaction} interaction are no tries of the claim, "
                "because nothing is chosen by them; the ledger does not list them."
            )


def _reason_unasked(prompt_set: PromptSet) -> str | None:
    labels = labels_of(prompt_set)
    return next(filter(None, (unasked(form, labels) for form in formats_of(prompt_set))), None)


def _two_labels(prompt_set: PromptSet) -> bool:
    """Whether each prompt is scored on right answers with different labels."""
    labels = labels_of(prompt_set)
    gold = {e.id: right for e, right in zip(labels.examples, labels.gold, strict=True)}
    return all(
        len(set().union(*(gold[example.id] for example in prompt_set.scored(prompt)))) > 1
        for prompt in prompt_set.prompts
    )


def _clause(sentence: str) -> str:
    """Return a sentence as a part of one."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
