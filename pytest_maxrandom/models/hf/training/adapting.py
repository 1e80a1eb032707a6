"""Further pretraining: a network learns to predict the tokens of texts, by all weights or few."""

from __future__ import annotations

import errno
import os
import shutil
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.devices import peak_of
from pytest_maxrandom.models.hf.loading import CAUSAL, MASKED, check_causal, open_model, quiet
from pytest_maxrandom.models.hf.refusals import brief, check_modules
from pytest_maxrandom.models.hf.training import texts
from pytest_maxrandom.models.hf.training.fitting import Fitted, How, fit, seed_of, seeded
from pytest_maxrandom.models.training import Trained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.models.hf.devices import Processors
    from pytest_maxrandom.models.hf.loading import Opened
    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.suite.models import TransformersSpec
    from pytest_maxrandom.suite.training import TrainSpec

    Tell = Callable[[int, int, float | None], None]

_ADAPTER = "adapter_model.safetensors"
_FILES = {"causal": CAUSAL, "masked": MASKED}
_PACKED = "support_avx512bf16_for_cpu"


def pretrain(
    spec: TransformersSpec,
    location: str,
    training: Training,
    processors: Processors,
    folder: Path,
    tell: Tell,
) -> Trained:
    """Train a base further on texts, and write what changed into a folder.

    That is the whole network where all weights are trained, as save_pretrained writes it, in the
    types of its base; else an adapter, as PEFT writes it. The base's own files are only read.

    Parameters
    ----------
    location : str
        Local folder or hub id of the base.

    Raises
    ------
    ModelError
        In one sentence.
    """
    settings = training.settings
    assert settings is not None
    seed = seed_of(settings.seed, training.seed)
    with seeded(seed):
        opened = open_model(spec, location, processors, _FILES[settings.objective])
        model, tokenizer = opened.model, opened.tokenizer
        filling, own = model.config.pad_token_id, deepcopy(tokenizer)
        texts.prepare(tokenizer, model.config)
        _keep_unpacked(model)
        if settings.objective == "causal":
            check_causal(spec, model, opened.device)
        limit = texts.reach(model.config, tokenizer, settings.max_length)
        encoded = texts.encode(tokenizer, training.texts, limit)
        rows = texts.rows_of(encoded, tokenizer, settings.objective, spec.name)
        collate = texts.collator_of(tokenizer, settings.objective, spec.name)
        types = {name: weight.dtype for name, weight in model.named_parameters()}
        trained = (
            widened(model) if settings.method == "full" else _with_adapter(spec, settings, model)
        )
        how = how_of(spec, opened, settings.epochs, settings.rate, settings.batch_size, seed)
        check_room(trained, types, folder)
        fitted = fit(trained, rows, collate, how, tell)
        if settings.method == "full":
            model.config.pad_token_id = filling
            save(model, types, own, folder)
        else:
            _save_adapter(trained, folder)
    return replace(
        found_by(fitted, training, how, rows, encoded.cut), pretraining_steps=len(fitted.losses)
    )


def found_by(
    fitted: Fitted, training: Training, how: How, rows: Sequence[texts.Row], cut: int
) -> Trained:
    """Return what a training of some rows found, of which some texts were cut."""
    import torch

    return Trained(
        losses=fitted.losses,
        tokens=sum(len(row["input_ids"]) for row in rows) * how.epochs,
        steps=fitted.steps,
        seconds=fitted.seconds,
        peak_memory=peak_of(how.device),
        text_digest=training.text_digest,
        cut=cut,
        threads=torch.get_num_threads(),
    )


def how_of(
    spec: TransformersSpec, opened: Opened, epochs: int, rate: float, batch_size: int, seed: int
) -> How:
    """Return how a network is trained where it was put."""
    import torch

    on_gpu = opened.device.startswith("cuda")
    is_short = opened.model.dtype == torch.bfloat16 or spec.dtype == "bfloat16"
    return How(
        name=spec.name,
        device=opened.device,
        epochs=epochs,
        rate=rate,
        batch_size=batch_size,
        seed=seed,
        bfloat16=on_gpu and is_short and torch.cuda.is_bf16_supported(),
        checkpointing=on_gpu and spec.quantization != "none",
    )


def widened(model: Any) -> Any:
    """Let all weights be trained, in float32: in 16 bits small steps would change nothing."""
    model = model.float()
    for weight in model.parameters():
        weight.requires_grad_(requires_grad=True)
    return model


def check_room(model: Any, types: dict[str, Any], folder: Path) -> None:
    """Refuse before training what the disk does not hold.

    Raises
    ------
    OSError
        As the disk would, if it were full.
    """
    weights = ((name, each) for name, each in model.named_parameters() if each.requires_grad)
    needed = sum(each.numel() * types.get(name, each.dtype).itemsize for name, each in weights)
    if needed > shutil.disk_usage(folder).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def save(model: Any, types: dict[str, Any], tokenizer: Any, folder: Path) -> None:
    """Write a network in the types that its weights had before training."""
    for name, weight in model.named_parameters():
        weight.data = weight.data.to(types.get(name, model.dtype))
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def merged(spec: TransformersSpec, model: Any, adapter: Path) -> Any:
    """Return a network into whose weights an adapter was merged."""
    import peft

    with quiet():
        try:
            return peft.PeftModel.from_pretrained(model, adapter).merge_and_unload()
        except Exception as error:  # whatever PEFT raises
            raise ModelError(
                f"the adapter that was trained does not fit {spec.name}: {brief(error)}"
            ) from error


def _with_adapter(spec: TransformersSpec, settings: TrainSpec, model: Any) -> Any:
    """Add adapters to the layers of a network; nothing else of it is trained."""
    import peft

    if settings.modules:
        check_modules(spec, settings.modules, _adaptable(model))
    config = peft.LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=settings.modules or "all-linear",
        bias="none",
        task_type="CAUSAL_LM" if settings.objective == "causal" else None,
    )
    try:
        if spec.quantization != "none":
            # What is not quantized is computed in float32 (arXiv 2305.14314).
            model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        return peft.get_peft_model(model, config)
    except ValueError as error:
        raise ModelError(
            f"no layer of {spec.name} can get an adapter ({brief(error)}); use another model, or "
            "`method: full`"
        ) from error


def _adaptable(model: Any) -> Iterator[str]:
    """Yield the names of the layers whose weights are matrices."""
    for name, layer in model.named_modules():
        if any(part in type(layer).__name__ for part in ("Linear", "Conv", "Embedding")):
            yield name


def _save_adapter(model: Any, folder: Path) -> None:
    import peft
    from safetensors.torch import save_file

    # PEFT's own save_pretrained asks the hub whether the vocabulary has grown.
    state = peft.get_peft_model_state_dict(model, save_embedding_layers=False)
    save_file({name: each.contiguous() for name, each in state.items()}, folder / _ADAPTER)
    config = model.peft_config["default"]
    config.inference_mode = True
    config.save_pretrained(folder)


def _keep_unpacked(model: Any) -> None:
    """Keep 4-bit layers as they are, which a processor would repack at the first look."""
    for layer in model.modules():
        if hasattr(layer, _PACKED):
            setattr(layer, _PACKED, False)
