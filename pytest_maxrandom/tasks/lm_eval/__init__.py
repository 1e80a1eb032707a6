"""Tasks of lm-evaluation-harness: its YAML read without importing it, rendered in a sandbox."""

from pytest_maxrandom.tasks.lm_eval.source import LmEval

__all__ = ["LmEval"]
