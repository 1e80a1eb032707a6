"""Rows and batches for a model that takes padded sequences."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.models.hf.requests import Request


@dataclass(frozen=True, slots=True)
class Row:
    """One sequence to be put through the model, for all the requests that it serves.

    Attributes
    ----------
    ids : tuple of int
        The tokens of its requests but their last, which is predicted and never fed.
    requests : tuple of int
        Indices of the requests; more than one where answers differ in their last token only.
    """

    ids: tuple[int, ...]
    requests: tuple[int, ...]


def rows(requests: Sequence[Request]) -> list[Row]:
    """Return the distinct sequences, longest first."""
    served: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for index, request in enumerate(requests):
        served[request.ids[:-1]].append(index)
    found = [Row(ids, tuple(indices)) for ids, indices in served.items()]
    return sorted(found, key=lambda row: len(row.ids), reverse=True)


def batches(rows: Sequence[Row], max_tokens: int) -> Iterator[list[Row]]:
    """Cut rows, which are sorted by length, into batches of at most `max_tokens` with padding.

    A row that is longer than `max_tokens` is a batch of its own.
    """
    batch: list[Row] = []
    for row in rows:
        if batch and (len(batch) + 1) * len(batch[0].ids) > max_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


_FORWARD = 16
"""What one more forward pass costs, in tokens."""


def level(lengths: Sequence[int], max_tokens: int) -> list[range]:
    """Cut rows, which are sorted by length from the longest, where the least is padded.

    A batch has at most `max_tokens` with padding; a longer row is a batch of its own.
    """
    widths = np.array(lengths, dtype=np.int64)
    best = np.zeros(len(widths) + 1, dtype=np.int64)
    first = np.zeros(len(widths) + 1, dtype=np.int64)
    low = 0
    for end in range(1, len(widths) + 1):
        while low < end - 1 and (end - low) * widths[low] > max_tokens:
            low += 1
        sizes = np.arange(end - low, 0, -1) * widths[low:end]
        # Between `low` and `end` a longer batch of shorter rows may still be too large.
        costs = np.where(
            (sizes <= max_tokens) | (np.arange(low, end) == end - 1),
            best[low:end] + sizes + _FORWARD,
            np.iinfo(np.int64).max,
        )
        chosen = int(np.argmin(costs))
        best[end], first[end] = costs[chosen], low + chosen
    found = []
    end = len(widths)
    while end:
        found.append(range(int(first[end]), end))
        end = int(first[end])
    return found[::-1]
