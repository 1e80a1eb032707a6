"""What a run leaves behind, in plain builtin types.

A record is made where its item ran (perhaps in a worker process), travels as a dictionary, and is
rendered by :mod:`pytest_maxrandom.reports`. A number that was not computed is None.
"""

from pytest_maxrandom.record.audit import (
    AUDIT_VERSION as AUDIT_VERSION,
    AuditedTask as AuditedTask,
    BestGuess as BestGuess,
    ConstantAnswer as ConstantAnswer,
    Finding as Finding,
    FindingKind as FindingKind,
    LeftOut as LeftOut,
    Rule as Rule,
    TaskAudit as TaskAudit,
)
from pytest_maxrandom.record.base import (
    Adjustment as Adjustment,
    ClaimHeading as ClaimHeading,
    Heading as Heading,
    RedFlag as RedFlag,
    Remark as Remark,
    Severity as Severity,
    adapter_of as adapter_of,
    note as note,
    plain as plain,
)
from pytest_maxrandom.record.claim import (
    BestPrompt as BestPrompt,
    ClaimRecord as ClaimRecord,
    DecidedEarly as DecidedEarly,
    Generated as Generated,
    HeldOut as HeldOut,
    HeuristicName as HeuristicName,
    NewQuestions as NewQuestions,
    Published as Published,
    Recorded as Recorded,
    ShortcutControl as ShortcutControl,
    Shortcuts as Shortcuts,
)
from pytest_maxrandom.record.cost import (
    Arithmetic as Arithmetic,
    SweepCost as SweepCost,
    TrainingRecord as TrainingRecord,
)
from pytest_maxrandom.record.counts import (
    PromptCount as PromptCount,
    Sampled as Sampled,
    Searched as Searched,
    SearchOfExamples as SearchOfExamples,
    Tries as Tries,
    Unpassable as Unpassable,
    ValidationSet as ValidationSet,
)
from pytest_maxrandom.record.designs import (
    BestModelsRecord as BestModelsRecord,
    ComparisonRecord as ComparisonRecord,
    ContaminationOverTasks as ContaminationOverTasks,
    ContaminationRecord as ContaminationRecord,
    ModelPair as ModelPair,
    ModelStanding as ModelStanding,
    OverTasks as OverTasks,
    PromptPair as PromptPair,
    Replicate as Replicate,
    ReplicatesRecord as ReplicatesRecord,
)
from pytest_maxrandom.record.fingerprint import (
    LARGEST_CHANGE as LARGEST_CHANGE,
    Fingerprint as Fingerprint,
)
from pytest_maxrandom.record.incumbent import (
    BesideIncumbent as BesideIncumbent,
)
from pytest_maxrandom.record.label_bias import (
    Calibrated as Calibrated,
    Calibration as Calibration,
    Doubt as Doubt,
    Interaction as Interaction,
    InteractionBias as InteractionBias,
    LabelBiasRecord as LabelBiasRecord,
    LabelCheck as LabelCheck,
    LabelRow as LabelRow,
)
from pytest_maxrandom.record.regressions import (
    Regression as Regression,
    Regressions as Regressions,
)
from pytest_maxrandom.record.run import (
    LISTS as LISTS,
    SCHEMA_VERSION as SCHEMA_VERSION,
    UNREADABLE as UNREADABLE,
    Design as Design,
    Record as Record,
    Reservation as Reservation,
    RunRecord as RunRecord,
    arithmetics as arithmetics,
)
from pytest_maxrandom.record.words import (
    ALLOWED as ALLOWED,
    AMBER as AMBER,
    BY_HAND as BY_HAND,
    FAILING as FAILING,
    NOT_COMPARED as NOT_COMPARED,
    OUTCOMES as OUTCOMES,
    REPORTED as REPORTED,
    RESERVED as RESERVED,
    SCORE as SCORE,
    SETTLED as SETTLED,
    SIMULATION as SIMULATION,
    STANDINGS as STANDINGS,
    TESTED as TESTED,
    WEAKER as WEAKER,
    NotCompared as NotCompared,
    Outcome as Outcome,
    PassesOn as PassesOn,
    Reserved as Reserved,
    Standing as Standing,
    Weaker as Weaker,
    looks_real as looks_real,
)
from pytest_maxrandom.stats.labels import (
    LabelFinding as LabelFinding,
)
