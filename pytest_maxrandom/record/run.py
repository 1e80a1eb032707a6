"""All records of a run: what the reports show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.record.base import Adjustment, Count
from pytest_maxrandom.record.claim import ClaimRecord
from pytest_maxrandom.record.designs import (
    BestModelsRecord,
    ComparisonRecord,
    ContaminationOverTasks,
    ContaminationRecord,
    OverTasks,
    ReplicatesRecord,
)
from pytest_maxrandom.record.label_bias import LabelBiasRecord
from pytest_maxrandom.record.regressions import Regressions
from pytest_maxrandom.record.words import NotCompared, Reserved, Weaker

if TYPE_CHECKING:
    from pytest_maxrandom.record.cost import Arithmetic

Design: TypeAlias = (
    ReplicatesRecord | LabelBiasRecord | ComparisonRecord | BestModelsRecord | ContaminationRecord
)
"""What is recorded of one test that is no claim by itself."""
Record: TypeAlias = ClaimRecord | Design
"""What is recorded of one test."""
LISTS: dict[str, type[Record]] = {
    "claims": ClaimRecord,
    "replicates": ReplicatesRecord,
    "label_bias": LabelBiasRecord,
    "comparisons": ComparisonRecord,
    "best_models": BestModelsRecord,
    "contamination": ContaminationRecord,
}
"""Where a run keeps each kind of record."""

SCHEMA_VERSION = 1
UNREADABLE = "its record cannot be read"
"""What `broken` says of an item whose record is not what it should be."""


@dataclass(slots=True)
class Reservation:
    """What a reader must know before the verdict: what a gate found besides the results."""

    kind: Reserved
    id: str
    """Of the record, or, where there is none, the file and the name of the claim."""
    fails: bool = False
    """Whether it fails the gate."""
    weaker: list[Weaker] = field(default_factory=list)
    """In what a claim asks less than at the base."""
    now: dict[str, Any] = field(default_factory=dict)
    """What is asserted, where that is less."""
    before: dict[str, Any] = field(default_factory=dict)
    """What was asserted then."""
    tries: Count | None = None
    """How many prompts the ledger lacks."""


@dataclass(slots=True)
class RunRecord:
    """All claims of one run."""

    claims: list[ClaimRecord]
    created: str
    """UTC, ISO 8601."""
    versions: dict[str, str]
    """Versions of pytest-maxrandom and Python in the process that gathered the results, and of the
    libraries that computed them, in this run or earlier; several versions of one library are
    joined."""
    interrupted: bool = False
    adjustment: Adjustment = "holm"
    """How p-values are adjusted for the number of claims: by Holm's method, or by Benjamini and
    Hochberg's."""
    broken: list[str] = field(default_factory=list)
    """Mistakes of suites that could not be collected, and records that could not be read, one
    sentence each, with file and line."""
    not_run: Count = 0
    """Tests that were selected and have no result, because the run ended early."""
    replicates: list[ReplicatesRecord] = field(default_factory=list)
    label_bias: list[LabelBiasRecord] = field(default_factory=list)
    comparisons: list[ComparisonRecord] = field(default_factory=list)
    best_models: list[BestModelsRecord] = field(default_factory=list)
    contamination: list[ContaminationRecord] = field(default_factory=list)
    over_tasks: list[OverTasks] = field(default_factory=list)
    """Each comparison that was made on several tasks, over all of them."""
    contamination_over_tasks: list[ContaminationOverTasks] = field(default_factory=list)
    """Each check for contamination that was made on several tasks, over all of them."""
    reservations: list[Reservation] = field(default_factory=list)
    """What a gate found to be taken out, excused, weakened or uncounted."""
    regressions: Regressions | None = None
    """Whether anything is worse than in an earlier run; None where that was not asked."""
    not_compared: NotCompared | None = None
    """Why a gate compared it with no base; None where it did, and where no gate ran."""
    schema_version: int = SCHEMA_VERSION


def arithmetics(run: RunRecord) -> list[Arithmetic]:
    """Return what computed the numbers of a run, each once."""
    engines = [claim.engine for claim in run.claims if claim.engine]
    found = [engine.arithmetic for engine in engines if engine.arithmetic]
    for kind in LISTS:
        if kind != "claims":
            for record in getattr(run, kind):
                found += record.arithmetics
    return list({each.digest: each for each in found}.values())
