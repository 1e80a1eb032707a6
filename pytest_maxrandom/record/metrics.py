"""The metrics that a suite may name: those of `pytest_maxrandom.stats`, and those of packages."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.host import packages
from pytest_maxrandom.host.packages import NamedParts, blamed
from pytest_maxrandom.stats.metrics import BUILT_IN, MetricDefinition

if TYPE_CHECKING:
    from collections.abc import Callable


def _usable(name: str, loaded: Any) -> MetricDefinition:
    if not isinstance(loaded, MetricDefinition) or loaded.guessers is None:
        raise TypeError("pytest_maxrandom.stats.metrics.MetricDefinition, with guessers")

    def blaming(function: Callable[..., Any]) -> Callable[..., Any]:
        """Let its errors name the package."""

        @wraps(function)
        def call(*given: Any) -> Any:
            with blamed(packages.METRICS, name):
                return function(*given)

        return call

    return replace(
        loaded,
        score=blaming(lambda *given: float(loaded.score(*given))),
        statistic=replace(loaded.statistic, of=blaming(loaded.statistic.of)),
        guessers=blaming(loaded.guessers),
    )


METRICS = NamedParts(packages.METRICS, BUILT_IN, _usable)
"""By their names in a suite."""
