"""GGUF files of the Llamas that tests make; only token ids are sent, so its texts matter little."""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

_LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_WHOLE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def write_gguf(folder: Path, file: Path, *, template: str = "", split: int = 0) -> Path:
    """Write the Llama in a folder as float32, with a chat template, in files of some tensors."""
    import gguf
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, "llama", split_max_tensors=split)
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    key_heads = config.get("num_key_value_heads", heads)
    writer.add_name(folder.name)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(hidden)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    rope = config.get("rope_parameters") or {}
    writer.add_rope_freq_base(rope.get("rope_theta", config.get("rope_theta", 10000.0)))
    writer.add_rope_dimension_count(hidden // heads)
    writer.add_vocab_size(config["vocab_size"])
    _add_vocabulary(writer, json.loads((folder / "tokenizer.json").read_text()), config)
    if template:
        writer.add_chat_template(template)
    tensors = load_file(folder / "model.safetensors")
    for name, values in tensors.items():
        weights = values.astype(np.float32)
        if "q_proj" in name or "k_proj" in name:
            weights = _interleaved(weights, heads if "q_proj" in name else key_heads)
        writer.add_tensor(_named(name), weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def quantize_gguf(file: Path, kind: str) -> Path:
    """Write a file anew as llama.cpp quantizes it: Q4_K_M."""
    import llama_cpp.llama_cpp as llama

    asked = llama.llama_model_quantize_default_params()
    asked.ftype, asked.nthread = getattr(llama, f"LLAMA_FTYPE_MOSTLY_{kind}"), 1
    made = file.with_name(f"{file.stem}.{kind}.gguf")
    failed = llama.llama_model_quantize(bytes(file), bytes(made), ctypes.byref(asked))
    assert not failed
    return made


def types_of(file: Path) -> dict[str, str]:
    """Return the type of each tensor of a file."""
    import gguf

    return {tensor.name: tensor.tensor_type.name for tensor in gguf.GGUFReader(file).tensors}


def read_gguf(folder: Path, file: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return what a file holds in place of the weights of the Llama in a folder, in float32."""
    import gguf
    from safetensors import safe_open

    config = json.loads((folder / "config.json").read_text())
    heads = config["num_attention_heads"]
    tensors = {
        tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        for tensor in gguf.GGUFReader(file).tensors
    }
    found = {}
    with safe_open(folder / "model.safetensors", "numpy") as stored:
        for name in stored.keys():  # noqa: SIM118  (it is no dictionary)
            weights = tensors[_named(name)]
            if "q_proj" in name or "k_proj" in name:
                own = heads if "q_proj" in name else config["num_key_value_heads"]
                weights = _parted(weights, own)
            found[name] = weights
    return found


def _named(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in _WHOLE:
        return f"{_WHOLE[stem]}.weight"
    _, _, number, part = stem.split(".", 3)
    return f"blk.{number}.{_LAYER[part]}.weight"


def _interleaved(weights: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Order a head's rows as GGUF has them: pairs that are rotated together stand together."""
    rows, inner = weights.shape
    halves = weights.reshape(heads, 2, rows // heads // 2, inner)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, inner))


def _parted(weights: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Undo that."""
    rows, inner = weights.shape
    pairs = weights.reshape(heads, rows // heads // 2, 2, inner)
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows, inner))


def _add_vocabulary(writer: Any, tokenizer: dict[str, Any], config: dict[str, Any]) -> None:
    import gguf

    special = {entry["id"]: entry["content"] for entry in tokenizer["added_tokens"]}
    named = {number: text for text, number in tokenizer["model"]["vocab"].items()} | special
    tokens = [named.get(number, f"[unused{number}]") for number in range(config["vocab_size"])]
    kinds = [
        gguf.TokenType.CONTROL
        if number in special
        else gguf.TokenType.NORMAL
        if number in named
        else gguf.TokenType.UNUSED
        for number in range(config["vocab_size"])
    ]
    merges = tokenizer["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    for which in ("bos", "eos"):
        if (number := config.get(f"{which}_token_id")) is not None:
            getattr(writer, f"add_{which}_token_id")(number)
    writer.add_add_bos_token(config.get("bos_token_id") is not None)
