"""The design of a suite: its replicates, and which prompts are no tries because of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger import examples_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.plan import Cell, PlannedClaim


class Design:
    """The replicates of a suite's claims, and which prompts each of them tries on which examples.

    To the latter neither a model's name nor its revision matters: the design is the same for all.
    """

    def __init__(self) -> None:
        self._claims: dict[str, list[PlannedClaim]] = {}
        self._tried: dict[str, dict[str, int]] = {}  # set, prompt: a bit for each replicate
        self._cells: dict[int, Cell] = {}

    def add(self, replicates: Sequence[PlannedClaim]) -> list[PlannedClaim]:
        """Make the replicates of a claim a part of the design."""
        added = [dataclasses.replace(planned, design=self) for planned in replicates]
        self._claims[added[0].name] = added
        for planned in added:
            self._add(planned.cell, planned.replicate)
        return added

    def of(self, claim: str) -> list[PlannedClaim]:
        """Return the replicates of the claim that has this name."""
        return self._claims[claim]

    def siblings(self, replicate: int) -> Callable[[str], frozenset[str]]:
        """Return what tells the prompts that only other replicates try on a set of examples."""

        def of_set(digest: str) -> frozenset[str]:
            return frozenset(
                prompt
                for prompt, tried in self._tried.get(digest, {}).items()
                if not tried >> replicate & 1
            )

        return of_set

    def _add(self, cell: Cell, replicate: int) -> None:
        if id(cell) in self._cells:  # models share their cells
            return
        self._cells[id(cell)] = cell
        of_set = self._tried.setdefault(examples_digest(cell.prompt_set.validation), {})
        for prompt in cell.prompt_set.prompts:
            of_set[prompt.digest] = of_set.get(prompt.digest, 0) | 1 << replicate
