"""The plain way: every text as a row of its own, with padding on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from pytest_maxrandom.models.requests import Likelihoods, Picks
from pytest_maxrandom.models.trie import batches, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.engines.network import Network
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.trie import Path


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
        found = Likelihoods([0.0] * len(requests))
        for batch, (picks, values) in self.budget.passes(
            rows(requests),
            self._cut,
            lambda batch: self._forward(batch, requests),
            _padded,
            lambda row: len(row.ids),
        ):
            found.add(picks, values, _padded(batch))
        return found

    def passes(self, requests: Sequence[Request], planned: object = None) -> list[int]:
        """Return the tokens of each pass that scoring takes."""
        return [*map(_padded, self._cut(rows(requests)))]

    def _cut(self, rows: Sequence[Path]) -> Iterator[list[Path]]:
        for batch in batches(rows, self.budget.tokens):
            apart = self._alone_beyond is not None and len(batch[0].ids) >= self._alone_beyond
            yield from [[row] for row in batch] if apart else [batch]

    def _forward(
        self, batch: Sequence[Path], requests: Sequence[Request]
    ) -> tuple[Picks, list[float]]:
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


def _padded(batch: Sequence[Path]) -> int:
    return len(batch) * len(batch[0].ids)
