"""What is recorded of ways to look knowing that need no knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HeuristicName = Literal[
    "most_frequent", "longest", "shortest", "first", "last", "most_shared_words"
]
"""Which choice is taken: the label that is right most often; the longest or shortest text; the
first or last as shown; the text that has most words of the question."""
Measure = Literal["accuracy", "balanced_accuracy"]
ShortcutControl = Literal["choices_only"]


@dataclass(slots=True)
class Shortcuts:
    """What heuristics, and the best prompt with blank inputs, reach on the best prompt's examples.

    Heuristics that leave several choices have the mean over these.
    """

    measure: Measure
    """What all of them are compared in; balanced accuracy where the metric is no accuracy."""
    best: float
    """The best prompt's."""
    heuristic: HeuristicName
    """The best of the heuristics."""
    heuristic_score: float
    """What it reaches."""
    heuristic_p: float
    """P-value of "the best prompt is above it": signs flipped of the examples' differences,
    one-sided."""
    heuristics: dict[HeuristicName, float]
    """What each of them reaches; first and last only where the prompt lists the choices."""
    choices_only: float | None = None
    """What the best prompt reaches with blank inputs; None where it was not asked so."""
    choices_only_p: float | None = None
    """P-value of "the best prompt is above that"."""
