"""Sentences of a record, made of its kinds and numbers: when it was judged, and when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record import ClaimRecord, LabelBiasRecord
from pytest_maxrandom.reports import failures, flag_sentences, label_finding

if TYPE_CHECKING:
    from pytest_maxrandom.reports.summary import Record


def word(record: Record) -> None:
    """Word a record anew; of what has no kind and numbers, the sentence that it has stays."""
    if isinstance(record, ClaimRecord):
        for flag in record.red_flags:
            flag.text = flag_sentences.sentence(flag)
    if isinstance(record, LabelBiasRecord):
        record.sentence = label_finding.sentence(record)
    record.message = failures.failure(record)
