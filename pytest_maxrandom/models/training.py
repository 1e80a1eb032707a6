"""What an arm is trained on, and what its training found: a part of who the model is."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec

_DRAWN = {"text", "examples", "form", "stratified"}
"""Keys that say how texts are drawn, which the texts themselves show."""
_OF_ADAPTERS = {"rank", "alpha", "dropout", "modules"}
_LEAST = 1e-3
"""Share of a loss by which it falls at least where it falls."""
_PART = 4
"""The first and the last of so many parts of a training tell whether its loss falls."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text with its right answer."""

    text: str
    label: int
    """Index into the labels of the training."""


@dataclass(frozen=True)
class Training:
    """What an arm is trained on, as it was drawn."""

    settings: TrainSpec | None
    """Of further pretraining, if there is any."""
    texts: tuple[str, ...] = ()
    """What the model reads in it, word for word."""
    classify: ClassifySpec | None = None
    """Of the classification head that follows, if there is one."""
    labelled: tuple[LabelledText, ...] = ()
    """What the head is trained on."""
    labels: tuple[str, ...] = ()
    """The classes."""
    seed: int = 0
    """Of the replicate; it is mixed with those of the settings."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all that determines the result but the base and the machine."""
        parts = [_settings_text(self.settings), _settings_text(self.classify), str(self.seed)]
        for texts in (self.texts, self.labels, [each.text for each in self.labelled]):
            parts += [str(len(texts)), *texts]
        return digest(*parts, *(each.label for each in self.labelled))

    @cached_property
    def text_digest(self) -> str:
        """SHA-256 (hex) of the texts alone, in their order."""
        return digest(*self.texts, *(each.text for each in self.labelled))

    @property
    def pretraining(self) -> Training | None:
        """The further pretraining alone: whatever follows it, its result is the same."""
        return replace(self, classify=None, labelled=(), labels=()) if self.settings else None


@dataclass(frozen=True, slots=True)
class Size:
    """How much a training reads, before it begins."""

    steps: int
    """Of the optimizer."""
    words: int
    """Between spaces, each text as often as it is read."""
    tokens: int | None
    """That go through the network, without padding; None where no tokenizer is at hand."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What training found; it is kept with the weights, so an arm that is read tells the same."""

    losses: tuple[float, ...]
    """Mean cross-entropy in nats per token, or per labelled text, of each logging step: of the
    further pretraining, then of the classification head."""
    tokens: int
    """That went through the network in training, without padding."""
    steps: int
    """Of the optimizer."""
    seconds: float
    """That training took."""
    peak_memory: int | None
    """Bytes at most, on GPUs or else of the process; None where that is not known."""
    text_digest: str
    """As :attr:`Training.text_digest`."""
    pretraining_steps: int = 0
    """How many of `losses` are those of the further pretraining."""
    cut: int = 0
    """How many texts were longer than `max_length`."""
    threads: int = 1
    """Of the processor in training."""
    from_cache: bool = False
    """Whether the weights were read, and nothing was trained."""

    @property
    def falls(self) -> bool:
        """Whether the loss of each training ends below where it began, on average over a part."""
        both = self.losses[: self.pretraining_steps], self.losses[self.pretraining_steps :]
        return all(_falls(losses) for losses in both)


def _falls(losses: tuple[float, ...]) -> bool:
    part = max(1, len(losses) // _PART)
    return len(losses) < 2 or sum(losses[-part:]) < (1 - _LEAST) * sum(losses[:part])


def _settings_text(settings: TrainSpec | ClassifySpec | None) -> str:
    """Write what of the settings changes the result of given texts."""
    if settings is None:
        return ""
    said: dict[str, Any] = settings.model_dump(mode="json", exclude=_DRAWN)
    if said.get("method") == "full":
        said = {key: value for key, value in said.items() if key not in _OF_ADAPTERS}
    if "method" in said:
        said["learning_rate"] = settings.rate  # type: ignore[union-attr]
    return json.dumps(said, sort_keys=True)
