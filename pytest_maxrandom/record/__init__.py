"""What a run leaves behind, in plain builtin types.

A record is made where its item ran (perhaps in a worker process), travels as a dictionary, and is
rendered by :mod:`pytest_maxrandom.reports`. A number that was not computed is None.
"""

from pytest_maxrandom.record.base import (
    Adjustment,
    Arithmetic,
    Note,
    Outcome,
    Remark,
    Standing,
    note,
)
from pytest_maxrandom.record.claim import (
    BestPrompt,
    ClaimRecord,
    HeldOut,
    HeuristicName,
    NewQuestions,
    PromptCount,
    Published,
    Recorded,
    ShortcutControl,
    Shortcuts,
    SweepCost,
    Tries,
    ValidationSet,
)
from pytest_maxrandom.record.designs import (
    ComparisonRecord,
    ContaminationRecord,
    OverTasks,
    PromptPair,
    Replicate,
    ReplicatesRecord,
)
from pytest_maxrandom.record.label_bias import (
    Calibrated,
    Calibration,
    Interaction,
    InteractionBias,
    LabelBiasRecord,
    LabelCheck,
    LabelRow,
)
from pytest_maxrandom.record.red_flags import RedFlag, RedFlagKind, Severity
from pytest_maxrandom.record.run import (
    LISTS,
    SCHEMA_VERSION,
    UNREADABLE,
    Design,
    Record,
    RunRecord,
    arithmetics,
)
from pytest_maxrandom.stats.labels import LabelFinding

__all__ = [
    "LISTS",
    "SCHEMA_VERSION",
    "UNREADABLE",
    "Adjustment",
    "Arithmetic",
    "BestPrompt",
    "Calibrated",
    "Calibration",
    "ClaimRecord",
    "ComparisonRecord",
    "ContaminationRecord",
    "Design",
    "HeldOut",
    "HeuristicName",
    "Interaction",
    "InteractionBias",
    "LabelBiasRecord",
    "LabelCheck",
    "LabelFinding",
    "LabelRow",
    "NewQuestions",
    "Note",
    "Outcome",
    "OverTasks",
    "PromptCount",
    "PromptPair",
    "Published",
    "Record",
    "Recorded",
    "RedFlag",
    "RedFlagKind",
    "Remark",
    "Replicate",
    "ReplicatesRecord",
    "RunRecord",
    "Severity",
    "ShortcutControl",
    "Shortcuts",
    "Standing",
    "SweepCost",
    "Tries",
    "ValidationSet",
    "arithmetics",
    "note",
]
