"""A transformers model as the engines see it: tokens in, log-likelihoods out."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import torch

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.models.hf.arithmetic import computed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.requests import Picks

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
    ) -> list[float]:
        """Return the log-likelihood, in nats, of each picked token.

        Parameters
        ----------
        ids : tensor of int, shape (rows, columns)
        mask : tensor or dict of tensors
            What the model takes: rows of zeros and ones, or an additive mask of four dimensions.
        positions : tensor of int, shape (rows, columns), optional
            Where the model is not to count by itself.
        cache : transformers.Cache, optional

        Raises
        ------
        ScoreError
            If the model returns something that is not a number.
        """
        columns = sorted(set(picks.columns))
        place = {column: index for index, column in enumerate(columns)}
        kept = [place[column] for column in picks.columns]
        at = kept if self._keeps_logits else picks.columns
        with torch.inference_mode():
            logits = self._forward(ids, mask, positions, cache, torch.tensor(columns))
            values = _log_probabilities(logits, picks.rows, at, picks.targets)
        if not torch.isfinite(values).all():
            raise ScoreError(
                "the model returned a log-likelihood that is not a finite number; try another "
                "dtype or quantization"
            )
        return values.tolist()

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
            arguments["position_ids"] = positions.to(self.device)
        if cache is not None:
            arguments["past_key_values"] = cache
        if self._keeps_logits:
            arguments["logits_to_keep"] = keep.to(self.device)
        if isinstance(mask, dict):
            mask = {name: part.to(self.device) for name, part in mask.items()}
        else:
            mask = mask.to(self.device)
        try:
            with torch.inference_mode():
                logits: torch.Tensor = self.model(
                    input_ids=ids.to(self.device),
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


def _log_probabilities(
    logits: torch.Tensor, rows: Sequence[int], columns: Sequence[int], targets: Sequence[int]
) -> torch.Tensor:
    """Return log-probabilities in float64, computed in float32 from distinct rows of logits.

    Where the logits are, only float32 is needed: Apple's GPUs have no float64.
    """
    distinct, inverse = torch.unique(torch.tensor([rows, columns]), dim=1, return_inverse=True)
    tokens = torch.tensor(targets)
    found = torch.empty(len(targets), dtype=torch.float64)
    step = max(1, _SLICE // logits.shape[-1])
    for first in range(0, distinct.shape[1], step):
        part = distinct[:, first : first + step].to(logits.device)
        scores = logits[part[0], part[1]].float().log_softmax(-1)
        here = (inverse >= first) & (inverse < first + step)
        picked = scores[(inverse[here] - first).to(logits.device), tokens[here].to(logits.device)]
        found[here] = picked.cpu().double()
    return found
