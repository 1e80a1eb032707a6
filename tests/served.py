"""A server of each dialect, with a model that can be computed by hand, and what goes wrong."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
import urllib.parse
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.block_cache import BlockCache
from tests.hashed_model import (
    VOCABULARY,
    continuation,
    decoded,
    encoded,
    log_probabilities,
    sampled,
)
from tests.server_kinds import KINDS, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class FakeServer(ThreadingHTTPServer):
    """A server of one dialect.

    Attributes
    ----------
    faults : dict
        What is wrong: see `_Handler`; and how many seconds each answer takes (`slow`).
    cache : BlockCache
        What it has read, and counts.
    tells_cached : bool
        Whether it tells which tokens of a prompt it had read before.
    logits : callable
        Makes of log-probabilities what its model computes, which may be as much larger or smaller.
    busiest : int
        The most questions that it was asked at once.
    bodies : list
        What was sent to it, path and JSON.
    keys : list
        The keys that it was sent.
    clients : set
        The addresses of the connections by which it was asked.
    says : callable or None
        What it writes after a prompt, in place of what its model does: a text, and why it ends as
        OpenAI calls that.
    """

    daemon_threads = True

    def __init__(self, dialect: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.dialect = dialect
        self.model = "the-model"
        self.version = "1.2.3"
        self.seed = ""
        self.faults: dict[str, Any] = {}
        self.bodies: list[tuple[str, Any]] = []
        self.keys: list[str | None] = []
        self.clients: set[Any] = set()
        self.says: Callable[[str], tuple[str | None, str]] | None = None
        self.cache = BlockCache(16)
        self.tells_cached = True
        self.logits: Callable[[Any], Any] = lambda values: values
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count who is answered, and take the time that it should."""
        with self._lock:
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        time.sleep(self.faults.get("slow", 0.0))
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def said(self, prompt: str, most: int, stop: Sequence[str]) -> tuple[str | None, str]:
        """Return what the model writes after a prompt, and why it ends."""
        if self.says is not None:
            return self.says(prompt)
        return continuation(encoded(prompt), most, stop, self.seed)

    def told(self, ids: Sequence[int]) -> Any:
        """Return the log-probabilities after a text, as far as the server is right."""
        if self.faults.get("zero"):
            return np.zeros(VOCABULARY)
        if self.faults.get("order"):
            # More than a nat less with each request, whatever was asked before.
            return log_probabilities(ids, self.seed) - 1.5 * len(self.bodies)
        return log_probabilities(ids, self.seed)

    def likeliest(self, prompt: str, most: int) -> dict[str, float]:
        """Return the log-probabilities of the likeliest tokens after a text, by their texts."""
        values = self.told(encoded(prompt))
        best = np.argsort(values)[::-1][:most]
        return {decoded([token]): float(values[token]) for token in best}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[Any, Any]:
        """Keep the connections, which clients keep too."""
        found = super().get_request()
        self._connections.append(found[0])
        return found

    def server_close(self) -> None:
        """End the connections as well, as the end of a process does."""
        super().server_close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


@contextmanager
def serving(dialect: str) -> Iterator[FakeServer]:
    """Run a server beside the test."""
    server = FakeServer(dialect)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, else each answer takes 40 ms

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        server, faults = self.server, self.server.faults
        server.bodies.append((self.path, body))
        server.clients.add(self.client_address)
        server.keys.append(self.headers.get("Authorization"))
        if statuses := faults.get("statuses"):
            status, headers = statuses.pop(0)
            return self._send(status, {"error": {"message": "not now"}}, headers)
        if faults.get("drop"):
            faults["drop"] -= 1
            self.close_connection = True
            return None
        if faults.get("half"):
            faults["half"] -= 1
            return self._send(200, self._reply(body), cut=True)
        if written := faults.get("raw"):
            self.close_connection = True
            written(self.wfile)
            return None
        if location := faults.get("redirect"):
            return self._send(307, {}, {"Location": location})
        if faults.get("page"):
            return self._send(200, "<html>")
        if "refuse" in faults and body is not None:
            return self._send(
                401, {"error": {"message": f"bad key {self.headers['Authorization']}"}}
            )
        with server.at_work():
            reply = self._reply(body)
        if isinstance(reply, Exception):
            told = {"message": reply.args[0], "code": (*reply.args, None)[1]}
            return self._send(400, {"error": told})
        if isinstance(reply, Status):
            return self._send(*reply)
        return self._send(200, reply)

    def _send(self, status: int, content: Any, headers: Any = None, *, cut: bool = False) -> None:
        raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if cut else raw)
        if cut:
            self.close_connection = True

    def _reply(self, body: Any) -> Any:
        server, path = self.server, self.path
        if path == "/metrics":
            told = f'block_size="{server.cache.block}",enable_prefix_caching="True"'
            return f'vllm:cache_config_info{{{told},engine="0"}} 1.0\n'
        if known := KINDS.get(server.dialect):
            return known(server, path, body)
        if path == "/version" and server.dialect == "vllm":
            return {"version": server.version}
        if path == "/props" and server.dialect == "llama_cpp":
            return {
                "build_info": server.version,
                "model_path": server.faults.get("model_path", f"/somewhere/{server.model}.gguf"),
                "default_generation_settings": {"n_ctx": 400},
            }
        if path == "/v1/models":
            entry = {"id": server.model, "owned_by": "somebody", "max_model_len": 400}
            return {"data": [entry]}
        if server.dialect == "llama_cpp" and body and body.get("echo"):
            return ValueError("Only no echo is supported")
        if body is None or (path == "/tokenize" and server.dialect == "openai"):
            return Status(404, {"error": {"message": f"no {path} here"}})
        if path == "/tokenize":
            ids = encoded(body.get("prompt") or body["content"])
            return {"tokens": ids[1:] if server.faults.get("no_begin") else ids}
        if body.get("max_tokens") != 1 and (code := server.faults.get("filters")):
            return ValueError("The prompt was filtered.", code)
        if path == "/v1/chat/completions":
            return self._chatted(body)
        if "logit_bias" in body and server.faults.get("drafts"):
            return ValueError("logit_bias is not supported with speculative decoding.")
        if not {"grammar", "logprob_token_ids", "echo"} & set(body):
            return self._written(body)
        return self._scored(body)

    def _chatted(self, body: Any) -> Any:
        (message,) = body["messages"]
        assert message["role"] == "user"
        if thinks := self.server.faults.get("thinks"):
            if "max_tokens" in body:
                return ValueError("Use 'max_completion_tokens' instead.")
            if body.get("stop") and thinks == "without stop":
                return ValueError("Unsupported parameter: 'stop' is not supported.")
            if body["temperature"] != 1 and thinks == "and draws":
                return ValueError("'temperature' does not support 0 with this model.")
        most = body.get("max_tokens") or body["max_completion_tokens"]
        text, finish = self.server.said(message["content"], most, body.get("stop", ()))
        said = {"role": "assistant", "content": text}
        if finish == "refusal":
            said, finish = {"role": "assistant", "content": None, "refusal": text}, "stop"
        return {"choices": [{"message": said, "finish_reason": finish}]}

    def _written(self, body: Any) -> Any:
        prompt, stop = body["prompt"], body.get("stop", ())
        ids = encoded(prompt) if isinstance(prompt, str) else prompt
        read = len(ids) + (1 if self.server.faults.get("begin_twice") else 0)
        most = body.get("max_tokens") or body["n_predict"]
        text, finish = self.server.said(decoded(ids), most, stop)
        if self.path == "/completion":
            kind = "limit" if finish == "length" else "eos"
            return {"content": text, "tokens_evaluated": read, "stop_type": kind}
        return {
            "usage": {"prompt_tokens": read, "completion_tokens": len(text or "")},
            "choices": [{"text": text, "finish_reason": finish}],
        }

    def _scored(self, body: Any) -> Any:
        faults, ids = self.server.faults, body["prompt"]
        extra = 1 if faults.get("begin_twice") else 0
        cache = self.server.cache
        usage: dict[str, Any] = {"prompt_tokens": len(ids) + extra}
        cached = cache.looked_up(ids, skips="echo" in body)
        if self.server.tells_cached:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        wrong = faults.get("values")
        if self.path == "/completion":
            span = [int(token) for token in re.findall(r"<\[(\d+)\]>", body["grammar"])]
            steps = []
            for place, token in enumerate(span):
                value = self.server.told([*ids, *span[:place]])[token]
                steps.append({"id": token, "logprob": value if wrong is None else wrong[0]})
            cache.keep(ids, span)
            return {"tokens_evaluated": len(ids) + extra, "completion_probabilities": steps}
        if body.get("echo"):
            told = [
                None,
                *(float(self.server.told(ids[:at])[ids[at]]) for at in range(1, len(ids))),
                -1.0,
            ]
            if wrong is not None:
                told[-2] = wrong[0]
            if faults.get("no_echo"):
                told = told[-1:]
            cache.keep(ids, [])
            return {"usage": usage, "choices": [{"logprobs": {"token_logprobs": told}}]}
        top: list[Any] = []
        generated: list[int] = []
        for _ in range(body["max_tokens"]):
            values = self.server.told([*ids, *generated])
            less = faults.get("less", 0.0)
            known = {
                f"token_id:{token}": float(values[token]) - less if wrong is None else wrong[0]
                for token in body["logprob_token_ids"]
            }
            top.append(known)
            generated.append(sampled(body, self.server.logits(values), ids, generated))
        cache.keep(ids, generated)
        tokens = [f"token_id:{token}" for token in generated]
        return {"usage": usage, "choices": [{"logprobs": {"top_logprobs": top, "tokens": tokens}}]}


def written(key: str) -> dict[str, str]:
    """All the ways in which a server may write a key."""
    raw = key.encode()
    return {
        "plain": key,
        "json": "".join(f"\\u{ord(each):04x}" for each in key),
        "json slash": key.replace("/", "\\/"),
        "address": urllib.parse.quote(key, safe=""),
        "whole address": "".join(f"%{each:02X}" for each in raw),
        "address of an address": urllib.parse.quote(urllib.parse.quote(key, safe=""), safe=""),
        "base64": base64.b64encode(raw).decode(),
        "base64 in its header": base64.b64encode(b"Bearer " + raw).decode(),
        "base64 within a text": base64.b64encode(b"ab" + raw + b"!").decode(),
        "base64 of addresses": base64.urlsafe_b64encode(raw).decode(),
        "digits": raw.hex().upper(),
        "html": "".join(f"&#{each};" for each in raw),
    }
