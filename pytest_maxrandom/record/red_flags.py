"""Red flags: what makes a result look better than it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

RedFlagKind = Literal[
    "choices",
    "complementary_prompts",
    "colliding_ids",
    "repeated_examples",
    "clustered_answers",
    "shared_text",
    "other_examples",
    "cut_text",
    "constant_scores",
    "tied_scores",
    "never_right",
    "unread_answers",
    "unsteady_prompts",
    "identical_models",
    "near_identical_prompts",
    "label_mass",
    "constant_answers",
    "majority",
    "max_t",
    "heuristic",
    "choices_only",
    "near_heuristic",
    "near_choices_only",
    "repeated_prompts",
    "unpassable",
]
Severity = Literal["fail", "warn", "ignore"]
_WARNING: tuple[RedFlagKind, ...] = (
    "shared_text",
    "unread_answers",
    "label_mass",
    "near_heuristic",
    "near_choices_only",
    "repeated_prompts",
    "unpassable",
)
DEFAULTS: Mapping[RedFlagKind, Severity] = {
    kind: "warn" if kind in _WARNING else "fail" for kind in get_args(RedFlagKind)
}
"""What each kind does to a claim where a suite says nothing: what makes n, t, chance or the scores
wrong fails it, and so does what shows that a preferred label, or who reads no question, would pass
as well."""


@dataclass(slots=True)
class RedFlag:
    """One red flag of a claim."""

    kind: RedFlagKind
    severity: Severity
    """fail: it fails the claim; warn: reports show it. Ignored flags are in no record."""
    text: str = ""
    """One sentence, which reports make from kind and parameters; older records have nothing
    else."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What was found: numbers and names."""
