"""Backends by name, imported only when a suite uses them, and the one model in memory."""

from __future__ import annotations

import pkgutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import MaxRandomError, ModelError, ModelNotFound
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.extensions import BACKENDS, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.models.base import Backend, Identity, Located, Model
    from pytest_maxrandom.models.training import Size, Trained, Training
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.suite.models import ModelSpec

BUILT_IN = {
    "transformers": "pytest_maxrandom.models.hf.transformers:Transformers",
    "vllm": "pytest_maxrandom.models.served.backend:VllmServer",
    "llama_cpp": "pytest_maxrandom.models.served.backend:LlamaCppServer",
    "openai": "pytest_maxrandom.models.served.backend:OpenAIServer",
    "gguf": "pytest_maxrandom.models.gguf:Gguf",
    "mock": "pytest_maxrandom.models.mock:Mock",
}
_session = ""
_backends: dict[str, Backend] = {}


def begin(session: str = "") -> None:
    """Let all backends forget what they found out for an earlier session.

    Parameters
    ----------
    session : str, optional
        What several processes of one session have in common; they will mean the same models.
    """
    global _session
    _session = session
    _backends.clear()


def backend_of(spec: ModelSpec) -> Backend:
    """Return the backend that runs a model.

    Raises
    ------
    ExtensionError
        If the package that adds it cannot be loaded.
    """
    name = spec.backend
    if name not in _backends:
        if name in BUILT_IN:
            backend: Backend = pkgutil.resolve_name(BUILT_IN[name])()
        else:
            backend = load(BACKENDS, name)
        with _told(spec):
            backend.begin(_session)
        _backends[name] = backend
    return _backends[name]


@contextmanager
def _told(spec: ModelSpec) -> Iterator[None]:
    """Tell in one sentence whatever the code of a package raises."""
    try:
        yield
    except MaxRandomError:
        raise
    except Exception as error:
        if spec.backend in BUILT_IN:
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"the backend {spec.backend!r} failed ({reason}); report this to its authors"
        raise ModelError(message) from error


def locate(spec: ModelSpec, base: Path, training: Training | None = None) -> Located:
    """Return where a model is, with what it is trained on.

    Raises
    ------
    ModelError
        If it is nowhere, or cannot be trained so.
    """
    backend = backend_of(spec)
    with _told(spec):
        located = backend.locate(spec, base)
        if training is None:
            return located
        check = getattr(backend, "check_training", None)
        if check is None:
            raise ModelError(
                f"the backend {spec.backend!r} of {spec.name} cannot train a model; use `backend: "
                "transformers`"
            )
        located = replace(located, training=training)
        check(located)
        return located


def absent(spec: ModelSpec, base: Path) -> str | None:
    """Say that a model's files are not on this machine; None where they are, or need not be.

    The hub is not asked: what its cache lacks is absent.
    """
    try:
        located = locate(spec, base)
    except ModelNotFound as error:
        return "; ".join(error.problems.values())
    check = getattr(backend_of(spec), "absent", None)
    with _told(spec):
        return None if check is None else check(located)


def identify(spec: ModelSpec, base: Path, training: Training | None = None) -> Identity:
    """Return what determines a model's numbers, as far as that is known before it is loaded.

    Raises
    ------
    ModelError
        If it is nowhere, its files cannot be read, or it cannot be trained so.
    """
    located = locate(spec, base, training)
    with _told(spec):
        found = backend_of(spec).identity(located)
    if training is None:
        return found
    return replace(
        found,
        digest=digest(found.digest, training.digest),
        tried_digest=digest(found.tried_digest, training.digest),
    )


class ModelPool:
    """Holds the model that was used last, so that items which share it load it once.

    A model that was refused is not tried again for the next item.

    Parameters
    ----------
    resources : Resources, optional
        What models may use.

    Attributes
    ----------
    resources : Resources
        The same.
    """

    def __init__(self, resources: Resources | None = None) -> None:
        self.resources = resources or Resources()
        self._key: tuple[str, ...] | None = None
        self._model: Model | None = None
        self._refusal = ""
        self._found: dict[tuple[str, ...], Arithmetic] = {}

    def identity(self, spec: ModelSpec, base: Path, training: Training | None = None) -> Identity:
        """Return what determines a model's numbers.

        What computes them is as it was found when the model was loaded, else as is foretold.

        Raises
        ------
        ModelError
            If the model is nowhere, its files cannot be read, or it cannot be trained so.
        """
        identity, key = identify(spec, base, training), locate(spec, base, training).key
        return replace(identity, arithmetic=self._found.get(key, identity.arithmetic))

    def loaded_elsewhere(
        self,
        spec: ModelSpec,
        base: Path,
        arithmetic: Arithmetic,
        training: Training | None = None,
    ) -> None:
        """Take note of what computes a model that was loaded elsewhere."""
        self._found[locate(spec, base, training).key] = arithmetic

    def get(
        self,
        spec: ModelSpec,
        base: Path,
        training: Training | None = None,
        *,
        generates: bool = False,
    ) -> Model:
        """Return the model, loaded if it is not at hand, and trained if that was not done before.

        Waits for a GPU if other processes have models on all of them.

        Parameters
        ----------
        generates : bool
            Whether it is wanted to generate answers first.

        Raises
        ------
        ModelError
            In one sentence, if it cannot be loaded.
        LockError
            If its GPU cannot be locked.
        """
        located = locate(spec, base, training)
        if located.key != self._key:
            self.drop()
            try:
                with _told(spec):
                    model = backend_of(spec).load(
                        located, replace(self.resources, generates=generates)
                    )
                    self._found[located.key] = model.arithmetic
                self._model = model
            except ModelError as error:
                self._refusal = str(error)
            except BaseException:
                self.drop()
                raise
            self._key = located.key
        if self._model is None:
            # Raised when what had been loaded is gone with the frames of the first error.
            self.resources.held.close()
            raise ModelError(self._refusal)
        return self._model

    def trained(self, spec: ModelSpec, base: Path, training: Training) -> Trained | None:
        """Return what a training found that was done before; None if it was not.

        Nothing is loaded.

        Raises
        ------
        ModelError
            If the model is nowhere, its files cannot be read, or it cannot be trained so.
        """
        located, backend = locate(spec, base, training), backend_of(spec)
        read = getattr(backend, "trained", None)
        with _told(spec):
            return read(located, self.resources) if read is not None else None

    def training_size(self, spec: ModelSpec, base: Path, training: Training) -> Size | None:
        """Return how much is left of a training; None where the backend does not tell.

        Nothing is loaded.

        Raises
        ------
        ModelError
            As :meth:`trained`.
        """
        located, backend = locate(spec, base, training), backend_of(spec)
        tell = getattr(backend, "training_size", None)
        with _told(spec):
            return tell(located, self.resources) if tell is not None else None

    def drop(self) -> None:
        """Forget the model, so that its memory is freed and its GPU is free for others."""
        self._model = self._key = None
        self.resources.held.close()
