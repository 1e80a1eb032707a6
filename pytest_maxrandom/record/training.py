"""What the model of an arm was trained on, and what that found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_maxrandom.record.base import Amount, Count


@dataclass(slots=True)
class TrainingRecord:
    """The training of one arm's model, in one replicate.

    What was found is None where nothing was trained in this run and nothing was kept of it.
    """

    text: str | None
    """What it was trained on further: extra, scored, or a file; None where it has a classification
    head alone."""
    texts: Count
    """How many texts of that."""
    text_digest: str
    """SHA-256 (hex) of all the texts that it read, labelled ones included."""
    settings: dict[str, Any]
    """`train` of the arm, with its defaults; empty without."""
    classify: dict[str, Any]
    """`classify` of the suite or the arm, with its defaults; empty without."""
    labelled: dict[str, int]
    """Labelled examples of each class."""
    seed: int
    """Of the replicate; it is mixed with those of the settings."""
    copies: Count
    """Examples that were passed over when texts were drawn, as copies of what stands on another
    side: scored, labelled, extra, or in the test set."""
    shared: dict[str, int] = field(default_factory=dict)
    """By side (scored, labelled, test), how many of its examples have a text that further
    pretraining read. Labelled and test are 0, or the suite is refused; scored is 0 for other texts.
    Empty without further pretraining."""
    losses: list[float] = field(default_factory=list)
    """Mean cross-entropy in nats per token, or per labelled text, at each logging step: of the
    further pretraining, then of the head."""
    pretraining_steps: Count | None = None
    """How many of the losses are those of the further pretraining."""
    tokens: Count | None = None
    """That went through the network in training, without padding."""
    steps: Count | None = None
    """Of the optimizer."""
    cut: Count | None = None
    """Texts that were longer than `max_length`."""
    seconds: Amount | None = None
    peak_memory: int | None = None
    """Bytes, at most: of the GPU in this training, or else of the process so far."""
    threads: int | None = None
    """Of the processor."""
    from_cache: bool | None = None
    """Whether the weights were read, and nothing was trained in this run."""
