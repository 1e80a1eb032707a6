"""Architectures of causal language models: all of them, of which `make test` runs some."""

from __future__ import annotations

from tests import tiny
from tests.targets import some

CHOSEN = (
    "bloom",
    "gemma-3",
    "gpt-2",
    "gpt-neo",
    "gpt-oss",
    "llama",
    "mamba",
    "opt",
    "qwen-3-next",
)
"""One of each way to tell positions (learned, learned from the second on, turned, distances), to
look back (all, a window, both), to choose experts, and to keep a state instead of keys."""
ARCHITECTURES = some(tiny.ARCHITECTURES, CHOSEN)
