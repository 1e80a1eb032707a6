"""Trained arms: refused early, trained once, read from then on."""

from __future__ import annotations

import importlib.util
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.hf.devices import Processors
from pytest_maxrandom.models.hf.hub import model_digest
from pytest_maxrandom.models.hf.training.kept import Kept
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.base import Resources
    from pytest_maxrandom.models.training import Trained, Training
    from pytest_maxrandom.suite.models import TransformersSpec


def check(spec: TransformersSpec, training: Training) -> None:
    """Refuse what cannot be trained because of its adapter, its objective or its texts.

    How its weights are quantized, and whether it reads chat messages, was checked with the suite.

    Raises
    ------
    ModelError
        In one sentence.
    """
    settings, name = training.settings, spec.name
    if spec.adapter is not None:
        raise ModelError(
            f"{name} cannot be trained with the adapter {spec.adapter} in it; name a base whose "
            "weights it was merged into"
        )
    if training.classify is not None:
        known = {labelled.label for labelled in training.labelled}
        if len(known) < 2 or known != set(range(len(training.labels))):
            raise ModelError(
                f"the labelled texts of {name} have only {len(known)} of {len(training.labels)} "
                "classes; expected texts of each class, and at least two classes"
            )
    elif settings is not None and settings.objective == "masked":
        raise ModelError(
            f"{name} cannot answer questions after `objective: masked` alone; add `classify`, or "
            "use `objective: causal`"
        )
    if settings is not None and not any(text.strip() for text in training.texts):
        raise ModelError(f"there is no text to train {name} on; expected at least one")


def check_packages(spec: TransformersSpec, training: Training) -> None:
    """Refuse a training whose libraries are not installed."""
    adapts = training.settings is not None and training.settings.method != "full"
    required = ["accelerate", *(["peft"] if adapts else [])]
    if missing := [name for name in required if importlib.util.find_spec(name) is None]:
        raise ModelError(
            f"training {spec.name} needs {' and '.join(missing)}, which is not installed; "
            'pip install "pytest-maxrandom[training]"'
        )


def key_of(spec: TransformersSpec, location: str, training: Training) -> str:
    """Return what determines trained weights: base, texts, settings, seed and arithmetic."""
    computed = foretold(spec, training=training)
    return digest(model_digest(spec, location), training.digest, computed.digest)


def kept(
    spec: TransformersSpec, location: str, training: Training, resources: Resources
) -> Trained | None:
    """Return what a training found that was done before; None if it was not."""
    where = Kept(resources.trained, resources.trained_bytes)
    return where.read(key_of(spec, location, training))


def left(
    spec: TransformersSpec, location: str, training: Training, resources: Resources
) -> Training:
    """Return what of a training was not done before: the head alone where the rest is kept."""
    first = training.pretraining
    if training.classify is None or first is None:
        return training
    is_kept = kept(spec, location, first, resources) is not None
    return replace(training, settings=None, texts=()) if is_kept else training


def trained(
    spec: TransformersSpec, location: str, training: Training, resources: Resources
) -> tuple[Path, Trained]:
    """Return the folder with an arm's weights, trained now if that was not done before.

    The folder stays until the resources are given back. It holds an adapter, or a whole model.

    Raises
    ------
    ModelError
        In one sentence.
    LockError
        If a GPU, or the folder, cannot be locked.
    """
    check_packages(spec, training)
    where = Kept(resources.trained, resources.trained_bytes, resources.tell)
    key = key_of(spec, location, training)
    base = model_digest(spec, location)

    def train(folder: Path) -> tuple[Trained, dict[str, Any]]:
        trained = _train(spec, location, training, folder, resources)
        if model_digest(spec, location) != base:
            raise ModelError(
                f"the files of {spec.name} changed while it was trained; run it again, and let no "
                "other program write to them meanwhile"
            )
        computed = foretold(spec, training=training)
        return trained, {
            "base": base,
            "training": _settings_kept(training),
            "arithmetic": asdict(computed),
        }

    return where.take(key, spec.name, train, resources.held)


def _settings_kept(training: Training) -> dict[str, Any]:
    """Return the settings for the record beside the weights; texts stand there by their digest."""
    parts = {"train": training.settings, "classify": training.classify}
    said = {name: part.model_dump(mode="json") for name, part in parts.items() if part is not None}
    return {**said, "seed": training.seed, "digest": training.digest}


def _train(
    spec: TransformersSpec,
    location: str,
    training: Training,
    folder: Path,
    resources: Resources,
) -> Trained:
    from pytest_maxrandom.models.hf.training.adapting import pretrain
    from pytest_maxrandom.models.hf.training.classifying import train_head

    with ExitStack() as held:
        # The further pretraining is an arm's first half, and kept by itself.
        first: tuple[Path, Trained] | None = None
        if training.classify is not None and training.pretraining is not None:
            first = trained(spec, location, training.pretraining, replace(resources, held=held))
        processors = Processors(resources.worker, resources.workers, tell=resources.tell)
        held.callback(processors.release)
        if training.classify is None:
            arm = pretrain(spec, location, training, processors, folder, resources.training)
            return _checked_loss(spec, arm, resources)
        further = None if first is None else first[0]
        arm = train_head(spec, location, training, further, processors, folder, resources.training)
        _checked_loss(spec, arm, resources)
    if first is None:
        return arm
    before = first[1]
    peaks = [peak for peak in (before.peak_memory, arm.peak_memory) if peak is not None]
    return replace(
        arm,
        losses=before.losses + arm.losses,
        tokens=before.tokens + arm.tokens,
        steps=before.steps + arm.steps,
        seconds=before.seconds + arm.seconds,
        peak_memory=max(peaks, default=None),
        pretraining_steps=len(before.losses),
        cut=before.cut + arm.cut,
    )


def _checked_loss(spec: TransformersSpec, trained: Trained, resources: Resources) -> Trained:
    """Tell of a loss that does not fall."""
    if not trained.falls:
        resources.tell(
            f"the loss of training {spec.name} did not fall (from {trained.losses[0]:.3g} to "
            f"{trained.losses[-1]:.3g}), so it may have learned nothing; check `learning_rate` and "
            "`epochs`"
        )
    return trained
