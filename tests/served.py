"""A server of each dialect with a language model of its own, and what goes wrong with servers.

The model is a table that is computed: a token's probability after a text is drawn from a hash of
both, so that what a client should get can be summed up without a server.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import socket
import threading
import time
import urllib.parse
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.block_cache import BlockCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

BEGIN = 256
VOCABULARY = 257


def encoded(text: str) -> list[int]:
    """Return the bytes of a text after a token for the beginning."""
    return [BEGIN, *text.encode()]


def save_tokenizer(folder: Path) -> Path:
    """Save a tokenizer of one token a byte, after a token for the beginning."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"<s>": BEGIN}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.ByteFallback()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", BEGIN)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    fast.save_pretrained(folder)
    assert fast("naïve")["input_ids"] == encoded("naïve")
    return folder


def log_probabilities(ids: Sequence[int], seed: str = "") -> Any:
    """Return the log-probability of each token after a text."""
    return _drawn(tuple(ids), seed)


@lru_cache(maxsize=20_000)
def _drawn(ids: tuple[int, ...], seed: str) -> Any:
    raw = hashlib.sha256(f"{seed}{list(ids)}".encode()).digest()
    logits = np.random.default_rng(int.from_bytes(raw[:8])).normal(0, 3, VOCABULARY)
    return logits - np.logaddexp.reduce(logits)


def sampled(body: Any, values: Any, prompt: Sequence[int], generated: Sequence[int]) -> int:
    """Return the token that vLLM generates at temperature 0, in the order of its own sampler.

    Parameters
    ----------
    values : array
        The model's own logits; what vLLM tells of them is told before.
    """
    logits = np.full(len(values), -np.inf)
    logits[body["allowed_token_ids"]] = values[body["allowed_token_ids"]]
    for token, bias in body.get("logit_bias", {}).items():
        logits[int(token)] += min(100.0, max(-100.0, bias))
    seen, said = [*{*prompt, *generated}], [*{*generated}]
    scale = body.get("repetition_penalty", 1.0)
    logits[seen] *= np.where(logits[seen] > 0, 1 / scale, scale)
    logits[said] -= body.get("presence_penalty", 0.0)
    return int(np.argmax(logits))


def likelihood(context: str, answer: str, seed: str = "") -> float:
    """Return what a server should say of an answer that begins with a space of its own."""
    ids, start = encoded(context + answer), len(encoded(context))
    return math.fsum(
        log_probabilities(ids[:place], seed)[ids[place]] for place in range(start, len(ids))
    )


def continuation(
    ids: Sequence[int], max_tokens: int, stop: Sequence[str] = (), seed: str = ""
) -> tuple[str, str]:
    """Return what a model should write after a text, the likeliest letters, and why it ends."""
    text = ""
    for _ in range(max_tokens):
        values = log_probabilities([*ids, *text.encode()], seed)
        text += chr(32 + int(np.argmax(values[32:127])))
        if places := [text.find(each) for each in stop if each in text]:
            return text[: min(places)], "stop"
    return text, "length"


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
        if path == "/version":
            return {"version": server.version}
        if path == "/props":
            return {
                "build_info": server.version,
                "model_path": server.faults.get("model_path", f"/somewhere/{server.model}.gguf"),
                "default_generation_settings": {"n_ctx": 400},
            }
        if path == "/v1/models":
            entry = {"id": server.model, "owned_by": "somebody", "max_model_len": 400}
            return {"data": [entry]}
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
        text, finish = self._said(message["content"], most, body.get("stop", ()))
        said = {"role": "assistant", "content": text}
        if finish == "refusal":
            said, finish = {"role": "assistant", "content": None, "refusal": text}, "stop"
        return {"choices": [{"message": said, "finish_reason": finish}]}

    def _written(self, body: Any) -> Any:
        prompt, stop = body["prompt"], body.get("stop", ())
        ids = encoded(prompt) if isinstance(prompt, str) else prompt
        read = len(ids) + (1 if self.server.faults.get("begin_twice") else 0)
        most = body.get("max_tokens") or body["n_predict"]
        text, finish = self._said(bytes(ids[1:]).decode(), most, stop)
        if self.path == "/completion":
            kind = "limit" if finish == "length" else "eos"
            return {"content": text, "tokens_evaluated": read, "stop_type": kind}
        return {
            "usage": {"prompt_tokens": read, "completion_tokens": len(text or "")},
            "choices": [{"text": text, "finish_reason": finish}],
        }

    def _said(self, prompt: str, most: int, stop: Sequence[str]) -> tuple[str | None, str]:
        if self.server.says is not None:
            return self.server.says(prompt)
        return continuation(encoded(prompt), most, stop, self.server.seed)

    def _told(self, ids: Sequence[int]) -> Any:
        """Return the log-probabilities after a text, as far as the server is right."""
        faults = self.server.faults
        if faults.get("zero"):
            return np.zeros(VOCABULARY)
        if faults.get("order"):
            return log_probabilities(ids, str(len(self.server.bodies)))
        return log_probabilities(ids, self.server.seed)

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
                value = self._told([*ids, *span[:place]])[token]
                steps.append({"id": token, "logprob": value if wrong is None else wrong[0]})
            cache.keep(ids, span)
            return {"tokens_evaluated": len(ids) + extra, "completion_probabilities": steps}
        if body.get("echo"):
            told = [
                None,
                *(float(self._told(ids[:at])[ids[at]]) for at in range(1, len(ids))),
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
            values = self._told([*ids, *generated])
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
