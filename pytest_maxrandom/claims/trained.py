"""What is recorded of the training of a claim's model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.training import shared
from pytest_maxrandom.record import Remark, TrainingRecord, note

if TYPE_CHECKING:
    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.models.training import Trained, Training
    from pytest_maxrandom.record import ClaimRecord


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


def tell_trained(record: ClaimRecord, found: Trained | None) -> None:
    """Write down what training found, and that the loss did not fall, where it did not."""
    training = record.training
    if training is None or found is None:
        return
    training.losses = list(found.losses)
    training.pretraining_steps = found.pretraining_steps
    training.tokens, training.steps, training.cut = found.tokens, found.steps, found.cut
    training.seconds, training.peak_memory = found.seconds, found.peak_memory
    training.threads, training.from_cache = found.threads, found.from_cache
    if not found.falls:
        note(record, Remark("loss_did_not_fall"))
