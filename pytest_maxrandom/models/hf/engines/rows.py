"""Texts as rows: each by itself, or after a shared prefix where a model takes no other mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch

from pytest_maxrandom.models import trie
from pytest_maxrandom.models.hf.engines import cache
from pytest_maxrandom.models.requests import Likelihoods, Picks, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.engines.network import Budget, Network, Values

    Item = TypeVar("Item")


class Plain:
    """Scores every text by itself, without a cache.

    Parameters
    ----------
    alone_beyond : int, optional
        Texts of more tokens do not share a batch: with some position encodings, the longest
        text of a batch changes what the others mean.
    """

    name = "plain"

    def __init__(
        self, network: Network, budget: Budget, *, alone_beyond: int | None = None
    ) -> None:
        self._network = network
        self.budget = budget
        self._alone_beyond = alone_beyond

    def score(self, requests: Sequence[Request], planned: object = None) -> Likelihoods:
        """Return the log-likelihood of each request's answer."""
        likelihoods = Likelihoods([0.0] * len(requests))
        read = []
        for batch, both in self.budget.passes(
            trie.rows(requests),
            self._cut,
            lambda batch: self._forward(batch, requests),
            _padded,
            lambda row: len(row.ids),
        ):
            read.append(both)
            likelihoods.tokens_forwarded += _padded(batch)
        for picks, values in read:
            likelihoods.add(picks, values.read())
        return likelihoods

    def passes(self, requests: Sequence[Request], planned: object = None) -> list[int]:
        """Return the tokens of each pass that scoring takes."""
        return [*map(_padded, self._cut(trie.rows(requests)))]

    def _cut(self, rows: Sequence[trie.Path]) -> Iterator[list[trie.Path]]:
        for batch in trie.batches(rows, self.budget.tokens):
            apart = self._alone_beyond is not None and len(batch[0].ids) >= self._alone_beyond
            yield from [[row] for row in batch] if apart else [batch]

    def _forward(
        self, batch: Sequence[trie.Path], requests: Sequence[Request]
    ) -> tuple[Picks, Values]:
        """Put one batch through the model.

        Padding stands on the right, where causal attention keeps it from every real token.
        """
        ids = torch.zeros((len(batch), len(batch[0].ids)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        picks = Picks()
        for number, row in enumerate(batch):
            ids[number, : len(row.ids)] = torch.tensor(row.ids)
            mask[number, : len(row.ids)] = 1
            for index in row.requests:
                request = requests[index]
                columns = range(request.start - 1, len(request.ids) - 1)
                picks.add(number, columns, index, request.ids[request.start :])
        return picks, self._network.read(ids, picks, mask=mask)


class _Row(NamedTuple):
    """Tokens after the prefix, and after one of the contexts of the batch before where `after`."""

    ids: tuple[int, ...]
    requests: Sequence[int]
    paths: Sequence[trie.Path] = ()
    """What goes on after it, where it is a context."""
    context: int = 0
    """Which context it follows."""
    after: int = 0
    """Tokens of that context."""


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
        contexts = [
            _Row(
                family.paths[0].ids[: family.context],
                [index for path in family.paths for index in path.requests],
                family.paths,
            )
            for family in trie.families(planned.paths)
        ]
        for batch, memory in self._passes(contexts, work):
            filled = cache.added(memory) if prefix else cache.pairs(memory)
            answers = [
                _Row(path.ids[size:], path.requests, context=place, after=size)
                for place, row in enumerate(batch)
                for path in row.paths
                if len(path.ids) > (size := len(row.ids))
            ]
            for _ in self._passes(answers, work, filled):
                pass
        return work.found

    def passes(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> list[int]:
        """Return the tokens of each pass that scoring takes."""
        planned = planned or trie.build(requests)
        after = [rows * width for rows, width, _ in self.batches(planned)]
        return [*cache.chunks(self.budget, planned.prefix), *after]

    def batches(self, planned: trie.Trie) -> Iterator[tuple[int, int, int]]:
        """Yield rows, width and slots of keys of each forward pass after the prefix."""
        before = len(planned.prefix)
        families = sorted(trie.families(planned.paths), key=lambda family: -family.context)
        for contexts in self._cut(families, lambda family: family.context):
            width = contexts[0].context
            yield len(contexts), width, before + width
            rest = (len(path.ids) - own.context for own in contexts for path in own.paths)
            for part in self._cut(sorted(filter(None, rest), reverse=True), int):
                yield len(part), part[0], before + width + part[0]

    def _cut(self, items: Sequence[Item], width: Callable[[Item], int]) -> list[Sequence[Item]]:
        """Cut what makes a row each, the widest first, into batches where the least is padded."""
        parts = trie.level([width(item) for item in items], self.budget.tokens)
        return [items[part.start : part.stop] for part in parts]

    def _passes(
        self, rows: list[_Row], work: _Work, contexts: list[Pair] | None = None
    ) -> Iterator[tuple[Sequence[_Row], Any]]:
        """Put rows through the model, and yield each batch with its cache."""
        for batch, memory in self.budget.passes(
            sorted(rows, key=lambda row: -len(row.ids)),
            lambda rest: self._cut(rest, lambda row: len(row.ids)),
            lambda batch: self._forward(batch, work, contexts),
            _padded,
            lambda row: work.length + row.after + len(row.ids),
        ):
            work.found.tokens_forwarded += _padded(batch)
            yield batch, memory

    def _forward(self, batch: Sequence[_Row], work: _Work, contexts: list[Pair] | None) -> Any:
        """Score what a batch predicts, and return its cache."""
        own = torch.tensor([row.after for row in batch])
        longest = int(own.max())
        width = len(batch[0].ids)
        ids = torch.zeros((len(batch), width), dtype=torch.long)
        picks = Picks()
        for place, row in enumerate(batch):
            ids[place, : len(row.ids)] = torch.tensor(row.ids)
            before = work.length + row.after
            for index in row.requests:
                request = work.requests[index]
                # What is predicted within the context has been scored with it.
                first = max(request.start, before + 1)
                targets = request.ids[first : before + len(row.ids) + 1]
                column = first - 1 - before
                picks.add(place, range(column, column + len(targets)), index, targets)
        slots = torch.arange(work.length + longest + width)
        begins = longest - own
        ends = work.length + longest + torch.tensor([len(row.ids) for row in batch])
        mask = ((slots >= begins[:, None]) & (slots < ends[:, None])).long()
        positions = work.length + own[:, None] + torch.arange(width)
        if contexts is None:
            memory = cache.frozen(work.prefix, keeps_added=True)
        else:
            cut = [(keys[:, :, :longest], values[:, :, :longest]) for keys, values in contexts]
            prefix = work.prefix or [(keys[:1, :, :0], values[:1, :, :0]) for keys, values in cut]
            used = torch.tensor([row.context for row in batch])
            memory = cache.continued(prefix, cut, used, begins)
        if picks.owners:
            values = self._network.read(ids, picks, mask=mask, positions=positions, cache=memory)
            work.found.add(picks, values.read())
        else:
            self._network.fill(ids, mask, positions, memory)
        return memory


def _padded(batch: Sequence[trie.Path] | Sequence[_Row]) -> int:
    return len(batch) * len(batch[0].ids)


def _ones(positions: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Return the mask over a prefix that is computed in chunks: everything up to its end."""
    return torch.ones((1, int(positions[0]) + len(ends)), dtype=torch.long)
