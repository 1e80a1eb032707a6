"""Words that stand in records."""

from __future__ import annotations

from typing import Literal

Outcome = Literal["passed", "failed", "xfailed", "xpassed", "skipped", "error"]
Adjustment = Literal["holm", "bh", "none"]
Standing = Literal["above maximum", "between baselines", "at chance", "below standard"]
