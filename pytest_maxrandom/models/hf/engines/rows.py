"""Rows after a shared prefix, for models that take no mask of four dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch

from pytest_maxrandom.models.hf import trie
from pytest_maxrandom.models.hf.batches import level
from pytest_maxrandom.models.hf.engines import cache
from pytest_maxrandom.models.hf.engines.network import Network, Picks, Sums
from pytest_maxrandom.models.hf.engines.prefix import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.requests import Request


class _Tail(NamedTuple):
    """What one path has after its family's context; `row` is the context's in its batch."""

    ids: tuple[int, ...]
    row: int
    requests: tuple[int, ...]


@dataclass(slots=True)
class _Sweep:
    """What one call of ``score`` works on."""

    requests: Sequence[Request]
    prefix: list[Pair]
    length: int
    totals: list[float]
    forwarded: int


class Rows:
    """Scores in three steps: the prefix once, then a row per question, then a row per answer.

    Needs a model that takes rows of a mask over a cache of keys and values.
    """

    name = "rows"

    def __init__(self, network: Network, budget: Budget) -> None:
        self._network = network
        self.budget = budget

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Sums:
        """Return the log-likelihood of each request's answer."""
        planned = planned or trie.build(requests)
        length = len(planned.prefix)
        prefix = fill(self._network, self.budget, planned.prefix, _ones)
        sweep = _Sweep(requests, prefix, length, [0.0] * len(requests), length)
        rest = sorted(trie.families(planned.paths), key=lambda family: -family.context)
        while rest:
            for batch in level([family.context for family in rest], self.budget.tokens):
                families = [rest[index] for index in batch]
                size = len(families) * families[0].context
                contexts = self.budget.attempt(
                    lambda families=families: self._contexts(families, sweep),  # type: ignore[misc]
                    size,
                    alone=length + families[0].context if len(families) == 1 else None,
                )
                if contexts is None:
                    rest = rest[batch.start :]
                    break
                sweep.forwarded += size
                self._answers(families, contexts, sweep)
            else:
                rest = []
        return Sums(sweep.totals, sweep.forwarded)

    def _contexts(self, families: Sequence[trie.Family], sweep: _Sweep) -> list[Pair]:
        """Forward the contexts of families; score what they predict."""
        width = families[0].context
        ids = torch.zeros((len(families), width), dtype=torch.long)
        mask = torch.zeros((len(families), sweep.length + width), dtype=torch.long)
        picks = Picks()
        for row, family in enumerate(families):
            ids[row, : family.context] = torch.tensor(family.paths[0].ids[: family.context])
            mask[row, : sweep.length + family.context] = 1
            for path in family.paths:
                for index in path.requests:
                    request = sweep.requests[index]
                    column = request.start - 1 - sweep.length
                    span = request.ids[request.start :][: max(0, family.context - column)]
                    picks.add(row, column, index, span)
        positions = torch.arange(sweep.length, sweep.length + width).expand(len(families), -1)
        shared = sweep.prefix
        memory = cache.frozen(shared, keeps_added=True) if shared else cache.empty()
        self._read(ids, picks, mask, positions, memory, sweep)
        if not shared:
            return cache.pairs(memory)
        return [layer.added for layer in memory.layers]

    def _answers(
        self, families: Sequence[trie.Family], contexts: list[Pair], sweep: _Sweep
    ) -> None:
        """Forward what the paths of families have after their contexts; score it."""
        rest = [
            _Tail(path.ids[family.context :], row, path.requests)
            for row, family in enumerate(families)
            for path in family.paths
            if len(path.ids) > family.context
        ]
        rest.sort(key=lambda tail: -len(tail.ids))
        lengths = torch.tensor([family.context for family in families])
        while rest:
            for batch in level([len(tail.ids) for tail in rest], self.budget.tokens):
                tails = [rest[index] for index in batch]
                size = len(tails) * len(tails[0].ids)
                text = sweep.length + int(lengths[tails[0].row]) + len(tails[0].ids)
                done = self.budget.attempt(
                    lambda tails=tails: self._tails(tails, lengths, contexts, sweep),  # type: ignore[misc]
                    size,
                    alone=text if len(tails) == 1 else None,
                )
                if done is None:
                    rest = rest[batch.start :]
                    break
                sweep.forwarded += size
            else:
                rest = []

    def _tails(
        self,
        tails: Sequence[_Tail],
        lengths: torch.Tensor,
        contexts: list[Pair],
        sweep: _Sweep,
    ) -> bool:
        used = torch.tensor([tail.row for tail in tails])
        own = lengths[used]
        longest = int(own.max())
        width = len(tails[0].ids)
        ids = torch.zeros((len(tails), width), dtype=torch.long)
        picks = Picks()
        for row, tail in enumerate(tails):
            ids[row, : len(tail.ids)] = torch.tensor(tail.ids)
            context = sweep.length + int(own[row])
            for index in tail.requests:
                request = sweep.requests[index]
                # What is predicted within the context has been scored with it.
                first = max(request.start, context + 1)
                picks.add(row, first - 1 - context, index, request.ids[first:])
        slots = torch.arange(sweep.length + longest + width)
        begins = longest - own
        ends = sweep.length + longest + torch.tensor([len(tail.ids) for tail in tails])
        mask = (slots >= begins[:, None]) & (slots < ends[:, None])
        positions = sweep.length + own[:, None] + torch.arange(width)
        cut = [(keys[:, :, :longest], values[:, :, :longest]) for keys, values in contexts]
        prefix = sweep.prefix or [(keys[:1, :, :0], values[:1, :, :0]) for keys, values in cut]
        memory = cache.continued(prefix, cut, used, begins)
        self._read(ids, picks, mask.long(), positions, memory, sweep)
        return True

    def _read(
        self,
        ids: torch.Tensor,
        picks: Picks,
        mask: torch.Tensor,
        positions: torch.Tensor,
        memory: object,
        sweep: _Sweep,
    ) -> None:
        if not picks.owners:
            self._network.fill(ids, mask, positions, memory)
            return
        values = self._network.read(ids, picks, mask=mask, positions=positions, cache=memory)
        for owner, value in zip(picks.owners, values, strict=True):
            sweep.totals[owner] += value


def _ones(positions: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Return the mask over a prefix that is computed in chunks: everything up to its end."""
    return torch.ones((1, int(positions[0]) + len(ends)), dtype=torch.long)
