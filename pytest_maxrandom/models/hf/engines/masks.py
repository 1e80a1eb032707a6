"""Which nodes a node of a packed forest sees, as an additive mask of four dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, slots=True)
class Window:
    """How far back a model's layers look.

    Attributes
    ----------
    size : int
        Tokens that a node of a sliding layer sees, itself included.
    mixed : bool
        Whether other layers see everything; such models take one mask for each kind of layer.
    """

    size: int
    mixed: bool


def additive(
    positions: torch.Tensor,
    ends: torch.Tensor,
    dtype: torch.dtype,
    window: Window | None,
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the mask of the nodes over the prefix and themselves.

    A node q sees a node k where ``k <= q < ends[k]`` (it is k or a descendant), and the prefix, as
    far as the window of its layer reaches. The mask is additive and in the model's dtype: a boolean
    one is silently added to the scores by some attention implementations.

    Parameters
    ----------
    positions, ends : tensors of int, shape (nodes,)
        See :class:`pytest_maxrandom.models.hf.trie.Forest`. The prefix is all before the first
        node.

    Returns
    -------
    tensor of shape (1, 1, nodes, prefix + nodes), or a dict of such by kind of layer
    """
    nodes = torch.arange(len(positions))
    prefix = int(positions[0])
    among = (nodes[None, :] <= nodes[:, None]) & (nodes[:, None] < ends[None, :])
    seen = torch.cat([torch.ones((len(nodes), prefix), dtype=torch.bool), among], dim=1)
    if window is None:
        return _additive(seen, dtype)
    places = torch.cat([torch.arange(prefix), positions])
    near = seen & (positions[:, None] - places[None, :] < window.size)
    if window.mixed:
        return {FULL: _additive(seen, dtype), SLIDING: _additive(near, dtype)}
    return _additive(near, dtype)


def _additive(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    mask = torch.zeros(seen.shape, dtype=dtype)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[None, None]
