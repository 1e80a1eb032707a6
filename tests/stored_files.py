"""Writes models whose files are quantized, and puts their weights back into floating point by hand.

bitsandbytes, torchao and compressed-tensors write their own files, of which `plain` reads integers,
scales and codes; GPTQ and AWQ are written here bit by bit, as their formats say.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GROUP = 32
_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""Which of eight columns stands where in a word of AWQ's gemm format, lowest bits first."""


def save_bitsandbytes(base: Path, folder: Path, kind: str) -> Path:
    """Save a model in nf4, fp4 or int8."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    config = (
        BitsAndBytesConfig(load_in_8bit=True)
        if kind == "int8"
        else BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=kind)
    )
    AutoModelForCausalLM.from_pretrained(
        base, quantization_config=config, dtype=torch.float32, device_map={"": "cpu"}
    ).save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder


def save_torchao(base: Path, folder: Path) -> Path:
    """Save a model in torchao's 8-bit integers."""
    import torch
    from torchao.quantization import Int8WeightOnlyConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, TorchAoConfig

    config = TorchAoConfig(Int8WeightOnlyConfig())
    AutoModelForCausalLM.from_pretrained(
        base, quantization_config=config, dtype=torch.float32
    ).save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder


def save_compressed(base: Path, folder: Path, bits: int = 4, group: int | None = GROUP) -> Path:
    """Save a model in packed integers of compressed-tensors, as llm-compressor does."""
    import torch
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config
    from transformers import AutoModelForCausalLM, AutoTokenizer

    weights: dict[str, Any] = {"num_bits": bits, "type": "int", "symmetric": True}
    weights |= {"strategy": "group", "group_size": group} if group else {"strategy": "channel"}
    config = QuantizationConfig.model_validate(
        {
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
            "format": "pack-quantized",
            "ignore": ["lm_head"],
            "quant_method": "compressed-tensors",
            "quantization_status": "frozen",
        }
    )
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    apply_quantization_config(model, config)
    for layer in model.modules():
        if hasattr(layer, "weight_scale"):
            parts = layer.weight.data.reshape(len(layer.weight), -1, group or layer.in_features)
            layer.weight_scale.data = parts.abs().amax(-1) / (2 ** (bits - 1) - 1)
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    model.save_pretrained(folder)
    compressor.update_config(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder


def save_packed(base: Path, folder: Path, method: str, bits: int = 4, **said: Any) -> Path:
    """Save a model in the files of GPTQ or of AWQ, with a zero point and a scale for each group.

    With `desc_act` the inputs of a layer of GPTQ belong to groups in another order.
    """
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(base, folder)
    path = folder / "model.safetensors"
    written = {}
    for key, weight in load_file(path).items():
        if not key.endswith("_proj.weight"):
            written[key] = weight
            continue
        name = key.removesuffix(".weight")
        inputs = weight.shape[1]
        groups = torch.arange(inputs) // GROUP
        if said.get("desc_act"):
            groups = groups[torch.randperm(inputs, generator=torch.Generator().manual_seed(1))]
        order = groups.argsort(stable=True)
        parts = weight[:, order].reshape(len(weight), -1, GROUP)
        low, high = parts.amin(-1), parts.amax(-1)
        scales = ((high - low) / (2**bits - 1)).half()
        # GPTQ's first format stores one less than the zero point.
        zeros = (-low / scales).round().clamp(1, 2**bits - 1)
        rounded = (weight / scales[:, groups] + zeros[:, groups]).round().clamp(0, 2**bits - 1)
        if method == "gptq":
            less = 0 if said.get("checkpoint_format") == "gptq_v2" else 1
            written[f"{name}.qweight"] = _packed(rounded, bits).T.contiguous()
            written[f"{name}.qzeros"] = _packed(zeros.T - less, bits)
            written[f"{name}.g_idx"] = groups.int()
        else:
            written[f"{name}.qweight"] = _packed(rounded.T, bits, _AWQ_ORDER)
            written[f"{name}.qzeros"] = _packed(zeros.T, bits, _AWQ_ORDER)
        written[f"{name}.scales"] = scales.T.contiguous()
    save_file(written, path, metadata={"format": "pt"})
    own = {"sym": False, "desc_act": False} if method == "gptq" else {"zero_point": True}
    configure(folder, quant_method=method, bits=bits, group_size=GROUP, **{**own, **said})
    return folder


def save_fp8(base: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Save a model in FP8 with a scale for each block of 128, and return its weights as well."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(base, folder)
    path = folder / "model.safetensors"
    weights = load_file(path)
    written = dict(weights)
    for key, weight in weights.items():
        if not key.endswith("_proj.weight"):
            continue
        scale = weight.abs().max() / 448
        written[key] = (weight / scale).to(torch.float8_e4m3fn)
        weights[key] = written[key].float() * scale
        blocks = [-(-size // 128) for size in weight.shape]
        written[f"{key}_scale_inv"] = scale.expand(blocks).clone()
    save_file(written, path, metadata={"format": "pt"})
    said = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    configure(folder, **said, activation_scheme="dynamic")
    return folder, weights


def configure(folder: Path, **said: Any) -> None:
    """Write how the files are said to be quantized."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "quantization_config": said}))


def plain(folder: Path) -> dict[str, Any]:
    """Return the weights of a folder's model in float32, put back by hand."""
    import torch
    from safetensors.torch import load_file

    stored = load_file(folder / "model.safetensors")
    said = json.loads((folder / "config.json").read_text())["quantization_config"]
    named = {key.rpartition(".")[0] for key in stored}
    weights = {}
    for name in named:
        own = {key[len(name) + 1 :]: value for key, value in stored.items()
               if key.startswith(f"{name}.")}  # fmt: skip
        if "_weight_qdata" in own:
            whole = own["_weight_qdata"].float() * own["_weight_scale"]
        elif "weight_packed" in own:
            whole = _of_compressed(own, said["config_groups"]["group_0"]["weights"]["num_bits"])
        elif "SCB" in own:
            whole = own["weight"].float() * own["SCB"][:, None] / 127
        elif "weight.absmax" in own:
            codes = torch.stack((own["weight"] >> 4, own["weight"] & 15), -1).reshape(-1).long()
            blocks = own["weight.quant_map"][codes].reshape(len(own["weight.absmax"]), -1)
            whole = blocks * own["weight.absmax"][:, None]
        elif "qweight" in own:
            whole = _of_gptq(own, said) if said["quant_method"] == "gptq" else _of_awq(own)
        elif "weight" in own:
            whole = own["weight"]
        else:
            continue
        weights[f"{name}.weight"] = whole
    return weights


def log_likelihoods(
    base: Path, weights: dict[str, Any], context: str, answers: Sequence[str]
) -> list[float]:
    """Return the log-likelihoods of answers by a plain forward of a model with these weights."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    for name, parameter in model.named_parameters():
        parameter.data = weights[name].reshape(parameter.shape).float()
    tokenizer = AutoTokenizer.from_pretrained(base)
    start = len(tokenizer(context).input_ids)
    sums = []
    for answer in answers:
        ids = tokenizer(context + answer).input_ids
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits[0].double()
        told = logits.log_softmax(-1)
        sums.append(sum(float(told[at - 1, ids[at]]) for at in range(start, len(ids))))
    return sums


def _packed(whole: Any, bits: int, order: Sequence[int] | None = None) -> Any:
    """Pack the numbers of each row into words of 32 bits."""
    import torch

    each = 32 // bits
    words = whole.to(torch.int64).reshape(len(whole), -1, each)
    found = torch.zeros(words.shape[:-1], dtype=torch.int64)
    for place, column in enumerate(order or range(each)):
        found |= words[..., column] << bits * place
    return torch.where(found >= 2**31, found - 2**32, found).to(torch.int32).contiguous()


def _unpacked(words: Any, bits: int, order: Sequence[int] | None = None) -> Any:
    """Return the numbers of each row of words."""
    import torch

    each = 32 // bits
    shifts = torch.arange(each) * bits
    whole = (words.to(torch.int64)[..., None] >> shifts) & (2**bits - 1)
    if order:
        whole = whole[..., [order.index(column) for column in range(each)]]
    return whole.reshape(len(words), -1)


def _of_compressed(own: dict[str, Any], bits: int) -> Any:
    shape = own["weight_shape"].tolist()
    whole = _unpacked(own["weight_packed"], bits)[:, : shape[1]]
    scales = own["weight_scale"].float()
    return (whole - 2 ** (bits - 1)) * scales.repeat_interleave(shape[1] // scales.shape[1], 1)


def _of_gptq(own: dict[str, Any], said: dict[str, Any]) -> Any:
    whole = _unpacked(own["qweight"].T.contiguous(), said["bits"])
    zeros = _unpacked(own["qzeros"], said["bits"])
    zeros = zeros + (said.get("checkpoint_format") != "gptq_v2")
    groups = own["g_idx"].long()
    return (whole - zeros.T[:, groups]) * own["scales"].float().T[:, groups]


def _of_awq(own: dict[str, Any]) -> Any:
    whole = _unpacked(own["qweight"], 4, _AWQ_ORDER).T
    zeros = _unpacked(own["qzeros"], 4, _AWQ_ORDER).T
    groups = [place // GROUP for place in range(whole.shape[1])]
    return (whole - zeros[:, groups]) * own["scales"].float().T[:, groups]
