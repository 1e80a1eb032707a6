"""The backend of Hugging Face transformers: finds its models, tells them apart and loads them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, ModelNotFound
from pytest_maxrandom.models.base import Backend, Identity, Lengths, Located, Resources
from pytest_maxrandom.models.hf import hub, stored
from pytest_maxrandom.models.hf.adapters import attach, check_adapter
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.hf.causal import CausalModel, context_of
from pytest_maxrandom.models.hf.devices import Processors
from pytest_maxrandom.models.hf.hub import Commits, model_digest
from pytest_maxrandom.models.hf.loading import CLASSIFIER, check_causal, open_model, quiet
from pytest_maxrandom.models.hf.refusals import check_modules
from pytest_maxrandom.models.hf.training import arms
from pytest_maxrandom.models.hf.training.classifying import Classifier
from pytest_maxrandom.models.hf.training.texts import size_of
from pytest_maxrandom.models.tokens import LocalTokens
from pytest_maxrandom.suite.models import TransformersSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.training import Size, Trained, Training

_LONGEST = 100_000_000
"""Bytes of a header of safetensors, at most."""


class Transformers(Backend):
    """Causal language models of Hugging Face transformers, quantized here or in their files."""

    spec = TransformersSpec

    def __init__(self) -> None:
        self._commits = Commits()

    def begin(self, session: str) -> None:
        """Mean the commits of the hub that the session's other processes mean."""
        self._commits = Commits(session)

    def _pinned(self, located: Located) -> TransformersSpec:
        """Return what the suite says of a model, with the commit that the session means."""
        spec = _specified(located)
        if Path(located.places["name"]).is_dir():
            return spec
        return spec.model_copy(update={"revision": self._commits.of(spec.name, spec.revision)})

    def _adapter(self, located: Located) -> tuple[str | None, str | None]:
        """Return where an adapter is, and the commit of one on the hub."""
        adapter = located.places.get("adapter")
        if adapter is None or Path(adapter).is_dir():
            return adapter, None
        return adapter, self._commits.of(adapter, None, "adapter_config.json")

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

    def absent(self, located: Located) -> str | None:
        """Say which of its files is neither in a folder nor in the hub's cache; None if none is."""
        spec = _specified(located)
        for key, place in located.places.items():
            revision = spec.revision if key == "name" else None
            if not Path(place).is_dir() and not hub.in_cache(key, place, revision):
                return f"there is no folder {place}, and the hub's cache holds no such model"
        return None

    def identity(self, located: Located) -> Identity:
        """Digest the files, and foretell what computes the model on this machine."""
        spec, at = self._pinned(located), (located.places["name"], *self._adapter(located))
        # The same prompt in another type is no other try.
        tried = model_digest(spec.model_copy(update={"dtype": "auto"}), *at)
        found = stored.of_files(spec, at[0]) if spec.quantization == "stored" else None
        return Identity(model_digest(spec, *at), foretold(spec, found, located.training), tried)

    def check_training(self, located: Located) -> None:
        """Refuse what cannot be trained, as far as the suite tells that."""
        assert located.training is not None
        arms.check(_specified(located), located.training)
        spec, location = _specified(located), located.places["name"]
        _check_objective(spec, location, located.training)
        settings = located.training.settings
        if settings is not None and settings.modules and (layers := _layers(Path(location))):
            check_modules(spec, settings.modules, layers)

    def trained(self, located: Located, resources: Resources) -> Trained | None:
        """Return what a training found that was done before; None if it was not."""
        if located.training is None:
            return None
        return arms.kept(self._pinned(located), located.places["name"], located.training, resources)

    def training_size(self, located: Located, resources: Resources) -> Size:
        """Count what is left of a training, by the tokenizer's file if that is on this machine."""
        spec, location = self._pinned(located), located.places["name"]
        assert located.training is not None
        file = hub.at_hand(location, "tokenizer.json", spec.revision)
        limit, _ = context_of(*_stated(location, spec.revision))
        return size_of(arms.left(spec, location, located.training, resources), file, limit)

    def lengths(self, located: Located) -> Lengths | None:
        """Return how long texts may be, where the model's files are on this machine."""
        folder, spec = Path(located.places["name"]), _specified(located)
        if located.training is not None and located.training.classify is not None:
            return None  # what is longer is cut, as in training
        if spec.chat or not folder.is_dir() or importlib.util.find_spec("transformers") is None:
            return None
        limit, source = context_of(*_stated(str(folder), None))
        if limit is None:
            return None

        def tokens(texts: Sequence[str]) -> list[int]:
            return [len(ids) for ids in LocalTokens.load(spec.name, str(folder)).encode(texts)]

        return Lengths(limit, source, tokens)

    def load(self, located: Located, resources: Resources) -> CausalModel | Classifier:
        """Load a model, with its GPU locked until the resources are given back."""
        spec, location = self._pinned(located), located.places["name"]
        if located.training is not None:
            return _load_trained(spec, location, located.training, resources)
        adapter, commit = self._adapter(located)
        return load(spec, location, adapter, resources, commit)


def _check_objective(spec: TransformersSpec, location: str, training: Training) -> None:
    """Refuse an objective for which a network was not made, where its files name its kind."""
    config = hub.said_in(hub.at_hand(location, "config.json", spec.revision))
    found = config.get("architectures")
    kinds = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if training.settings is None or not kinds:
        return
    holds = f"{spec.name} holds {' and '.join(kinds)}"
    ahead = all(each.endswith(("ForMaskedLM", "ForPreTraining")) for each in kinds)
    causal = all(each.endswith(("ForCausalLM", "LMHeadModel")) for each in kinds)
    if training.settings.objective == "causal" and ahead and not config.get("is_decoder"):
        raise ModelError(
            f"{holds}, which looks ahead, so `objective: causal` teaches it nothing; use "
            "`objective: masked` with `classify`, or another model"
        )
    if training.settings.objective == "masked" and causal:
        raise ModelError(
            f"{holds}, which is not a masked language model; use `objective: causal`, or another "
            "model"
        )


def _layers(folder: Path) -> list[str]:
    """Return the names of the layers whose weights are matrices; none where no file tells them."""
    layers = []
    try:
        for path in folder.glob("*.safetensors"):
            with path.open("rb") as file:
                # The format's header: its length in 8 bytes, then JSON.
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(min(length, _LONGEST)))
            layers += [
                name.removesuffix(".weight")
                for name, weight in header.items()
                if name.endswith(".weight") and len(weight["shape"]) > 1
            ]
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return []
    return layers


def _stated(location: str, revision: str | None) -> tuple[object, object]:
    """Return the longest text by a model's configuration and by its tokenizer, as files say it."""
    config = hub.said_in(hub.at_hand(location, "config.json", revision))
    text = config.get("text_config")
    positions = (text if isinstance(text, dict) else config).get("max_position_embeddings")
    tokenizer = hub.said_in(hub.at_hand(location, "tokenizer_config.json", revision))
    return positions, tokenizer.get("model_max_length")


def _specified(located: Located) -> TransformersSpec:
    assert isinstance(located.spec, TransformersSpec)
    return located.spec


def load(
    spec: TransformersSpec,
    location: str,
    adapter: str | None = None,
    resources: Resources | None = None,
    adapter_commit: str | None = None,
) -> CausalModel:
    """Load a model and its tokenizer.

    Parameters
    ----------
    spec, location
        As :func:`pytest_maxrandom.models.hf.loading.open_model` takes them.
    adapter : str, optional
        Hub id or local folder of its adapter.
    resources : Resources, optional
        What the model may use; GPUs are locked until these are given back.
    adapter_commit : str, optional
        Which commit of the adapter, on the hub.

    Raises
    ------
    ModelError
        In one sentence.
    LockError
        If a GPU cannot be locked.
    """
    resources = resources or Resources()
    processors = Processors(resources.worker, resources.workers, tell=resources.tell)
    resources.held.callback(processors.release)
    if adapter is not None:
        check_adapter(spec)
    opened = open_model(spec, location, processors)
    model = opened.model
    if adapter is not None:
        with quiet():
            model = attach(spec, model, adapter, adapter_commit)
    check_causal(spec, model.eval(), opened.device)
    loaded = CausalModel(
        model,
        opened.tokenizer,
        opened.device,
        resources.batch_tokens,
        resources.engine,
        chat=spec.chat,
    )
    loaded.device = ", ".join(opened.places)
    loaded.quantized = None if opened.stored is None else opened.stored.text
    loaded.revision = opened.revision or loaded.revision
    return loaded


def _load_trained(
    spec: TransformersSpec, location: str, training: Training, resources: Resources
) -> CausalModel | Classifier:
    """Load an arm from the weights that are kept, which are trained before if there are none."""
    folder, record = arms.trained(spec, location, training, resources)
    model: CausalModel | Classifier
    if training.classify is not None:
        processors = Processors(resources.worker, resources.workers, tell=resources.tell)
        resources.held.callback(processors.release)
        opened = open_model(spec, str(folder), processors, CLASSIFIER)
        model = Classifier(opened, training, resources.batch_tokens)
    elif training.settings is not None and training.settings.method == "full":
        model = load(spec, str(folder), None, resources)
    else:
        model = load(spec, location, str(folder), resources)
    if not Path(location).is_dir():
        model.revision = spec.revision
    model.trained = record
    return model
