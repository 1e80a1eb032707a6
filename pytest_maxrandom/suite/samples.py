"""What a suite may say of several answers to the same question."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pytest_maxrandom.suite.base import Spec

MOST_SAMPLES = 1000


class PassSpec(Spec):
    """The unbiased estimate of pass@j, from more samples."""

    asked: Annotated[int, Field(alias="pass", ge=1, le=MOST_SAMPLES)]
    """The number j of samples of which any is to be right."""


class AggregateSettings(Spec):
    """What the samples of an answer come to."""

    aggregate: Literal["mean", "vote", "pass", "all"] | PassSpec | None = None
    """Where there are several samples of each answer: what they come to. mean: the share that is
    right, if not given. vote: the commonest answer. pass: any is right; {pass: 4}: the estimate of
    that of 4 samples, from more. all: all are."""
