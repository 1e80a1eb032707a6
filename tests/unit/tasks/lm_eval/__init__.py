"""Tests of tasks of lm-evaluation-harness."""
