"""Opens a model of Hugging Face transformers: its network and its tokenizer, checked."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.machine import cores, resting_threads
from pytest_maxrandom.models.hf import stored
from pytest_maxrandom.models.hf.arithmetic import keep_generic
from pytest_maxrandom.models.hf.devices import Processors, check_placement
from pytest_maxrandom.models.hf.refusals import (
    brief,
    check_files,
    check_quantized,
    check_weights,
)
from pytest_maxrandom.suite.base import ON_LOADING, QUANTIZATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.models.hf.stored import Stored
    from pytest_maxrandom.suite.models import TransformersSpec

CAUSAL = "AutoModelForCausalLM"
MASKED = "AutoModelForMaskedLM"
CLASSIFIER = "AutoModelForSequenceClassification"
_KINDS = {
    CAUSAL: "causal language model",
    MASKED: "masked language model",
    CLASSIFIER: "model that takes a classification head",
}

_REQUIRED = ("torch", "transformers", "safetensors", "accelerate")
_NOISY = ("torchao", "torch.utils._pytree", "bitsandbytes.backends.cpu.ops")
_NOISE = 0.05
"""Of the logits' standard deviation; a trained model that looks ahead is beyond all of it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A network and its tokenizer, of transformers."""

    model: Any
    tokenizer: Any
    device: str
    """Where its inputs go."""
    device_map: str | dict[str, str]
    """Where it was put, in the form that transformers takes."""
    places: tuple[str, ...]
    """The devices that hold parts of it, in the order of its layers."""
    stored: Stored | None = None
    """How its files are quantized, if they are."""
    revision: str | None = None
    """The commit that was loaded, of a model on the hub."""


def open_model(
    spec: TransformersSpec,
    location: str,
    processors: Processors,
    auto: str = CAUSAL,
    head: Mapping[str, Any] | None = None,
    beside: Opened | None = None,
) -> Opened:
    """Load a network and its tokenizer onto the processors that are free.

    Parameters
    ----------
    spec : TransformersSpec
        What the suite says of it; its `revision` is a commit if the model is on the hub.
    location : str
        Hub id or local folder.
    processors : Processors
        Where it is put; GPUs are locked until these are released.
    auto : str
        Which class of transformers loads it.
    head : mapping, optional
        What its configuration says of a new head, whose weights are random.
    beside : Opened, optional
        A model on whose processors it is put; they are locked already.

    Raises
    ------
    ModelError
        In one sentence.
    LockError
        If a GPU cannot be locked.
    """
    # It says that it runs on the kernels that it has, which the report names; under a failure that
    # would look like its cause.
    logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
    required = [*_REQUIRED, *(["bitsandbytes"] if spec.quantization in ON_LOADING else [])]
    if missing := [name for name in required if importlib.util.find_spec(name) is None]:
        raise ModelError(
            f"{spec.name} needs {', '.join(missing)}, which is not installed; "
            'pip install "pytest-maxrandom[hf]"'
        )
    with resting_threads(processors.workers), quiet():
        import torch
        import transformers

    if processors.workers > 1:
        torch.set_num_threads(max(1, cores() // processors.workers))
    device_map = processors.take(spec) if beside is None else beside.device_map
    if not isinstance(device_map, str):
        _check_device(spec, device_map[""])
    source: dict[str, Any] = {"trust_remote_code": spec.trust_remote_code}
    check_files(spec, location)
    if not Path(location).is_dir():
        source["revision"] = spec.revision
    with quiet():
        part = "configuration"
        try:
            config = transformers.AutoConfig.from_pretrained(location, **source)
            quantized = stored.read(vars(config))
            stored.check(spec, quantized)
            if quantized is not None:
                stored.prepare(config, quantized)
                source["config"] = config
            part = "tokenizer"
            tokenizer = transformers.AutoTokenizer.from_pretrained(location, **source)
            part = "model"
            model, report = getattr(transformers, auto).from_pretrained(
                location,
                use_safetensors=True,
                device_map=device_map,
                ignore_mismatched_sizes=True,  # so that they can be named
                output_loading_info=True,
                **_precision(spec, is_stored=quantized is not None),
                **source,
                **(head or {}),
            )
        except ModelError:
            raise
        except Exception as error:  # whatever a loader or a model's own code raises
            reason = _reason(error, spec, auto) or f"its {part}: {brief(error)}"
            raise ModelError(f"{spec.name} cannot be loaded: {reason}") from error
    check_weights(spec, report, None if head is None else model.base_model_prefix)
    check_quantized(spec, model)
    if quantized is not None:
        stored.check_read(spec, model, set(report["unexpected_keys"]))
        stored.keep_eager(model)
    keep_generic(model)  # before anything is put through it
    places = _placed(model)
    check_placement(spec, places)
    device = str(model.get_input_embeddings().weight.device)
    revision = source.get("revision")
    return Opened(model, tokenizer, device, device_map, tuple(places), quantized, revision)


def _precision(spec: TransformersSpec, *, is_stored: bool = False) -> dict[str, Any]:
    """Return how the weights are loaded, as arguments of from_pretrained."""
    import torch
    from transformers import BitsAndBytesConfig

    known = QUANTIZATIONS[spec.quantization]
    said = known.dtype if spec.dtype == "auto" else spec.dtype
    dtype = said if said == "auto" else getattr(torch, said)
    # It says for every layer and every batch that it casts.
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
    if is_stored or spec.quantization not in ON_LOADING:
        return {"dtype": dtype}
    if known.bits == 8:
        quantization = BitsAndBytesConfig(load_in_8bit=True)
    else:
        quantization = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type=spec.quantization,
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        )
    return {"quantization_config": quantization, "dtype": dtype}


def _check_device(spec: TransformersSpec, device: str) -> None:
    """Refuse a device on which nothing can be put."""
    import torch

    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(
            f"the device `{device}` of {spec.name} cannot be used on this machine "
            f"({brief(error)}); expected auto, cpu, cuda or cuda:1"
        ) from error


def _placed(model: Any) -> list[str]:
    """Return the devices that hold parts of the model, in the order of its layers."""
    import torch

    places = getattr(model, "hf_device_map", None) or {"": model.device}
    names = (place if place == "disk" else str(torch.device(place)) for place in places.values())
    return list(dict.fromkeys(names))


def check_causal(spec: TransformersSpec, model: Any, device: str) -> None:
    """Refuse a model in which a token's scores depend on later tokens.

    The two texts differ in their last token only, and stand in one batch, so that all they have in
    common goes through the same arithmetic.
    """
    import torch

    probe = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 5]], device=device)
    everywhere = torch.ones_like(probe)
    try:
        with torch.inference_mode():
            logits = model(input_ids=probe, attention_mask=everywhere, use_cache=False).logits
    except Exception as error:  # whatever a model's own code raises
        raise ModelError(
            f"{spec.name} cannot read a text with `quantization: {spec.quantization}` on "
            f"{device}: {brief(error)}; try another quantization or dtype"
        ) from error
    logits = logits.float()
    before = logits[:, :3]
    if not torch.isfinite(logits).all():
        raise ModelError(
            f"{spec.name} returns numbers that are not finite; try another dtype or quantization"
        )
    named = model.config.architectures or ()
    masked = bool(named) and all(each.endswith(("ForMaskedLM", "ForPreTraining")) for each in named)
    # Of one with small weights the numbers say too little.
    by_name = masked and not getattr(model.config, "is_decoder", False)
    if by_name or (before[0] - before[1]).abs().max() > _NOISE * before.std():
        raise ModelError(
            f"{spec.name} looks ahead (a token's scores depend on later tokens); expected a causal "
            "language model"
        )


def _reason(error: Exception, spec: TransformersSpec, auto: str) -> str | None:
    """Return what is behind a loader's error, where it is known."""
    from pytest_maxrandom.models.hf.engines.network import is_out_of_memory

    text = str(error)
    if is_out_of_memory(error):
        where = "all GPUs together" if spec.device_map else f"`device: {spec.device}`"
        return (
            f"the memory of {where} cannot hold it; use a stronger quantization, a smaller model, "
            "or with several GPUs `device_map: auto`"
        )
    if "trust_remote_code" in text and not spec.trust_remote_code:
        return (
            "it needs its own code; write `trust_remote_code: true` in the suite if that code may "
            "run on this machine"
        )
    if "for this kind of AutoModel" in text:
        return f"it is not a {_KINDS[auto]}; expected one that {auto} can load"
    if type(error).__name__ == "SafetensorError":
        return f"its weights are damaged or incomplete ({text}); get the files again"
    return None


@contextmanager
def errors_only(*names: str) -> Iterator[None]:
    """Let these loggers tell nothing but errors."""
    levels = [(logger, logger.level) for logger in map(logging.getLogger, names)]
    for logger, level in levels:
        logger.setLevel(max(level, logging.ERROR))
    try:
        yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' own deprecations and loading bars out of the user's summary."""
    # Where torchao is installed, transformers imports it for quantized models of all kinds. It
    # then names the kernels that it lacks, which under a failure would look like its cause.
    with warnings.catch_warnings(), errors_only(*_NOISY):
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        from transformers.utils import logging as bars

        was_on = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()
        try:
            yield
        finally:
            if was_on:
                bars.enable_progress_bar()
