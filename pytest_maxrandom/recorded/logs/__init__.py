"""Logs of other tools: lm-evaluation-harness and Inspect; each of their runs is one classifier."""
