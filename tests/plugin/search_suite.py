"""A suite with a pool of examples that is larger than the validation set, and searches of it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom import search
from tests.searched import write_suite

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_maxrandom.searches.replies import Reply
    from pytest_maxrandom.searches.tries import Tries
    from pytest_maxrandom.stats.search import Feedback

N = 200


def write(folder: Path) -> Path:
    """Write the suite, whose prompts have no demonstrations."""
    instructions = "instructions: ['Later 1. ', 'Later 2. ', 'Later 3. ']"
    return write_suite(folder / "eval_suites", f"shots: 0, count: 3, {instructions}")


def begun(suite: Path, feedback: Feedback, model: str = "knows", **given: Any) -> Tries:
    return search(suite, model=model, feedback=feedback, **{"budget": 20, "by": "test", **given})


def replies(tries: Tries, steps: int = 20) -> list[Reply]:
    return [tries.try_prompt(instruction=f"Try {step}. ") for step in range(steps)]


def claims(pytester: pytest.Pytester, *options: str) -> dict[str, dict[str, Any]]:
    pytester.runpytest_inprocess("--maxrandom-json=r.json", *options)
    run = json.loads((pytester.path / "r.json").read_text())
    return {claim["model"]: claim for claim in run["claims"]}


def judged_as(budget: int, better: int, t: int = 0) -> int:
    """Return as the best of how many prompts one is judged, by hand; t more were told to none."""
    alike = 2**budget - 1 + 2**budget * t
    nodes = math.comb(budget, better + 1) + t * math.comb(budget - 1, better)
    by_better = 2 ** (better + 1) * nodes
    return math.ceil(Fraction(2 * alike * by_better, alike + by_better))
