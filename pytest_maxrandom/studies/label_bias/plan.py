"""From a suite's claims to the checks of their labels: what is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.claims.assessment import assess_recorded
from pytest_maxrandom.claims.planned import PlannedClaim, RecordedClaim
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.record import LabelBiasRecord, Remark, note
from pytest_maxrandom.stats.labels.priors import held_back
from pytest_maxrandom.studies.label_bias.answers import NoLabels, recorded
from pytest_maxrandom.studies.label_bias.conclude import conclude, holds, reduce
from pytest_maxrandom.studies.label_bias.interactions import (
    InteractionPlan,
    formats_of,
    interaction_of,
    no_base_rate_reason,
    unmovable,
)
from pytest_maxrandom.sweeps.labels import preferable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.studies.label_bias.answers import LabelAnswers
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.suite.loader import RecordedSuite, Suite
    from pytest_maxrandom.sweeps.labels import Labels

    Mistake = tuple[str, str]
    """A key of `label_bias`, or "", and one sentence."""

Planned = TypeVar("Planned")


@dataclass(frozen=True)
class PlannedLabelBias:
    """The check of one claim's labels, ready to be made.

    Attributes
    ----------
    claim : PlannedClaim or RecordedClaim
        The claim.
    interactions : tuple of InteractionPlan
        How its labels are asked for; empty where results are recorded, and nobody can be asked.
    notes : tuple of Remark
        What a reader must know.
    answers : LabelAnswers or None
        The answers of recorded results; None where they are missing, or a model is run.
    """

    claim: PlannedClaim | RecordedClaim
    spec: LabelBiasSpec
    interactions: tuple[InteractionPlan, ...] = field(repr=False)
    notes: tuple[Remark, ...]
    answers: LabelAnswers | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """``task[...]::label_bias``."""
        return f"{self.claim.name}::label_bias"

    @property
    def line(self) -> int:
        """Line of the task in the suite file, from 1."""
        return self.claim.line

    @property
    def marks(self) -> tuple[str, ...]:
        """The claim's pytest marks."""
        return self.claim.marks

    @property
    def xfail(self) -> None:
        """None: it may fail where the claim is expected to, and need not."""
        return None

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

    def judge(self, record: LabelBiasRecord) -> None:
        """Fill the record of recorded results."""
        asked = self.answers
        assert asked is not None
        assert isinstance(self.claim, RecordedClaim)
        assert self.claim.evidence is not None
        claim = self.claim.record(record.claim, record.suite)
        assess_recorded(self.claim, claim)
        record.claim_holds = held = holds(claim, self.spec.level)
        t = self.claim.evidence.null.t
        conclude(record, [reduce(asked, "cloze", self.spec, t, claim_holds=held)])


def plan_label_bias(
    suite: Suite | RecordedSuite, planned: Sequence[Planned]
) -> list[Planned | PlannedLabelBias]:
    """Return what is planned, with the check of its labels after each claim that has one.

    Raises
    ------
    SuiteError
        With all the reasons why there is no such check of a task as the suite asks for.
    """
    spec = suite.spec.label_bias
    problems: dict[Problem, None] = {}
    found: list[Planned | PlannedLabelBias] = []
    several = len(suite.spec.tasks) > 1
    without = "name the other tasks in `label_bias.tasks`" if several else "remove `label_bias`"
    for each in planned:
        found.append(each)
        if not isinstance(each, PlannedClaim | RecordedClaim):
            continue
        if spec is None or not spec.is_about(each.task):
            continue
        if isinstance(each, PlannedClaim):
            labelled, about = _Labelled.of(each.condition.prompt_set), each.task
            mistakes = list(_mistakes(labelled, spec, without))
            check = None if mistakes else _planned(each, labelled, spec)
        else:
            about, mistakes = each.name, []
            try:
                check = _planned_recorded(each, spec)
            except NoLabels as reason:
                check, mistakes = None, [("", f"{reason}, or {without}")]
        for key, message in mistakes:
            line = suite.line("label_bias", *([key] if key else []))
            dotted = f"label_bias.{key}" if key else "label_bias"
            problems[Problem(suite.path, line, f"{dotted}: {about}: {message}")] = None
        found += [check] if check else []
    if problems:
        raise SuiteError(problems)
    return found


def _planned_recorded(claim: RecordedClaim, spec: LabelBiasSpec) -> PlannedLabelBias:
    """Return the check of recorded results: recalls only, because nobody can be asked again.

    Raises
    ------
    NoLabels
        If they tell nothing of labels.
    """
    return PlannedLabelBias(
        claim,
        spec.model_copy(update={"base_rate": "off"}),
        (),
        (Remark("no_base_rate_of_results"),),
        answers=None if claim.evidence is None else recorded(claim),
    )


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
