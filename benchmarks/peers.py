"""The ways of scoring that the sweep benchmark sets side by side, each as a plain function."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.requests import Likelihoods, Request

Score = Callable[[Sequence[Request]], list[float]]
"""From the requests of one prompt to the log-likelihood of each, in nats."""

PAPER_BATCH = 8
HARNESS_BATCH = 32


def paper_loop(model: Any, device: str) -> Score:
    """Score as the code of arXiv 2404.13020 does, but the right span of texts that are not cut.

    Every request is a full forward pass, eight to a batch in their order, padded on the right; the
    logits of all positions are computed, and the loss of all but the labels is masked.
    """

    def score(requests: Sequence[Request]) -> list[float]:
        found: list[float] = []
        for first in range(0, len(requests), PAPER_BATCH):
            batch = requests[first : first + PAPER_BATCH]
            width = max(len(request.ids) for request in batch)
            ids = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros_like(ids)
            labels = torch.full_like(ids, -100)
            for row, request in enumerate(batch):
                length = len(request.ids)
                ids[row, :length] = torch.tensor(request.ids)
                mask[row, :length] = 1
                labels[row, request.start : length] = ids[row, request.start : length]
            with torch.no_grad():
                logits = model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits
                losses = torch.nn.functional.cross_entropy(
                    logits[:, :-1].float().transpose(1, 2),
                    labels[:, 1:].to(device),
                    reduction="none",
                )
            found += (-losses.double().sum(1)).tolist()
        return found

    return score


def harness(model: Any, tokenizer: Any) -> Score:
    """Score with lm-evaluation-harness, on the very same tokens."""
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    scorer = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=HARNESS_BATCH)

    def score(requests: Sequence[Request]) -> list[float]:
        pairs = [
            (("", ""), list(request.ids[: request.start]), list(request.ids[request.start :]))
            for request in requests
        ]
        answers = scorer._loglikelihood_tokens(pairs, disable_tqdm=True)
        return [float(value) for value, _ in answers]

    return score


class Ours:
    """One engine of this project; keeps what it said of its last run."""

    def __init__(
        self, model: Any, tokenizer: Any, device: str, engine: Any, batch_tokens: int | None = None
    ) -> None:
        self._model = CausalModel(model, tokenizer, device, batch_tokens, engine)
        self.encode = self._model.encode
        self.ask = self._model.ask
        self.said: Likelihoods | None = None

    def __call__(self, requests: Sequence[Request]) -> list[float]:
        self.said = self._model.score(requests)
        return list(self.said.log_likelihoods)


class TokensFed:
    """Counts every token that goes into a model, padding included, whoever feeds it."""

    def __init__(self, model: Any) -> None:
        self.count = 0
        model.get_input_embeddings().register_forward_pre_hook(self._see)

    def _see(self, _module: Any, arguments: tuple[torch.Tensor, ...]) -> None:
        self.count += math.prod(arguments[0].shape)
