"""How many answers a second a served model takes, of those that its requests under way allow.

    python -m benchmarks.throughput

The server is a fake one in a process of its own, which takes 50 ms for each answer, however many
there are. A prompt's first request is sent alone, so that the server has read what all share, and
at a prompt's end there is less and less to ask. So the table shows few examples and many, what the
requests under way would allow without that, and what they allow with it (rounds of 50 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import MODELS

SECONDS = 0.05
_EXAMPLES = (200, 2000)
_BEGIN = 256


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection as vLLM does, in as little time of the processor as that takes."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            path, length = head.split(b" ", 2)[1].decode(), 0
            if b"content-length:" in head:
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = json.loads(await reader.readexactly(length)) if length else {}
            raw = json.dumps(_reply(path, body)).encode()
            if path == "/v1/completions":
                await asyncio.sleep(SECONDS)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(raw), raw))
    except asyncio.IncompleteReadError:
        writer.close()


def _reply(path: str, body: dict[str, Any]) -> Any:
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
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def measured(port: int, concurrency: int | None, examples: int) -> tuple[float, float, float]:
    """Return the answers of one prompt in a second, requests under way, and ms that each costs."""
    said = {"name": "m", "backend": "vllm", "url": f"http://127.0.0.1:{port}"}
    spec = MODELS.validate(said | ({} if concurrency is None else {"concurrency": concurrency}))
    model: Any = ModelPool().get(spec, Path())
    # Their tokens are asked for as well, so that is done before.
    known: dict[str, list[int]] = {}

    class Tokens:
        beginning = None

        def encode(self, texts: Any, *, bare: bool = False) -> list[list[int]]:
            return [known.setdefault(text, [_BEGIN, *text.encode()]) for text in texts]

    model._tokens = Tokens()
    asked = [Question(f"Is {number} even?\nA:", ("y", "n")) for number in range(examples)]
    model.ask(asked[:8])  # connections are made, and the server is known
    began, before = time.perf_counter(), time.process_time()
    model.ask(asked)
    seconds, own = time.perf_counter() - began, time.process_time() - before
    return examples / seconds, model._at.flow.window, 1000 * own / examples


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[8, 32, 128])
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
                "| requests under way | examples | answers a second | of what they allow "
                "| of what their rounds allow | ms of this processor for each |"
            )
            print("| --- | --- | --- | --- | --- | --- |")
            for concurrency in (*arguments.concurrency, None):
                for examples in _EXAMPLES:
                    rate, window, own = measured(port, concurrency, examples)
                    allowed = window / SECONDS
                    rounds = examples / (SECONDS * (1 + math.ceil((examples - 1) / window)))
                    shown = concurrency or f"as many as it answers: {window:.0f}"
                    print(
                        f"| {shown} | {examples:,} | {rate:,.0f} | {rate / allowed:.1%} | "
                        f"{rate / rounds:.1%} | {own:.2f} |",
                        flush=True,
                    )
        finally:
            process.kill()


if __name__ == "__main__":
    main()
