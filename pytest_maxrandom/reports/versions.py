"""Versions of what made the numbers of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.summary import designs

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

_OF_MODELS = frozenset({"torch", "transformers", "tokenizers", "bitsandbytes"})
_WITHOUT_MODEL = ("recorded", "numbers")
"""Backends of claims on results that were made elsewhere."""


def versions(run: RunRecord) -> dict[str, str]:
    """Return the versions of a run, without libraries that run models where none was run."""
    suites = {claim.suite for claim in run.claims}
    with_model = any(claim.backend not in _WITHOUT_MODEL for claim in run.claims)
    # A suite's results are all recorded, or none is; without its claims nothing tells which.
    untold = any(record.suite not in suites for record in designs(run))
    if with_model or untold or not run.claims:
        return dict(run.versions)
    return {name: number for name, number in run.versions.items() if name not in _OF_MODELS}
