"""What a server of vLLM computes for a sweep: in the cheapest way, and by `echo` per choice.

    python tools/servers.py install vllm
    python -m benchmarks.served

`echo` is how lm-evaluation-harness asks (`local-completions`). Tokens are counted by the server's
own metrics; answers are checked to be equal first. The model has random weights, which follow no
choice by themselves.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
import urllib.request
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import servers

from benchmarks.workloads import AS_IN_THE_FILE, load_tasks, questions, train_tokenizer
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.suite.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.models.questions import Question

_TOLERANCE = 0.02
_COMPUTED = (
    re.compile(
        r'^vllm:prompt_tokens_by_source_total\{[^}]*source="local_compute"\} (\S+)', re.MULTILINE
    ),
    re.compile(r"^vllm:generation_tokens_total\{[^}]*\} (\S+)", re.MULTILINE),
)
"""Tokens of prompts that were computed, and those generated."""
_ANSWERED = re.compile(r"^vllm:request_success_total\{[^}]*\} (\S+)", re.MULTILINE)


class Workload(NamedTuple):
    """Questions, and how many times fewer tokens must be read for them."""

    title: str
    task: str
    shots: int
    form: FormatSpec
    fewer: float


# vLLM's attention for processors has a kernel for blocks of 16 tokens, and takes only those of 32.
SMALL_BLOCKS = {
    "small_blocks.py": """
from vllm.v1.attention.backend import MultipleOf
from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackend
from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend

class SmallBlocks(CPUAttentionBackend):
    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec=None):
        return [MultipleOf(16)]

def register():
    register_backend(AttentionBackendEnum.CPU_ATTN, "small_blocks.SmallBlocks")
""",
    "small_blocks-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: small-blocks\nVersion: 1\n",
    "small_blocks-1.dist-info/entry_points.txt": (
        "[vllm.general_plugins]\nsmall_blocks = small_blocks:register\n"
    ),
}
"""A plugin of vLLM's, by which its server starts with `--block-size 16`."""

WORKLOADS = (
    Workload("snarks, 2 choices", "snarks", 4, AS_IN_THE_FILE, 8),
    Workload(
        "date_understanding, 5 choices", "date_understanding", 4,
        FormatSpec(labels="parenthesized"), 6,
    ),
)  # fmt: skip


def save_model(folder: Path, tokenizer: Any) -> Path:
    """Save a small Llama of random weights."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def plug_in(folder: Path) -> None:
    """Let the servers that are started from here find the plugin."""
    for name, text in SMALL_BLOCKS.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    os.environ["PYTHONPATH"] = str(folder)


class Took(NamedTuple):
    """What asking took: tokens and requests by the server's own metrics."""

    tokens: float = 0.0
    requests: float = 0.0
    seconds: float = 0.0

    def and_(self, other: Took) -> Took:
        """Return both together."""
        return Took(*(a + b for a, b in zip(self, other, strict=True)))

    def since(self, before: Took) -> Took:
        """Return what came after something."""
        return Took(*(a - b for a, b in zip(self, before, strict=True)))


def read(url: str) -> Took:
    """Return what the server has computed and answered, and the time."""
    with urllib.request.urlopen(f"{url}/metrics") as response:
        told = response.read().decode()
    found = [pattern.search(told) for pattern in _COMPUTED]
    if not all(found):
        raise SystemExit("the server's metrics do not tell the tokens that it computed")
    tokens = sum(float(one[1]) for one in found if one)
    return Took(tokens, sum(map(float, _ANSWERED.findall(told))), time.perf_counter())


def measured(url: str, ask: Callable[[], list[list[float]]]) -> tuple[list[list[float]], Took]:
    """Return what is asked, and what it took."""
    before = read(url)
    values = ask()
    return values, read(url).since(before)


def walk(model: Model, asked: Sequence[Question]) -> list[list[float]]:
    """Ask as a suite does."""
    return [list(answer.log_likelihoods) for answer in model.ask(asked).answers]


def harness(url: str, model: Path, asked: Sequence[Question]) -> list[list[float]]:
    """Ask as lm-evaluation-harness does."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    api = LocalCompletionsAPI(
        model=model.name,
        base_url=f"{url}/v1/completions",
        tokenizer=str(model),
        tokenizer_backend="huggingface",
        num_concurrent=8,
    )
    instances = [
        Instance("loglikelihood", {}, (question.context, answer), number)
        for number, question in enumerate(asked)
        for answer in question.answers
    ]
    values = iter(api.loglikelihood(instances, disable_tqdm=True))
    return [[next(values)[0] for _ in question.answers] for question in asked]


def compare(url: str, model: Path, prompts: Sequence[Sequence[Question]]) -> tuple[Took, Took]:
    """Return what both ways take: that of a suite, and that of the harness."""
    spec = MODELS.validate(
        {"name": "m", "backend": "vllm", "url": url, "served_model": model.name,
         "tokenizer": str(model), "concurrency": 8}
    )  # fmt: skip
    ours = ModelPool().get(Backends().locate(spec, model))
    own, its = Took(), Took()
    for asked in prompts:
        walked, took = measured(url, partial(walk, ours, asked))
        echoed, other = measured(url, partial(harness, url, model, asked))
        apart = max(
            abs(a - b)
            for one, same in zip(walked, echoed, strict=True)
            for a, b in zip(one, same, strict=True)
        )
        if apart > _TOLERANCE:
            raise SystemExit(
                f"the answers differ by {apart:.3f} nats; expected at most {_TOLERANCE}"
            )
        own, its = own.and_(took), its.and_(other)
    return own, its


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=Path, help="folder with BIG-bench's task files")
    parser.add_argument("--blocks", type=int, nargs="*", default=[16, 32, 128])
    parser.add_argument("--prompts", type=int, default=2)
    parser.add_argument("--examples", type=int, default=60)
    arguments = parser.parse_args()
    data = Path(os.environ.get("MAXRANDOM_DATA", "../shared/data"))
    with tempfile.TemporaryDirectory() as made:
        tasks = load_tasks(arguments.tasks or data / "bigbench", Path(made))
        model = save_model(Path(made) / "llama", train_tokenizer(tasks.values()))
        plug_in(Path(made) / "plugin")
        print(
            "| block | workload | tokens: ours | echo | fewer | to reach | requests: ours | echo "
            "| seconds: ours | echo |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for block in arguments.blocks:
            extra = ["--block-size", str(block), "--max-model-len", "4096"]
            with servers.running("vllm", model, Path(made) / "log", extra=extra) as (url, _):
                for load in WORKLOADS:
                    prompts = questions(
                        tasks[load.task], load.shots, load.form, arguments.prompts,
                        arguments.examples,
                    )  # fmt: skip
                    own, echo = compare(url, model, prompts)
                    print(
                        f"| {block} | {load.title} | {own.tokens:,.0f} | {echo.tokens:,.0f} | "
                        f"{echo.tokens / own.tokens:.1f} | {load.fewer:g} | "
                        f"{own.requests:,.0f} | {echo.requests:,.0f} | "
                        f"{own.seconds:.1f} | {echo.seconds:.1f} |"
                    )


if __name__ == "__main__":
    main()
