"""Red flags: what makes a result look better than it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["fail", "warn", "ignore"]


@dataclass(slots=True)
class RedFlag:
    """One red flag of a claim."""

    kind: str
    severity: Severity
    """fail: it fails the claim; warn: reports show it. Ignored flags are in no record."""
    text: str = ""
    """One sentence, which reports make from kind and parameters."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What was found: numbers and names."""
