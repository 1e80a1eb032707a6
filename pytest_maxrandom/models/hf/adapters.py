"""LoRA adapters of PEFT, put into a loaded model."""

from __future__ import annotations

import importlib.util
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.hub import downloaded
from pytest_maxrandom.models.hf.refusals import brief

if TYPE_CHECKING:
    from pytest_maxrandom.suite.models import TransformersSpec

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_NAME = "default"  # PEFT's own; a part of the names of its parameters
_REFUSED = {
    "alora_invocation_tokens": "an activated LoRA changes the scores of only a part of a text",
    "megatron_config": "its layers are Megatron's",
}


def check_adapter(spec: TransformersSpec) -> None:
    """Refuse an adapter where the library that loads it is not installed."""
    if importlib.util.find_spec("peft") is None:
        raise ModelError(
            f"the adapter {spec.adapter} of {spec.name} needs peft, which is not installed; "
            'pip install "pytest-maxrandom[adapters]"'
        )


def attach(spec: TransformersSpec, model: Any, location: str, commit: str | None = None) -> Any:
    """Return the model with the adapter's layers in place of those that it changes.

    It keeps its class and its configuration, which the engines read. The adapter's weights are not
    merged into the model's, which may be quantized, and are kept in float32 at least.

    Parameters
    ----------
    model
        Of transformers; it is changed.
    location : str
        Local folder or hub id of the adapter.
    commit : str, optional
        Which of its commits, on the hub.

    Raises
    ------
    ModelError
        In one sentence.
    """
    config_file, weights_file = _files(spec, location, commit)
    _check_kind(spec, config_file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what could be wrong is checked below
        import peft
        from safetensors.torch import load_file

        try:
            config = peft.LoraConfig.from_pretrained(str(config_file.parent))
            config.inference_mode = True
            wrapped = peft.PeftModel(model, config, _NAME)
            weights = load_file(weights_file)
            loaded = peft.set_peft_model_state_dict(wrapped, weights, _NAME)
        except Exception as error:  # whatever PEFT raises
            raise ModelError(
                f"the adapter {spec.adapter} does not fit {spec.name}: {brief(error)}; expected an "
                "adapter that was tuned on this model"
            ) from error
    if loaded.unexpected_keys:
        raise ModelError(
            f"the adapter {spec.adapter} does not fit {spec.name}: there is no place for its "
            f"weight {_in_file(min(loaded.unexpected_keys))} ({len(loaded.unexpected_keys)} of its "
            f"{len(weights)} weights have none); expected an adapter that was tuned on this model"
        )
    if missing := [key for key in loaded.missing_keys if _NAME in key.split(".")]:
        raise ModelError(
            f"the adapter {spec.adapter} is incomplete for {spec.name}: {_in_file(min(missing))} "
            f"is not in its file ({len(missing)} weights are missing); expected an adapter that "
            "was tuned on this model"
        )
    return wrapped.get_base_model()


def _in_file(key: str) -> str:
    """Return what a parameter is called in the adapter's file, which does not name the adapter."""
    return key.replace(f".{_NAME}", "")


def _files(spec: TransformersSpec, location: str, commit: str | None) -> tuple[Path, Path]:
    """Return configuration and weights on this machine."""
    folder = Path(location)
    if folder.is_dir():
        if not (folder / _WEIGHTS).is_file():
            raise ModelError(
                f"the adapter {spec.adapter} cannot be loaded: the folder holds no {_WEIGHTS}; "
                "expected an adapter as written by PEFT's save_pretrained (pickled weights such as "
                "adapter_model.bin can run code and are never loaded)"
            )
        return folder / _CONFIG, folder / _WEIGHTS
    return downloaded(location, _CONFIG, commit), downloaded(location, _WEIGHTS, commit)


def _check_kind(spec: TransformersSpec, file: Path) -> None:
    """Refuse adapters that do not consist of weights added to those of the model's layers."""
    if not file.is_file():  # what is none may have no end
        raise ModelError(f"the {_CONFIG} of the adapter {spec.adapter} is no regular file")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"the {_CONFIG} of the adapter {spec.adapter} cannot be read: {brief(error)}"
        ) from error
    kind = config.get("peft_type") if isinstance(config, dict) else None
    if kind != "LORA":
        raise ModelError(
            f"the {_CONFIG} of the adapter {spec.adapter} says peft_type {kind!r}; expected 'LORA'"
        )
    for key, reason in _REFUSED.items():
        if config.get(key):
            raise ModelError(
                f"the adapter {spec.adapter} has `{key}`, which is not supported: {reason}; "
                "expected a plain LoRA"
            )
