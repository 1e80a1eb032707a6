"""How many answers a second a served model takes, of those that its requests under way allow.

    python -m benchmarks.throughput

The server is a fake one in a process of its own, which takes 50 ms for each answer, however many
there are. So R requests under way allow R / 50 ms answers a second. What a client misses of that is
its own only in part: timers and a processor that others use as well add to the 50 ms. So the server
says how long it held the answers, from the last byte of a request to the first of its answer, and a
bare client, which sends the same bytes and reads none of the answers, is measured beside. Of
several runs the quickest counts, since what runs beside only takes time.

All that a prompt takes is measured: its tokens' tree, and its end, where less and less is under
way. Its examples are as many as whole rounds of 8, 32 and 128 answer. The texts share no block of a
cache, so that none of them is sent alone before the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import MODELS

SECONDS = 0.05
_EXAMPLES = 896
_RUNS = 5
_BEGIN = 256
_held = [0, 0.0]
"""Answers since this was asked for, and the seconds that these were held."""
_last = b""
"""The last request for an answer, as it came."""


class Connection(asyncio.Protocol):
    """Answers as vLLM does, in as little time of the processor as that takes."""

    def connection_made(self, transport: Any) -> None:
        self._to, self._came = transport, b""

    def data_received(self, data: bytes) -> None:
        global _last
        self._came += data
        head, found, body = self._came.partition(b"\r\n\r\n")
        length = int((head.lower().partition(b"content-length:")[2] or b"0").split(b"\r", 1)[0])
        if not found or len(body) < length:
            return
        came, self._came = self._came, b""
        path = head.split(b" ", 2)[1].decode()
        reply = _reply(path, json.loads(body or b"{}"))
        if path == "/v1/completions":
            _last, loop = came, asyncio.get_running_loop()
            loop.call_later(SECONDS, self._answer, loop.time(), reply)
        else:
            self._send(reply)

    def _answer(self, began: float, reply: Any) -> None:
        self._send(reply)
        _held[0] += 1
        _held[1] += asyncio.get_running_loop().time() - began

    def _send(self, reply: Any) -> None:
        raw = json.dumps(reply).encode()
        self._to.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(raw), raw))


def _reply(path: str, body: dict[str, Any]) -> Any:
    if path == "/held":
        answers, seconds = _held
        _held[:] = 0, 0.0
        return {"seconds": seconds / max(answers, 1), "request": _last.decode()}
    if path == "/version":
        return {"version": "fake"}
    if path == "/v1/models":
        return {"data": [{"id": "m", "max_model_len": 4096}]}
    if path == "/metrics":
        return 'vllm:cache_config_info{block_size="16"} 1.0'
    if path == "/tokenize":
        return {"tokens": [_BEGIN, *body["prompt"].encode()]}
    told, steps = body["logprob_token_ids"], body["max_tokens"]
    top = {f"token_id:{token}": -0.01 * token for token in told}
    tokens = [f"token_id:{token}" for token in (body["allowed_token_ids"] * steps)[:steps]]
    logprobs = {"top_logprobs": [top] * steps, "tokens": tokens}
    usage = {"prompt_tokens": len(body["prompt"]), "prompt_tokens_details": {"cached_tokens": 0}}
    return {"usage": usage, "choices": [{"logprobs": logprobs}]}


async def serve() -> None:
    """Serve until the process ends, and print the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def held(port: int) -> dict[str, Any]:
    """Return how many seconds the server held each answer since the last call, and a request."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/held") as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def bare(port: int, concurrency: int, examples: int, request: bytes) -> tuple[float, float]:
    """Return the answers a second of a client that reads none, and ms that each costs it."""
    left = iter(range(examples))

    class Client(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self._to, self._ended = transport, loop.create_future()
            ended.append(self._ended)
            self.data_received(b"")

        def data_received(self, data: bytes) -> None:  # an answer is one packet
            if next(left, None) is None:
                self._to.close()
                self._ended.set_result(None)
            else:
                self._to.write(request)

    async def ask() -> None:
        for _ in range(concurrency):
            await loop.create_connection(Client, "127.0.0.1", port)
        await asyncio.gather(*ended)

    ended: list[asyncio.Future[None]] = []
    loop = asyncio.new_event_loop()
    began, before = time.perf_counter(), time.process_time()
    loop.run_until_complete(ask())
    seconds, own = time.perf_counter() - began, time.process_time() - before
    loop.close()
    return examples / seconds, 1000 * own / examples


def measured(port: int, concurrency: int | None, examples: int) -> tuple[float, float, float]:
    """Return the answers of one prompt in a second, requests under way, and ms that each costs."""
    said = {"name": "m", "backend": "vllm", "url": f"http://127.0.0.1:{port}"}
    spec = MODELS.validate(said | ({} if concurrency is None else {"concurrency": concurrency}))
    model: Any = ModelPool().get(Backends().locate(spec, Path()))
    # Their tokens are asked for as well, so that is done before.
    known: dict[str, list[int]] = {}

    class Tokens:
        beginning = None

        def encode(self, texts: Any, *, bare: bool = False) -> list[list[int]]:
            return [known.setdefault(text, [_BEGIN, *text.encode()]) for text in texts]

    model._tokens = Tokens()
    asked = [Question(f"Is {number} even?\nA:", ("y", "n")) for number in range(examples)]
    model.ask(asked[: concurrency or 8])  # connections are made, and the server is known
    began, before = time.perf_counter(), time.process_time()
    model.ask(asked)
    seconds, own = time.perf_counter() - began, time.process_time() - before
    return examples / seconds, model._at.flow.window, 1000 * own / examples


def row(port: int, concurrency: int | None, examples: int) -> str:
    """Return what is shown of the quickest run."""
    ours, bares = [], []
    for _ in range(_RUNS):
        rate, window, own = measured(port, concurrency, examples)
        said = held(port)
        ours.append((rate * said["seconds"] / window, rate, window, said["seconds"], own))
        its, its_own = bare(port, int(window), examples, said["request"].encode())
        bares.append((its * held(port)["seconds"] / window, its_own))
    (share, rate, window, seconds, own), (its_share, its_own) = max(ours), max(bares)
    cells = (
        concurrency or f"as many as it answers: {window:.0f}",
        f"{rate:,.0f}",
        f"{rate * SECONDS / window:.1%}",
        f"{1000 * seconds:.1f}",
        f"{share:.1%}",
        f"{its_share:.1%}",
        f"{own:.2f}",
        f"{its_own:.2f}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[8, 32, 128])
    parser.add_argument("--examples", type=int, default=_EXAMPLES)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve())
        return
    command = [sys.executable, "-m", "benchmarks.throughput", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            print(
                "| requests under way | answers a second | of what 50 ms allow | ms that the "
                "server held each | of what these allow | the same of a bare client | ms of this "
                "processor for each | the same of a bare client |"
            )
            print("| --- | --- | --- | --- | --- | --- | --- | --- |")
            for concurrency in (*arguments.concurrency, None):
                print(row(port, concurrency, arguments.examples), flush=True)
        finally:
            process.kill()


if __name__ == "__main__":
    main()
