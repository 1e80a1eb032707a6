"""Chooses how a model is read: by its configuration, then by trying it on a few tokens.

An engine that a model cannot take is often wrong without a word (by 1 to 7 nats). So none is used
before its log-likelihoods of a probe were those of the plain way; and with a type of model that is
not tested at every length, none is used for texts longer than a probe was.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.hf.engines.network import Budget, Network, is_out_of_memory, start
from pytest_maxrandom.models.hf.engines.packed import FULL, SLIDING, Cheaper, Packed, Window
from pytest_maxrandom.models.hf.engines.rows import Plain, Rows
from pytest_maxrandom.models.requests import Likelihoods, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.trie import Trie

ENGINES = ("auto", "packed", "rows", "plain")

_FIRST_PROBE = 24
"""Tokens of the longest text of the probe at load."""

_FLOOR = {torch.float32: 1e-3, torch.float64: 1e-3}
_FLOOR_ELSEWHERE = 0.25
_CEILING = 1.0
"""Differences of a sum, in nats: rounding in 16 bits reaches .1, and a wrong mask begins at 1.4."""

_TEXTS = 3
"""Of the longest in one packed pass; with fewer, much of what they share is computed twice."""

_START = {"packed": (512, 8192), "rows": (1024, 4096), "plain": (4096, 16384)}
"""Tokens per forward pass to begin with, on a CPU and elsewhere."""

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


class Engine(Protocol):
    """One way to put requests through a model."""

    name: str
    budget: Budget

    def score(self, requests: Sequence[Request], planned: Trie | None = None) -> Likelihoods:
        """Return the log-likelihood of each request's answer; `planned` is their trie, if known."""

    def passes(self, requests: Sequence[Request], planned: Trie | None = None) -> list[int]:
        """Return the tokens of each pass that scoring takes, as long as memory holds them."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a model before anything is tried."""

    against_packed: str | None
    against_rows: str | None
    """Why the engine would be wrong or cannot run; None where nothing speaks against it."""
    window: Window | None
    """What the packed engine must write into its masks."""
    limit: int | None
    """Texts of more tokens go the plain way, whatever a probe says of shorter ones."""
    known: bool
    """Whether the model type is tested at every length; else only as far as a probe reached."""
    alone_beyond: int | None
    """Longer texts must not stand in one batch with others, not even in the plain way."""


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
    window = None if known and against_packed else Window.of(config)
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


@dataclass(slots=True)
class Choice:
    """The engine of a model, and the plain way for what is too long for it."""

    engine: Engine
    plain: Plain
    reason: str | None
    """Why the engine is not the packed one."""
    verified: int | None
    """Texts of at most so many tokens may take the engine; None where all may."""
    _tokens: int
    _network: Network
    _limit: int | None

    def reach(self, longest: int, most: int | None) -> int | None:
        """Return how long a text may be for the engine, after a longer probe where one is due.

        Parameters
        ----------
        longest : int
            Tokens of the longest text at hand.
        most : int, optional
            What the model's context holds.
        """
        if self.verified is None or longest <= self.verified or self.verified == self._limit:
            return self.verified
        length = 1 << (longest - 1).bit_length()
        bounds = [bound for bound in (most, self._limit) if bound is not None]
        length = min([length, *bounds])
        if length > self.verified:
            if _differs(self.engine, self.plain, self._network, length, self._tokens) is None:
                self.verified = length
            else:
                self._limit = self.verified
        return self.verified


def choose(
    model: Any,
    device: str,
    wanted: str,
    batch_tokens: int | None,
    context_length: int | None,
) -> Choice:
    """Choose the engine of a model.

    Parameters
    ----------
    wanted : str
        One of :data:`ENGINES`.
    batch_tokens : int, optional
        Tokens per forward pass to begin with, instead of an estimate.

    Raises
    ------
    ModelError
        If the model cannot take the engine that is wanted.
    ValueError
        If there is no such engine.
    """
    if wanted not in ENGINES:
        raise ValueError(f"engine is {wanted!r}; expected one of {', '.join(ENGINES)}")
    network = Network(model, device)
    known = traits(model)

    def budget(name: str) -> Budget:
        # What a probe has to fill must not grow with the texts.
        texts = _TEXTS if name == "packed" and known.known and batch_tokens is None else 0
        return Budget(batch_tokens or start(network, *_START[name]), device, texts)

    sizes = {name: budget(name) for name in _START}
    plain = Plain(network, sizes["plain"], alone_beyond=known.alone_beyond)
    if wanted == "plain":
        return Choice(plain, plain, "the plain engine was requested", None, 0, network, None)
    engines: list[Engine] = [
        Packed(network, sizes["packed"], known.window),
        Rows(network, sizes["rows"]),
    ]
    length = min(bound for bound in (_FIRST_PROBE, context_length, known.limit) if bound)
    first = None
    for engine in engines:
        if wanted not in ("auto", engine.name):
            continue
        # Rows of a model that should have been packed were never tested beyond the probe.
        tested = known.known and (wanted != "auto" or first == known.against_packed)
        tokens = 0 if tested else sizes[engine.name].tokens
        reason = _against(engine, known, network) or _differs(
            engine, plain, network, length, tokens
        )
        if reason is None:
            if wanted == "rows":
                first = "the rows engine was requested"
            verified = known.limit if tested else length
            if wanted == "auto" and tested and engine.name == "packed":
                engine = _beside_rows(engines, known, network, plain, length)
            return Choice(engine, plain, first, verified, tokens, network, known.limit)
        first = first or reason
        if wanted != "auto":
            raise ModelError(
                f"the engine `{wanted}` cannot read this {model.config.model_type} model: "
                f"{reason}; expected `auto` or another engine"
            )
    return Choice(plain, plain, first, None, 0, network, None)


def _beside_rows(
    engines: Sequence[Engine], known: Traits, network: Network, plain: Plain, length: int
) -> Engine:
    """Let prompts go in rows where that is less work, if that is exact too and was measured."""
    packed, rows = engines
    quantized = getattr(network.model.config, "quantization_config", None) is not None
    if quantized or network.device != "cpu" or _against(rows, known, network):
        return packed
    if _differs(rows, plain, network, length) is not None:
        return packed
    assert isinstance(packed, Packed)
    assert isinstance(rows, Rows)
    return Cheaper(network, packed, rows)


def _against(engine: Engine, known: Traits, network: Network) -> str | None:
    refusal = known.against_rows if engine.name == "rows" else known.against_packed
    if refusal is None and not network.takes_cache:
        return "its forward takes no cache of keys and values"
    if refusal is None and engine.name == "packed" and not network.takes_positions:
        return "its forward takes no position ids"
    return refusal


def _differs(
    engine: Engine, plain: Plain, network: Network, length: int, tokens: int = 0
) -> str | None:
    """Return why the engine cannot be used for texts of `length` tokens; None if it can.

    At least `tokens` go through the model at once: a packed forest is longer than any of its texts,
    and a model may count along the row.
    """
    requests, checked = _probe(network, length, tokens)
    wanted = [requests[index] for index in checked]
    try:
        expected = plain.score(wanted).log_likelihoods
        alone = [plain.score([request]).log_likelihoods[0] for request in wanted]
    except ScoreError:
        return "the plain engine gives no finite numbers to compare a probe with"
    noise = _distance(expected, alone)
    floor = _FLOOR.get(network.computed, _FLOOR_ELSEWHERE)
    try:
        found = engine.score(requests).log_likelihoods
    except Exception as error:  # whatever a model's own code raises at an unusual mask or cache
        if is_out_of_memory(error):
            raise
        return f"a probe ended with {type(error).__name__}"
    difference = _distance(expected, [found[index] for index in checked])
    if not difference <= max(floor, min(4 * noise, _CEILING)):
        return (
            f"a probe of {length} tokens differed from the plain engine by {difference:.3g} nats, "
            f"and the plain engine from itself by {noise:.3g}"
        )
    return None


def _probe(network: Network, length: int, tokens: int) -> tuple[list[Request], list[int]]:
    """Return examples of random tokens after a prefix, and which requests are to be compared.

    The longest text has `length` tokens. The answers have one, two and three tokens, where there is
    room, and begin alike. There are two examples, or as many as have `tokens` nodes together; those
    compared are the first, the middle and the last in a forest's order.
    """
    rng = random.Random(length)
    vocabulary = int(network.model.config.get_text_config().vocab_size)

    def draw(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(vocabulary) for _ in range(count))

    answer = min(3, max(1, length // 2 - 1))
    # Nearly all is prefix: nodes of a full forest are then as far apart in a row as they can be.
    prefix = draw(max(1, length - answer - 6))
    room = max(0, length - answer - len(prefix))
    sizes = [room, max(0, room - 2)]  # uneven, and near enough to stand in one batch of rows
    while sum(sizes) + (len(sizes) + 2) * (answer + 1) < tokens:
        sizes.append(max(1, room // 2))
    drawn = [prefix + draw(size) for size in sizes]
    contexts = sorted({*drawn})
    requests = []
    for context in contexts:
        first = draw(answer)
        answers = [*(first[:count] for count in range(1, answer + 1)), (*first[:-1], *draw(1))]
        requests += [Request(context + tail, len(context)) for tail in answers]
    each = len(requests) // len(contexts)
    compared = sorted({0, len(contexts) // 2, len(contexts) - 1, *map(contexts.index, drawn[:2])})
    return requests, [each * example + one for example in compared for one in range(each)]


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


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
