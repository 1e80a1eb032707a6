"""What a sweep costs, added up prompt by prompt."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from dataclasses import dataclass, field, replace
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

    _costs: list[Cost] = field(default_factory=list)
    _engines: list[Engine] = field(default_factory=list)

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
        spent = Engine(
            cost.device,
            cost.dtype,
            sum(len(one.scores) for one in scored),
            cost.tokens_forwarded,
            seconds,
            cost.trie_nodes,
            cost.engine,
            cost.engine_reason,
        )
        self._costs.append(cost)
        self._engines.append(spent)
        return cost

    def reuse(self, cost: Cost) -> None:
        """Add a prompt whose results were read."""
        spent = Engine(cost.device, cost.dtype, 0, 0, 0.0, 0, cost.engine, cost.engine_reason)
        self._costs.append(cost)
        self._engines.append(replace(spent, reused=1, reused_seconds=cost.seconds))

    @property
    def revision(self) -> str | None:
        """The commit of the model, where it is known."""
        return next((cost.revision for cost in self._costs if cost.revision), None)

    @property
    def tokens(self) -> int:
        """Tokens put through a model for all of it, whenever that was."""
        return sum(cost.tokens_forwarded for cost in self._costs)

    @property
    def full_texts(self) -> int:
        """(prompt, example) pairs of which a text is exactly as long as the model's context."""
        return sum(cost.full_texts for cost in self._costs)

    def engine(self, model: Model | None, closest: float | None) -> Engine:
        """Return the sums.

        Parameters
        ----------
        model : Model or None
            What was used in this run, if anything.
        closest : float or None
            The smallest margin of all answers.
        """
        return replace(
            together(self._engines),
            batch_tokens=model.batch_tokens if model else None,
            peak_memory=_peak_memory(model),
            closest=closest,
        )


def together(engines: Sequence[Engine]) -> Engine:
    """Return what several prompts or sweeps cost as one."""
    reasons = [each.engine_reason for each in engines if each.engine_reason]
    return Engine(
        device=_all(each.device for each in engines),
        dtype=_all(each.dtype for each in engines),
        requests=sum(each.requests for each in engines),
        tokens_forwarded=sum(each.tokens_forwarded for each in engines),
        seconds=sum(each.seconds for each in engines),
        trie_nodes=sum(each.trie_nodes or 0 for each in engines),
        engine=_all(each.engine for each in engines if each.engine),
        engine_reason=reasons[0] if reasons else None,
        batch_tokens=max((each.batch_tokens or 0 for each in engines), default=0) or None,
        peak_memory=max((each.peak_memory or 0 for each in engines), default=0) or None,
        reused=sum(each.reused for each in engines),
        reused_seconds=sum(each.reused_seconds for each in engines),
        closest=min((each.closest for each in engines if each.closest is not None), default=None),
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
