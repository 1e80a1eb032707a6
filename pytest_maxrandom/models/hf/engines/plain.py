"""The plain way: every text as a row of its own, with padding on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from pytest_maxrandom.models.hf.batches import Row, batches, rows
from pytest_maxrandom.models.hf.engines.network import Network, Picks, Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.requests import Request


class Plain:
    """Scores every text by itself, without a cache.

    Parameters
    ----------
    alone_beyond : int, optional
        Texts of more tokens are no row beside others: with some position encodings, the longest
        text of a batch changes what the others mean.
    """

    name = "plain"

    def __init__(
        self, network: Network, budget: Budget, *, alone_beyond: int | None = None
    ) -> None:
        self._network = network
        self.budget = budget
        self._alone_beyond = alone_beyond

    def score(self, requests: Sequence[Request], planned: object = None) -> Sums:
        """Return the log-likelihood of each request's answer."""
        totals = [0.0] * len(requests)
        forwarded = 0
        pending = []
        for batch in batches(rows(requests), self.budget.tokens):
            if self._alone_beyond is not None and len(batch[0].ids) >= self._alone_beyond:
                pending += [[row] for row in batch]
            else:
                pending.append(batch)
        pending.reverse()
        while pending:
            batch = pending.pop()
            size = len(batch) * len(batch[0].ids)
            values = self.budget.attempt(
                lambda batch=batch: self._forward(batch, requests),  # type: ignore[misc]
                size,
                alone=len(batch[0].ids) if len(batch) == 1 else None,
            )
            if values is None:
                pending += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                continue
            forwarded += size
            for owner, value in values:
                totals[owner] += value
        return Sums(totals, forwarded)

    def _forward(
        self, batch: Sequence[Row], requests: Sequence[Request]
    ) -> list[tuple[int, float]]:
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
                picks.add(number, request.start - 1, index, request.ids[request.start :])
        values = self._network.read(ids, picks, mask=mask)
        return list(zip(picks.owners, values, strict=True))
