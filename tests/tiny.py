"""Small random models with real tokenizers, made on the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TEXT = [
    "Q: Which of these is a fruit? apple, stone, river. A: apple",
    "Which statement is sarcastic? (a) Great weather. (b) It rains again.",
    "The quick brown fox jumps over the lazy dog 0123456789 times; naïve café!",
    "Yes No yes no True False positive negative",
]


def byte_level_tokenizer(texts: Sequence[str] = TEXT * 20, *, size: int = 400) -> Any:
    """Byte-level BPE, as GPT-2's, that adds no token at either end."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")


def sentencepiece_tokenizer(*, begin: bool = True, end: bool = False) -> Any:
    """BPE over words that begin with "▁", as Llama 2's, with <s> in front."""
    from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    specials = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator(TEXT * 20, trainer)
    single = [*(["<s>"] if begin else []), "$A", *(["</s>"] if end else [])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join(single), special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def word_tokenizer(texts: Sequence[str] = TEXT * 20) -> Any:
    """WordPiece with [CLS], [SEP] and [MASK], as BERT's."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    names = {f"{each.lower()}_token": f"[{each}]" for each in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = list(names.values())
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=specials, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(each, specials.index(each)) for each in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def save_bert(folder: Path, *, spread: float = 0.02) -> Path:
    """Save a random BERT that predicts masked words, and has the pooler of one that was trained."""
    import torch
    from transformers import BertConfig, BertForPreTraining

    tokenizer = word_tokenizer()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=spread,
        pad_token_id=tokenizer.pad_token_id,
    )
    BertForPreTraining(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_llama(
    folder: Path,
    tokenizer: Any | None = None,
    *,
    positions: int = 512,
    hidden: int = 64,
    inner: int = 128,
    spread: float = 0.2,
    seed: int = 0,
) -> Path:
    """Save a random Llama of some 100,000 parameters."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tokenizer or byte_level_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=spread,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


_SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
_GATED = {**_SIZE, "num_key_value_heads": 2, "intermediate_size": 48}

_SMALL = {"n_embd": 32, "n_layer": 2, "n_head": 4}
_HYBRID = {**_GATED, "head_dim": 8, "sliding_window": 6}
_KINDS = {"layer_types": ["sliding_attention", "full_attention"]}

ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "bloom": ("BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "cohere": ("CohereConfig", {**_GATED, "pad_token_id": 1}),
    "cohere-2": ("Cohere2Config", {**_HYBRID, **_KINDS, "pad_token_id": 1}),
    "falcon-alibi": ("FalconConfig", {**_SIZE, "alibi": True}),
    "falcon-rope": ("FalconConfig", {**_SIZE, "alibi": False}),
    "gemma": ("GemmaConfig", {**_GATED, "head_dim": 8}),
    "gemma-2": ("Gemma2Config", {**_HYBRID, **_KINDS, "query_pre_attn_scalar": 8}),
    "gemma-3": ("Gemma3TextConfig", {**_HYBRID, **_KINDS, "query_pre_attn_scalar": 8}),
    "gpt-2": ("GPT2Config", _SMALL),
    "gpt-j": ("GPTJConfig", {**_SMALL, "rotary_dim": 4}),
    "gpt-neo": (
        "GPTNeoConfig",
        {
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 6,
        },
    ),
    "gpt-neox": ("GPTNeoXConfig", {**_SIZE, "intermediate_size": 48}),
    "gpt-oss": (
        "GptOssConfig",
        {**_HYBRID, **_KINDS, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "llama": ("LlamaConfig", _GATED),
    "mamba": ("MambaConfig", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
    "mistral-window": ("MistralConfig", {**_GATED, "sliding_window": 6}),
    "mixtral": ("MixtralConfig", {**_GATED, "num_local_experts": 4}),
    "mpt": ("MptConfig", {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 128}),
    "olmo": ("OlmoConfig", {**_GATED, "pad_token_id": 1}),
    "olmo-2": ("Olmo2Config", {**_GATED, "pad_token_id": 1}),
    "olmo-3": ("Olmo3Config", {**_GATED, **_KINDS, "sliding_window": 6, "pad_token_id": 1}),
    "opt": ("OPTConfig", {**_SIZE, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "phi-3": ("Phi3Config", {**_GATED, "pad_token_id": 1}),
    "phi-3-window": ("Phi3Config", {**_GATED, "pad_token_id": 1, "sliding_window": 6}),
    "qwen-2": ("Qwen2Config", _GATED),
    "qwen-3": ("Qwen3Config", {**_GATED, "head_dim": 8}),
    "qwen-3-next": (
        "Qwen3NextConfig",
        {
            **_GATED,
            "head_dim": 8,
            "layer_types": ["linear_attention", "full_attention"],
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16,
        },
    ),
    "stablelm": ("StableLmConfig", _GATED),
    "starcoder-2": ("Starcoder2Config", {**_GATED, "sliding_window": 6}),
}
"""Configuration class and arguments of causal language models with some 20,000 parameters."""


def place() -> str:
    """Return where models of tests are computed: on a GPU, where there is one."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def causal_model(architecture: str, vocabulary: int) -> Any:
    """Return a random model, far enough from zero that its predictions differ."""
    import torch
    import transformers

    name, arguments = ARCHITECTURES[architecture]
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    spread = {"init_std": 0.2} if architecture == "opt" else {"initializer_range": 0.2}
    config = getattr(transformers, name)(**{**ends, **spread, **arguments}, vocab_size=vocabulary)
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval().to(place())


def save(folder: Path, architecture: str) -> Path:
    """Save a random model with a byte-level tokenizer."""
    tokenizer = byte_level_tokenizer()
    causal_model(architecture, len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "byte-level": byte_level_tokenizer,
    "sentencepiece-bos": sentencepiece_tokenizer,
    "sentencepiece-bos-eos": lambda: sentencepiece_tokenizer(end=True),
    "sentencepiece-bare": lambda: sentencepiece_tokenizer(begin=False),
}
"""The ways in which tokenizers begin and end a text, and treat its spaces."""
