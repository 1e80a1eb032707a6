"""What a prompt or a sweep costs, and where it was computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.record import Arithmetic, SweepCost

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Cost:
    """Where and with what a prompt was scored.

    Attributes
    ----------
    engine, engine_reason : str, str or None
        The engine that was used, and why it was no faster one.
    revision : str or None
        The commit of the model that was loaded, where it is known.
    arithmetic : Arithmetic
        What computed the numbers.
    asked_dtype : str or None
        The precision that was asked for, where `dtype` is another one.
    full_texts : int
        Examples of which a text is exactly as long as the model's context.
    """

    device: str
    dtype: str
    engine: str
    engine_reason: str | None
    revision: str | None
    tokens_forwarded: int
    trie_nodes: int
    seconds: float
    arithmetic: Arithmetic
    asked_dtype: str | None = None
    full_texts: int = 0


def spent(
    cost: Cost,
    *,
    reused: bool = False,
    requests: int = 0,
    batch_tokens: int | None = None,
    peak_memory: int | None = None,
) -> SweepCost:
    """Return what a prompt cost in this run: where it was read, nothing but what it once took."""
    return SweepCost(
        device=cost.device,
        dtype=cost.dtype,
        requests=requests,
        tokens_forwarded=0 if reused else cost.tokens_forwarded,
        seconds=0.0 if reused else cost.seconds,
        trie_nodes=0 if reused else cost.trie_nodes,
        engine=cost.engine,
        engine_reason=cost.engine_reason,
        batch_tokens=batch_tokens,
        peak_memory=peak_memory,
        reused=int(reused),
        reused_seconds=cost.seconds if reused else 0.0,
        asked_dtype=cost.asked_dtype,
        arithmetic=cost.arithmetic,
    )


def together(engines: Sequence[SweepCost]) -> SweepCost:
    """Return what several prompts or sweeps cost as one."""
    reasons = [one.engine_reason for one in engines if one.engine_reason]
    return SweepCost(
        device=_all(one.device for one in engines),
        dtype=_all(one.dtype for one in engines),
        requests=sum(one.requests for one in engines),
        tokens_forwarded=sum(one.tokens_forwarded for one in engines),
        seconds=sum(one.seconds for one in engines),
        trie_nodes=sum(one.trie_nodes or 0 for one in engines),
        engine=_all(one.engine for one in engines if one.engine),
        engine_reason=reasons[0] if reasons else None,
        batch_tokens=max((one.batch_tokens or 0 for one in engines), default=0) or None,
        peak_memory=max((one.peak_memory or 0 for one in engines), default=0) or None,
        reused=sum(one.reused for one in engines),
        reused_seconds=sum(one.reused_seconds for one in engines),
        closest=min((one.closest for one in engines if one.closest is not None), default=None),
        asked_dtype=next((one.asked_dtype for one in engines if one.asked_dtype), None),
        # The store keeps results of another arithmetic apart, so there is one.
        arithmetic=next((one.arithmetic for one in engines if one.arithmetic), None),
    )


def _all(names: Iterable[str]) -> str:
    """Join what may differ, where a sweep was begun on one GPU and finished on another."""
    return ", ".join(dict.fromkeys(names))
