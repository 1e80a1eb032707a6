"""The backend of Hugging Face transformers: finds its models, tells them apart and loads them."""

from __future__ import annotations

import importlib.util
import json
import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ModelNotFound
from pytest_maxrandom.host.machine import cores, resting_threads
from pytest_maxrandom.models.base import Backend, Identity, Lengths, Located, Resources
from pytest_maxrandom.models.hf import hub, stored
from pytest_maxrandom.models.hf.adapters import attach, check_adapter
from pytest_maxrandom.models.hf.arithmetic import foretold, keep_generic
from pytest_maxrandom.models.hf.causal import CausalModel, context_of
from pytest_maxrandom.models.hf.devices import Processors, check_placement
from pytest_maxrandom.models.hf.hub import model_digest, pinned
from pytest_maxrandom.models.hf.refusals import (
    brief,
    check_files,
    check_quantized,
    check_weights,
)
from pytest_maxrandom.models.served.tokens import LocalTokens
from pytest_maxrandom.suite.models import TransformersSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_REQUIRED = ("torch", "transformers", "safetensors", "accelerate")
_NOISE = 0.05
"""Of the logits' standard deviation; a trained model that looks ahead is beyond all of it."""


class Transformers(Backend):
    """Causal language models of Hugging Face transformers, quantized here or in their files."""

    spec = TransformersSpec

    def begin(self, session: str) -> None:
        """Forget which commits of the hub were meant."""
        hub.begin(session)

    def locate(self, spec: TransformersSpec, base: Path) -> Located:
        """Find the folders of a model and its adapter, or take their names for those on the hub."""
        places, problems = {}, {}
        for key, name in (("name", spec.name), ("adapter", spec.adapter)):
            try:
                if name is not None:
                    places[key] = hub.find(key, name, base)
            except ModelError as error:
                problems[key] = str(error)
        if problems:
            raise ModelNotFound(problems)
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Digest the files, and foretell what computes the model on this machine."""
        spec, at = _specified(located), (located.places["name"], located.places.get("adapter"))
        # The same prompt in another type is no other try.
        tried = model_digest(spec.model_copy(update={"dtype": "auto"}), *at)
        found = stored.of_files(spec, at[0]) if spec.quantization == "stored" else None
        return Identity(model_digest(spec, *at), foretold(spec, found), tried)

    def lengths(self, located: Located) -> Lengths | None:
        """Return how long texts may be, where the model's files are on this machine."""
        folder, spec = Path(located.places["name"]), _specified(located)
        if spec.chat or not folder.is_dir() or importlib.util.find_spec("transformers") is None:
            return None
        config = _json(folder / "config.json")
        text = config.get("text_config")
        positions = (text if isinstance(text, dict) else config).get("max_position_embeddings")
        stated = _json(folder / "tokenizer_config.json").get("model_max_length")
        limit, said = context_of(positions, stated)
        if limit is None:
            return None

        def tokens(texts: Sequence[str]) -> list[int]:
            return [len(ids) for ids in LocalTokens(spec.name, str(folder)).encode(texts)]

        return Lengths(limit, said, tokens)

    def load(self, located: Located, resources: Resources) -> CausalModel:
        """Load a model, with its GPU locked until the resources are given back."""
        spec, places = _specified(located), located.places
        return load(spec, places["name"], places.get("adapter"), resources)


def _json(file: Path) -> dict[str, Any]:
    """Return what a file says; nothing where it cannot be read, which loading tells."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _specified(located: Located) -> TransformersSpec:
    assert isinstance(located.spec, TransformersSpec)
    return located.spec


def load(
    spec: TransformersSpec,
    location: str,
    adapter: str | None = None,
    resources: Resources | None = None,
) -> CausalModel:
    """Load a model and its tokenizer.

    Parameters
    ----------
    spec : TransformersSpec
        What the suite says of it.
    location : str
        Hub id or local folder.
    adapter : str, optional
        Hub id or local folder of its adapter.
    resources : Resources, optional
        What the model may use; GPUs are locked until these are given back.

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
    resources = resources or Resources()
    processors = Processors(resources.worker, resources.workers, tell=resources.tell)
    resources.held.callback(processors.release)
    bitsandbytes = spec.quantization in ("nf4", "fp4", "int8")
    required = [*_REQUIRED, *(["bitsandbytes"] if bitsandbytes else [])]
    if missing := [name for name in required if importlib.util.find_spec(name) is None]:
        raise ModelError(
            f"{spec.name} needs {', '.join(missing)}, which is not installed; "
            'pip install "pytest-maxrandom[hf]"'
        )
    with resting_threads(processors.workers), _quiet():
        import torch
        import transformers

    if processors.workers > 1:
        torch.set_num_threads(max(1, cores() // processors.workers))
    device_map = processors.take(spec)
    if not isinstance(device_map, str):
        _check_device(spec, device_map[""])
    source: dict[str, Any] = {"trust_remote_code": spec.trust_remote_code}
    check_files(spec, location)
    if not Path(location).is_dir():
        source["revision"] = pinned(spec.name, spec.revision, "config.json")
    if adapter is not None:
        check_adapter(spec)
    with _quiet():
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
            model, report = transformers.AutoModelForCausalLM.from_pretrained(
                location,
                use_safetensors=True,
                device_map=device_map,
                ignore_mismatched_sizes=True,  # so that they can be named
                output_loading_info=True,
                **_precision(spec, is_stored=quantized is not None),
                **source,
            )
        except ModelError:
            raise
        except Exception as error:  # whatever a loader or a model's own code raises
            reason = _reason(error, spec) or f"its {part}: {brief(error)}"
            raise ModelError(f"{spec.name} cannot be loaded: {reason}") from error
    check_weights(spec, report)
    check_quantized(spec, model)
    if quantized is not None:
        stored.check_read(spec, model, set(report["unexpected_keys"]))
        stored.keep_eager(model)
    keep_generic(model)  # before anything is put through it
    placed = _placed(model)
    check_placement(spec, placed)
    device = str(model.get_input_embeddings().weight.device)
    if adapter is not None:
        with _quiet():
            model = attach(spec, model, adapter)
    _check_causal(spec, model.eval(), device)
    loaded = CausalModel(
        model, tokenizer, device, resources.batch_tokens, resources.engine, chat=spec.chat
    )
    loaded.device = ", ".join(placed)
    loaded.quantized = None if quantized is None else quantized.text
    loaded.revision = source.get("revision", loaded.revision)
    return loaded


def _precision(spec: TransformersSpec, *, is_stored: bool = False) -> dict[str, Any]:
    """Return how the weights are loaded, as arguments of from_pretrained."""
    import torch
    from transformers import BitsAndBytesConfig

    if spec.dtype != "auto":
        dtype = getattr(torch, spec.dtype)
    else:
        # LLM.int8() computes in float16 (arXiv 2208.07339), and casts what is not.
        kinds = {"none": "auto", "stored": "auto", "int8": torch.float16}
        dtype = kinds.get(spec.quantization, torch.bfloat16)
    # It says for every layer and every batch that it casts.
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
    if is_stored or spec.quantization == "none":
        return {"dtype": dtype}
    if spec.quantization == "int8":
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


def _check_causal(spec: TransformersSpec, model: Any, device: str) -> None:
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
            f"{spec.name} computes numbers that are not finite; try another dtype or quantization"
        )
    if (before[0] - before[1]).abs().max() > _NOISE * before.std():
        raise ModelError(
            f"{spec.name} looks ahead (a token's scores depend on later tokens); expected a causal "
            "language model"
        )


def _reason(error: Exception, spec: TransformersSpec) -> str | None:
    """Return what is behind a loader's error, where it is known."""
    from pytest_maxrandom.models.hf.engines.budget import is_out_of_memory

    text = str(error)
    if is_out_of_memory(error):
        where = "all GPUs together" if spec.device_map else f"`device: {spec.device}`"
        return (
            f"the memory of {where} does not hold it; use a stronger quantization, a smaller "
            "model, or with several GPUs `device_map: auto`"
        )
    if "trust_remote_code" in text and not spec.trust_remote_code:
        return (
            "it comes with code of its own; write `trust_remote_code: true` in the suite if that "
            "code may run on this machine"
        )
    if "for this kind of AutoModel" in text:
        return "it is no causal language model; expected one that AutoModelForCausalLM knows"
    return None


@contextmanager
def _errors_only(*names: str) -> Iterator[None]:
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
def _quiet() -> Iterator[None]:
    """Keep the libraries' own deprecations and loading bars out of the user's summary."""
    # Where torchao is installed, transformers imports it for quantized models of all kinds. It
    # then names the kernels that it lacks, which under a failure would look like its cause.
    with warnings.catch_warnings(), _errors_only("torchao", "torch.utils._pytree"):
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
