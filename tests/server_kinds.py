"""What servers of other kinds answer, as their sources say: paths, fields, and refusals.

Each kind is a function of a fake server, a path and the JSON that was sent (None for GET).
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.hashed_model import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.served import FakeServer


class Status(NamedTuple):
    """An answer with a status of its own."""

    code: int
    content: Any


def sglang(server: FakeServer, path: str, body: Any) -> Any:
    """SGLang 0.5.23."""
    if path == "/model_info":
        weights = server.faults.get("weight_version", "default")
        return {"model_path": "/models/the-model", "weight_version": weights}
    if path == "/server_info":
        return {"version": server.version, "internal_states": [{}]}
    if path == "/v1/models":
        card = {"id": server.model, "owned_by": "sglang", "root": server.model}
        return {"object": "list", "data": [{**card, "max_model_len": 400}]}
    if path == "/tokenize":
        ids = encoded(body["prompt"])
        return {"tokens": ids[1:] if server.faults.get("no_begin") else ids, "count": len(ids)}
    if path != "/generate":
        return Status(404, {"detail": "Not Found"})
    if not body.get("return_logprob"):
        return _generated(server, body)
    ids, starts = body["input_ids"], body.get("logprob_start_len", -1)
    if isinstance(ids[0], int):
        return _scored(server, ids, starts, body)
    return [_scored(server, one, start, body) for one, start in zip(ids, starts, strict=True)]


def _generated(server: FakeServer, body: Any) -> Any:
    sampling = body["sampling_params"]
    if code := server.faults.get("filters"):
        return Status(400, {"error": {"message": "The prompt was filtered.", "code": code}})
    prompt = body["text"] if "text" in body else decoded(body["input_ids"])
    text, finish = server.said(prompt, sampling["max_new_tokens"], sampling["stop"])
    meta = _meta(server, len(encoded(prompt)), len(text or ""))
    return {"text": text, "meta_info": {**meta, "finish_reason": {"type": finish}}}


def _meta(server: FakeServer, read: int, written: int) -> dict[str, Any]:
    extra = 1 if server.faults.get("begin_twice") else 0
    cached = server.faults.get("cached", 0)
    return {
        "prompt_tokens": read + extra, "completion_tokens": written, "cached_tokens": cached,
    }  # fmt: skip


def _scored(server: FakeServer, ids: list[int], start: int, body: Any) -> Any:
    def value(place: int, token: int) -> Any:
        wrong = server.faults.get("values")
        return float(server.told(ids[:place])[token]) if wrong is None else wrong[0]

    most = body["sampling_params"]["max_new_tokens"]
    meta = _meta(server, len(ids), most)
    if start >= 0:
        told = [[value(place, ids[place]), ids[place], None] for place in range(start, len(ids))]
        told[0][0] = None
        if server.faults.get("shifted"):
            told = [[after[0], one[1], None] for one, after in pairwise(told)]
        meta["input_token_logprobs"] = told
    if wanted := body.get("token_ids_logprob"):
        assert most == 1
        told = [[value(len(ids), token), token, None] for token in wanted]
        meta["output_token_ids_logprobs"] = [told]
    return {"text": "", "meta_info": meta}


def ollama(server: FakeServer, path: str, body: Any) -> Any:
    """Ollama 0.12.11 and later: Go, whose messages it passes on."""
    if path == "/api/version":
        return {"version": "0.12.11"}
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "library")]}
    if path == "/v1/chat/completions":
        return _chatted(server, body)
    if path == "/v1/completions" and not isinstance(body["prompt"], str):
        said = "json: cannot unmarshal array into Go struct field .prompt of type string"
        return Status(400, {"error": {"message": said, "type": "invalid_request_error"}})
    return Status(404, "404 page not found")


def lm_studio(server: FakeServer, path: str, body: Any) -> Any:
    """LM Studio 0.3, as its pages say: what it does not know it answers with status 200."""
    if path == "/api/v0/models":
        more = {"publisher": "somebody", "compatibility_type": "gguf", "state": "loaded"}
        return {"object": "list", "data": [{"id": server.model, "type": "llm", **more}]}
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "organization_owner")]}
    if path == "/v1/chat/completions":
        return _chatted(server, body)
    if path == "/v1/completions" and isinstance(body["prompt"], str):
        return _completed(server, body)
    return {"error": f"Unexpected endpoint or method. ({path})"}


def tgi(server: FakeServer, path: str, body: Any) -> Any:
    """TGI 3.3.6: its completions take texts only, and know no `echo`."""
    if path == "/info":
        return {"model_id": "the/model", "version": "3.3.6", "router": "text-generation-router"}
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "the/model")]}
    if path == "/v1/chat/completions":
        return _chatted(server, body)
    if path == "/v1/completions" and isinstance(body["prompt"], str):
        return _completed(server, body)
    said = "Failed to deserialize the JSON body: no variant of untagged enum PromptDeserializer"
    return Status(422 if body else 404, {"error": said})


def lite_llm(server: FakeServer, path: str, body: Any) -> Any:
    """The proxy of LiteLLM 1.82: it names no model of a wildcard, and passes on what others say."""
    if path == "/health/liveliness":
        return json.dumps("I'm alive!")
    if path == "/v1/models":
        return {"object": "list", "data": []}
    if path == "/v1/chat/completions":
        return _chatted(server, body)
    return Status(404, {"error": {"message": "litellm.NotFoundError", "code": "404"}})


def transformers(server: FakeServer, path: str, body: Any) -> Any:
    """`transformers serve` 5.23, pinned to a folder: it lists models of the hub's cache only."""
    if path == "/openapi.json":
        return {"openapi": "3.1.0", "paths": {"/load_model": {}, "/v1/completions": {}}}
    if path == "/v1/models":
        return {"object": "list", "data": []}
    if path == "/v1/completions":
        if not isinstance(body["prompt"], str):
            return Status(400, {"detail": "prompt must be a string."})
        return _completed(server, body)
    return Status(404, {"detail": "Not Found"})


def messages_only(server: FakeServer, path: str, body: Any) -> Any:
    """OpenAI's own interface, for a model that answers messages."""
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "system")]}
    if path == "/v1/chat/completions":
        return _chatted(server, body)
    said = "This is a chat model and not supported in the v1/completions endpoint."
    return Status(404, {"error": {"message": said, "type": "invalid_request_error"}})


def old_vllm(server: FakeServer, path: str, body: Any) -> Any:
    """vLLM before 0.26: it ignores what it does not know, and tells the likeliest token."""
    if path == "/version":
        return {"version": "0.25.0"}
    if path == "/v1/models":
        return {"object": "list", "data": [{**_listed(server, "vllm"), "max_model_len": 400}]}
    if path == "/tokenize":
        return {"tokens": encoded(body["prompt"])}
    if path != "/v1/completions":
        return Status(404, {"detail": "Not Found"})
    ids = body["prompt"]
    if body.get("echo"):
        values = [float(server.told(ids[:at])[ids[at]]) for at in range(1, len(ids))]
        echoed = {"token_logprobs": [None, *values, -1.0]}
        return {"usage": {"prompt_tokens": len(ids)}, "choices": [{"logprobs": echoed}]}
    allowed = body["allowed_token_ids"]
    values = server.told(ids)
    likeliest = max(allowed, key=lambda token: values[token])
    name = f"token_id:{likeliest}"
    told = {
        "tokens": [name] * body["max_tokens"],
        "top_logprobs": [{name: 0.0}] * body["max_tokens"],
    }
    return {"usage": {"prompt_tokens": len(ids)}, "choices": [{"logprobs": told}]}


def only_texts(server: FakeServer, path: str, body: Any) -> Any:
    """A server of llama-cpp-python: a text is all that it reads."""
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "me")]}
    if path == "/v1/completions" and isinstance(body["prompt"], str):
        return _completed(server, body)
    return Status(422 if body else 404, {"detail": "Input should be a valid string"})


def five_likeliest(server: FakeServer, path: str, body: Any) -> Any:
    """A hosted interface that refuses `echo` together with `logprobs`, and tells of 5 tokens."""
    if path == "/v1/models":
        return {"object": "list", "data": [_listed(server, "system")]}
    if body and body.get("echo"):
        said = "Setting 'echo' and 'logprobs' at the same time is not supported for this model."
        return Status(400, {"error": {"message": said, "type": "invalid_request_error"}})
    if body and (body.get("logprobs") or 0) > 5:
        return Status(400, {"error": {"message": "logprobs: at most 5"}})
    return _completed(server, body) if body else Status(404, {})


def _listed(server: FakeServer, owner: str) -> dict[str, str]:
    return {"id": server.model, "object": "model", "owned_by": owner}


def _chatted(server: FakeServer, body: Any) -> Any:
    (message,) = body["messages"]
    if body.get("logprobs"):
        told = server.likeliest(message["content"], body["top_logprobs"])
        top = [{"token": text, "logprob": value, "bytes": None} for text, value in told.items()]
        choices = [{"logprobs": {"content": [{"top_logprobs": top}]}}]
        return {"choices": choices, "usage": {"prompt_tokens": 7}}
    text, finish = server.said(message["content"], body["max_tokens"], body.get("stop", ()))
    said = {"role": "assistant", "content": text}
    return {"choices": [{"message": said, "finish_reason": finish}]}


def _completed(server: FakeServer, body: Any) -> Any:
    if most := body.get("logprobs"):
        told = server.likeliest(body["prompt"], most)
        return {"choices": [{"logprobs": {"top_logprobs": [told]}}]}
    text, finish = server.said(body["prompt"], body["max_tokens"], body.get("stop", ()))
    return {"choices": [{"text": text, "finish_reason": finish}]}


KINDS: dict[str, Callable[[FakeServer, str, Any], Any]] = {
    one.__name__: one
    for one in (
        sglang, ollama, lm_studio, tgi, lite_llm, transformers, messages_only, old_vllm, only_texts,
        five_likeliest,
    )
}  # fmt: skip
"""By the name that a test gives its server."""
