"""What is refused of a model, because it would load and then give wrong numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, listed
from pytest_maxrandom.suite.base import QUANTIZATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.suite.models import TransformersSpec

_TOKENIZER_FILES = ("tokenizer*", "vocab*", "*.model")


def check_files(spec: TransformersSpec, location: str) -> None:
    """Refuse what the loader would refuse late, or in words that do not help."""
    folder = Path(location)
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ModelError(f"{spec.name} cannot be loaded: {path.name} is no regular file")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{spec.name} cannot be loaded: the folder holds no weights as safetensors; expected a "
            "model as written by save_pretrained (pickled weights such as pytorch_model.bin can "
            "run code and are never loaded)"
        )
    if (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"{spec.name} cannot be loaded: the folder holds both a model and an "
            "adapter_config.json, so it is not clear which weights are meant; remove that file, or "
            "give the adapter's folder as the key `adapter`"
        )
    if not any(path for pattern in _TOKENIZER_FILES for path in folder.glob(pattern)):
        raise ModelError(
            f"{spec.name} cannot be loaded: the folder holds no tokenizer; expected tokenizer.json "
            "in the model's folder, as written by the tokenizer's save_pretrained"
        )


def brief(error: Exception) -> str:
    """Return one line of what may be a page."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # What ends with a colon announces what comes next.
    said = [line for line in lines if not line.endswith(":")] or lines or ["no reason given"]
    return f"{type(error).__name__}: {said[0]}"


def check_weights(
    spec: TransformersSpec, report: dict[str, Any], headless: str | None = None
) -> None:
    """Refuse weights that were filled in with random numbers.

    Parameters
    ----------
    report : dict
        What ``from_pretrained(output_loading_info=True)`` found.
    headless : str, optional
        What the names of all weights begin with that must be there, where the model gets a new
        head. A pooler is a part of the head: models that predict masked words have none.
    """
    if headless is not None:

        def is_due(key: str) -> bool:
            return key.startswith(f"{headless}.") and "pooler" not in key

        report = {
            "missing_keys": {key for key in report["missing_keys"] if is_due(key)},
            "mismatched_keys": {key for key in report["mismatched_keys"] if is_due(key[0])},
        }
    if missing := report["missing_keys"]:
        raise ModelError(
            f"{spec.name} is incomplete: {min(missing)} is not in its files ({len(missing)} of its "
            "weights are missing); expected all the weights of a causal language model"
        )
    if report["mismatched_keys"]:
        name, found, expected = min(report["mismatched_keys"])
        raise ModelError(
            f"{spec.name} contradicts its config.json: the weight {name} has the shape "
            f"{tuple(found)}, expected {tuple(expected)}"
        )


def check_quantized(spec: TransformersSpec, model: Any) -> None:
    """Refuse a model of which nothing could be quantized."""
    wanted = {8: "Linear8bitLt", 4: "Linear4bit", None: ""}[QUANTIZATIONS[spec.quantization].bits]
    if wanted and wanted not in {type(module).__name__ for module in model.modules()}:
        raise ModelError(
            f"{spec.name} has no layer that bitsandbytes can quantize to {spec.quantization}; "
            "use `quantization: none`"
        )


def check_modules(spec: TransformersSpec, modules: Sequence[str], layers: Iterable[str]) -> None:
    """Refuse names of layers that there are not: PEFT is content if one of them is there.

    Parameters
    ----------
    layers
        Names of the layers that can get an adapter, such as model.layers.0.self_attn.q_proj.
    """
    known = set(layers)
    ends = {
        ".".join(name.split(".")[place:]) for name in known for place in range(name.count(".") + 1)
    }
    if unknown := [name for name in modules if name not in ends]:
        short = sorted({name.rpartition(".")[2] for name in known})
        raise ModelError(
            f"no layer of {spec.name} that can get an adapter is named {listed(unknown)}; expected "
            f"some of {listed(short)}"
        )
