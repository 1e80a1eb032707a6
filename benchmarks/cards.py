"""Cost of a sweep on a GPU beside what the card could do: models of 1 and 7 billion parameters.

    python -m benchmarks.cards [--sizes 1 7] [--precisions NF4] [--tokens 2048] [--profile FILE]

Models are Llamas with random weights, made on the device, in float32 (not the largest), bfloat16
and NF4 (the kernels of bitsandbytes). A run is the requests of one prompt, and every figure is a
median of runs, by the clock. "From texts" has tokenizing in it, as a sweep has. What differs from
the paper's loop by more than rounding ends the benchmark with an error. The limit is
what the card reaches in the product of two matrices in bfloat16; the share of it is that of the
tokens that went through the model, each of which takes two operations for each weight of the
layers' matrices: attention and logits come on top.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import transformers

from benchmarks.peers import PAPER_BATCH, Ours, Score, TokensFed, paper_loop
from benchmarks.sweep import PAPER, ROOT, choices, nodes_of, table
from benchmarks.workloads import WORKLOADS, Workload, load_tasks, questions, train_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.sweep import Encoded
    from pytest_maxrandom.models.questions import Question

SIZES: dict[str, tuple[int, int, int, int, int]] = {
    "small": (192, 512, 2, 6, 6),
    "1": (2048, 8192, 16, 32, 8),
    "7": (4096, 11008, 32, 32, 32),
}
"""Hidden size, inner size, layers, heads, and heads of keys and values; 1 and 7 are those of Llamas
of so many billion parameters."""
VOCABULARY = 32_000
PRECISIONS = ("float32", "bfloat16", "NF4")
MOST_NATS = {"float32": 2e-3, "bfloat16": 1.0, "NF4": 1.0}
"""By which a choice's log-likelihood may differ from the paper's loop: rounding, summed over
tokens."""
PACKED, TEXTS, PLAIN = "packed", "packed, from texts", "plain, in batches"
ROUNDS = {TEXTS: 4, PACKED: 4, PLAIN: 2, PAPER: 1}
PRODUCT, PRODUCTS = 8192, 20


@dataclass(frozen=True)
class Run:
    """One way of scoring, over the requests of one prompt."""

    seconds: float
    tokens: int
    values: list[float]
    peak: int


class Bench:
    """A model with the ways that score with it."""

    def __init__(self, size: str, precision: str, tokenizer: Any, device: str) -> None:
        self.precision = precision
        self.device = device
        self.tokenizer = tokenizer
        self.model = random_llama(size, precision, tokenizer, device)
        self.weights = sum(
            layer.in_features * layer.out_features
            for layer in self.model.model.layers.modules()
            if isinstance(layer, torch.nn.Linear)
        )
        self.fed = TokensFed(self.model)
        self.packed = Ours(self.model, tokenizer, device, "auto")
        plain = Ours(self.model, tokenizer, device, "plain")
        paper = paper_loop(self.model, device)
        self.ways: dict[str, Score] = {PACKED: self.packed, PLAIN: plain, PAPER: paper}

    def run(self, score: Callable[[], list[float]]) -> Run:
        self.fed.count = 0
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        start = self.clock()
        values = score()
        seconds = self.clock() - start
        peak = torch.cuda.max_memory_allocated() if self.device == "cuda" else 0
        return Run(seconds, self.fed.count, values, peak)

    def clock(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def prompt(self, asked: Sequence[Question], encoded: Encoded) -> dict[str, list[Run]]:
        """Score a prompt in each way, as often as it takes to tell what one run takes."""
        requests = [request for answers in encoded for request in answers]

        def whole() -> list[float]:
            return [v for one in self.packed.ask(asked).answers for v in one.log_likelihoods]

        found = {TEXTS: [self.run(whole) for _ in range(ROUNDS[TEXTS])]}
        for name, way in self.ways.items():
            found[name] = [self.run(partial(way, requests)) for _ in range(ROUNDS[name])]
        return found

    def compare(self, workload: Workload, asked: list[list[Question]], limit: float) -> bool:
        """Print what each way took; return whether the ways agree."""
        prompts = [self.packed.encode(one) for one in asked]
        self.packed.ask(asked[0])  # what is done once only is not measured
        self.prompt(asked[0][:4], prompts[0][:4])
        runs = [self.prompt(*pair) for pair in zip(asked, prompts, strict=True)]
        differences = {
            name: max(
                abs(one - other)
                for run in runs
                for one, other in zip(run[name][0].values, run[PAPER][0].values, strict=True)
            )
            for name in (PACKED, PLAIN)
        }
        again = all(one.values == run[PACKED][0].values for run in runs for one in run[PACKED])
        pairs = [
            pair
            for encoded, run in zip(prompts, runs, strict=True)
            for pair in zip(
                *(choices(encoded, run[n][0].values) for n in (PACKED, PAPER)), strict=True
            )
        ]
        print(
            f"{workload.title}; {workload.shots} shots, {self.precision}: t = {len(asked)} "
            f"prompts, n = {len(asked[0])} examples, {sum(map(len, prompts[0])):,} requests and "
            f"{statistics.median(map(nodes_of, prompts)):,.0f} distinct tokens for each prompt. "
            f"Largest difference from the {PAPER}: packed {differences[PACKED]:.1e} nats, plain "
            f"{differences[PLAIN]:.1e}; {sum(a == b for a, b in pairs)} of {len(pairs)} answers "
            "equal. A prompt scored again is "
            f"{'equal bit for bit' if again else 'NOT EQUAL'}.\n"
        )
        rows = []
        seconds = {
            name: statistics.median(one.seconds for run in runs for one in run[name])
            for name in runs[0]
        }
        for name, taken in seconds.items():
            tokens = statistics.median(run[name][0].tokens for run in runs)
            rows.append(
                [
                    name,
                    f"{tokens:,.0f}",
                    f"{taken * 1e3:,.1f}",
                    f"{tokens / taken:,.0f}",
                    f"{2 * self.weights * tokens / taken / limit:.0%}",
                    f"{seconds[PAPER] / taken:.1f}",
                    f"{max(one.peak for run in runs for one in run[name]) / 1e9:.1f}",
                ]
            )
        head = ["way", "tokens", "ms per prompt", "tokens/s", "of the limit", f"{PAPER} / it"]
        table([*head, "peak GB"], rows)
        return max(differences.values()) <= MOST_NATS[self.precision]

    def try_sizes(self, encoded: Encoded, sizes: Sequence[int]) -> None:
        """Print what a prompt takes with so many tokens at once."""
        requests = [request for answers in encoded for request in answers]
        rows = []
        for tokens in sizes:
            way = Ours(self.model, self.tokenizer, self.device, "auto", tokens)
            runs = [self.run(partial(way, requests)) for _ in range(6)][1:]
            seconds = statistics.median(run.seconds for run in runs)
            rows.append([f"{tokens:,}", f"{seconds * 1e3:,.1f}", f"{runs[0].peak / 1e9:.1f}"])
        table(["tokens at once", "ms per prompt", "peak GB"], rows)

    def profile(self, encoded: Encoded, file: Path) -> None:
        """Write where the time of a prompt goes, and print how long the card was busy."""
        from torch.profiler import ProfilerActivity, profile

        requests = [request for answers in encoded for request in answers]
        kinds = [ProfilerActivity.CPU]
        kinds += [ProfilerActivity.CUDA] if self.device == "cuda" else []
        self.packed(requests)
        with profile(activities=kinds) as seen:
            run = self.run(lambda: self.packed(requests))
        by = "self_device_time_total" if self.device == "cuda" else "self_cpu_time_total"
        averages = seen.key_averages()
        busy = sum(
            event.self_device_time_total for event in averages if event.device_type.name != "CPU"
        )
        with file.open("a", encoding="utf-8") as out:
            print(f"# {self.precision}, {self.weights / 1e9:.2g} billion weights\n", file=out)
            print(averages.table(sort_by=by, row_limit=25, max_name_column_width=70), file=out)
        print(
            f"The card was busy for {busy / 1e3:.1f} of {run.seconds * 1e3:.1f} ms, profiled.\n",
            flush=True,
        )


def random_llama(size: str, precision: str, tokenizer: Any, device: str) -> Any:
    """Make a Llama on the device, where its layers are quantized for NF4."""
    hidden, inner, layers, heads, groups = SIZES[size]
    config = transformers.LlamaConfig(
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        initializer_range=1.4 / math.sqrt(hidden),
        vocab_size=VOCABULARY,
        max_position_embeddings=4096,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    dtype = torch.float32 if precision == "float32" else torch.bfloat16
    torch.manual_seed(0)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
    if precision == "NF4":
        for module in list(model.model.layers.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, torch.nn.Linear):
                    setattr(module, name, _four_bits(child, device))
    return model.eval()


def _four_bits(layer: torch.nn.Linear, device: str) -> Any:
    """Quantize a layer as `quantization: nf4` does: doubly, and computed in bfloat16."""
    from bitsandbytes.nn import Linear4bit, Params4bit

    made = Linear4bit(
        layer.in_features,
        layer.out_features,
        bias=False,
        compute_dtype=torch.bfloat16,
        quant_type="nf4",
        device="meta",
    )
    made.weight = Params4bit(
        layer.weight.data, requires_grad=False, quant_type="nf4", module=made
    ).to(device)
    return made


def card_limit(device: str) -> float:
    """Return the operations per second that a device reaches in products of matrices."""
    size = PRODUCT if device == "cuda" else 512
    matrix = torch.randn(size, size, dtype=torch.bfloat16, device=device)
    for _ in range(2):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(PRODUCTS):
            product = matrix @ matrix
        product[0, 0].item()
        seconds = time.perf_counter() - start
    return 2 * size**3 * PRODUCTS / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["1", "7"])
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--tokens", nargs="+", type=int, default=[], help="at once, to be tried")
    parser.add_argument("--profile", type=Path, help="where a profile of each model is written")
    parser.add_argument("--tasks", type=Path, help="folder with BIG-bench's task files")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    options = parser.parse_args()
    data = Path(os.environ.get("MAXRANDOM_DATA", ROOT.parent / "shared/data"))
    transformers.logging.set_verbosity_error()
    device = options.device
    limit = card_limit(device)
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(
        f"# A sweep on {where}, which reaches {limit / 1e12:,.3g} TFLOP/s in bfloat16; torch "
        f"{torch.__version__}, transformers {transformers.__version__}\n\n{PAPER}: batches of "
        f"{PAPER_BATCH}.\n"
    )
    agree = True
    with tempfile.TemporaryDirectory() as made:
        tasks = load_tasks(options.tasks or data / "bigbench", Path(made))
        tokenizer = train_tokenizer(tasks.values())
        for size in options.sizes:
            for precision in options.precisions:
                if precision == "float32" and size == "7":
                    continue
                start = time.perf_counter()
                bench = Bench(size, precision, tokenizer, device)
                print(
                    f"## {bench.weights / 1e9:.2g} billion weights in its layers, {precision} "
                    f"(made in {time.perf_counter() - start:.0f} s)\n"
                )
                for workload in WORKLOADS[:1] if precision == "float32" else WORKLOADS[:2]:
                    asked = questions(
                        tasks[workload.task],
                        workload.shots,
                        workload.form,
                        1 if precision == "float32" else options.prompts,
                        options.examples,
                    )
                    agree &= bench.compare(workload, asked, limit)
                last = bench.packed.encode(asked[0])
                if options.tokens:
                    bench.try_sizes(last, options.tokens)
                if options.profile:
                    bench.profile(last, options.profile)
                del bench
                if device == "cuda":
                    torch.cuda.empty_cache()
    if not agree:
        raise SystemExit(f"a way differs from the {PAPER} by more than {MOST_NATS} nats")


if __name__ == "__main__":
    main()
