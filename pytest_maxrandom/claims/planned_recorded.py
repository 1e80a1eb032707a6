"""What is known of a claim about results that exist already, before it is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.planned import ClaimOfSuite
from pytest_maxrandom.flags.prefilter import candidates
from pytest_maxrandom.record import ClaimRecord, Recorded, note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.stated import Evidence
    from pytest_maxrandom.suite.recorded import RecordedModelSpec


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedClaim(ClaimOfSuite):
    """A claim about results that exist already, ready to be judged.

    Attributes
    ----------
    evidence : Evidence or None
        None where the results are missing.
    """

    model: RecordedModelSpec
    evidence: Evidence | None

    @property
    def name_of_model(self) -> str:
        """What reports call its model; one name may stand for several, which labels tell apart."""
        label = self.model.label
        return self.model.name if label is None else f"{self.model.name} ({label})"

    def other_models(self, claims: Iterable[RecordedClaim]) -> list[Answers]:
        """Return the answers of other models, asked the same, that may be this one.

        One name with several quantizations is one model; with several labels it is not.
        """
        assert self.evidence is not None
        found = [
            claim
            for claim in claims
            if (claim.task, claim.shots) == (self.task, self.shots)
            and (
                claim.model.name != self.model.name
                or (
                    claim.model.label != self.model.label
                    and claim.model.quantization == self.model.quantization
                )
            )
        ]
        named = [
            replace(claim.evidence.read, model=claim.name_of_model)
            for claim in found
            if claim.evidence is not None and claim.evidence.read.prompts
        ]
        return candidates(self.evidence.read, named)

    @property
    def simulated(self) -> bool:
        """Whether a rule made the answers up."""
        return self.evidence is not None and self.evidence.read.simulated

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim before it is judged."""
        model, evidence = self.model, self.evidence
        stated = list(evidence.stated) if evidence else []
        record = ClaimRecord(
            **self.heading(node_id, suite),
            asserted=self.claim.asserted(),
            levels=self.claim.levels(self.evidence.null.t) if self.evidence else {},
            severities=self.claim.deviations(),
            backend=model.backend,
            scoring="",
            xfail=self.xfail,
            share=self.share,
            recorded=Recorded(model.results.path, model.results.format, stated),
        )
        note(record, *self.claim.notes)
        if evidence:
            record.n, record.t = evidence.n, evidence.null.t
            record.clusters, record.effective_n = evidence.clusters
            record.standard_baseline = evidence.null.standard_baseline
            record.max_random_baseline = evidence.null.max_random_baseline
            record.published = evidence.published
            note(record, *evidence.notes)
            record.validation_ids = list(evidence.results.examples)
            assert record.recorded is not None
            record.recorded.chances = evidence.mix
        return record
