"""Is the best of t few-shot prompts better than the best of t random guessers?

The names below are loaded on first use, because pytest imports this package in every run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_maxrandom.notebooks.calls import judge, judge_each, read_report
    from pytest_maxrandom.searches.search import search
    from pytest_maxrandom.stats.maximum import (
        MaxRandomBaseline,
        max_random_baseline,
        max_random_F,
        max_random_p_value,
        max_random_pmf,
    )

__version__ = "0.1.0"

__all__ = [
    "MaxRandomBaseline",
    "judge",
    "judge_each",
    "max_random_F",
    "max_random_baseline",
    "max_random_p_value",
    "max_random_pmf",
    "read_report",
    "search",
]
_PLACES = {
    "judge": "notebooks.calls",
    "judge_each": "notebooks.calls",
    "read_report": "notebooks.calls",
    "search": "searches.search",
}
"""Where names are that are no statistics."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = _PLACES.get(name, "stats.maximum")
    return getattr(importlib.import_module(f"pytest_maxrandom.{place}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
