"""Tokenizers that tests make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hashed_model import encoded

if TYPE_CHECKING:
    from pathlib import Path


def write_bytes(folder: Path) -> Path:
    """Write a tokenizer of one token a byte, after a token for the beginning."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"<s>": 256}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.ByteFallback()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 256)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    fast.save_pretrained(folder)
    assert fast("naïve")["input_ids"] == encoded("naïve")
    return folder
