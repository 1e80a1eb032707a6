"""A transformers model as the engines see it: tokens in, log-likelihoods out, so many at once."""

from __future__ import annotations

import functools
import inspect
import os
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host.machine import available_memory
from pytest_maxrandom.models.hf.arithmetic import computed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.models.requests import Picks

    T = TypeVar("T")
    Item = TypeVar("Item")

_LEAST = 64
_PART = 0.5
"""Of the free memory; the rest is for what the estimate does not know of."""
_SLICE = 2**25
"""Logits that are turned to float32 at once (128 MiB)."""
_AVX512 = "only supported when avx512 is supported"
"""What torch says where attention was chosen by the processor, and its parts by the variable."""


class Network:
    """A loaded model and what its ``forward`` takes."""

    def __init__(self, model: Any, device: str) -> None:
        parameters = inspect.signature(model.forward).parameters
        self._keeps_logits = "logits_to_keep" in parameters
        self.takes_positions = "position_ids" in parameters
        self.takes_cache = "past_key_values" in parameters
        self.model = model
        self.device = device
        self.dtype: torch.dtype = model.dtype
        self.computed = computed(model)

    def fill(self, ids: torch.Tensor, mask: Any, positions: torch.Tensor, cache: Any) -> None:
        """Forward tokens for what they leave in the cache."""
        keep = torch.zeros(1, dtype=torch.long)
        self._forward(ids, mask, positions, cache, keep)

    def read(
        self,
        ids: torch.Tensor,
        picks: Picks,
        *,
        mask: Any,
        positions: torch.Tensor | None = None,
        cache: Any = None,
    ) -> Values:
        """Return the log-likelihood, in nats, of each picked token, where it can be read later.

        So a GPU need not wait for the processor between two passes, nor this one for the GPU.

        Parameters
        ----------
        ids : tensor of int, shape (rows, columns)
        mask : tensor or dict of tensors
            What the model takes: rows of zeros and ones, or an additive mask of four dimensions.
        positions : tensor of int, shape (rows, columns), optional
            Where the model is not to count by itself.
        cache : transformers.Cache, optional
        """
        columns = sorted(set(picks.columns))
        place = {column: index for index, column in enumerate(columns)}
        kept = [place[column] for column in picks.columns]
        at = kept if self._keeps_logits else picks.columns
        with torch.inference_mode():
            logits = self._forward(ids, mask, positions, cache, torch.tensor(columns))
            return _log_probabilities(logits, picks.rows, at, picks.targets)

    def _forward(
        self,
        ids: torch.Tensor,
        mask: Any,
        positions: torch.Tensor | None,
        cache: Any,
        keep: torch.Tensor,
    ) -> torch.Tensor:
        arguments: dict[str, Any] = {}
        if positions is not None and self.takes_positions:
            arguments["position_ids"] = moved(positions, self.device)
        if cache is not None:
            arguments["past_key_values"] = cache
        if self._keeps_logits:
            arguments["logits_to_keep"] = moved(keep, self.device)
        if isinstance(mask, dict):
            mask = {name: moved(part, self.device) for name, part in mask.items()}
        else:
            mask = moved(mask, self.device)
        try:
            with torch.inference_mode():
                logits: torch.Tensor = self.model(
                    input_ids=moved(ids, self.device),
                    attention_mask=mask,
                    use_cache=cache is not None,
                    **arguments,
                ).logits
        except RuntimeError as error:
            limit = os.environ.get("ATEN_CPU_CAPABILITY")
            if limit is None or _AVX512 not in str(error):
                raise
            raise ScoreError(
                f"with ATEN_CPU_CAPABILITY={limit} torch has no attention in "
                f"{str(self.dtype).removeprefix('torch.')} for this processor; unset the "
                "variable, or give the model `dtype: float32`"
            ) from error
        return logits


class Values:
    """Log-likelihoods of picked tokens, which a GPU may still be computing.

    Parameters
    ----------
    parts : list of tensors of float32
        Where the model computes: Apple's GPUs have no float64.
    order : tensor of int
        Which pick each of them is, one part after the other.
    """

    def __init__(self, parts: list[torch.Tensor], order: torch.Tensor) -> None:
        self._parts = parts
        self._order = order

    def read(self) -> list[float]:
        """Wait for them.

        Raises
        ------
        ScoreError
            If the model returned something that is not a number.
        """
        values = torch.empty(len(self._order), dtype=torch.float64)
        values[self._order] = torch.cat(self._parts).cpu().double()
        if not torch.isfinite(values).all():
            raise ScoreError(
                "the model returned a log-likelihood that is not a finite number; try another "
                "dtype or quantization"
            )
        return values.tolist()


def _log_probabilities(
    logits: torch.Tensor, rows: Sequence[int], columns: Sequence[int], targets: Sequence[int]
) -> Values:
    """Return log-probabilities, computed in float32 from distinct rows of logits."""
    distinct, inverse = torch.unique(torch.tensor([rows, columns]), dim=1, return_inverse=True)
    tokens = torch.tensor(targets)
    step = max(1, _SLICE // logits.shape[-1])
    parts, order = [], []
    for first in range(0, distinct.shape[1], step):
        part = moved(distinct[:, first : first + step], logits.device)
        scores = logits[part[0], part[1]].float().log_softmax(-1)
        (here,) = torch.where((inverse >= first) & (inverse < first + step))
        places = moved(torch.stack([inverse[here] - first, tokens[here]]), logits.device)
        parts.append(scores[places[0], places[1]])
        order.append(here)
    return Values(parts, torch.cat(order))


def moved(tensor: torch.Tensor, device: str | torch.device) -> torch.Tensor:
    """Return a tensor on a device, without waiting for what a GPU has still to do."""
    if tensor.device.type == "cpu" and torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


class Budget:
    """Tokens per forward pass: halved where memory does not hold them, and remembered.

    Parameters
    ----------
    tokens : int
        The first to be tried.
    device : str
        For the message.
    texts : int
        How many texts have room in a pass, until memory is out once, even if they are long.
    """

    def __init__(self, tokens: int, device: str, texts: int = 0) -> None:
        self.tokens = tokens
        self._device = device
        self._texts = texts

    def room(self, longest: int) -> int:
        """Return the tokens of a pass for texts of at most `longest` tokens."""
        return max(self.tokens, self._texts * longest)

    def attempt(self, run: Callable[[], T], tokens: int, *, alone: int | None = None) -> T | None:
        """Return what `run` returns; None, with half the budget from now on, if memory is out.

        Parameters
        ----------
        tokens : int
            How many go through the model.
        alone : int, optional
            Length of the one text that this is, where it cannot be made smaller.

        Raises
        ------
        ScoreError
            If memory does not hold one text.
        """
        try:
            return run()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if alone is not None:
                raise ScoreError(
                    f"the memory of {self._device} cannot hold the model and a text of {alone} "
                    "tokens; use fewer shots, a stronger quantization or a smaller model"
                ) from error
        # Here, what the failed pass held is no longer kept alive by its traceback.
        self.tokens = max(1, tokens // 2 if self._texts else min(self.tokens, tokens) // 2)
        self._texts = 0
        # What torch keeps of an accelerator's memory without using it.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if torch.backends.mps.is_available():
            torch.mps.empty_cache()
        return None

    def passes(
        self,
        items: Sequence[Item],
        cut: Callable[[Sequence[Item]], Iterable[Sequence[Item]]],
        run: Callable[[Sequence[Item]], T],
        tokens: Callable[[Sequence[Item]], int],
        text: Callable[[Item], int],
    ) -> Iterator[tuple[Sequence[Item], T]]:
        """Yield each part of some items with what `run` returns of it.

        Parameters
        ----------
        cut : callable
            Cuts items, in order, into parts; what is left is cut anew where memory is out.
        tokens : callable
            How many of a part go through the model.
        text : callable
            Length of the text that an item stands for.
        """
        rest = items
        while rest:
            for part in cut(rest):
                alone = text(part[0]) if len(part) == 1 else None
                done = self.attempt(functools.partial(run, part), tokens(part), alone=alone)
                if done is None:
                    break
                rest = rest[len(part) :]
                yield part, done


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory is out, on a GPU or on the CPU."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error)
    signs = ("DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED", "out of memory")
    return isinstance(error, RuntimeError) and any(sign in text for sign in signs)


def start(network: Network, on_cpu: int, elsewhere: int) -> int:
    """Return the tokens to begin with: the fastest number, or less where memory is short."""
    most = on_cpu if network.device == "cpu" else elsewhere
    free = free_bytes(network.device)
    if free is None:
        return most
    return max(_LEAST, min(most, int(_PART * free / _bytes_per_token(network))))


def _bytes_per_token(network: Network) -> int:
    """Estimate what one token takes: activations of a layer, keys and values, and its logits."""
    config = network.model.config.get_text_config()
    hidden = int(getattr(config, "hidden_size", 0) or 1024)
    inner = int(getattr(config, "intermediate_size", None) or 4 * hidden)
    layers = int(getattr(config, "num_hidden_layers", 0) or 32)
    vocabulary = int(getattr(config, "vocab_size", 0) or 32_000)
    size = network.dtype.itemsize
    return size * (12 * hidden + 4 * inner + 2 * layers * hidden) + (size + 8) * vocabulary


def free_bytes(device: str) -> int | None:
    """Return the bytes of memory that are left on a device; None where nobody tells."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    if device.startswith("mps"):
        used = int(torch.mps.driver_allocated_memory())
        return max(0, int(torch.mps.recommended_max_memory()) - used)
    return available_memory() if device == "cpu" else None
