"""All records of a run: what the reports show."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_maxrandom.record.claim import ClaimRecord
from pytest_maxrandom.record.designs import (
    ComparisonRecord,
    ContaminationRecord,
    OverTasks,
    ReplicatesRecord,
)
from pytest_maxrandom.record.label_bias import LabelBiasRecord
from pytest_maxrandom.record.words import Adjustment

SCHEMA_VERSION = 1
UNREADABLE = "its record cannot be read"
"""What `broken` says of an item whose record is not what it should be."""


@dataclass(slots=True)
class RunRecord:
    """All claims of one run."""

    claims: list[ClaimRecord]
    created: str
    """UTC, ISO 8601."""
    versions: dict[str, str]
    """Of pytest-maxrandom, Python and the libraries that produced the numbers."""
    interrupted: bool = False
    adjustment: Adjustment = "holm"
    """How p-values are adjusted for the number of claims: Holm's method, or that of Benjamini
    and Hochberg."""
    broken: list[str] = field(default_factory=list)
    """Mistakes of suites that could not be collected, and records that could not be read, one
    sentence each, with file and line."""
    not_run: int = 0
    """Tests that were selected and have no result, because the run ended before."""
    replicates: list[ReplicatesRecord] = field(default_factory=list)
    label_bias: list[LabelBiasRecord] = field(default_factory=list)
    comparisons: list[ComparisonRecord] = field(default_factory=list)
    contamination: list[ContaminationRecord] = field(default_factory=list)
    over_tasks: list[OverTasks] = field(default_factory=list)
    """Each comparison that was made on several tasks, over all of them."""
    schema_version: int = SCHEMA_VERSION
