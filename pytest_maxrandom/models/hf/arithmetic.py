"""What computes a model's numbers: foretold from a suite without loading, and read off a model.

The same model gives other log-likelihoods elsewhere (by .1 nats between two paths of bitsandbytes),
so results are kept apart by this. What is foretold is what is stored under; where the loaded model
tells otherwise, that counts.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.models.hf import devices
from pytest_maxrandom.models.hf.stored import Stored, read
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.suite.base import FOUR_BITS, ON_LOADING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.suite.models import TransformersSpec

TORCH, GENERIC = "torch", "bitsandbytes"
PACKED = "bitsandbytes, 4-bit layers packed for avx512_bf16"
FETCHED = f"{PACKED} (kernels-community)"

_ALWAYS = ("torch", "transformers", "tokenizers")
_FEATURES = (
    *("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile"),
    *("asimd", "sve", "bf16", "i8mm"),
)
"""Of a processor, in the words of Linux: torch and its libraries choose kernels by these."""

_LIMITS = (
    *("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"),
    *("MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "NVIDIA_TF32_OVERRIDE"),
)
"""Variables of the environment by which a user keeps the libraries from kernels."""

_LIBRARIES = {
    "compressed-tensors": ("compressed-tensors",),
    "torchao": ("torchao",),
    "gptq": ("gptqmodel", "optimum"),
    "awq": ("gptqmodel",),
}
"""By how files are quantized: what computes with them, and what reads them."""

_BLOCK = 32
"""Outputs that bitsandbytes packs together."""


def foretold(
    spec: TransformersSpec, stored: Stored | None = None, training: Training | None = None
) -> Arithmetic:
    """Return what will compute a model's numbers on this machine; nothing of it is loaded.

    Parameters
    ----------
    stored : Stored, optional
        How its files are quantized, where the suite says `quantization: stored`.
    training : Training, optional
        What it is trained on before.
    """
    gpus = devices.kinds(spec)
    kind = spec.device.partition(":")[0]
    names = gpus or [processor() if kind in ("auto", "cpu") else kind]
    own = _LIBRARIES.get(stored.method, ()) if stored else ()
    quantization = spec.quantization if stored is None else stored.asked
    if quantization in ON_LOADING:
        own = (GENERIC,)
    libraries = [*own, *(["peft"] if spec.adapter is not None or _adapts(training) else [])]
    kernels = own[0] if own else TORCH
    if quantization in FOUR_BITS and not gpus and _packs():
        kernels = FETCHED if "kernels" in _versions() else PACKED
    return _arithmetic(names, kernels, libraries)


def _adapts(training: Training | None) -> bool:
    settings = training.settings if training else None
    return settings is not None and settings.method != "full"


def found(model: Any, training: Training | None = None) -> Arithmetic:
    """Return what computes the numbers of a model that is loaded, or computed them before."""
    places = sorted({parameter.device.type for parameter in model.parameters()} - {"meta"})
    names = [
        name
        for place in places or ["cpu"]
        for name in {"cpu": [processor()], "cuda": _gpus_of(model)}.get(place, [place])
    ]
    homes = {type(module).__module__.partition(".")[0] for module in model.modules()}
    stored = read(vars(model.config))
    own = _LIBRARIES.get(stored.method, ()) if stored else ()
    kernels = GENERIC if "bitsandbytes" in homes else own[0] if own else TORCH
    if _packed(model):
        from bitsandbytes.backends.cpu import ops

        # The library fetches another kernel where the package `kernels` lets it.
        fetched = getattr(ops, "gemm_4bit_forward_kernel", None)
        kernels = PACKED if fetched is None else FETCHED
    homes |= {"peft"} if _adapts(training) else set()
    return _arithmetic(names, kernels, [*own, *sorted(homes & {"bitsandbytes", "peft"})])


def keep_generic(model: Any) -> None:
    """Keep 4-bit layers that bitsandbytes cannot pack on its generic path.

    With avx512_bf16 it repacks the weights of each layer at the first forward, whatever their
    shape, and fails where inputs are no multiple of the block or outputs none of 32.
    """
    for layer in _on_cpu(model):
        outputs, inputs = layer.weight.quant_state.shape
        if inputs % layer.weight.quant_state.blocksize or outputs % _BLOCK:
            layer.support_avx512bf16_for_cpu = False


def computed(model: Any) -> torch.dtype:
    """Return in which type most of a model is computed, whatever type its other weights have."""
    import torch

    if _packed(model):
        return torch.bfloat16
    layers = {type(module).__name__: module for module in model.modules()}
    if "Linear8bitLt" in layers:  # casts what it is given (arXiv 2208.07339)
        return torch.float16
    if "AwqTorchLinear" in layers and model.dtype != torch.bfloat16:
        return torch.float16
    asked: torch.dtype = getattr(layers.get("Linear4bit"), "compute_dtype", None) or model.dtype
    return asked


@functools.cache
def _read_processor() -> str:
    """Return the maker and the features of the processor that decide kernels."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:  # no Linux
        return platform.processor() or platform.machine()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    maker = said.get("vendor_id") or said.get("CPU implementer") or ""
    flags = (said.get("flags") or said.get("Features") or "").split()
    features = ", ".join(feature for feature in _FEATURES if feature in flags)
    return f"{maker} {platform.machine()}".strip() + (f" with {features}" if features else "")


def processor() -> str:
    """Return the processor's kind, and what the user keeps libraries from."""
    limits = [f"{name}={os.environ[name]}" for name in _LIMITS if os.environ.get(name)]
    return ", ".join([_read_processor(), *limits])


def _packs() -> bool:
    """Tell whether bitsandbytes packs 4-bit layers here; it is asked where it is imported."""
    modules = sys.modules.get("bitsandbytes.nn.modules")
    if modules is None:
        # Where there is a GPU, it loads a library without the kernels of processors.
        return "avx512_bf16" in _read_processor() and not devices.visible_kinds()
    asked = getattr(modules, "has_avx512bf16", None)
    return bool(asked and asked())


def _on_cpu(model: Any) -> list[Any]:
    """Return the 4-bit layers that a processor computes."""
    layers = (each for each in model.modules() if type(each).__name__ == "Linear4bit")
    return [layer for layer in layers if layer.weight.device.type == "cpu"]


def _packed(model: Any) -> bool:
    """Tell whether any layer is packed: `keep_generic` may have kept them all from it."""
    return any(getattr(layer, "support_avx512bf16_for_cpu", False) for layer in _on_cpu(model))


def _gpus_of(model: Any) -> list[str]:
    numbers = {each.device.index for each in model.parameters() if each.device.type == "cuda"}
    visible = devices.visible_kinds()
    return sorted({visible[number or 0] for number in numbers})


def _arithmetic(processors: Iterable[str], kernels: str, libraries: Iterable[str]) -> Arithmetic:
    versions = _versions()
    names = [name for name in (*_ALWAYS, *libraries) if name in versions]
    if kernels == FETCHED and "kernels" in versions:
        names.append("kernels")
    return Arithmetic(
        " and ".join(dict.fromkeys(processors)), kernels, {name: versions[name] for name in names}
    )


@functools.cache
def _versions() -> dict[str, str]:
    known = {}
    of_methods = itertools.chain.from_iterable(_LIBRARIES.values())
    for name in (*_ALWAYS, "bitsandbytes", "peft", "kernels", *of_methods):
        try:
            known[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return known
