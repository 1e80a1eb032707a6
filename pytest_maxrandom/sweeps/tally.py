"""What a sweep costs, added up prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.record import Engine
from pytest_maxrandom.sweeps.store import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.models.base import Model, Reply


@dataclass(slots=True)
class Tally:
    """The costs of the prompts that were computed, and of those that were read."""

    _costs: list[Cost] = field(default_factory=list)
    _engines: list[Engine] = field(default_factory=list)

    def compute(self, model: Model, reply: Reply, seconds: float, full_texts: int) -> Cost:
        """Add a prompt that the model has answered, and return its cost."""
        cost = Cost(
            device=model.device,
            dtype=model.dtype,
            engine=model.engine,
            engine_reason=model.engine_reason,
            revision=model.revision,
            tokens_forwarded=reply.tokens_forwarded,
            trie_nodes=reply.trie_nodes,
            seconds=seconds,
            arithmetic=model.arithmetic,
            asked_dtype=model.asked_dtype,
            full_texts=full_texts,
        )
        spent = replace(
            _spent(cost),
            requests=sum(len(answer.tokens) for answer in reply.answers),
            tokens_forwarded=cost.tokens_forwarded,
            seconds=seconds,
            trie_nodes=cost.trie_nodes,
        )
        self._costs.append(cost)
        self._engines.append(spent)
        return cost

    def reuse(self, cost: Cost) -> None:
        """Add a prompt whose results were read."""
        self._costs.append(cost)
        self._engines.append(replace(_spent(cost), reused=1, reused_seconds=cost.seconds))

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
            peak_memory=model.peak_memory() if model else None,
            closest=closest,
        )


def _spent(cost: Cost) -> Engine:
    """Return where and with what a prompt was scored, and nothing that it took."""
    return Engine(
        device=cost.device,
        dtype=cost.dtype,
        requests=0,
        tokens_forwarded=0,
        seconds=0.0,
        trie_nodes=0,
        engine=cost.engine,
        engine_reason=cost.engine_reason,
        asked_dtype=cost.asked_dtype,
        arithmetic=cost.arithmetic,
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
        asked_dtype=next((each.asked_dtype for each in engines if each.asked_dtype), None),
        # The store keeps results of another arithmetic apart, so there is one.
        arithmetic=next((each.arithmetic for each in engines if each.arithmetic), None),
    )


def _all(names: Iterable[str]) -> str:
    """Join what may differ, where a sweep was begun on one GPU and finished on another."""
    return ", ".join(dict.fromkeys(names))
