"""Where the models of tests are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.models.registry import Backends

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.base import Located
    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.suite.models import ModelSpec


def located(spec: ModelSpec, base: Path, training: Training | None = None) -> Located:
    """Return where a model is, with what it is trained on."""
    return Backends().locate(spec, base, training)
