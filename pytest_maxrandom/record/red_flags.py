"""Red flags: what makes a result look better than it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RedFlagKind = Literal[
    "choices",
    "complementary_prompts",
    "colliding_ids",
    "other_examples",
    "cut_text",
    "constant_scores",
    "tied_scores",
    "never_right",
    "unsteady_prompts",
    "identical_models",
    "label_mass",
    "constant_answers",
    "majority",
    "max_t",
    "repeated_prompts",
    "unpassable",
]
Severity = Literal["fail", "warn", "ignore"]


@dataclass(slots=True)
class RedFlag:
    """One red flag of a claim."""

    kind: RedFlagKind
    severity: Severity
    """fail: the claim fails for it; warn: it is told. What is ignored is in no record."""
    text: str
    """One sentence."""
