"""What a model's configuration says of the engines that it can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_maxrandom.models.hf.engines.packed import FULL, SLIDING, Window

_KNOWN_PACKED = frozenset(
    {"cohere", "cohere2", "falcon", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox"}
    | {"gpt_oss", "gptj", "llama", "mistral", "mixtral", "olmo", "olmo2", "olmo3", "opt"}
    | {"phi3", "qwen2", "qwen3", "stablelm", "starcoder2"}
)
"""Model types whose packed log-likelihoods are tested against one text at a time."""

_KNOWN_ROWS = frozenset({"bloom", "falcon", "gpt_neo", "mpt"})
"""Model types that cannot be packed and whose rows are tested likewise."""

_STEPWISE_ROPE = frozenset({"dynamic", "longrope"})
_ADDITIVE = frozenset({"eager", "sdpa"})


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a model before anything is tried.

    Attributes
    ----------
    against_packed, against_rows : str or None
        Why the engine would be wrong or cannot run; None where nothing speaks against it.
    window : Window or None
        What the packed engine must write into its masks.
    limit : int or None
        Texts of more tokens go the plain way, whatever a probe says of shorter ones.
    known : bool
        Whether the model type is tested at every length; else only as far as a probe reached.
    alone_beyond : int or None
        Longer texts must not stand in one batch with others, not even in the plain way.
    """

    against_packed: str | None
    against_rows: str | None
    window: Window | None
    limit: int | None
    known: bool
    alone_beyond: int | None


def traits(model: Any) -> Traits:
    """Read a model's configuration."""
    config = model.config.get_text_config()
    kind = str(config.model_type)
    kinds = set(getattr(config, "layer_types", None) or ())
    against_rows = None
    if getattr(model, "_is_stateful", False) or kinds - {FULL, SLIDING, "chunked_attention"}:
        against_rows = "its layers carry a state from token to token instead of keys and values"
    against_packed = against_rows or _against_mask(config, kind)
    stepwise = _stepwise(config)
    limits = [stepwise, getattr(config, "attention_chunk_size", None)]
    known = kind in (_KNOWN_ROWS if against_packed else _KNOWN_PACKED)
    window = None if known and against_packed else _window(config)
    if not known and window is not None:
        limits.append(window.size)
    return Traits(
        against_packed=against_packed,
        against_rows=against_rows,
        window=window,
        limit=min((int(limit) for limit in limits if limit), default=None),
        known=known,
        alone_beyond=stepwise,
    )


def _against_mask(config: Any, kind: str) -> str | None:
    if kind in {"bloom", "mpt"} or getattr(config, "alibi", False):
        return "it counts ALiBi distances along the row, not along a branch of a tree"
    if kind == "gpt_neo":
        return "its local attention counts positions along the row, not along a branch of a tree"
    attention = getattr(config, "_attn_implementation", None)
    if attention not in _ADDITIVE:
        return f"its attention implementation {attention} takes no mask of four dimensions"
    return None


def _stepwise(config: Any) -> int | None:
    """Return the length past which the position encoding of all tokens changes, if there is one."""
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in parameters.values() if isinstance(value, dict)]
    for part in nested or [parameters]:
        if part.get("rope_type") in _STEPWISE_ROPE:
            places = (part, vars(config))
            names = ("original_max_position_embeddings", "max_position_embeddings")
            found = (place.get(name) for name in names for place in places)
            return next((int(length) for length in found if length), 1)
    return None


def _window(config: Any) -> Window | None:
    size = getattr(config, "sliding_window", None)
    if not size:
        return None
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        return Window(int(size), mixed=False)
    if SLIDING not in kinds:
        return None
    return Window(int(size), mixed=FULL in kinds)
