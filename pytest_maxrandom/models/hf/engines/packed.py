"""The packed way: every distinct token once, many examples as trees in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from pytest_maxrandom.models.hf import trie
from pytest_maxrandom.models.hf.engines import cache
from pytest_maxrandom.models.hf.engines.masks import additive
from pytest_maxrandom.models.hf.engines.network import Network, Picks, Sums
from pytest_maxrandom.models.hf.engines.prefix import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.engines.masks import Window
    from pytest_maxrandom.models.hf.requests import Request


class Packed:
    """Scores a forest of examples in each forward pass, after a prefix that is computed once.

    Needs a model that takes an additive mask of four dimensions and position ids.
    """

    name = "packed"

    def __init__(self, network: Network, budget: Budget, window: Window | None = None) -> None:
        self._network = network
        self.budget = budget
        self._window = window

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Sums:
        """Return the log-likelihood of each request's answer."""
        planned = planned or trie.build(requests)
        prefix = fill(self._network, self.budget, planned.prefix, self._mask)
        totals = [0.0] * len(requests)
        forwarded = len(planned.prefix)
        longest = max(len(path.ids) for path in planned.paths)
        rest: Sequence[trie.Path] = planned.paths
        while rest:
            for paths in trie.cut(rest, self.budget.room(longest)):
                forest = trie.plant(paths, requests, len(planned.prefix))
                length = len(planned.prefix) + len(paths[0].ids)
                values = self.budget.attempt(
                    lambda forest=forest: self._forward(forest, prefix),  # type: ignore[misc]
                    len(forest.tokens),
                    alone=length if len(paths) == 1 else None,
                )
                if values is None:
                    break
                rest = rest[len(paths) :]
                forwarded += len(forest.tokens)
                for owner, value in zip(forest.owners, values, strict=True):
                    totals[owner] += value
        return Sums(totals, forwarded)

    def _forward(self, forest: trie.Forest, prefix: list[Pair]) -> list[float]:
        positions = torch.from_numpy(forest.positions)
        picks = Picks([0] * len(forest.queries), forest.queries, forest.targets, forest.owners)
        return self._network.read(
            torch.from_numpy(forest.tokens)[None],
            picks,
            mask=self._mask(positions, torch.from_numpy(forest.ends)),
            positions=positions[None],
            cache=cache.frozen(prefix) if prefix else None,
        )

    def _mask(
        self, positions: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor | dict[str, torch.Tensor]:
        return additive(positions, ends, self._network.dtype, self._window, self._network.device)
