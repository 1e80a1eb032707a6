"""The packed way: every distinct token once, many examples as trees in one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from pytest_maxrandom.models import trie
from pytest_maxrandom.models.hf.engines import cache
from pytest_maxrandom.models.hf.engines.network import Budget, Network, Values, moved
from pytest_maxrandom.models.requests import Likelihoods, Picks, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.hf.engines.cache import Pair
    from pytest_maxrandom.models.hf.engines.rows import Rows

FULL, SLIDING = "full_attention", "sliding_attention"

_ATTENTION = 3
_COPY = 200
_PASS = 100
"""Fitted on a processor with the Llama of 30 million parameters of ``benchmarks.sweep``: how many
times slower than a layer's matrices attention is for each multiplication, how many multiplications
the copy of one number costs, and how many tokens one more pass."""
_CLEARLY = 0.95
"""Of the packed way's work: what is nearer may as well be slower."""
_MORE = 1.05
"""Tokens for each of the packed way, at most: what repeats more was in none of the fits."""


@dataclass(frozen=True, slots=True)
class Window:
    """How far back a model's layers look."""

    size: int
    """Tokens that a node of a sliding layer sees, itself included."""
    mixed: bool
    """Whether other layers see everything; such models take one mask for each kind of layer."""

    @classmethod
    def of(cls, config: Any) -> Window | None:
        """Return what a model's configuration says; None where all layers see everything."""
        size = getattr(config, "sliding_window", None)
        kinds = getattr(config, "layer_types", None)
        if not size or (kinds is not None and SLIDING not in kinds):
            return None
        return cls(int(size), mixed=kinds is not None and FULL in kinds)


class Packed:
    """Scores a forest of examples in each forward pass, after a prefix that is computed once.

    Needs a model that takes an additive mask of four dimensions and position ids.
    """

    name = "packed"

    def __init__(self, network: Network, budget: Budget, window: Window | None = None) -> None:
        self._network = network
        self.budget = budget
        self._window = window

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Likelihoods:
        """Return the log-likelihood of each request's answer."""
        planned = self._planned(planned or trie.build(requests))
        prefix = cache.fill(self._network, self.budget, planned.prefix, self._mask)
        likelihoods = Likelihoods([0.0] * len(requests), before := len(planned.prefix))
        longest = max(len(path.ids) for path in planned.paths)
        read = []
        for paths, both in self.budget.passes(
            planned.paths,
            lambda paths: trie.cut(paths, self.budget.room(longest)),
            lambda paths: self._forward(trie.plant(paths, requests, before), prefix),
            trie.size,
            lambda path: before + len(path.ids),
        ):
            read.append(both)
            likelihoods.tokens_forwarded += trie.size(paths)
        for picks, values in read:
            likelihoods.add(picks, values.read())
        return likelihoods

    def passes(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> list[int]:
        """Return the tokens of each pass that scoring takes."""
        planned = self._planned(planned or trie.build(requests))
        room = self.budget.room(max(len(path.ids) for path in planned.paths))
        forests = trie.cut(planned.paths, room)
        return [*cache.chunks(self.budget, planned.prefix), *map(trie.size, forests)]

    def _planned(self, planned: trie.Trie) -> trie.Trie:
        """Let the prefix be a part of the forest where one pass holds all: each pass costs."""
        return planned.whole() if planned.nodes <= self.budget.tokens else planned

    def _forward(self, forest: trie.Forest, prefix: list[Pair]) -> tuple[Picks, Values]:
        positions = torch.from_numpy(forest.positions)
        return forest.picks, self._network.read(
            torch.from_numpy(forest.tokens)[None],
            forest.picks,
            mask=self._mask(positions, torch.from_numpy(forest.ends)),
            positions=positions[None],
            cache=cache.frozen(prefix) if prefix else None,
        )

    def _mask(
        self, positions: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor | dict[str, torch.Tensor]:
        return additive(positions, ends, self._network.dtype, self._window, self._network.device)


class Cheaper:
    """The packed engine, and rows for prompts that these read with clearly less work.

    A forest is a row in which every node is held against every other, which pays where examples
    share much. Where long examples share little, rows of their own are less work.
    """

    name = "packed"

    def __init__(self, network: Network, packed: Packed, rows: Rows) -> None:
        self._packed = packed
        self._rows = rows
        self.budget = packed.budget
        config = network.model.config.get_text_config()
        hidden = int(getattr(config, "hidden_size", 0) or 1024)
        inner = int(getattr(config, "intermediate_size", None) or 4 * hidden)
        matrices = 4 * hidden**2 + 3 * hidden * inner
        self._slot = _ATTENTION * 2 * hidden / matrices
        self._copied = _COPY * 2 * hidden / matrices

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Likelihoods:
        """Return the log-likelihood of each request's answer."""
        planned = planned or trie.build(requests)
        return self._better(planned).score(requests, planned)

    def passes(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> list[int]:
        """Return the tokens of each pass that scoring takes."""
        planned = planned or trie.build(requests)
        return self._better(planned).passes(requests, planned)

    def _better(self, planned: trie.Trie) -> Packed | Rows:
        return self._rows if self._better_in_rows(planned) else self._packed

    def _better_in_rows(self, planned: trie.Trie) -> bool:
        """Compare the work of both ways after the prefix, which both do alike."""
        prefix = len(planned.prefix)
        room = self.budget.room(max(len(path.ids) for path in planned.paths))
        forests = [trie.size(paths) for paths in trie.cut(planned.paths, room)]
        batches = list(self._rows.batches(planned))
        if sum(rows * width for rows, width, _ in batches) > _MORE * sum(forests):
            return False
        packed = sum(nodes * (1 + self._slot * (prefix + nodes)) + _PASS for nodes in forests)
        apart = sum(
            rows * (width * (1 + self._slot * slots) + self._copied * slots) + _PASS
            for rows, width, slots in batches
        )
        return apart < _CLEARLY * packed


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
        See :class:`pytest_maxrandom.models.trie.Forest`. The prefix is all before the first
        node.
    device : str or torch.device
        Where the mask is made: on a GPU that takes the square of the nodes off the processor.

    Returns
    -------
    tensor of shape (1, 1, nodes, prefix + nodes), or a dict of such by kind of layer
    """
    prefix = int(positions[0])
    positions, ends = moved(positions, device), moved(ends, device)
    nodes = torch.arange(len(positions), device=device)
    among = (nodes[None, :] <= nodes[:, None]) & (nodes[:, None] < ends[None, :])
    visible = torch.cat(
        [torch.ones((len(nodes), prefix), dtype=torch.bool, device=device), among], dim=1
    )
    if window is None:
        return _additive(visible, dtype)
    places = torch.cat([torch.arange(prefix, device=device), positions])
    near = visible & (positions[:, None] - places[None, :] < window.size)
    if window.mixed:
        return {FULL: _additive(visible, dtype), SLIDING: _additive(near, dtype)}
    return _additive(near, dtype)


def _additive(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[None, None]
