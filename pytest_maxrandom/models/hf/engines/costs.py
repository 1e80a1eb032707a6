"""Which of two exact engines reads a prompt with less work: trees in one row, or rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.models.hf import trie
from pytest_maxrandom.models.hf.batches import level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.models.hf.engines.network import Network, Sums
    from pytest_maxrandom.models.hf.engines.packed import Packed
    from pytest_maxrandom.models.hf.engines.rows import Rows
    from pytest_maxrandom.models.hf.requests import Request

_ATTENTION = 3
_COPY = 200
_PASS = 100
"""Fitted on a processor with the Llama of 30 million parameters of ``benchmarks.sweep``: how many
times slower than a layer's matrices attention is for each multiplication, how many multiplications
the copy of one number costs, and how many tokens one more pass."""
_CLEARLY = 0.95
"""Of the packed way's work: what is nearer may as well be slower."""


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

    def score(self, requests: Sequence[Request], planned: trie.Trie | None = None) -> Sums:
        """Return the log-likelihood of each request's answer."""
        planned = planned or trie.build(requests)
        if self._of_rows(planned) < _CLEARLY * self._of_forests(planned):
            return self._rows.score(requests, planned)
        return self._packed.score(requests, planned)

    def _of_forests(self, planned: trie.Trie) -> float:
        """Return the work of the packed way after the prefix, in tokens."""
        prefix = len(planned.prefix)
        longest = max(len(path.ids) for path in planned.paths)
        work = 0.0
        for paths in trie.cut(planned.paths, self.budget.room(longest)):
            nodes = len(paths[0].ids) + sum(len(path.ids) - path.shared for path in paths[1:])
            work += nodes * (1 + self._slot * (prefix + nodes)) + _PASS
        return work

    def _of_rows(self, planned: trie.Trie) -> float:
        """Return the work of rows after the prefix, in tokens."""
        before = len(planned.prefix)
        families = sorted(trie.families(planned.paths), key=lambda family: -family.context)
        work = 0.0
        for batch in self._batches([family.context for family in families]):
            contexts = [families[index] for index in batch]
            width = contexts[0].context
            work += self._of_batch(len(contexts), width, before + width)
            tails = sorted(
                (
                    len(path.ids) - family.context
                    for family in contexts
                    for path in family.paths
                    if len(path.ids) > family.context
                ),
                reverse=True,
            )
            for part in self._batches(tails):
                longest = tails[part.start]
                work += self._of_batch(len(part), longest, before + width + longest)
        return work

    def _of_batch(self, rows: int, width: int, slots: int) -> float:
        return rows * (width * (1 + self._slot * slots) + self._copied * slots) + _PASS

    def _batches(self, lengths: Sequence[int]) -> Iterable[range]:
        return level(lengths, self._rows.budget.tokens) if lengths else ()
