"""Comparisons of arms, ready to be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.arms import joined
from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord, Remark, note

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.studies.arms.answers import PairedAnswers
    from pytest_maxrandom.suite.arms import ContaminationSpec, DifferenceSpec


@dataclass(frozen=True)
class SweptSides:
    """Two arms that are run: their claims, one for each replicate."""

    first: Sequence[PlannedClaim]
    second: Sequence[PlannedClaim]

    @property
    def replicates(self) -> int:
        """How many there are; 1 where the suite has none."""
        return len(self.first)

    @property
    def t(self) -> int:
        """Prompts in the first replicate."""
        return len(self.first[0].condition.prompt_set.prompts)

    @property
    def n(self) -> int:
        """Examples of each."""
        return self.first[0].condition.prompt_set.n

    @property
    def examples(self) -> int:
        """Examples, or clusters, in the first replicate, at least as many in all."""
        validation = self.first[0].condition.prompt_set.validation
        return _units([each.cluster for each in validation])

    @property
    def prompts(self) -> int:
        """Distinct prompts of all replicates."""
        sets = (claim.condition.prompt_set for claim in self.first)
        return len({prompt.digest for each in sets for prompt in each.prompts})

    @property
    def simulated(self) -> bool:
        """Whether a model of one of them only makes its answers up."""
        return any(claim.model.simulated for claim in (*self.first, *self.second))


@dataclass(frozen=True)
class RecordedSides:
    """Two arms whose results exist already.

    Attributes
    ----------
    answers : PairedAnswers or None
        None where results are missing.
    missing : str or None
        What to do then.
    simulated : bool
        Whether the answers of one of them were made up by a rule.
    """

    answers: PairedAnswers | None
    missing: str | None
    simulated: bool = False

    @property
    def replicates(self) -> int:
        """Recorded results are of one replicate."""
        return 1

    @property
    def t(self) -> int | None:
        """Prompts."""
        return None if self.answers is None else len(self.answers.evaluated)

    @property
    def n(self) -> int | None:
        """Examples of each prompt, the rounded mean."""
        if self.answers is None:
            return None
        return round(float(self.answers.evaluated.sum(axis=1).mean()))

    @property
    def examples(self) -> int:
        """Examples, or clusters, that some prompt met; 0 where results are missing."""
        if self.answers is None:
            return 0
        clusters = self.answers.clusters or (None,) * len(self.answers.examples)
        return _units([clusters[k] for k in np.flatnonzero(self.answers.evaluated.any(axis=0))])

    @property
    def prompts(self) -> int:
        """Prompts; 0 where results are missing."""
        return self.t or 0


Sides = SweptSides | RecordedSides


def _units(clusters: Sequence[Hashable | None]) -> int:
    """Count clusters, with examples that stand alone."""
    known = [own for own in clusters if own is not None]
    return len(set(known)) + len(clusters) - len(known)


@dataclass(frozen=True)
class PlannedComparison:
    """Two arms on one task with one number of shots.

    Attributes
    ----------
    name : str
        ``compare[first-second]``, with the number of shots where there are several.
    line : int
        Its line in the suite file, from 1.
    changed : tuple of str
        What differs between the arms.
    claim : DifferenceSpec or None
        What is claimed of the difference.
    """

    name: str
    line: int
    task: str
    shots: int | None
    first: str
    second: str
    changed: tuple[str, ...]
    claim: DifferenceSpec | None
    xfail: str | None
    marks: tuple[str, ...]
    sides: Sides

    @property
    def compared(self) -> tuple[Sides, ...]:
        """Each pair of arms that is compared."""
        return (self.sides,)

    @property
    def confidence(self) -> float:
        """That of the interval: what is claimed holds exactly where it lies above the margin."""
        return 0.95 if self.claim is None else 1 - 2 * self.claim.level

    def record(self, node_id: str, suite: str) -> ComparisonRecord:
        """Return what can be said before it is made."""
        record = ComparisonRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            task=self.task,
            shots=self.shots or 0,
            first=self.first,
            second=self.second,
            changed=joined(self.changed),
            asserted=self.claim.model_dump(exclude_none=True) if self.claim else {},
            replicates=self.sides.replicates,
            t=self.sides.t,
            n=self.sides.n,
            confidence=self.confidence,
            xfail=self.xfail,
            simulated=self.sides.simulated,
        )
        arms = {"first": self.first, "second": self.second}
        if len(self.changed) > 1:
            note(record, Remark("several_differences", arms))
        elif not self.changed:
            note(record, Remark("no_difference", arms))
        return record


@dataclass(frozen=True)
class PlannedContamination:
    """Three arms of one task that tell whether a model was tuned on its text.

    Attributes
    ----------
    name : str
        ``contamination``, with the number of shots where there are several.
    boost, bias : SweptSides or RecordedSides
        Arms extra and base, test and extra.
    """

    name: str
    line: int
    task: str
    shots: int | None
    spec: ContaminationSpec
    marks: tuple[str, ...]
    boost: Sides
    bias: Sides

    @property
    def compared(self) -> tuple[Sides, ...]:
        """Each pair of arms that is compared."""
        return self.boost, self.bias

    @property
    def xfail(self) -> str | None:
        """Why it is expected to fail."""
        return self.spec.xfail

    def record(self, node_id: str, suite: str) -> ContaminationRecord:
        """Return what can be said before the arms are compared."""
        return ContaminationRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            task=self.task,
            shots=self.shots or 0,
            base=self.spec.base,
            extra=self.spec.extra,
            test=self.spec.test,
            level=self.spec.level,
            xfail=self.spec.xfail,
            simulated=self.boost.simulated or self.bias.simulated,
        )
