"""Backends by name, imported only when a suite uses them, and the one model in memory."""

from __future__ import annotations

import pkgutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, ModelNotFound
from pytest_maxrandom.host.packages import BACKENDS, blamed, load
from pytest_maxrandom.models.base import Backend, Identity, Lengths, Located, Model, Resources
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.training import Size, Trained, Training
    from pytest_maxrandom.record import Arithmetic, Fingerprint
    from pytest_maxrandom.suite.models import ModelSpec

BUILT_IN = {
    "transformers": "pytest_maxrandom.models.hf.transformers:Transformers",
    **dict.fromkeys(
        ("vllm", "sglang", "llama_cpp", "openai"), "pytest_maxrandom.models.served.backend:Served"
    ),
    "gguf": "pytest_maxrandom.models.gguf:Gguf",
    "mock": "pytest_maxrandom.models.mock:Mock",
}


class Backends:
    """The backends of a session, which mean the same models whenever it names them.

    What plans claims and what runs them share one.

    Parameters
    ----------
    session : str, optional
        What several processes of one session have in common; they will mean the same models.
    """

    def __init__(self, session: str = "") -> None:
        self._session = session
        self._backends: dict[str, Backend] = {}

    def of(self, spec: ModelSpec) -> Backend:
        """Return the backend that runs a model.

        Raises
        ------
        ExtensionError
            If the package that adds it cannot be loaded.
        """
        name = spec.backend
        if name not in self._backends:
            if name in BUILT_IN:
                backend: Backend = pkgutil.resolve_name(BUILT_IN[name])()
            else:
                backend = load(BACKENDS, name)
            with _blaming(spec):
                backend.begin(self._session)
            self._backends[name] = backend
        return self._backends[name]

    def locate(self, spec: ModelSpec, base: Path, training: Training | None = None) -> Located:
        """Return where a model is, with what it is trained on.

        Raises
        ------
        ModelError
            If it is nowhere, or cannot be trained so.
        """
        backend = self.of(spec)
        with _blaming(spec):
            located = backend.locate(spec, base)
            if training is not None:
                located = replace(located, training=training)
                backend.check_training(located)
            return located

    def absent(self, spec: ModelSpec, base: Path) -> str | None:
        """Say that a model's files are not on this machine; None where they are, or need not be.

        The hub is not asked: what its cache lacks is absent.
        """
        try:
            located = self.locate(spec, base)
        except ModelNotFound as error:
            return "; ".join(error.problems.values())
        with _blaming(spec):
            return self.of(spec).absent(located)

    def lengths(self, located: Located) -> Lengths | None:
        """Return how long a model's texts may be; None where nothing on this machine tells."""
        with _blaming(located.spec):
            return self.of(located.spec).lengths(located)

    def identify(self, located: Located) -> Identity:
        """Return what determines a model's numbers, as far as known before it is loaded.

        Raises
        ------
        ModelError
            If its files cannot be read.
        """
        with _blaming(located.spec):
            identity = self.of(located.spec).identity(located)
        if (training := located.training) is None:
            return identity
        return replace(
            identity,
            digest=digest(identity.digest, training.digest),
            tried_digest=digest(identity.tried_digest, training.digest),
        )


def _blaming(spec: ModelSpec) -> AbstractContextManager[None]:
    """Tell in one sentence whatever the code of a package raises."""
    if spec.backend in BUILT_IN:
        return nullcontext()
    return blamed(BACKENDS, spec.backend, ModelError)


class ModelPool:
    """Holds the model that was used last, so that items which share it load it once.

    A model that was refused is not tried again for the next item.

    Parameters
    ----------
    backends : Backends, optional
        Those of the session; its own if not given.
    """

    def __init__(
        self, resources: Resources | None = None, backends: Backends | None = None
    ) -> None:
        self.resources, self.backends = resources or Resources(), backends or Backends()
        self._key: tuple[str, ...] | None = None
        self._model: Model | None = None
        self._refusal = ""
        self._found: dict[tuple[str, ...], Arithmetic] = {}
        self._fingerprints: dict[tuple[tuple[str, ...], bool], Fingerprint | None] = {}

    def identity(self, located: Located) -> Identity:
        """Return what determines a model's numbers.

        What computes them is as it was found when the model was loaded, else as is foretold.

        Raises
        ------
        ModelError
            If the model's files cannot be read.
        """
        identity = self.backends.identify(located)
        found = self._found.get(located.key) if self._found else None
        return identity if found is None else replace(identity, arithmetic=found)

    def loaded_elsewhere(self, located: Located, arithmetic: Arithmetic) -> None:
        """Take note of what computes a model that was loaded elsewhere."""
        self._found[located.key] = arithmetic

    def get(self, located: Located, *, generates: bool = False) -> Model:
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
        if located.key != self._key:
            self.drop()
            try:
                with _blaming(located.spec):
                    model = self.backends.of(located.spec).load(
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

    def fingerprint(self, located: Located, *, generates: bool = False) -> Fingerprint | None:
        """Return by what a model behind an address is known again; see `Model.fingerprint`.

        The server is asked once; whoever asks the model afterwards checks that it is still the one.

        Raises
        ------
        ModelError, LockError
            As :meth:`get`.
        """
        if not located.spec.remote:
            return None
        key = located.key, generates
        if key not in self._fingerprints:
            model = self.get(located, generates=generates)
            self._fingerprints[key] = model.fingerprint(generates=generates)
        return self._fingerprints[key]

    def trained(self, located: Located) -> Trained | None:
        """Return what a training found that was done before; nothing is loaded for that."""
        with _blaming(located.spec):
            return self.backends.of(located.spec).trained(located, self.resources)

    def training_size(self, located: Located) -> Size | None:
        """Return how much is left of a training, if the backend tells; nothing is loaded for it."""
        with _blaming(located.spec):
            return self.backends.of(located.spec).training_size(located, self.resources)

    def drop(self) -> None:
        """Forget the model, so that its memory is freed and its GPU is free for others."""
        self._model = self._key = None
        self.resources.held.close()
