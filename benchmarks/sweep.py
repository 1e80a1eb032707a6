"""Cost of a sweep: this project's engines, the paper's loop and lm-evaluation-harness, in one run.

    python -m benchmarks.sweep [--quick] [--tasks FOLDER] [--rounds NUMBER]

All score the very same tokens with the same random Llama. A run is the requests of one prompt; the
ways of scoring take turns after each run, and every figure is a median of at least three runs
(--quick: two). The answers of every run are compared before any ratio is printed. Seconds are those
of the processor, over all threads of this process, and on a GPU those of the clock; tokens are
counted where they enter the model, padding included.
"""

from __future__ import annotations

import os

# Else a thread that waits for the other is counted as if it computed.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import math
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import transformers

from benchmarks.peers import HARNESS_BATCH, PAPER_BATCH, Ours, Score, TokensFed, harness, paper_loop
from benchmarks.workloads import (
    WORKLOADS,
    Precision,
    Workload,
    load_model,
    load_tasks,
    questions,
    save_model,
    train_tokenizer,
    trie_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.tasks.task import Task

    Encoded = list[tuple[Request, ...]]
    """The requests of one prompt, by question."""

ROOT = Path(__file__).resolve().parents[1]
ENGINES = ("packed", "auto", "rows", "plain")
PAPER, HARNESS = "paper's loop", "lm-eval"
MOST_TOKENS = {"packed": 1.05, "rows": 1.5}
"""Tokens forwarded / trie nodes, at most."""
SHOTS = (0, 1, 2, 4, 8)

FLOAT32_NATS = 1e-4
NF4_NATS = 0.5
"""By which a request's log-likelihood may differ from the paper's loop."""


@dataclass(frozen=True)
class Run:
    """One way of scoring, over the requests of one prompt."""

    seconds: float
    tokens: int
    values: list[float]


@dataclass(frozen=True)
class Size:
    """How much is scored."""

    prompts: int
    examples: int
    rounds: int


class Bench:
    """A model with everything that scores with it."""

    def __init__(self, folder: Path, tokenizer: Any, precision: Precision, device: str) -> None:
        model = load_model(folder, precision, device)
        self.device = device
        self.precision = precision
        self.fed = TokensFed(model)
        self.tokenizing = Ours(model, tokenizer, device, "plain")
        self.ways: dict[str, Score] = {
            engine: Ours(model, tokenizer, device, engine) for engine in ENGINES
        }
        self.ways[PAPER] = paper_loop(model, device)
        self.ways[HARNESS] = harness(model, tokenizer)

    def run(self, name: str, encoded: Encoded) -> Run:
        requests = [request for answers in encoded for request in answers]
        self.fed.count = 0
        started = self._clock()
        values = self.ways[name](requests)
        return Run(self._clock() - started, self.fed.count, values)

    def _clock(self) -> float:
        if self.device == "cpu":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()


def interleaved(
    bench: Bench, prompts: Sequence[Encoded], names: Sequence[str], rounds: int
) -> dict[str, list[Run]]:
    """Let all ways of scoring take turns, and check every run before anything is shown."""
    found: defaultdict[str, list[Run]] = defaultdict(list)
    for name in names:
        bench.run(name, prompts[0][:2])  # what is done once only is not measured
    for _ in range(rounds):
        for encoded in prompts:
            for name in names:
                found[name].append(bench.run(name, encoded))
                check_tokens(bench, name, found[name][-1], encoded)
    return dict(found)


def check_tokens(bench: Bench, name: str, run: Run, encoded: Encoded) -> None:
    """Compare what an engine says of its cost with what was counted."""
    way = bench.ways[name]
    if not isinstance(way, Ours) or way.said is None:
        return
    nodes = nodes_of(encoded)
    if (way.said.tokens_forwarded, way.said.trie_nodes) != (run.tokens, nodes):
        raise SystemExit(
            f"{name} says {way.said.tokens_forwarded} tokens forwarded for {way.said.trie_nodes} "
            f"trie nodes; counted: {run.tokens} and {nodes}"
        )


def nodes_of(encoded: Encoded) -> int:
    return trie_nodes(request.ids for answers in encoded for request in answers)


def choices(encoded: Encoded, values: Sequence[float]) -> list[int]:
    """Return each question's answer: the highest log-likelihood per token."""
    rest = iter(values)
    means = [
        [next(rest) / (len(request.ids) - request.start) for request in answers]
        for answers in encoded
    ]
    return [row.index(max(row)) for row in means]


def check_answers(bench: Bench, prompts: Sequence[Encoded], runs: Mapping[str, list[Run]]) -> str:
    """Compare every run with the paper's loop; return what was found as a sentence."""
    limit = FLOAT32_NATS if bench.precision == "float32" else NF4_NATS
    said = []
    for name, own in runs.items():
        worst, same, answered, places = 0.0, 0, 0, set()
        for number, (run, reference) in enumerate(zip(own, runs[PAPER], strict=True)):
            encoded = prompts[number % len(prompts)]
            pairs = zip(run.values, reference.values, strict=True)
            worst = max(worst, *(abs(one - other) for one, other in pairs))
            mine, theirs = choices(encoded, run.values), choices(encoded, reference.values)
            same += sum(one == other for one, other in zip(mine, theirs, strict=True))
            answered += len(theirs)
            places |= set(theirs)
        if not worst <= limit:  # not a number is a difference, too
            raise SystemExit(
                f"{name} differs from the {PAPER} by {worst:.2g} nats in {bench.precision}; "
                f"expected at most {limit:g}"
            )
        if bench.precision == "float32" and same < answered:
            raise SystemExit(f"{name} answers {answered - same} of {answered} questions otherwise")
        if len(places) == 1:
            raise SystemExit("the model chooses the same place everywhere, which checks nothing")
        if name != PAPER:
            said.append(f"{name} {worst:.1e} nats, {same} of {answered} answers equal")
    return f"Largest difference from the {PAPER}: {'; '.join(said)}."


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def median_seconds(runs: Sequence[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def encode(bench: Bench, task: Task, workload: Workload, size: Size) -> list[Encoded]:
    asked = questions(task, workload.shots, workload.form, size.prompts, size.examples)
    return [bench.tokenizing.encode(of_prompt) for of_prompt in asked]


def compare(bench: Bench, task: Task, workload: Workload, size: Size) -> list[list[str]]:
    """Print one workload's table; return rows for the table of targets."""
    prompts = encode(bench, task, workload, size)
    runs = interleaved(bench, prompts, list(bench.ways), size.rounds)
    agreement = check_answers(bench, prompts, runs)
    nodes = [nodes_of(encoded) for encoded in prompts] * size.rounds
    seconds = {name: median_seconds(own) for name, own in runs.items()}
    tokens = {name: sum(run.tokens for run in own) / sum(nodes) for name, own in runs.items()}
    title = f"{workload.title}; {workload.shots} shots, {bench.precision}, {bench.device}"
    requests = sum(len(answers) for encoded in prompts for answers in encoded)
    print(
        f"## {title}\n\nt = {len(prompts)} prompts, n = {len(prompts[0])} examples, {requests:,} "
        f"requests, {sum(nodes) // size.rounds:,} trie nodes. {agreement}\n"
    )
    table(
        ["way", "tokens / nodes", "seconds per prompt", f"{PAPER} / it", f"{HARNESS} / it"],
        [
            [
                name,
                f"{tokens[name]:.3f}",
                f"{seconds[name]:.3g}",
                f"{seconds[PAPER] / seconds[name]:.2f}",
                f"{seconds[HARNESS] / seconds[name]:.2f}",
            ]
            for name in runs
        ],
    )
    figures = [
        (f"tokens / nodes, {engine}", tokens[engine], most, tokens[engine] <= most, "at most")
        for engine, most in MOST_TOKENS.items()
    ]
    for peer, least in ((PAPER, workload.paper), (HARNESS, workload.harness)):
        if least is not None:
            ratio = seconds[peer] / seconds["auto"]
            figures.append((f"{peer} / auto", ratio, least, ratio >= least, "at least"))
    return [
        [title, figure, f"{value:.2f}", f"{bound} {target:g}", "yes" if reached else "NO"]
        for figure, value, target, reached, bound in figures
    ]


PRECISIONS: tuple[Precision, ...] = ("float32", "NF4")


def curve(bench: Bench, task: Task, size: Size, shots_shown: Sequence[int]) -> None:
    """Print how the cost of a prompt grows with the number of shots."""
    rows = []
    for shots in shots_shown:
        prompts = encode(bench, task, Workload("", "", shots, None, 0), size)
        # Without demonstrations there is one prompt only.
        rounds = size.rounds * math.ceil(size.prompts / len(prompts))
        runs = interleaved(bench, prompts, ["packed", PAPER], rounds)
        check_answers(bench, prompts, runs)
        ours, paper = (median_seconds(runs[name]) for name in ("packed", PAPER))
        counts = [statistics.median(run.tokens for run in runs[n]) for n in ("packed", PAPER)]
        nodes = statistics.median(nodes_of(encoded) for encoded in prompts)
        row = [f"{nodes:,.0f}", *(f"{count:,.0f}" for count in counts)]
        rows.append([str(shots), *row, f"{ours:.3g}", f"{paper:.3g}", f"{paper / ours:.1f}"])
    print(
        f"## Growth with the number of shots; snarks, {bench.precision}, {bench.device}\n\n"
        f"Medians per prompt, n = {size.examples} examples.\n"
    )
    header = ["shots", "trie nodes", "tokens, packed", f"tokens, {PAPER}"]
    table([*header, "seconds, packed", f"seconds, {PAPER}", "ratio"], rows)


def benchmark(
    folder: Path, device: str, size: Size, precisions: Sequence[Precision], *, small: bool
) -> None:
    with tempfile.TemporaryDirectory() as made:
        tasks = load_tasks(folder, Path(made))
        tokenizer = train_tokenizer(tasks.values())
        parameters = save_model(Path(made), tokenizer, small=small)
        where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        print(
            f"# A sweep on {where}: Llama of {parameters / 1e6:.0f} million parameters, "
            f"{len(tokenizer):,} tokens in the vocabulary, {torch.get_num_threads()} threads; "
            f"torch {torch.__version__}, transformers {transformers.__version__}\n\n"
            f"{PAPER}: batches of {PAPER_BATCH}; {HARNESS}: batches of {HARNESS_BATCH}.\n"
        )
        targets = []
        for precision in precisions:
            bench = Bench(Path(made), tokenizer, precision, device)
            for workload in WORKLOADS:
                if workload.precision == precision:
                    targets += compare(bench, tasks[workload.task], workload, size)
            if precision == "float32":
                curve(bench, tasks["snarks"], size, SHOTS[::4] if small else SHOTS)
    if small:
        print("The model is too small for its times to be held against the figures to reach.")
    else:
        print("## Figures to reach\n")
        table(["workload", "figure", "value", "target", "reached"], targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a small model, 2 prompts, 10 examples: checks only"
    )
    parser.add_argument("--tasks", type=Path, help="folder with BIG-bench's task files")
    parser.add_argument("--rounds", type=int, default=1, help="times that each prompt is scored")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="both, if not given")
    parser.add_argument("--precision", choices=PRECISIONS, help="both, if not given")
    arguments = parser.parse_args()
    precisions = [arguments.precision] if arguments.precision else PRECISIONS
    data = Path(os.environ.get("MAXRANDOM_DATA", ROOT.parent / "shared/data"))
    size = Size(2, 10, 1) if arguments.quick else Size(4, 50, max(1, arguments.rounds))
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    found = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in [arguments.device] if arguments.device else found:
        benchmark(
            arguments.tasks or data / "bigbench", device, size, precisions, small=arguments.quick
        )


if __name__ == "__main__":
    main()
