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
    device: str | torch.device = "cpu",
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
    device : str or torch.device
        Where the mask is made: on a GPU that takes the square of the nodes off the processor.

    Returns
    -------
    tensor of shape (1, 1, nodes, prefix + nodes), or a dict of such by kind of layer
    """
    prefix = int(positions[0])
    positions, ends = positions.to(device), ends.to(device)
    nodes = torch.arange(len(positions), device=device)
    among = (nodes[None, :] <= nodes[:, None]) & (nodes[:, None] < ends[None, :])
    seen = torch.cat(
        [torch.ones((len(nodes), prefix), dtype=torch.bool, device=device), among], dim=1
    )
    if window is None:
        return _additive(seen, dtype)
    places = torch.cat([torch.arange(prefix, device=device), positions])
    near = seen & (positions[:, None] - places[None, :] < window.size)
    if window.mixed:
        return {FULL: _additive(seen, dtype), SLIDING: _additive(near, dtype)}
    return _additive(near, dtype)


def _additive(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[None, None]
