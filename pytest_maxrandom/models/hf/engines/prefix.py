"""The tokens that all requests of a prompt have in common go through the model once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pytest_maxrandom.models.hf.engines import cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.models.hf.engines.budget import Budget
    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.engines.network import Network

    Mask = Callable[[torch.Tensor, torch.Tensor], Any]

_LEAST = 16
"""Tokens; where not even these fit beside those before them, none will."""


def fill(network: Network, budget: Budget, ids: Sequence[int], mask: Mask) -> list[Pair]:
    """Return the keys and values of a prefix, layer by layer; empty for an empty prefix.

    Parameters
    ----------
    mask : callable
        Returns the model's mask for consecutive tokens, from their positions and the place where
        each one's descendants end.
    """
    if not ids:
        return []
    while True:
        size = budget.tokens
        filled = budget.attempt(
            lambda size=size: _fill(network, size, ids, mask),  # type: ignore[misc]
            min(size, len(ids)),
            alone=len(ids) if size <= _LEAST else None,
        )
        if filled is not None:
            return filled


def _fill(network: Network, size: int, ids: Sequence[int], mask: Mask) -> list[Pair]:
    """Forward a prefix in chunks of at most `size` tokens, so that attention stays small."""
    growing = cache.empty()
    for first in range(0, len(ids), size):
        chunk = torch.tensor(ids[first : first + size])
        positions = torch.arange(first, first + len(chunk))
        ends = torch.full_like(positions, len(chunk))
        network.fill(chunk[None], mask(positions, ends), positions[None], growing)
    return cache.pairs(growing)
