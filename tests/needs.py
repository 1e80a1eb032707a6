"""Tests that need more than a job installs are skipped there, with a reason that its list knows."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

EXTRAS = {
    "datasets": ["datasets"],
    "hf": ["bitsandbytes", "torch", "transformers"],
    "lm_eval": ["datasets", "lm_eval"],
    "training": ["accelerate", "peft"],
}
"""The modules of an extra of this project, by its name."""


def reason(extra: str) -> str:
    """Say why a test does not run; empty if the extra is installed."""
    missing = [module for module in EXTRAS[extra] if find_spec(module) is None]
    return f"needs the extra: {extra}" if missing else ""


def needs(extra: str) -> pytest.MarkDecorator:
    """Mark a test, or a parameter of one, that needs an extra of this project."""
    why = reason(extra)
    return pytest.mark.skipif(bool(why), reason=why or "the extra is installed")


def require(extra: str) -> None:
    """Skip the test that runs, or the module that is imported, without an extra."""
    if why := reason(extra):
        pytest.skip(why, allow_module_level=True)
