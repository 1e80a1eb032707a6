"""What is found of a claim, and the record that is built from it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_maxrandom import record as records

DEFAULT_LEVEL = 0.05
"""What a p-value is compared with where a claim says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What is found of a claim; what has the name of a field of the record is that field.

    None is what was not computed.
    """

    n: int
    t: int
    levels: dict[str, float]
    holds: bool | None
    passed: bool | None
    standard_baseline: float | None = None
    max_random_baseline: float | None = None
    max_random_baseline_error: float | None = None
    cannot_tell: records.Remark | None = None
    verdict: records.Standing | None = None
    best: int = 0
    """Row of the best prompt among those that are distinct."""
    sampled: records.Sampled | None = None
    best_correct: int | None = None
    best_accuracy: float | None = None
    best_score: float | None = None
    p_standard: float | None = None
    p_max: float | None = None
    p_max_error: float | None = None
    log_p_max: float | None = None
    union_p: float | None = None
    permutation_p: float | None = None
    baseline_p: float | None = None
    baseline: records.BesideIncumbent | None = None
    control_p: float | None = None
    control: records.BesideIncumbent | None = None
    incumbent_p: float | None = None
    incumbent: records.BesideIncumbent | None = None
    critical_count: int | None = None
    critical_score: float | None = None
    critical_parts: list[str] = field(default_factory=list)
    answers: str | None = None
    correct_counts: list[int] | None = None
    mean_scores: list[float] | None = None
    clusters: int | None = None
    effective_n: float | None = None
    ties: int | None = None
    best_ties: int | None = None
    majority_rate: float | None = None
    majority_p: float | None = None
    shortcuts: records.Shortcuts | None = None
    new_questions: records.NewQuestions | None = None
    red_flags: list[records.RedFlag] = field(default_factory=list)
    best_prompt: records.BestPrompt | None = None
    generated: records.Generated | None = None
    engine: records.SweepCost | None = None
    revision: str | None = None
    training: records.TrainingRecord | None = None
    model_digest: str | None = None
    counted_as: str | None = None
    searched: records.Searched | None = None
    tries: records.Tries | None = None
    different_answers: int | None = None
    decided: records.DecidedEarly | None = None
    test: records.HeldOut | None = None
    notes: tuple[records.Remark, ...] = ()
    """What a reader must know, besides what was known before the claim was tested."""
    warnings: tuple[records.Remark, ...] = ()
    """Which red flags of packages could not be looked for."""

    @property
    def level(self) -> float:
        """What p_max is compared with."""
        return self.levels.get("p_max", DEFAULT_LEVEL)

    @property
    def reached(self) -> float:
        """Accuracy of the best prompt, whether its right answers are counted or are a mean."""
        if self.best_correct is not None:
            return self.best_correct / self.n
        assert self.best_accuracy is not None
        return self.best_accuracy

    @property
    def has_learned(self) -> bool:
        """Whether a search has learned of prompts on these examples."""
        return self.searched is not None and self.searched.learned

    def noted(self, *notes: records.Remark) -> Result:
        """Return the result with further notes."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def record(self, heading: records.ClaimRecord) -> records.ClaimRecord:
        """Return the record of the claim; `heading` is what was known before it was tested.

        Nothing else writes what was found into one.
        """
        of_record = {each.name for each in fields(heading)} - {"notes", "warnings"}
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        found = {
            name: value
            for name, value in values.items()
            if name in of_record and (value is not None or name in ("holds", "passed"))
        }
        return replace(
            heading,
            **found,
            passes_on=self._passes_on(heading.asserted),
            notes=[*heading.notes, *self.notes],
            warnings=[*heading.warnings, *self.warnings],
        )

    def _passes_on(self, asserted: Collection[str]) -> records.PassesOn | None:
        """Tell on what it passes where right answers were not shuffled, here or on a test set."""
        on_test = self.test is not None and self.test.permutation_p is not None
        if not self.passed or not asserted or self.permutation_p is not None or on_test:
            return None
        # A preferred label would have to be better than these, too.
        if {"baseline_p", "control_p", "incumbent_p"} & {*asserted}:
            return None
        if "union_p" in asserted:  # which p_max is never above
            return "union p only"
        return "p_max only" if "p_max" in asserted else "baseline only"
