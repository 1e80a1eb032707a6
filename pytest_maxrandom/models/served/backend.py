"""The backends of models behind a server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pytest_maxrandom.models.base import Backend, Identity, Located
from pytest_maxrandom.models.served.dialects import LlamaCpp, OpenAI, OpenAIChat, Vllm
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.model import ServedModel
from pytest_maxrandom.models.served.serving import identity_of, same_server
from pytest_maxrandom.models.served.tokens import found, told_of
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import LlamaCppSpec, OpenAISpec, ServedSpec, VllmSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.models.base import Resources
    from pytest_maxrandom.models.served.dialects import Dialect
    from pytest_maxrandom.models.served.serving import Serving


class Served(Backend):
    """Models that a server of one kind has loaded."""

    spec: type[ServedSpec]
    dialect: ClassVar[type[Dialect]]

    def __init__(self) -> None:
        self._serving: dict[tuple[str, ...], Serving] = {}

    def locate(self, spec: ServedSpec, base: Path) -> Located:
        """Return the address, and the folder of a tokenizer."""
        places = {"url": spec.url}
        if spec.tokenizer is not None:
            places["tokenizer"] = found(spec.tokenizer, base)
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Ask the server once a session what it serves."""
        spec = _specified(located)
        if located.key not in self._serving:
            at = _endpoint(located)
            self._serving[located.key] = self.dialect(at, spec.served).serving()
        identity = identity_of(self._serving[located.key], chat=spec.chat)
        tokenizer = located.places.get("tokenizer")
        # Others compare their tokens with the server's, so that these change no number.
        if tokenizer is None or not (spec.chat or self.dialect is OpenAI):
            return identity
        return replace(identity, digest=digest(identity.digest, *told_of(tokenizer)))

    def load(self, located: Located, resources: Resources) -> ServedModel:
        """Return the model behind the address, once it was checked."""
        at = _endpoint(located, resources.tell)
        spec = _specified(located)
        chats = spec.chat and self.dialect is OpenAI
        dialect = (OpenAIChat if chats else self.dialect)(at, spec.served)
        tokenizer = located.places.get("tokenizer")
        model = ServedModel(spec, at, dialect, tokenizer, generates=resources.generates)
        if known := self._serving.get(located.key):
            same_server(str(at), known, model.serving)
        return model


class VllmServer(Served):
    """Models on a server of vLLM."""

    spec = VllmSpec
    dialect = Vllm


class LlamaCppServer(Served):
    """Models on a server of llama.cpp."""

    spec = LlamaCppSpec
    dialect = LlamaCpp


class OpenAIServer(Served):
    """Models on any server of OpenAI's completions with `echo`."""

    spec = OpenAISpec
    dialect = OpenAI


def _specified(located: Located) -> ServedSpec:
    assert isinstance(located.spec, ServedSpec)
    return located.spec


def _endpoint(located: Located, tell: Callable[[str], None] = lambda sentence: None) -> Endpoint:
    spec = _specified(located)
    return Endpoint(
        spec.url,
        key_name=spec.api_key_env,
        timeout=spec.timeout,
        connections=spec.concurrency,
        tell=tell,
    )
