"""What a server of vLLM computes and what it has kept: whole blocks of tokens, as its scheduler.

Of a prompt it looks up the longest run of whole blocks that are kept, its last token excepted,
which must be computed to tell what follows. Prompts whose own log-probabilities are told look up
nothing. Whatever is computed is kept, what is generated included, once a block of it is whole.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class BlockCache:
    """Blocks that are kept, and tokens that were computed or found in them.

    Attributes
    ----------
    computed, cached : int
        Tokens of prompts, and those generated but the last of each answer; and those looked up.
    """

    def __init__(self, block: int) -> None:
        self.block = block
        self.computed = self.cached = self.requests = 0
        self._kept: set[tuple[int, ...]] = set()
        self._lock = threading.Lock()

    def looked_up(self, prompt: Sequence[int], *, skips: bool = False) -> int:
        """Return how many tokens of a prompt are kept."""
        with self._lock:
            self.requests += 1
            found = 0
            while not skips and found + self.block < len(prompt):
                if tuple(prompt[: found + self.block]) not in self._kept:
                    break
                found += self.block
            self.computed += len(prompt) - found
            self.cached += found
            return found

    def keep(self, prompt: Sequence[int], generated: Sequence[int]) -> None:
        """Keep what was computed: a prompt, and what was generated but its last token."""
        with self._lock:
            computed = (*prompt, *generated[:-1])
            self.computed += len(computed) - len(prompt)
            ends = range(self.block, len(computed) + 1, self.block)
            self._kept |= {computed[:end] for end in ends}
