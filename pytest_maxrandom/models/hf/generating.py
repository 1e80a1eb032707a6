"""Answers that a model of transformers generates: in batches, as if each were alone."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.requests import uniform

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.models.hf.engines.network import Budget
    from pytest_maxrandom.models.questions import Finish, Generation

_NOISE = 0.05
"""Of the logits' standard deviation: what padding may change. A model that reads it as text is
beyond all of it."""
_PROBE = (9, 4)
"""Tokens of the two texts by which it is found out whether a model takes padding."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote after a prompt."""

    text: str
    finish: Finish
    ids: tuple[int, ...]
    """Its tokens, with the one that ends it."""
    tokens_forwarded: int
    """This text's part of what went through the model, with padding."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt in tokens, and what tokens of its answer are drawn from."""

    ids: tuple[int, ...]
    seed: int


class Generator:
    """Generates with a loaded model.

    Only the likeliest token counts, or what is drawn: what a model's own configuration says of
    penalties and of tokens that are left out is not done, so that models are asked alike.

    Parameters
    ----------
    model, tokenizer
        Of transformers.
    device : str
        Where the model's inputs go.

    Raises
    ------
    ModelError
        If the model's code does not generate.
    """

    def __init__(self, model: Any, tokenizer: Any, device: str, budget: Budget) -> None:
        if not hasattr(model, "generate") or getattr(model, "generation_config", None) is None:
            raise ModelError(
                f"the code of this {model.config.model_type} model cannot generate text, which "
                "`scoring: generate` needs; use another model, or another `scoring`"
            )
        self._model = model
        self._tokenizer = tokenizer
        self._device = device
        self._budget = budget
        self._ends = _ends(model, tokenizer)
        self._takes_padding: bool | None = None

    def write(self, prompts: Sequence[Prompted], how: Generation) -> list[Written]:
        """Return what follows each prompt.

        Raises
        ------
        ScoreError
            If memory does not hold one text.
        """
        lengths = [len(prompt.ids) for prompt in prompts]
        order = _longest_first(lengths)
        answers: list[Written | None] = [None] * len(prompts)

        def size(part: Sequence[int]) -> int:
            return _size(part, lengths, how)

        for part, written in self._budget.passes(
            order,
            lambda rest: self._cut(rest, lengths, how),
            lambda part: self._batch([prompts[place] for place in part], how),
            size,
            lambda place: size([place]),
        ):
            for place, one in zip(part, written, strict=True):
                answers[place] = one
        return [one for one in answers if one is not None]

    def sizes(self, prompts: Sequence[Sequence[int]], how: Generation) -> list[int]:
        """Return the tokens of each batch, at most."""
        lengths = [*map(len, prompts)]
        parts = self._cut(_longest_first(lengths), lengths, how)
        return [_size(part, lengths, how) for part in parts]

    def _cut(
        self, rest: Sequence[int], lengths: Sequence[int], how: Generation
    ) -> Iterator[Sequence[int]]:
        """Cut places of texts, the longest first, into batches."""
        part: list[int] = []
        for place in rest:
            longer = [*part, place]
            full = _size(longer, lengths, how) > self._budget.room(_size(longer[:1], lengths, how))
            if part and (full or not self._together(lengths, longer)):
                yield part
                longer = [place]
            part = longer
        yield part

    def _together(self, lengths: Sequence[int], part: Sequence[int]) -> bool:
        """Tell whether texts may stand in one batch: of one length, or the model takes padding."""
        if lengths[part[0]] == lengths[part[-1]]:
            return True
        if self._takes_padding is None:
            self._takes_padding = self._probe()
        return self._takes_padding

    def _probe(self) -> bool:
        """Compare what follows a short text beside a longer row with what follows it alone."""
        texts = [tuple(range(1, 1 + length)) for length in _PROBE]
        try:
            beside = self._logits(texts)[1:]
            alone = self._logits(texts[1:])
        except Exception:  # whatever a model's own code raises at an unusual mask
            return False
        return bool((beside - alone).abs().max() <= _NOISE * alone.std())

    def _logits(self, texts: Sequence[tuple[int, ...]]) -> torch.Tensor:
        more = {"min_new_tokens": 2, "output_logits": True, "return_dict_in_generate": True}
        with self._asked(2, **more), torch.inference_mode():
            ids, mask = self._padded(texts)
            made = self._model.generate(input_ids=ids, attention_mask=mask)
        return torch.stack(list(made.logits)).float().cpu().transpose(0, 1)

    def _batch(self, prompts: Sequence[Prompted], how: Generation) -> list[Written]:
        ids, mask = self._padded([prompt.ids for prompt in prompts])
        start = ids.shape[1]
        drawn: list[LogitsProcessor] = []
        if how.temperature > 0:
            drawn.append(_Drawn([prompt.seed for prompt in prompts], how.temperature, start))
        stops = [_Stops(self._tokenizer, how.stop, start)] if how.stop else []
        with self._asked(how.max_tokens), torch.inference_mode():
            made = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                logits_processor=LogitsProcessorList(drawn),
                stopping_criteria=StoppingCriteriaList(stops),
            )
        written = made[:, start:].tolist()
        forwarded = start + max(0, len(written[0]) - 1)
        return [self._read(row, how, forwarded) for row in written]

    def _read(self, row: Sequence[int], how: Generation, forwarded: int) -> Written:
        end = next((place for place, token in enumerate(row) if token in self._ends), None)
        ids = tuple(row if end is None else row[: end + 1])
        text = str(self._tokenizer.decode(ids, skip_special_tokens=True))
        stopped = how.stopped(text)
        finish: Finish = "length" if stopped is None and end is None else "stop"
        return Written(text if stopped is None else stopped, finish, ids, forwarded)

    @property
    def _pad(self) -> int:
        """What stands where no text is; it is masked, so that it may be any token."""
        return int(self._ends[0]) if self._ends else 0

    def _padded(self, texts: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return texts that end at the same place, and where they are."""
        longest = max(map(len, texts))
        ids = torch.full((len(texts), longest), self._pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, text in enumerate(texts):
            ids[row, longest - len(text) :] = torch.tensor(text)
            mask[row, longest - len(text) :] = 1
        return ids.to(self._device), mask.to(self._device)

    @contextmanager
    def _asked(self, tokens: int, **more: Any) -> Iterator[None]:
        """Generate by this configuration alone: what it leaves open, the model's own would say."""
        config = GenerationConfig(
            max_new_tokens=tokens,
            do_sample=False,
            pad_token_id=self._pad,
            eos_token_id=self._ends or None,
            **more,
        )
        own, self._model.generation_config = self._model.generation_config, config
        try:
            yield
        finally:
            self._model.generation_config = own


class _Stops(StoppingCriteria):  # type: ignore[misc]
    """Ends each text in which one of the texts stands at which answers end."""

    def __init__(self, tokenizer: Any, stop: Sequence[str], start: int) -> None:
        self._tokenizer = tokenizer
        self._stop = stop
        self._start = start
        # A token is at least one byte, but for those that complete what stands before.
        self._reach = 8 + max(len(text.encode()) for text in stop)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
        last = input_ids[:, self._start :][:, -self._reach :].tolist()
        texts = [self._tokenizer.decode(row, skip_special_tokens=True) for row in last]
        ended = [any(stop in text for stop in self._stop) for text in texts]
        return torch.tensor(ended, device=input_ids.device)


class _Drawn(LogitsProcessor):  # type: ignore[misc]
    """Draws each text's next token from its own seed, whatever else is in the batch."""

    def __init__(self, seeds: Sequence[int], temperature: float, start: int) -> None:
        self._seeds = seeds
        self._temperature = temperature
        self._start = start

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        step = input_ids.shape[1] - self._start
        chances = torch.softmax(scores.double().cpu() / self._temperature, dim=-1).cumsum(dim=-1)
        drawn = torch.tensor([[uniform(seed, step)] for seed in self._seeds], dtype=torch.double)
        chosen = torch.searchsorted(chances, drawn * chances[:, -1:], right=True)
        chosen = chosen.clamp(max=scores.shape[1] - 1).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)


def _longest_first(lengths: Sequence[int]) -> list[int]:
    return sorted(range(len(lengths)), key=lambda place: -lengths[place])


def _size(part: Sequence[int], lengths: Sequence[int], how: Generation) -> int:
    """Return the tokens of a batch, with padding, if its answers are as long as they may be."""
    return len(part) * (lengths[part[0]] + how.max_tokens)


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that end an answer: those of a chat are the model's, and may be several."""
    said: Any = getattr(model.generation_config, "eos_token_id", None)
    if said is None:
        said = getattr(model.config, "eos_token_id", None)
    known = said if isinstance(said, list | tuple) else [said]
    return tuple(dict.fromkeys(int(t) for t in (*known, tokenizer.eos_token_id) if t is not None))
