"""What the command line says, in one typed place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.base import EngineName
    from pytest_maxrandom.record import Adjustment


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all options.

    Attributes
    ----------
    report, json, templates : Path or None
        Where the reports are written to, and the folder with their overrides.
    adjust : str
        How the reports adjust p-values for the number of claims.
    predictions : Path or None
        Where the answers of all prompts are written to.
    figures : Path or None
        The folder that figures are written to.
    engine : str
        How choices are scored; auto takes the fastest way that is exact for the model.
    batch_tokens : int or None
        Tokens of a batch at most; None leaves it to the memory at hand.
    store : Path
        The file that keeps the results of finished prompts.
    fresh : bool
        Whether results of earlier runs are computed again.
    no_test : bool
        Whether held-out test sets stay closed.
    """

    report: Path | None = None
    json: Path | None = None
    templates: Path | None = None
    adjust: Adjustment = "holm"
    predictions: Path | None = None
    figures: Path | None = None
    engine: EngineName = "auto"
    batch_tokens: int | None = None
    store: Path
    fresh: bool = False
    no_test: bool = False
