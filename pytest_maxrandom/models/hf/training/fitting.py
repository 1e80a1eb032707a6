"""One training by transformers' Trainer: it seeds chance, watches the loss, and names errors."""

from __future__ import annotations

import math
import os
import random
import time
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.workers import variable
from pytest_maxrandom.models.hf.loading import errors_only, quiet
from pytest_maxrandom.models.hf.refusals import brief
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Row = dict[str, Any]

_LOGGED = 100
"""Logging steps of a training, about."""
_DEVICE = "ACCELERATE_TORCH_DEVICE"
_STATE = 12
"""Bytes that training takes in addition to a weight: its gradient, and the two moments of AdamW."""
_LESS = "a smaller `batch_size` or `max_length`, or `method: qlora`"


@dataclass(frozen=True, slots=True)
class How:
    """How a network is trained."""

    name: str
    device: str
    """Where its inputs go."""
    epochs: int
    rate: float
    batch_size: int
    seed: int
    bfloat16: bool = False
    """Whether the forward pass is computed in bfloat16, as far as that is safe."""
    checkpointing: bool = False
    """Whether what the backward pass needs is computed again rather than held."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a training found; see :class:`pytest_maxrandom.models.training.Trained`."""

    losses: tuple[float, ...]
    steps: int
    seconds: float


def seed_of(*seeds: int) -> int:
    """Return the seed of the libraries that follows from those of settings and replicate."""
    return int(digest("training", *seeds)[:8], 16)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let chance in here follow from a seed alone, and leave that of others as it was."""
    import torch

    with quiet():
        from transformers import set_seed

    kept = random.getstate(), np.random.get_state()
    strict = torch.are_deterministic_algorithms_enabled()
    lenient = torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore")  # what libraries say to those who write loops
        stack.enter_context(torch.random.fork_rng())
        stack.enter_context(errors_only("transformers"))  # a new head is no missing weight
        if torch.cuda.is_available():
            # cuBLAS is deterministic with a workspace of its own, and reads this when it begins.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        set_seed(seed)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(strict, warn_only=lenient)
            torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
            random.setstate(kept[0])
            np.random.set_state(kept[1])


def fit(
    model: Any,
    rows: Sequence[Row],
    collate: Callable[[list[Row]], Any],
    how: How,
    tell: Callable[[int, int, float | None], None],
) -> Fitted:
    """Train what of a network can be trained.

    Call it within :func:`seeded`, in which whatever is random about the network was drawn.

    Parameters
    ----------
    rows : sequence of dict
        Tokens and labels of each text.
    collate : callable
        Makes a batch of some rows.
    tell : callable
        Told of each logging step: its number, the number of all steps, and the loss.

    Raises
    ------
    ModelError
        In one sentence, if memory does not hold it or the loss is no number.
    """
    from transformers import PrinterCallback, Trainer, TrainerCallback

    _check_memory(model, how)
    steps = math.ceil(len(rows) / how.batch_size) * how.epochs
    losses: list[float] = []

    class Watch(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            tell(0, state.max_steps, None)

        def on_log(self, _: Any, state: Any, *__: Any, logs: Any = None, **___: Any) -> None:
            if "loss" in (logs or {}):
                _check_loss(logs["loss"], state.global_step, how)
                losses.append(float(logs["loss"]))
                tell(state.global_step, state.max_steps, losses[-1])

    cached = getattr(model.config, "use_cache", None)
    begun = time.perf_counter()
    with _on(how.device), quiet(), TemporaryDirectory() as scratch:
        trainer = Trainer(
            model,
            _arguments(how, scratch, max(1, steps // _LOGGED)),
            train_dataset=rows,
            data_collator=collate,
            callbacks=[Watch()],
        )
        trainer.remove_callback(PrinterCallback)
        # It would divide by tokens that nothing predicts, where a network does not name its loss.
        trainer.model_accepts_loss_kwargs = False
        try:
            result = trainer.train()
        except ModelError:
            raise
        except Exception as error:  # whatever a network or a driver raises
            raise ModelError(_reason(error, how)) from error
    _check_loss(result.training_loss, result.global_step, how)
    _check_weights(model, how)
    if cached is not None:
        model.config.use_cache = cached  # the Trainer turns it off for good
    return Fitted(tuple(losses), result.global_step, time.perf_counter() - begun)


def _arguments(how: How, scratch: str, every: int) -> Any:
    import torch
    from transformers import TrainingArguments

    class Arguments(TrainingArguments):  # type: ignore[misc]
        """On the device that is locked for this process, and no other one that it sees."""

        @cached_property
        def _setup_devices(self) -> torch.device:
            TrainingArguments._setup_devices.func(self)
            self._n_gpu = 1
            return torch.device(how.device)

    return Arguments(
        output_dir=scratch,
        per_device_train_batch_size=how.batch_size,
        num_train_epochs=how.epochs,
        learning_rate=how.rate,
        seed=how.seed,
        logging_steps=every,
        logging_first_step=True,
        logging_nan_inf_filter=False,  # it would show the mean of the steps before
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        use_cpu=how.device == "cpu",
        dataloader_pin_memory=how.device.startswith("cuda"),
        bf16=how.bfloat16,
        gradient_checkpointing=how.checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": False},
    )


@contextmanager
def _on(device: str) -> Iterator[None]:
    """Let accelerate use one device: by itself it takes the first GPU."""
    import torch

    with ExitStack() as stack:
        if device.startswith("cuda"):
            stack.enter_context(torch.cuda.device(device))
        stack.enter_context(variable(_DEVICE, device))
        yield


def _check_loss(loss: float, step: int, how: How) -> None:
    if not math.isfinite(loss):
        raise ModelError(
            f"training {how.name} stopped at step {step}, because its loss is not a number "
            f"({loss}); use a smaller `learning_rate` (it is {how.rate:g}), or `dtype: float32`"
        )


def _check_weights(model: Any, how: How) -> None:
    """Refuse weights that the last step spoilt, of which no loss tells any more."""
    for name, weight in model.named_parameters():
        if weight.requires_grad and not weight.isfinite().all():
            raise ModelError(
                f"training {how.name} left the weight {name} with values that are not numbers; use "
                f"a smaller `learning_rate` (it is {how.rate:g})"
            )


def _check_memory(model: Any, how: How) -> None:
    """Refuse what does not fit: on a processor the system would end the process without a word."""
    from pytest_maxrandom.models.hf.engines.network import free_bytes

    trained = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    needed = _STATE * trained
    known = [free_bytes(place) for place in {str(weight.device) for weight in model.parameters()}]
    left = sum(needed if each is None else each for each in known)
    if needed > left:
        raise ModelError(
            f"training {how.name} takes {needed / 1e9:.1f} GB in addition to its weights, but "
            f"{left / 1e9:.1f} GB of memory are left on {how.device}; use a smaller model, or "
            "`method: qlora`, which trains few weights"
        )


def _reason(error: Exception, how: How) -> str:
    from pytest_maxrandom.models.hf.engines.network import is_out_of_memory

    if is_out_of_memory(error):
        return f"the memory of {how.device} is too small for training {how.name}; use {_LESS}"
    return f"training {how.name} failed: {brief(error)}"
