"""Cost of a label-bias check that moves every right answer to every label, in units of one sweep.

    python -m benchmarks.placements [--quick] [--tasks FOLDER]

BIG-bench's movie_recommendation (4 choices, listed as (A) ... (D)) with a random Llama. The claim's
own sweep is known by then; what is counted are the placements that are left, all of a prompt
together. Before any ratio is printed, every answer is compared with that of the plain engine, which
puts each text through the model by itself.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import transformers

from benchmarks.sweep import FLOAT32_NATS, ROOT, table
from benchmarks.workloads import load_model, save_model, train_tokenizer
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.studies.label_bias.interactions import further, placements
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import BigBenchSpec, ValidationSpec
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts, validation_set
from pytest_maxrandom.sweeps.sweep import Sweep, run_sweep
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.tasks.task import Task

TASK = "movie_recommendation"
SHOTS = (0, 4)
MOST = 2.5
"""Sweeps that the placements beyond the natural one may cost; separate sweeps cost 3."""


def sweep(jobs: Sequence[Job], model: CausalModel) -> Sweep:
    return run_sweep(jobs, LocalExecutor(lambda: model))


def check(found: Sweep, reference: Sweep) -> None:
    """Compare all answers, and the log-likelihoods behind them."""
    for one, other in zip(found.predictions, reference.predictions, strict=True):
        rows = zip(one.log_likelihoods, other.log_likelihoods, strict=True)
        worst = max(abs(a - b) for row in rows for a, b in zip(*row, strict=True))
        if not worst <= FLOAT32_NATS:
            raise SystemExit(f"packed differs from plain by {worst:.2g} nats")
        if one.chosen != other.chosen:
            raise SystemExit("packed answers otherwise than plain")


def measure(task: Task, shots: int, packed: CausalModel, plain: CausalModel, n: int) -> list[str]:
    spec = PromptsSpec(shots=[shots], count=2, formats=[FormatSpec(labels="parenthesized")])
    drawn = draw_prompts(task, validation_set(task, ValidationSpec(max_examples=n)), spec, shots)
    own = [(prompt, drawn.scored(prompt)) for prompt in drawn.prompts]
    everywhere = [
        (prompt, [one for example in examples for one in placements(example)])
        for prompt, examples in own
    ]
    left = [(prompt, further(presented)) for prompt, presented in everywhere]
    costs = []
    for presented in (own, left, everywhere):
        jobs = jobs_of(presented, "mean_logprob")
        found = sweep(jobs, packed)
        check(found, sweep(jobs, plain))
        costs.append(found.engine)
    claim, moved, together = (cost.tokens_forwarded for cost in costs)
    return [
        str(shots),
        f"{len(own)} x {n}",
        f"{claim:,}",
        f"{moved / claim:.2f}",
        f"{costs[1].seconds / costs[0].seconds:.2f}",
        f"{together / claim:.2f}",
        "yes" if moved / claim <= MOST else "NO",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10 examples: checks only")
    parser.add_argument("--tasks", type=Path, help="folder with BIG-bench's task files")
    arguments = parser.parse_args()
    data = Path(os.environ.get("MAXRANDOM_DATA", ROOT.parent / "shared/data"))
    folder = arguments.tasks or data / "bigbench"
    if not (folder / f"{TASK}.json").is_file():
        raise SystemExit(f"{folder} lacks {TASK}.json; name BIG-bench's folder with --tasks")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    task = load_task(BigBenchSpec(name=TASK, format="bigbench", path=f"{TASK}.json"), folder)
    with tempfile.TemporaryDirectory() as made:
        tokenizer = train_tokenizer([task])
        save_model(Path(made), tokenizer, small=True)
        model = load_model(Path(made), "float32", "cpu")
        packed, plain = (
            CausalModel(model, tokenizer, "cpu", engine=e) for e in ("packed", "plain")
        )
        n = 10 if arguments.quick else 50
        rows = [measure(task, shots, packed, plain, n) for shots in SHOTS]
    print(f"# Every right answer at every label: {TASK}, 4 choices, CPU\n")
    table(
        [
            "shots",
            "prompts x examples",
            "tokens, the claim's sweep",
            "placements left / it",
            "in seconds",
            "all 4 placements / it",
            f"left at most {MOST:g}",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
