"""Rows after a shared prefix, for models that take no mask of four dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch

from pytest_maxrandom.models.hf import trie
from pytest_maxrandom.models.hf.engines import cache
from pytest_maxrandom.models.hf.requests import Likelihoods, Picks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.engines.network import Network
    from pytest_maxrandom.models.hf.requests import Request

    Item = TypeVar("Item")
    T = TypeVar("T")


class _Tail(NamedTuple):
    """What one path has after its family's context; `row` is the context's in its batch."""

    ids: tuple[int, ...]
    row: int
    requests: tuple[int, ...]


class _Work(NamedTuple):
    """What one call of ``score`` works on."""

    requests: Sequence[Request]
    prefix: list[Pair]
    length: int
    found: Likelihoods


class Rows:
    """Scores in three steps: the prefix once, then a row per question, then a row per answer.

    Needs a model that takes rows of a mask over a cache of keys and values.
    """

    name = "rows"

    def __init__(self, network: Network, budget: Budget) -> None:
        self._network = network
        self.budget = budget

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Likelihoods:
        """Return the log-likelihood of each request's answer."""
        planned = planned or trie.build(requests)
        length = len(planned.prefix)
        prefix = cache.fill(self._network, self.budget, planned.prefix, _ones)
        work = _Work(requests, prefix, length, Likelihoods([0.0] * len(requests), length))
        for families, contexts in self._passes(
            sorted(trie.families(planned.paths), key=lambda family: -family.context),
            lambda family: family.context,
            lambda families: self._contexts(families, work),
            lambda family: length + family.context,
            work.found,
        ):
            self._answers(families, contexts, work)
        return work.found

    def cut(self, items: Sequence[Item], width: Callable[[Item], int]) -> list[Sequence[Item]]:
        """Cut what makes a row each, the widest first, into batches where the least is padded."""
        parts = trie.level([width(item) for item in items], self.budget.tokens)
        return [items[part.start : part.stop] for part in parts]

    def _passes(
        self,
        items: Sequence[Item],
        width: Callable[[Item], int],
        run: Callable[[Sequence[Item]], T],
        text: Callable[[Item], int],
        found: Likelihoods,
    ) -> Iterator[tuple[Sequence[Item], T]]:
        """Yield each batch with what `run` returns of it, and count its tokens."""

        def padded(batch: Sequence[Item]) -> int:
            return len(batch) * width(batch[0])

        def cut(rest: Sequence[Item]) -> list[Sequence[Item]]:
            return self.cut(rest, width)

        for batch, done in self.budget.passes(items, cut, run, padded, text):
            found.tokens_forwarded += padded(batch)
            yield batch, done

    def _contexts(self, families: Sequence[trie.Family], work: _Work) -> list[Pair]:
        """Forward the contexts of families; score what they predict."""
        width = families[0].context
        ids = torch.zeros((len(families), width), dtype=torch.long)
        mask = torch.zeros((len(families), work.length + width), dtype=torch.long)
        picks = Picks()
        for row, family in enumerate(families):
            ids[row, : family.context] = torch.tensor(family.paths[0].ids[: family.context])
            mask[row, : work.length + family.context] = 1
            for path in family.paths:
                for index in path.requests:
                    request = work.requests[index]
                    column = request.start - 1 - work.length
                    span = request.ids[request.start :][: max(0, family.context - column)]
                    picks.add(row, range(column, column + len(span)), index, span)
        positions = torch.arange(work.length, work.length + width).expand(len(families), -1)
        shared = work.prefix
        memory = cache.frozen(shared, keeps_added=True)
        self._read(ids, picks, mask, positions, memory, work)
        if not shared:
            return cache.pairs(memory)
        return [layer.added for layer in memory.layers]

    def _answers(self, families: Sequence[trie.Family], contexts: list[Pair], work: _Work) -> None:
        """Forward what the paths of families have after their contexts; score it."""
        rest = [
            _Tail(path.ids[family.context :], row, path.requests)
            for row, family in enumerate(families)
            for path in family.paths
            if len(path.ids) > family.context
        ]
        rest.sort(key=lambda tail: -len(tail.ids))
        lengths = torch.tensor([family.context for family in families])
        for _ in self._passes(
            rest,
            lambda tail: len(tail.ids),
            lambda tails: self._tails(tails, lengths, contexts, work),
            lambda tail: work.length + int(lengths[tail.row]) + len(tail.ids),
            work.found,
        ):
            pass

    def _tails(
        self,
        tails: Sequence[_Tail],
        lengths: torch.Tensor,
        contexts: list[Pair],
        work: _Work,
    ) -> bool:
        used = torch.tensor([tail.row for tail in tails])
        own = lengths[used]
        longest = int(own.max())
        width = len(tails[0].ids)
        ids = torch.zeros((len(tails), width), dtype=torch.long)
        picks = Picks()
        for row, tail in enumerate(tails):
            ids[row, : len(tail.ids)] = torch.tensor(tail.ids)
            context = work.length + int(own[row])
            for index in tail.requests:
                request = work.requests[index]
                # What is predicted within the context has been scored with it.
                first = max(request.start, context + 1)
                columns = range(first - 1 - context, len(request.ids) - 1 - context)
                picks.add(row, columns, index, request.ids[first:])
        slots = torch.arange(work.length + longest + width)
        begins = longest - own
        ends = work.length + longest + torch.tensor([len(tail.ids) for tail in tails])
        mask = (slots >= begins[:, None]) & (slots < ends[:, None])
        positions = work.length + own[:, None] + torch.arange(width)
        cut = [(keys[:, :, :longest], values[:, :, :longest]) for keys, values in contexts]
        prefix = work.prefix or [(keys[:1, :, :0], values[:1, :, :0]) for keys, values in cut]
        memory = cache.continued(prefix, cut, used, begins)
        self._read(ids, picks, mask.long(), positions, memory, work)
        return True

    def _read(
        self,
        ids: torch.Tensor,
        picks: Picks,
        mask: torch.Tensor,
        positions: torch.Tensor,
        memory: object,
        work: _Work,
    ) -> None:
        if not picks.owners:
            self._network.fill(ids, mask, positions, memory)
            return
        values = self._network.read(ids, picks, mask=mask, positions=positions, cache=memory)
        work.found.add(picks, values, 0)


def _ones(positions: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Return the mask over a prefix that is computed in chunks: everything up to its end."""
    return torch.ones((1, int(positions[0]) + len(ends)), dtype=torch.long)
