"""Which processors a model is put on, and the locks that keep other processes off them."""

from __future__ import annotations

import gc
import importlib.metadata
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.machine import forget_peak, held, peak_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.suite.models import TransformersSpec

_PAUSE = 0.2  # seconds between two looks for a GPU that has become free
_APPLE = "Apple's GPU"


class Processors:
    """The processors that one process may use, and its locks on GPUs while a model is in memory.

    A GPU is locked by what identifies the device itself, so that processes which see other GPUs
    (``CUDA_VISIBLE_DEVICES``) or number them otherwise mean the same one.

    Parameters
    ----------
    worker, workers : int
        Number of this process, from 0, among those that share the machine.
    gpus : sequence of str, optional
        What identifies each GPU that is visible to the process; torch is asked if not given.
    kinds : sequence of str, optional
        The kind of each; torch is asked if not given.
    tell : callable, optional
        Tells the user, in one sentence, that the process waits for a GPU.
    """

    def __init__(
        self,
        worker: int = 0,
        workers: int = 1,
        gpus: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.worker = worker
        self.workers = workers
        self._known = gpus
        self._kinds = kinds
        self._tell = tell
        self._locks = ExitStack()
        self._taken = False

    def take(self, spec: TransformersSpec) -> str | dict[str, str]:
        """Lock what the suite says, and return it as the `device_map` of from_pretrained.

        Waits until it is free. With `device_map` that is all GPUs, locked in an order that is the
        same for all processes, so that no two wait for each other.

        Raises
        ------
        LockError
            In one sentence, if no lock can be made.
        """
        self._taken = True
        forget_peak()  # a model's own is not that of the one before it
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():  # else nothing was ever on a GPU
            for device in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(device)
        if spec.device_map is not None:
            for name in sorted(set(self._gpus())):
                self._lock_one([name])
            return spec.device_map
        return {"": self._single(spec.device)}

    def release(self) -> None:
        """Give up all locks, after the memory of models that are gone."""
        torch = sys.modules.get("torch")
        if self._taken and torch is not None:
            gc.collect()  # the frames of a failure hold each other, and what they worked with
            torch.cuda.empty_cache()  # else torch keeps it for this process
            if _apples():
                torch.mps.empty_cache()
        self._taken = False
        self._locks.close()

    def _single(self, device: str) -> str:
        """Return the device, locked if it is a GPU; one that is not there is returned as it is."""
        kind, _, number = device.partition(":")
        if kind == "mps" and _apples():
            self._lock_one([_APPLE])
        if kind not in ("auto", "cuda"):
            return device
        gpus = self._gpus()
        if not gpus:
            return "cpu" if kind == "auto" else device
        if not number:
            # Another kind than the first one's would give other numbers.
            kinds = visible_kinds() if self._kinds is None else self._kinds
            others = {gpu for gpu, kind in zip(gpus, kinds, strict=False) if kind != kinds[0]}
            alike = [gpu for gpu in gpus if gpu not in others]
            return f"cuda:{gpus.index(self._lock_one(alike))}"
        if number.isdecimal() and int(number) < len(gpus):
            self._lock_one([gpus[int(number)]])
        return device

    def _lock_one(self, gpus: Sequence[str]) -> str:
        """Wait until a GPU is free, and return it locked: the worker's own, or else the next."""
        first = self.worker % len(gpus)
        order = [*gpus[first:], *gpus[:first]]
        is_told = False
        while (locked := next(filter(self._lock, order), None)) is None:
            if not is_told:
                waited_for = "it" if len(gpus) == 1 else f"one of {len(gpus)}"
                self._tell(
                    f"waiting for a GPU: other processes have models on {waited_for}; this run "
                    "continues as soon as it is free"
                )
                is_told = True
            time.sleep(_PAUSE)
        return locked

    def _lock(self, gpu: str) -> bool:
        try:
            self._locks.enter_context(held("gpu", gpu, timeout=0))
        except TimeoutError:
            return False
        return True

    def _gpus(self) -> Sequence[str]:
        if self._known is None:
            self._known = _visible_gpus()
        return self._known


def kinds(spec: TransformersSpec) -> list[str]:
    """Return the kinds of GPUs that a model will be put on, without putting it there."""
    kind, _, number = spec.device.partition(":")
    if spec.device_map is None and kind not in ("auto", "cuda"):
        return []
    visible = visible_kinds()
    if spec.device_map is not None:
        return sorted(set(visible))
    first = int(number) if number.isdecimal() else 0
    return visible[first : first + 1]


def visible_kinds() -> list[str]:
    """Return the kind of each GPU, in the order in which torch numbers them."""
    try:
        if importlib.metadata.version("torch").endswith("+cpu"):
            return []  # and it need not be imported to know that
    except importlib.metadata.PackageNotFoundError:
        return []
    return [f"{gpu.name} (compute capability {gpu.major}.{gpu.minor})" for gpu in _visible()]


def peak_of(device: str) -> int | None:
    """Return the most bytes in use at any one time, on GPUs or else by this process."""
    import torch

    if "cuda" not in device:
        return peak_memory()
    return sum(torch.cuda.max_memory_allocated(gpu) for gpu in range(torch.cuda.device_count()))


def check_placement(spec: TransformersSpec, places: Sequence[str]) -> None:
    """Refuse a model that spilled over from GPUs to the machine's memory or disk.

    It would be sent to the GPUs anew for every batch, hundreds of times slower.

    Parameters
    ----------
    places : sequence of str
        The devices that hold its parts, or "disk".
    """
    gpus = [place for place in places if place not in ("cpu", "disk")]
    if gpus and len(gpus) < len(places):
        raise ModelError(
            f"{spec.name} cannot be loaded: the memory of {', '.join(gpus)} cannot hold all of it; "
            "use a stronger quantization, a smaller model or more GPUs"
        )


def _apples() -> bool:
    """Tell whether torch has been loaded and can use Apple's GPU, of which a machine has one."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.backends.mps.is_available())


def _visible_gpus() -> list[str]:
    """Return what identifies each GPU, in the order in which torch numbers them."""
    # An old driver tells no UUID; then the number has to do.
    return [str(getattr(gpu, "uuid", number)) for number, gpu in enumerate(_visible())]


def _visible() -> list[Any]:
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [torch.cuda.get_device_properties(number) for number in range(count)]
