"""Texts as a network reads them in training, and as it is asked about them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.causal import context_of
from pytest_maxrandom.models.training import Size, Training

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Row = dict[str, Any]

_MASKED = 0.15
"""Share of the tokens that are predicted, as of BERT."""
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Encoded:
    """Some texts in tokens."""

    ids: list[list[int]]
    """Of each text, with what the tokenizer adds at its ends."""
    cut: int
    """How many texts were longer."""


def reach(config: Any, tokenizer: Any, most: int) -> int:
    """Return how many tokens of a text are read: `most`, or what a model's context holds."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    limit, _ = context_of(
        getattr(text, "max_position_embeddings", None), tokenizer.model_max_length
    )
    return most if limit is None else min(limit, most)


def prepare(tokenizer: Any, config: Any) -> None:
    """Let batches be filled up at their ends, by a token that stands for nothing.

    A network reads the last token before it, so the token that ends texts may be taken where a
    vocabulary has none for this.

    Parameters
    ----------
    tokenizer, config
        Of transformers; both are changed.
    """
    if tokenizer.pad_token_id is None:
        ends = (tokenizer.eos_token, tokenizer.unk_token, tokenizer.bos_token)
        tokenizer.pad_token = next(
            (token for token in ends if token), tokenizer.convert_ids_to_tokens(0)
        )
    tokenizer.padding_side = tokenizer.truncation_side = "right"
    config.pad_token_id = tokenizer.pad_token_id


def encode(tokenizer: Any, texts: Sequence[str], limit: int) -> Encoded:
    """Tokenize texts, and cut what is longer than the limit."""
    encoded: list[list[int]] = []
    cut = 0
    for first in range(0, len(texts), _AT_ONCE):
        part = list(texts[first : first + _AT_ONCE])
        whole = tokenizer(part, return_attention_mask=False, verbose=False).input_ids
        cut += sum(len(ids) > limit for ids in whole)
        encoded += tokenizer(
            part, truncation=True, max_length=limit, return_attention_mask=False
        ).input_ids
    return Encoded(encoded, cut)


def size_of(training: Training, tokenizer: Path | None, context: int | None) -> Size:
    """Return what a training reads, counted without torch.

    Parameters
    ----------
    tokenizer : Path or None
        Its tokenizer.json; without it, tokens are unknown.
    context : int or None
        Tokens that the model's context holds.
    """
    counter = None if tokenizer is None else _tokenizer(tokenizer)
    steps, words, tokens = 0, 0, 0
    labelled = [each.text for each in training.labelled]
    for settings, read in ((training.settings, training.texts), (training.classify, labelled)):
        if settings is None:
            continue
        rows = [0] * len(read)
        if counter is not None:
            counter.enable_truncation(min(settings.max_length, context or settings.max_length))
            objective = getattr(settings, "objective", "")
            found = counter.encode_batch(list(read))
            rows = [len(one.ids) for one in found if _is_read(one, objective)]
        words += sum(len(text.split()) for text in read) * settings.epochs
        tokens += sum(rows) * settings.epochs
        steps += math.ceil(len(rows) / settings.batch_size) * settings.epochs
    return Size(steps, words, None if counter is None else tokens)


def _is_read(encoding: Any, objective: str) -> bool:
    """Tell whether a text has a token to predict, as `rows_of`; labelled texts need none."""
    least = {"causal": 1, "masked": sum(encoding.special_tokens_mask)}
    return bool(len(encoding.ids) > least.get(objective, -1))


def _tokenizer(file: Path) -> Any:
    """Open a tokenizer by its own file; None where it cannot be read, which loading tells."""
    try:
        from tokenizers import Tokenizer

        found = Tokenizer.from_file(str(file))
        found.no_padding()
    except Exception:  # whatever the library raises
        return None
    return found


def rows_of(encoded: Encoded, tokenizer: Any, objective: str, name: str) -> list[Row]:
    """Return what is learned by predicting tokens: texts in which there is one to predict.

    Raises
    ------
    ModelError
        If there is none.
    """
    special = set(tokenizer.all_special_ids)
    if objective == "causal":
        rows: list[Row] = [{"input_ids": ids, "labels": ids} for ids in encoded.ids if len(ids) > 1]
    else:
        rows = [{"input_ids": ids} for ids in encoded.ids if not special.issuperset(ids)]
    if not rows:
        raise ModelError(
            f"there is no text to train {name} on: none of {len(encoded.ids)} texts holds a token "
            "that could be predicted; expected texts of a few words"
        )
    return rows


def collator_of(tokenizer: Any, objective: str, name: str) -> Callable[[list[Row]], Any]:
    """Return what makes a batch of rows by which tokens are predicted.

    Raises
    ------
    ModelError
        If the vocabulary has no token that masks others.
    """
    from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq

    if objective == "causal":
        # The one for language models takes every token that equals the filling for filling.
        return DataCollatorForSeq2Seq(tokenizer)  # type: ignore[no-any-return]
    if tokenizer.mask_token is None:
        raise ModelError(
            f"{name} cannot be trained with `objective: masked`: its tokenizer has no mask token; "
            "use `objective: causal`"
        )
    masks = DataCollatorForLanguageModeling(tokenizer, mlm=True, mlm_probability=_MASKED)

    def collate(rows: list[Row]) -> Any:
        # Where all texts of a batch are short perhaps nothing is masked, and the loss is no number.
        while (batch := masks(rows))["labels"].eq(-100).all():
            pass
        return batch

    return collate
