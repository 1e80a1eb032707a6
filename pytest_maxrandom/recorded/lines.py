"""What a predictions file holds: one line of JSON for each prompt of each claim."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 1


@dataclass
class AnswerLine:
    """One prompt's answer to one example."""

    id: str
    chosen: int
    """Index of the chosen answer; choices stand in the order of the task's file."""
    right: list[int]
    """Indices of the right ones, ascending."""
    choices: int
    """How many there are."""
    log_likelihoods: list[float | None]
    """Of each choice: the sum over its tokens, in nats; None stands for minus infinity."""
    tokens: list[int]
    """Of each choice: the number of those tokens."""
    margin: float | None
    """By how much the best score exceeds the second, in the unit of the scoring; 0 where the
    choice fell by lot, None where the second score is minus infinity."""
    labels: list[str] | list[int] | None = None
    """Of each choice: its text where all examples with as many choices offer the same texts, else
    the place at which it is shown, from 0. Versions before this was written left it out."""
    cluster: str | None = None
    """What the example shares with others, such as its passage; left out where none is stated."""


@dataclass
class PromptLine:
    """One prompt of one claim."""

    schema_version: int
    claim: str
    task: str
    model: str
    quantization: str
    shots: int
    scoring: str
    prompt: str
    """Digest of its text."""
    demonstration_ids: list[str]
    examples: list[AnswerLine]
