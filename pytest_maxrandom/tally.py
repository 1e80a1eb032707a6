"""What a sweep costs, added up prompt by prompt."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.record import Engine
from pytest_maxrandom.store import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.models.base import Model, Scored

_LIBRARIES = ("pytest-maxrandom", "torch", "transformers", "tokenizers", "bitsandbytes")


@dataclass(slots=True)
class Tally:
    """The costs of the prompts that were computed, and of those that were read."""

    _computed: list[Cost] = field(default_factory=list)
    _reused: list[Cost] = field(default_factory=list)
    _requests: int = 0

    def compute(
        self, model: Model, scored: Sequence[Scored], seconds: float, full_texts: int
    ) -> Cost:
        """Add a prompt that the model has scored, and return its cost."""
        cost = Cost(
            device=model.device,
            dtype=model.dtype,
            engine=model.engine,
            engine_reason=model.engine_reason,
            revision=model.revision,
            tokens_forwarded=sum(one.tokens_forwarded for one in scored),
            trie_nodes=sum(one.trie_nodes for one in scored),
            seconds=seconds,
            versions=_versions(),
            full_texts=full_texts,
        )
        self._computed.append(cost)
        self._requests += sum(len(one.scores) for one in scored)
        return cost

    def reuse(self, cost: Cost) -> None:
        """Add a prompt whose results were read."""
        self._reused.append(cost)

    @property
    def revision(self) -> str | None:
        """The commit of the model, where it is known."""
        return next((cost.revision for cost in self._costs if cost.revision), None)

    @property
    def tokens(self) -> int:
        """Tokens put through a model for all of it, whenever that was."""
        return sum(cost.tokens_forwarded for cost in self._costs)

    @property
    def _costs(self) -> list[Cost]:
        return self._computed + self._reused

    def engine(self, model: Model | None, closest: float | None) -> Engine:
        """Return the sums.

        Parameters
        ----------
        model : Model or None
            What was used in this run, if anything.
        closest : float or None
            The smallest margin of all answers.
        """
        reasons = [cost.engine_reason for cost in self._costs if cost.engine_reason]
        return Engine(
            device=_all(cost.device for cost in self._costs),
            dtype=_all(cost.dtype for cost in self._costs),
            requests=self._requests,
            tokens_forwarded=sum(cost.tokens_forwarded for cost in self._computed),
            seconds=sum(cost.seconds for cost in self._computed),
            trie_nodes=sum(cost.trie_nodes for cost in self._computed),
            engine=_all(cost.engine for cost in self._costs),
            engine_reason=reasons[0] if reasons else None,
            batch_tokens=model.batch_tokens if model else None,
            peak_memory=_peak_memory(model),
            reused=len(self._reused),
            reused_seconds=sum(cost.seconds for cost in self._reused),
            closest=closest,
            full_texts=sum(cost.full_texts for cost in self._costs),
        )


def _all(names: Iterable[str]) -> str:
    """Join what may differ, where a sweep was begun on one machine and finished on another."""
    return ", ".join(dict.fromkeys(names))


def _peak_memory(model: Model | None) -> int | None:
    if model is None:
        return None
    if (on_accelerators := model.peak_memory()) is not None:
        return on_accelerators
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@functools.cache
def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
