"""What is recorded of the training of a claim's model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.training import shared
from pytest_maxrandom.record import Remark, TrainingRecord

if TYPE_CHECKING:
    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.models.training import Trained, Training


def training_record(training: Training | None, condition: Condition) -> TrainingRecord | None:
    """Return what can be said of the training of a claim's model before it is trained."""
    if training is None or condition.apart is None:
        return None
    settings, head = training.settings, training.classify
    counted = Counter(training.labels[each.label] for each in training.labelled)
    return TrainingRecord(
        text=None if settings is None else settings.text,
        texts=len(training.texts),
        text_digest=training.text_digest,
        settings={}
        if settings is None
        else {**settings.model_dump(), "learning_rate": settings.rate},
        classify={} if head is None else head.model_dump(),
        labelled={label: counted[label] for label in training.labels},
        seed=training.seed,
        copies=condition.apart.copies,
        shared=shared(training, condition),
    )


def trained_record(
    training: Training | None, condition: Condition, found: Trained | None
) -> tuple[TrainingRecord | None, list[Remark]]:
    """Return what training found, and a note where the loss did not fall."""
    record = training_record(training, condition)
    if record is None or found is None:
        return record, []
    of_run = ("pretraining_steps", "tokens", "steps", "cut", "seconds", "peak_memory", "threads",
              "from_cache")  # fmt: skip
    values = {name: getattr(found, name) for name in of_run}
    told = [] if found.falls else [Remark("loss_did_not_fall")]
    return replace(record, losses=list(found.losses), **values), told
