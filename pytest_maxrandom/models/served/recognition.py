"""What answers at an address, and which lines of a suite work with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import MaxRandomError, ModelError
from pytest_maxrandom.models.served.endpoint import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.models.served.endpoint import Endpoint

LEAST_VLLM, LEAST_SGLANG = "0.26.0", "0.5.6"
"""The first versions that tell what is asked of them."""
_ASKED_WRONGLY = (400, 404, 405, 422, 501)
"""What servers say to what they do not know."""
_NOWHERE = (404, 405)
"""What they say where nothing is."""
_UNKNOWN = (*_ASKED_WRONGLY, 401, 403)
"""What they say to addresses that they do not know."""
_GENERATE = "write `backend: openai` with `chat: true`, and `scoring: generate`"
_LABELS = "or `top_logprobs: 20` for choices that are letters (`labels: letter`)"
_FILE = "to score choices, name the model's GGUF file with `backend: gguf` or `llama_cpp`"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of server."""

    name: str
    path: str
    """What only such a server answers."""
    version: Callable[[Any], str | None]
    """Reads its version out of that; None if the answer is that of another server."""
    way: str
    """The lines of a suite that work with it."""
    backend: str = "openai"
    """The backend that asks it best."""
    templates: bool = False
    """Whether it puts what is sent to ``/v1/completions`` into the model's chat template."""
    lists: bool = True
    """Whether ``/v1/models`` names each model that it serves."""
    tested: str = ""
    """The real server of this kind whose answers were compared with those of the same weights."""


def _has(reply: Any, *keys: str) -> bool:
    return isinstance(reply, dict) and all(key in reply for key in keys)


def _version(*more: str, key: str = "version") -> Callable[[Any], str | None]:
    """Read a version from an answer that has other keys as well."""
    return lambda reply: str(reply[key]) if _has(reply, key, *more) else None


def _within(place: str, key: str) -> Callable[[Any], str | None]:
    """Recognise an answer by a key of what stands at a place, or of the first of a list there."""

    def read(reply: Any) -> str | None:
        found = reply[place] if _has(reply, place) else None
        first = found[0] if isinstance(found, list) and found else found
        return "" if _has(first, key) else None

    return read


KINDS = (
    Kind(
        "Ollama",
        "/api/version",
        _version(),
        f"it takes no tokens and tells no log-probabilities of a prompt: {_GENERATE}, "
        f"{_LABELS}; {_FILE}",
        templates=True,
    ),
    Kind(
        "LM Studio",
        "/api/v0/models",
        _within("data", "compatibility_type"),
        f"it tells no log-probabilities of a prompt: {_GENERATE}; {_FILE}",
    ),
    Kind(
        "LM Studio",
        "/api/v1/models",
        _within("models", "key"),
        f"it tells no log-probabilities of a prompt: {_GENERATE}; {_FILE}",
    ),
    Kind("SGLang", "/server_info", _version("internal_states"), "", "sglang"),
    Kind(
        "SGLang",
        "/get_model_info",
        lambda reply: "of an old version" if _has(reply, "model_path") else None,
        f"it lacks what is asked of it: update it to {LEAST_SGLANG} or later",
        "sglang",
    ),
    Kind("vLLM", "/version", _version(), "", "vllm"),
    Kind(
        "llama.cpp",
        "/props",
        _version(key="build_info"),
        "",
        "llama_cpp",
    ),
    Kind(
        "TGI",
        "/info",
        _version("model_id"),
        f"its /v1/completions repeats no prompt: {_GENERATE}; to score choices, serve the model "
        "with vLLM (`backend: vllm`)",
    ),
    Kind(
        "LiteLLM",
        "/health/liveliness",
        lambda reply: "" if reply == "I'm alive!" else None,
        f"it passes on what other servers answer, and these repeat no prompt: {_GENERATE}; to "
        "score choices, name the server behind it",
        lists=False,
    ),
    Kind(
        "transformers serve",
        "/openapi.json",
        _within("paths", "/load_model"),
        "it takes no tokens and tells no log-probabilities: write `backend: openai` without "
        "`tokenizer`, and `scoring: generate`; to score choices, write `backend: transformers`",
        lists=False,
        tested="transformers serve 5.23.0",
    ),
)
"""In this order, since some answer what others are known by."""


def recognised(at: Endpoint) -> tuple[Kind, str] | None:
    """Return the kind of server at an address, and its version as far as it tells."""
    facts: dict[str, Any] = {}
    for kind in KINDS:
        if kind.path not in facts:
            try:
                facts[kind.path] = at.get(kind.path)
            except ModelError as error:
                if at.broken or (isinstance(error, Refused) and error.status not in _UNKNOWN):
                    return None
                facts[kind.path] = None
        if (version := kind.version(facts[kind.path])) is not None:
            return kind, version
    return None


def explained(at: Endpoint, backend: str, error: MaxRandomError) -> MaxRandomError:
    """Say which line works where a server is not of the kind that a suite says.

    Parameters
    ----------
    backend : str
        What the suite says.
    error : MaxRandomError
        What came of that, which is returned where nothing better is known.
    """
    if isinstance(error, Refused) and error.status not in _ASKED_WRONGLY:
        return error
    if backend == "openai" or (found := recognised(at)) is None:
        return error
    kind, version = found
    if kind.backend == backend and not kind.way:
        return error
    return ModelError(told_of(at, kind, version))


def unscored(at: Endpoint, error: MaxRandomError) -> MaxRandomError:
    """Say what to do with a server that tells no log-probabilities of what it is sent."""
    if isinstance(error, Refused) and error.status not in _ASKED_WRONGLY:
        return error
    if (found := recognised(at)) is not None:
        return ModelError(told_of(at, *found))
    if isinstance(error, Refused) and _chats_only(at, error):
        return ModelError(
            f"the server at {at} has no /v1/completions for this model, by which choices are "
            f"scored: write `chat: true` and `scoring: generate`, {_LABELS} ({error})"
        )
    if isinstance(error, Refused) and error.status in _NOWHERE:
        return ModelError(
            f"{error}; if the address is right, it takes messages only: write `chat: true` and "
            "`scoring: generate`"
        )
    return ModelError(
        f"{error}; to score choices a server must take token ids and repeat them with their "
        "log-probabilities (`echo`): use one that does, write `scoring: generate` (and `chat: "
        "true` if its model answers messages), or, for choices that are letters (`labels: "
        "letter`), `top_logprobs: 5` without `tokenizer`"
    )


def unwritten(at: Endpoint, refused: Refused, *, chats: bool, tokens: bool) -> ModelError:
    """Say what to do with a server that does not take a prompt.

    Parameters
    ----------
    chats, tokens : bool
        Whether the prompt was sent as a message, or as token ids.
    """
    if refused.status not in _ASKED_WRONGLY:
        return refused
    if chats and refused.status in _NOWHERE and _lists(at):
        return ModelError(f"the server at {at} takes no messages: remove `chat` ({refused})")
    if not chats and _chats_only(at, refused):
        return ModelError(
            f"the server at {at} has no /v1/completions for this model: write `chat: true` "
            f"({refused})"
        )
    if tokens and re.search("string|deserialize", str(refused)):
        return ModelError(
            f"the server at {at} takes no token ids: remove `tokenizer`, so that it is sent texts "
            f"({refused})"
        )
    return refused


def _chats_only(at: Endpoint, refused: Refused) -> bool:
    return "chat model" in str(refused) or (refused.status in _NOWHERE and _lists(at))


def _lists(at: Endpoint) -> bool:
    """Tell whether an address is that of an interface such as OpenAI's, rather than a wrong one."""
    try:
        return isinstance(at.get("/v1/models"), dict)
    except ModelError:
        return False


def told_of(at: Endpoint, kind: Kind, version: str) -> str:
    """Say which server it is, and which lines work with it."""
    what = f"the server at {at} is {kind.name} {version}".rstrip()
    return f"{what}; {kind.way or f'write `backend: {kind.backend}`'}"
