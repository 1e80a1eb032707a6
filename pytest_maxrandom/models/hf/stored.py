"""Files that are quantized already: by which method, and whether its numbers were ever verified.

A method is verified where a test of this package writes such files and compares log-likelihoods
with the same weights put back into floating point by hand. All else is named and refused, unless
the suite says `unverified: true`.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.hub import downloaded, said_in
from pytest_maxrandom.suite.base import FOUR_BITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.suite.models import TransformersSpec

PACKAGES = {
    "bitsandbytes": (("bitsandbytes",), "hf"),
    "compressed-tensors": (("compressed_tensors",), "stored"),
    "torchao": (("torchao",), "stored"),
    "gptq": (("gptqmodel", "optimum"), "gptq"),
    "awq": (("gptqmodel",), "gptq"),
}
"""By method: the modules that load it, and the extra that installs them."""

_VERIFIED = (
    "bitsandbytes, compressed-tensors (symmetric packed integers of 4 or 8 "
    "bits), torchao (Int8WeightOnlyConfig), GPTQ or AWQ (gemm)"
)
_BITS = {"fp8": 8, "fbgemm_fp8": 8, "mxfp8": 8, "mxfp4": 4, "nvfp4": 4, "bitnet": 2}
"""Of methods whose name tells."""
_SAID = ("bits", "weight_bits", "nbits", "w_bit", "nbits_per_codebook")
_STATES = {"Linear4bit": "quant_state", "Linear8bitLt": "SCB"}
"""By a layer of bitsandbytes: what its weight has where it was read as quantized."""
_KERNELS = {"gptq": "torch", "awq": "torch_awq"}
"""Of gptqmodel: what needs no compiler, and runs wherever torch does."""


@dataclass(frozen=True, slots=True)
class Stored:
    """How a model's files are quantized."""

    method: str
    """As config.json names it."""
    form: str | None = None
    """Which of the method's forms it is, such as "nf4" or "pack-quantized"."""
    bits: int | None = None
    """Of a weight; None where that is not known, or layers differ."""
    verified: bool = False
    """Whether the numbers of such files were compared with those of the same weights in floating
    point."""

    @property
    def asked(self) -> str:
        """What a suite can say in place of `stored`, which is bitsandbytes' own names only."""
        return str(self.form) if self.method == "bitsandbytes" else "stored"

    @property
    def text(self) -> str:
        """Method and bits, as reports have them: ``gptq, 4 bits``."""
        name = self.method if self.form is None else f"{self.method} {self.form}"
        return name if self.bits is None else f"{name}, {self.bits} bits"


def read(config: Mapping[str, Any]) -> Stored | None:
    """Return how the files are quantized that a configuration describes; None if they are not.

    Parameters
    ----------
    config : mapping
        Of config.json.
    """
    settings = config.get("quantization_config", config.get("compression_config"))
    if settings is None:
        return None
    settings = settings if isinstance(settings, dict) else settings.to_dict()
    method = settings.get("quant_method")
    if method is None and (settings.get("load_in_8bit") or settings.get("load_in_4bit")):
        method = "bitsandbytes"
    method = str(getattr(method, "value", method or "an unknown format"))
    known = _READERS.get(method)
    if known is not None:
        return known(method, settings)
    bits = next(
        (settings[key] for key in _SAID if isinstance(settings.get(key), int)), _BITS.get(method)
    )
    return Stored(method, None, bits)


def of_files(spec: TransformersSpec, location: str) -> Stored | None:
    """Return how a model's files are quantized, from a folder's or the hub's config.json.

    None stands for what cannot be read, too: whoever loads the model will say why. The `revision`
    of a model on the hub is a commit.

    Raises
    ------
    ModelError
        If the hub does not have it.
    """
    path = Path(location) / "config.json"
    if not path.parent.is_dir():
        path = downloaded(location, "config.json", spec.revision)
    try:
        return read(said_in(path))
    except AttributeError:
        return None


def check(spec: TransformersSpec, stored: Stored | None) -> None:
    """Refuse files that are quantized otherwise than the suite says, or in a way never verified.

    Raises
    ------
    ModelError
        In one sentence with the way out.
    """
    asked = spec.quantization
    if stored is None:
        if asked == "stored":
            raise ModelError(
                f"the files of {spec.name} are not quantized, but the suite says `quantization: "
                "stored`; write `none`, or `nf4`, `fp4` or `int8` to quantize them on loading"
            )
        return
    if asked not in ("stored", stored.asked):
        raise ModelError(
            f"the files of {spec.name} are already quantized ({stored.text}), but the suite says "
            f"`quantization: {asked}`; write `quantization: stored`, or name files that are not "
            "quantized"
        )
    if not (stored.verified or spec.unverified):
        raise ModelError(
            f"the files of {spec.name} are quantized in a format whose numbers were never verified "
            f"({stored.text}); use files of {_VERIFIED}, or write `unverified: true`, which every "
            "report shows"
        )
    if spec.adapter is not None and stored.method != "bitsandbytes" and not spec.unverified:
        raise ModelError(
            f"the adapter {spec.adapter} on the files of {spec.name}, which are already quantized "
            f"({stored.text}), was never verified; use weights that bitsandbytes quantizes, or "
            "write `unverified: true`, which every report shows"
        )
    modules, extra = PACKAGES.get(stored.method, ((), ""))
    if missing := [name for name in modules if importlib.util.find_spec(name) is None]:
        raise ModelError(
            f"the files of {spec.name} are already quantized ({stored.text}), which needs "
            f"{' and '.join(missing)}, not installed here; pip install "
            f'"pytest-maxrandom[{extra}]"'
        )


def prepare(config: Any, stored: Stored) -> None:
    """Choose the kernel with which numbers were verified, where a library has many.

    Parameters
    ----------
    config
        Of transformers; it is changed.
    """
    kernel = _KERNELS.get(stored.method)
    if kernel is not None and isinstance(config.quantization_config, dict):
        config.quantization_config["backend"] = kernel


def keep_eager(model: Any) -> None:
    """Keep layers of GPTQ from torch.compile, which needs a compiler and half a minute."""
    for layer in model.modules():
        if type(layer).__module__.partition(".")[0] == "gptqmodel":
            vars(layer).pop("dequantize_weight", None)


def check_read(spec: TransformersSpec, model: Any, unexpected: set[str]) -> None:
    """Refuse a model whose layers are quantized otherwise than its configuration says.

    A weight whose scale has no place would be taken for what it is not. Files may hold a bias that
    a layer does not have: early writers of GPTQ put zeros there.

    Parameters
    ----------
    unexpected : set of str
        What the files hold, and the model has no place for.
    """
    modules = {name for name, _ in model.named_modules()}
    left = sorted(
        key
        for key in unexpected
        if key.rpartition(".")[0] in modules and not key.endswith((".bias", ".inv_freq"))
    )
    if left:
        raise ModelError(
            f"{spec.name} contradicts its config.json: there is no place for {left[0]} "
            f"({len(left)} of its weights have none), so its layers are not quantized as "
            "`quantization_config` says"
        )
    for name, layer in model.named_modules():
        state = _STATES.get(type(layer).__name__)
        if state and getattr(layer.weight, state, None) is None:
            raise ModelError(
                f"{spec.name} contradicts its config.json: the weight {name}.weight is not "
                "quantized, but `quantization_config` says that it is"
            )


def _bitsandbytes(method: str, said: Mapping[str, Any]) -> Stored:
    if said.get("load_in_8bit"):
        return Stored(method, "int8", 8, verified=True)
    form = str(said.get("bnb_4bit_quant_type", "fp4"))
    return Stored(method, form, 4, verified=form in FOUR_BITS)


def _compressed(method: str, settings: Mapping[str, Any]) -> Stored:
    groups = list((settings.get("config_groups") or {}).values())
    weights = [group.get("weights") or {} for group in groups]
    bits = {each.get("num_bits") for each in weights}
    form = settings.get("format")
    plain = not any(
        group.get("input_activations")
        or group.get("output_activations")
        or (group.get("format") or form) != form
        for group in groups
    )
    verified = (
        form == "pack-quantized"
        and plain
        and bool(weights)
        and all(_is_packed(each) for each in weights)
        and not any(
            settings.get(key) for key in ("kv_cache_scheme", "transform_config", "sparsity_config")
        )
    )
    return Stored(method, form, bits.pop() if len(bits) == 1 else None, verified)


def _is_packed(weights: Mapping[str, Any]) -> bool:
    """Tell whether weights are integers of 4 or 8 bits with a scale for a row or a group.

    Zero points of their own are not read by transformers 5.23 with compressed-tensors 0.20.
    """
    return (
        weights.get("type", "int") == "int"
        and weights.get("num_bits") in (4, 8)
        and weights.get("symmetric", True)
        and weights.get("strategy") in ("channel", "group")
        and not weights.get("dynamic")
        and not weights.get("actorder")
    )


def _torchao(method: str, settings: Mapping[str, Any]) -> Stored:
    kinds = settings.get("quant_type")
    kind = kinds.get("default") if isinstance(kinds, dict) else kinds
    form = str(kind.get("_type") if isinstance(kind, dict) else kind)
    data = (kind.get("_data") or {}) if isinstance(kind, dict) else {}
    granularity = (data.get("granularity") or {}).get("_type", "PerRow")
    verified = (
        form == "Int8WeightOnlyConfig"
        and isinstance(kinds, dict)
        and set(kinds) == {"default"}
        and data.get("group_size") is None
        and granularity == "PerRow"
        and not settings.get("include_input_output_embeddings")
    )
    digits = re.match(r"(?:Int|UInt|Float)(\d)", form)
    return Stored(method, form, int(digits[1]) if digits else None, verified)


def _gptq(method: str, said: Mapping[str, Any]) -> Stored:
    bits, form = said.get("bits"), said.get("checkpoint_format") or said.get("format") or "gptq"
    verified = bits in (4, 8) and form in ("gptq", "gptq_v2") and not said.get("dynamic")
    return Stored(method, None if form == "gptq" else str(form), bits, verified)


def _awq(method: str, said: Mapping[str, Any]) -> Stored:
    bits = said.get("bits", said.get("w_bit"))
    form = str(said.get("version") or said.get("format") or "gemm").lower()
    return Stored(method, form, bits, verified=bits == 4 and form == "gemm")


_READERS = {
    "bitsandbytes": _bitsandbytes,
    "compressed-tensors": _compressed,
    "torchao": _torchao,
    "gptq": _gptq,
    "awq": _awq,
}
