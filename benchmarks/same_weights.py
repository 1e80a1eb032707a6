"""By how much a server's answers to the fixed texts change while its weights are the same.

    python tools/servers.py install
    python -m benchmarks.same_weights

A model behind an address is known by these answers (docs/how-to/servers.md). So what batches,
caches, threads and kernels change of them must be told from what other weights change. Each server
is asked alone, again, and beside others that keep its batches full; then it is started in other
ways. All are compared with the first answers, and so are those of the same server with weights
after one step of training. The model is the demo's.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import servers

from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.suite.models import MODELS
from tests.gguf_files import quantize_gguf, write_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.record import Fingerprint

_DEMO = Path(__file__).parents[1] / "eval_suites" / "demo" / "demo-llama"
_LENGTHS = (20, 180)
"""Tokens of the texts of others."""
_ASKED = 2
"""How often a server is asked in each condition."""
_OTHERS = 8


class Start(NamedTuple):
    """A way to start a server."""

    name: str
    extra: tuple[str, ...] = ()


_STARTS: dict[servers.Kind, tuple[Start, ...]] = {
    "vllm": (Start("no prefix cache", ("--no-enable-prefix-caching",)),),
    "llama_cpp": (
        Start("2 threads, 4 slots", ("--threads", "2", "--parallel", "4")),
        Start("32 tokens at a time", ("--ubatch-size", "32")),
        Start("float16 cache, flash attention", ("--float16-cache",)),
    ),
}


class Case(NamedTuple):
    """A server with weights as it stores them."""

    kind: servers.Kind
    stored: str
    extra: tuple[str, ...] = ()


_CASES = (
    Case("vllm", "float32"),
    Case("vllm", "bfloat16", ("--dtype", "bfloat16")),
    Case("llama_cpp", "F32"),
    Case("llama_cpp", "Q8_0"),
    Case("llama_cpp", "Q4_K_M"),
)


def tuned(folder: Path, rate: float) -> Path:
    """Save the demo's model after one step of training, and return its folder."""
    import torch
    from transformers import AutoModelForCausalLM

    shutil.copytree(_DEMO, folder)
    model = AutoModelForCausalLM.from_pretrained(_DEMO, dtype=torch.float32).train()
    ids = torch.tensor([[*range(20, 60)]])
    step = torch.optim.AdamW(model.parameters(), lr=rate)
    model(ids, labels=ids).loss.backward()
    step.step()
    model.save_pretrained(folder)
    return folder


def served(case: Case, weights: Path, folder: Path) -> Path:
    """Return weights as a server takes them."""
    if case.kind == "vllm":
        return weights
    file = folder / f"{weights.name}.gguf"
    whole = file if file.exists() else write_gguf(weights, file)
    return whole if case.stored == "F32" else quantize_gguf(whole, case.stored)


@contextmanager
def others(kind: servers.Kind, url: str, name: str) -> Iterator[None]:
    """Let others ask a server at the same time."""
    ended = threading.Event()
    at = Endpoint(url)
    path = "/completion" if kind == "llama_cpp" else "/v1/completions"
    most = "n_predict" if kind == "llama_cpp" else "max_tokens"

    def ask(number: int) -> None:
        rng = np.random.default_rng(number)
        while not ended.is_set():
            prompt = rng.integers(10, 200, rng.integers(*_LENGTHS)).tolist()
            at.post(path, {"model": name, "prompt": prompt, most: 8, "temperature": 0})

    with ThreadPoolExecutor(_OTHERS) as pool:
        asking = [pool.submit(ask, number) for number in range(_OTHERS)]
        try:
            yield
        finally:
            ended.set()
    for one in asking:
        one.result()  # whoever could not ask was none of the others


def asked(kind: servers.Kind, url: str, model: Path) -> Fingerprint:
    """Return what a server is known by now."""
    said = {"name": "demo", "backend": kind, "url": url, "served_model": model.name}
    spec = MODELS.validate(said | {"concurrency": 1})
    found: Any = ModelPool().get(Backends().locate(spec, Path()))
    fingerprint: Fingerprint = found.fingerprint(generates=False)
    return replace(fingerprint, content="")  # by its answers alone


def shown(case: Case, name: str, first: Fingerprint, now: Sequence[Fingerprint]) -> str:
    """Return a row: by how much half of the log-likelihoods change at most, and one."""
    apart = [first.apart(one) for one in now]
    half, largest = max(map(statistics.median, apart)), max(map(max, apart))
    told = sum(bool(first.change(one)) for one in now)
    cells = case.kind, case.stored, name, f"{half:.4f}", f"{largest:.4f}", f"{told} of {len(now)}"
    return f"| {' | '.join(cells)} |"


def measure(case: Case, folder: Path, step: Path) -> Iterator[str]:
    """Yield a case's rows."""
    model, log = served(case, _DEMO, folder), folder / "log"
    with servers.running(case.kind, model, log, extra=case.extra) as (url, _):
        first = asked(case.kind, url, model)
        yield shown(
            case, "asked again", first, [asked(case.kind, url, model) for _ in range(_ASKED)]
        )
        with others(case.kind, url, model.name):
            now = [asked(case.kind, url, model) for _ in range(_ASKED)]
        yield shown(case, f"beside {_OTHERS} others", first, now)
    for start in _STARTS[case.kind]:
        with servers.running(case.kind, model, log, extra=(*case.extra, *start.extra)) as (url, _):
            now = [asked(case.kind, url, model)]
            with others(case.kind, url, model.name):
                now += [asked(case.kind, url, model) for _ in range(_ASKED)]
        yield shown(case, f"{start.name}, alone and beside {_OTHERS} others", first, now)
    model = served(case, step, folder)
    with servers.running(case.kind, model, log, extra=case.extra) as (url, _):
        yield shown(case, "**one step of training**", first, [asked(case.kind, url, model)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kind", choices=("vllm", "llama_cpp"), help="default: both")
    parser.add_argument("--stored", choices=[case.stored for case in _CASES], help="default: all")
    parser.add_argument("--rate", type=float, default=1e-5, help="of the step of training")
    given = parser.parse_args()
    print("| server | weights | what changed | half at most, nats | one at most | told apart |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step = tuned(folder / "step", given.rate)
        for case in _CASES:
            if given.kind in (None, case.kind) and given.stored in (None, case.stored):
                for row in measure(case, folder, step):
                    print(row, flush=True)


if __name__ == "__main__":
    main()
