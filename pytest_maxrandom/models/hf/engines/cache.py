"""Keys and values of tokens that later forward passes look back on, and never change.

A forward pass writes into the cache that it is given. These layers hand out old and new together
and keep only the old, so that one prefix serves any number of passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.models.hf.engines.network import Budget, Network

    Mask = Callable[[torch.Tensor, torch.Tensor], Any]

_LEAST = 16
"""Tokens of a prefix; if not even these fit with those before them, none will."""
Pair = tuple[torch.Tensor, torch.Tensor]
"""Keys and values of a layer, each of shape (rows, heads, tokens, size)."""


class Frozen(DynamicLayer):  # type: ignore[misc]
    """A layer's prefix, the same for every row of a batch.

    Attributes
    ----------
    added : pair of tensors or None
        The keys and values that the latest pass brought, where they are asked for.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, *, keeps_added: bool) -> None:
        super().__init__()
        self.dtype, self.device = keys.dtype, keys.device
        self.keys: torch.Tensor = keys
        self.values: torch.Tensor = values
        self.is_initialized = True
        self.added: Pair | None = None
        self._keeps_added = keeps_added

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> Pair:
        """Return the prefix and what is new."""
        if self._keeps_added:
            self.added = (key_states, value_states)
        return self._after(self.keys, key_states), self._after(self.values, value_states)

    def _after(self, old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        return torch.cat([old.expand(len(new), -1, -1, -1), new], dim=-2)


class Continued(Frozen):
    """A layer's prefix, and after it another context for every row, which ends at the last slot.

    Rows whose context is shorter than the longest begin with empty slots: so the distance of two
    slots is the distance of their tokens, whatever a model takes for a distance.
    """

    def __init__(self, prefix: Pair, contexts: Pair, rows: torch.Tensor, empty: torch.Tensor):
        super().__init__(*prefix, keeps_added=False)
        self._contexts = contexts
        self._rows = rows.to(prefix[0].device)
        self._empty = empty.to(prefix[0].device)
        self._width = prefix[0].shape[-2] + contexts[0].shape[-2]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> Pair:
        """Return each row's prefix, context and what is new."""
        olds = zip((self.keys, self.values), self._contexts, strict=True)
        keys, values = (self._before(prefix, contexts) for prefix, contexts in olds)
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)

    def get_seq_length(self) -> int:
        """Return how many slots stand before what is new."""
        return self._width

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the number of slots, and the first."""
        return self._width + query_length, 0

    def _before(self, prefix: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
        own = contexts[self._rows]
        together = torch.cat([prefix.expand(len(own), -1, -1, -1), own], dim=-2)
        if not self._empty.any():
            return together
        slots = torch.arange(self._width, device=together.device)
        sources = (slots[None, :] - self._empty[:, None]).clamp(min=0)
        index = sources[:, None, :, None].expand(-1, together.shape[1], -1, together.shape[3])
        return together.gather(2, index)


def pairs(cache: Any) -> list[Pair]:
    """Return what a filled cache holds, layer by layer.

    Raises
    ------
    TypeError
        If a layer's state is something else than keys and values.
    """
    of_layers = []
    for layer in cache.layers:
        if type(layer) is not DynamicLayer or layer.keys is None or layer.keys.dim() != 4:
            raise TypeError("a layer keeps a state other than keys and values")
        of_layers.append((layer.keys, layer.values))
    if not of_layers:
        raise TypeError("the model does not fill a cache of keys and values")
    return of_layers


def added(cache: Any) -> list[Pair]:
    """Return what the latest pass brought to a frozen prefix, layer by layer."""
    return [layer.added for layer in cache.layers]


def frozen(prefix: list[Pair], *, keeps_added: bool = False) -> Any:
    """Return a cache of which every pass sees the prefix and changes nothing; else one to fill."""
    return _cache([Frozen(*pair, keeps_added=keeps_added) for pair in prefix])


def continued(
    prefix: list[Pair], contexts: list[Pair], rows: torch.Tensor, empty: torch.Tensor
) -> Any:
    """Return a cache for rows that continue contexts.

    Parameters
    ----------
    prefix, contexts : lists of pairs
        Of each layer; one row of the prefix, and as many rows of contexts as there are.
    rows : tensor of int, shape (rows,)
        Which context each row continues.
    empty : tensor of int, shape (rows,)
        How many tokens that context is shorter than the longest.
    """
    both = zip(prefix, contexts, strict=True)
    return _cache([Continued(one, other, rows, empty) for one, other in both])


def _cache(layers: list[Any]) -> Any:
    cache = DynamicCache()
    cache.layers = layers
    return cache


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


def chunks(budget: Budget, ids: Sequence[int]) -> list[int]:
    """Return the tokens of each pass that :func:`fill` takes."""
    firsts = range(0, len(ids), budget.tokens)
    return [min(budget.tokens, len(ids) - first) for first in firsts]


def _fill(network: Network, size: int, ids: Sequence[int], mask: Mask) -> list[Pair]:
    """Forward a prefix in chunks of at most `size` tokens, so that attention stays small."""
    growing = DynamicCache()  # all tokens in all layers, whatever their window
    for first in range(0, len(ids), size):
        chunk = torch.tensor(ids[first : first + size])
        positions = torch.arange(first, first + len(chunk))
        ends = torch.full_like(positions, len(chunk))
        network.fill(chunk[None], mask(positions, ends), positions[None], growing)
    return pairs(growing)
