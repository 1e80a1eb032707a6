"""Tokenizers that tests make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hashed_model import WORDS, encoded

if TYPE_CHECKING:
    from pathlib import Path


def write_words(folder: Path) -> Path:
    """Write the tokenizer of the model that is computed from a hash."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"<s>": 256}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.ByteFallback()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 256)]
    )
    # Of these too the one that begins first is read, and then the longest.
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in WORDS])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    fast.save_pretrained(folder)
    for text in ("naïve", "The fox is even over the lazy dog.\n Or lazy, the  stoned"):
        assert fast(text)["input_ids"] == encoded(text)
    return folder
