"""The backends of models behind a server."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelNotFound, ScoreError
from pytest_maxrandom.models.base import Backend, Identity, Located
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.served.dialects import LlamaCpp
from pytest_maxrandom.models.served.endpoint import Endpoint, Refused
from pytest_maxrandom.models.served.handshake import identity_of, same_server
from pytest_maxrandom.models.served.labels import LabelModel
from pytest_maxrandom.models.served.model import ServedModel
from pytest_maxrandom.models.served.openai import OpenAI, OpenAIChat
from pytest_maxrandom.models.served.recognition import explained
from pytest_maxrandom.models.served.sglang import Sglang
from pytest_maxrandom.models.served.vllm import Vllm
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import ServedSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_maxrandom.models.base import Resources
    from pytest_maxrandom.models.served.dialects import Dialect
    from pytest_maxrandom.models.served.handshake import Serving

_DIALECTS: Mapping[str, type[Dialect]] = {
    "vllm": Vllm,
    "sglang": Sglang,
    "llama_cpp": LlamaCpp,
    "openai": OpenAI,
}
"""How each kind of server is asked, by what suites call it."""
_FILES = ("tokenizer*", "vocab*", "*.model", "*.tiktoken")
"""One of these is in the folder of any tokenizer."""
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")


class Served(Backend):
    """Models that servers have loaded."""

    spec = ServedSpec

    def __init__(self) -> None:
        self._serving: dict[tuple[str, ...], Serving] = {}

    def locate(self, spec: ServedSpec, base: Path) -> Located:
        """Return the address, and the folder of a tokenizer."""
        places = {"url": spec.url}
        if spec.tokenizer is not None:
            places["tokenizer"] = _place_of(spec.tokenizer, base)
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Ask the server once a session what it serves."""
        spec = _specified(located)
        if located.key not in self._serving:
            at = _endpoint(located)
            with _recognising(at, spec.backend):
                self._serving[located.key] = _dialect(spec, at).serving()
        identity = identity_of(self._serving[located.key], chat=spec.chat, revision=spec.revision)
        if spec.most_told:  # what is a label's number is another one than a choice's
            return replace(identity, digest=digest(identity.digest, "labels"))
        tokenizer = located.places.get("tokenizer")
        # Others compare their tokens with the server's, so that these change no number.
        if tokenizer is None or not (spec.chat or _DIALECTS[spec.backend] is OpenAI):
            return identity
        return replace(identity, digest=digest(identity.digest, *_files_of(tokenizer)))

    def load(self, located: Located, resources: Resources) -> ServedModel:
        """Return the model behind the address, once it was checked."""
        at = _endpoint(located, resources.tell)
        spec = _specified(located)
        dialect = _dialect(spec, at)
        tokenizer = located.places.get("tokenizer")
        with _recognising(at, spec.backend):
            kind = LabelModel if spec.most_told else ServedModel
            model = kind(spec, at, dialect, tokenizer, generates=resources.generates)
        if known := self._serving.get(located.key):
            same_server(str(at), known, model.serving)
        return model


def _dialect(spec: ServedSpec, at: Endpoint) -> Dialect:
    kind = _DIALECTS[spec.backend]
    return (OpenAIChat if spec.chat and kind is OpenAI else kind)(at, spec.served)


@contextmanager
def _recognising(at: Endpoint, backend: str) -> Iterator[None]:
    """Say which lines work, where a server is not of the kind that the suite says."""
    try:
        yield
    except (Refused, ScoreError) as error:
        raise explained(at, backend, error) from None


def _specified(located: Located) -> ServedSpec:
    assert isinstance(located.spec, ServedSpec)
    return located.spec


def _endpoint(located: Located, tell: Callable[[str], None] = lambda sentence: None) -> Endpoint:
    spec = _specified(located)
    return Endpoint(
        spec.url,
        key_name=spec.api_key_env,
        timeout=spec.timeout,
        requests=spec.concurrency,
        tell=tell,
    )


def _place_of(name: str, base: Path) -> str:
    """Return the folder of a tokenizer (relative to `base`), else its name as a hub id."""
    wrong = f"there is no folder {name} (relative to the suite file), and it is not a hub id"
    try:
        folder = base / Path(name).expanduser()
        if folder.is_dir():
            if any(any(folder.glob(pattern)) for pattern in _FILES):
                return str(folder)
            wrong = f"the folder {name} holds no tokenizer as written by save_pretrained"
        elif _HUB_ID.fullmatch(name):
            return name
    except (OSError, RuntimeError) as error:  # too long a name; no such user
        wrong = f"{name} cannot be a folder: {error}"
    raise ModelNotFound(
        {"tokenizer": f"{wrong}; expected a name such as ./folder or Qwen/Qwen3-8B"}
    )


def _files_of(tokenizer: str) -> list[str]:
    """Return what tells a tokenizer and its chat template from others: its files, else its name."""
    folder = Path(tokenizer)
    if not folder.is_dir():
        return [tokenizer]
    files = {file for pattern in (*_FILES, "chat_template*") for file in folder.glob(pattern)}
    named = sorted(file for file in files if file.is_file())
    return [part for file in named for part in (file.name, file_digest(file))]
