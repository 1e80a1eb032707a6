"""The comparisons of one task, so that their ids can be given to pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_maxrandom.hooks.items.comparison import ComparisonItem
from pytest_maxrandom.hooks.items.contamination import ContaminationItem
from pytest_maxrandom.studies.arms.planned import PlannedComparison, PlannedContamination

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.hooks.items.arms import ArmsItem

Compared: TypeAlias = PlannedComparison | PlannedContamination


class ComparedTask(pytest.Collector):
    """One task, whose children compare arms on it."""

    def __init__(
        self, *, name: str, parent: pytest.File, planned: Sequence[Compared], **kwargs: Any
    ) -> None:
        super().__init__(name=name, parent=parent, nodeid=f"{parent.nodeid}::{name}", **kwargs)
        self._planned = planned

    def collect(self) -> Iterator[ArmsItem]:
        """Yield the comparisons."""
        for each in self._planned:
            if isinstance(each, PlannedComparison):
                yield ComparisonItem.from_parent(self, name=each.name, planned=each)
            else:
                yield ContaminationItem.from_parent(self, name=each.name, planned=each)
