"""Backends by name, imported only when a suite uses them, and the one model in memory."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, did_you_mean
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.hf.devices import Processors

if TYPE_CHECKING:
    from pytest_maxrandom.models.base import Engine, Model
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.suite.spec import ModelSpec

_BACKENDS = {"transformers": "pytest_maxrandom.models.hf.transformers"}
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_ADAPTER_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")


def locate(name: str, base: Path) -> str:
    """Return the local folder of that name (relative to `base`), else the name as a hub id.

    Raises
    ------
    ModelError
        If it is neither, or the folder holds no model.
    """
    folder = _folder(name, base, _HUB_ID, "allenai/OLMo-7B-hf")
    if folder is None:
        return name
    if not (folder / "config.json").is_file():
        is_adapter = (folder / "adapter_config.json").is_file()
        raise ModelError(
            f"the folder {name} holds no config.json; expected a model as written by "
            "save_pretrained"
            + (" (it holds an adapter, which is given by the key `adapter`)" if is_adapter else "")
        )
    return str(folder)


def locate_adapter(name: str, base: Path) -> str:
    """Return the adapter's local folder (relative to `base`), else the name as a hub id.

    Raises
    ------
    ModelError
        If it is neither, or the folder holds no adapter.
    """
    folder = _folder(name, base, _ADAPTER_ID, "lab/llama-lora")
    if folder is None:
        return name
    if not (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"the folder {name} holds no adapter_config.json; expected an adapter as written by "
            "PEFT's save_pretrained"
        )
    return str(folder)


def located(spec: ModelSpec, base: Path) -> tuple[str, str | None]:
    """Return where a model is, and where its adapter is, if it has one.

    Raises
    ------
    ModelError
        If one of them is nowhere.
    """
    adapter = None if spec.adapter is None else locate_adapter(spec.adapter, base)
    return locate(spec.name, base), adapter


def _folder(name: str, base: Path, hub_id: re.Pattern[str], example: str) -> Path | None:
    """Return the folder of that name; None if there is none, and the name may be on the hub."""
    try:
        folder = base / Path(name).expanduser()
        there = folder.is_dir()
    except (OSError, RuntimeError) as error:  # too long a name; no such user
        raise ModelError(f"{name} can be no folder: {error}") from error
    if there:
        return folder
    if hub_id.fullmatch(name):
        return None
    parent = folder.parent
    siblings = [p.name for p in parent.iterdir() if p.is_dir()] if parent.is_dir() else []
    hint = did_you_mean(folder.name, siblings, lambda near: f"`{Path(name).with_name(near)}`")
    raise ModelError(
        f"there is no folder {name} (relative to the suite file), and it is no hub id such as "
        f"{example}{hint}"
    )


class ModelPool:
    """Holds the model that was used last, so that items which share it load it once.

    A model that was refused is not tried again for the next item.

    Parameters
    ----------
    workers, worker : int
        Processes that share the machine, and which of them this is, from 0.
    engine : str
        How choices are scored, see :class:`pytest_maxrandom.models.hf.causal.CausalModel`.
    batch_tokens : int, optional
        Tokens of a batch at most; as many as memory allows if not given.
    """

    def __init__(
        self,
        workers: int = 1,
        worker: int = 0,
        *,
        engine: Engine = "auto",
        batch_tokens: int | None = None,
    ) -> None:
        self._processors = Processors(worker, workers)
        self._engine = engine
        self._batch_tokens = batch_tokens
        self._key: tuple[str, ...] | None = None
        self._model: Model | None = None
        self._refusal = ""
        self._found: dict[tuple[str, ...], Arithmetic] = {}

    def arithmetic(self, spec: ModelSpec, base: Path) -> Arithmetic:
        """Return what computes a model: as it was found when it was loaded, else as is foretold.

        Raises
        ------
        ModelError
            If the model is nowhere.
        """
        return self._found.get(model_key(spec, base)) or foretold(spec)

    def get(self, spec: ModelSpec, base: Path) -> Model:
        """Return the model, loaded if it is not at hand.

        Waits for a GPU if other processes have models on all of them.

        Raises
        ------
        ModelError
            In one sentence, if it cannot be loaded.
        LockError
            If its GPU cannot be locked.
        """
        key = model_key(spec, base)
        if key != self._key:
            self.drop()
            try:
                self._model = self._load(spec, base)
                self._found[key] = self._model.arithmetic
            except ModelError as error:
                self._refusal = str(error)
            except BaseException:
                self.drop()
                raise
            self._key = key
        if self._model is None:
            # Raised when what had been loaded is gone with the frames of the first error.
            self._processors.release()
            raise ModelError(self._refusal)
        return self._model

    def drop(self) -> None:
        """Forget the model, so that its memory is freed and its GPU is free for others."""
        self._model = self._key = None
        self._processors.release()

    def _load(self, spec: ModelSpec, base: Path) -> Model:
        backend = importlib.import_module(_BACKENDS[spec.backend])
        location, adapter = located(spec, base)
        model: Model = backend.load(
            spec,
            location,
            self._processors,
            adapter=adapter,
            engine=self._engine,
            batch_tokens=self._batch_tokens,
        )
        return model


def model_key(spec: ModelSpec, base: Path) -> tuple[str, ...]:
    """Return what two items must have in common to share a loaded model."""
    location, adapter = located(spec, base)
    return location, adapter or "", spec.model_dump_json(exclude={"name", "label", "adapter"})
