"""What decided sweeps cost beside whole ones: examples, and with a network tokens and seconds.

    python -m benchmarks.decided [--quick]

n = 100 examples of two choices, t = 200 prompts, level .05. Mock models know some of the answers
and guess the rest; a network of random weights is asked with no and with 4 demonstrations. Each
verdict is compared with that of the whole sweep, and each right answer that was counted with the
whole sweep's, before any figure is printed.
"""

from __future__ import annotations

import argparse
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import transformers

from benchmarks.sweep import table
from benchmarks.workloads import load_model, save_model, train_tokenizer
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.mock import MockModel
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.sweeps.decided import DecidedSweep, run_decided
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.sweeps.sweep import Sweep, run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task
from tests.goals import Goal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Model

N, LEVEL = 100, 0.05
KINDS = {"guessers": 0.0, "all right in .55": 0.1, "in .65": 0.3, "in .85": 0.7}
"""What share of the answers a model knows, so that it is right in so many."""
CLAIMS = {"`p_max` and `permutation_p`": False, "`p_max` alone": True}
"""Whether one prompt that reaches the critical count is enough."""


def made(count: int) -> list[Example]:
    return [
        Example(f"e{i}", f"Is {i * 7919 % 997} a number of the list?", ("Yes", "No"), (i * 3 % 2,))
        for i in range(count)
    ]


def jobs_for(shots: int, t: int) -> list[Job]:
    examples = made(N + 60)
    task = Task("list", tuple(examples), Layout(append_choices=False))
    forms = [FormatSpec(separator="\n" * (i + 1)) for i in range(t)] if not shots else None
    spec = PromptsSpec(shots=[shots], count=t, formats=forms, combine="sample")
    drawn = draw_prompts(task, tuple(examples[:N]), spec, shots)
    return jobs_of([(prompt, drawn.scored(prompt)) for prompt in drawn.prompts], "sum_logprob")


def checked(found: DecidedSweep | Sweep, whole: Sweep, least: int) -> int:
    """Return the (prompt, example) pairs that were scored, after comparing them with all."""
    holds = max(each.correct for each in whole.predictions) >= least
    if not isinstance(found, DecidedSweep):
        assert [each.chosen for each in found.predictions] == [
            each.chosen for each in whole.predictions
        ]
        return sum(len(each.examples) for each in found.predictions)
    assert found.passes == holds, "another verdict than the whole sweep's"
    for own, full in zip(found.sweep.predictions, whole.predictions, strict=False):
        chosen = dict(zip((one.id for one in full.examples), full.chosen, strict=True))
        assert list(own.chosen) == [chosen[one.id] for one in own.examples]
    return found.scored


def measure(
    jobs: Sequence[Job], model: Model, *, passes: bool
) -> tuple[DecidedSweep | Sweep, Sweep, int]:
    n, t = len(jobs[0].examples), len(jobs)
    least = Claim(p_max=LEVEL).critical(Guessers.alike(n, Fraction(1, 2), t))
    assert least is not None
    whole = run_sweep(jobs, LocalExecutor(lambda: model))
    found = run_decided(jobs, Goal(int(least), passes), LocalExecutor(lambda: model))
    return found, whole, checked(found, whole, int(least))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 prompts: checks only")
    t = 20 if parser.parse_args().quick else 200
    jobs, rows = jobs_for(2, t), []
    for kind, knows in KINDS.items():
        model = MockModel(MockSpec(name="mock", knows=knows))
        shares = [
            f"{measure(jobs, model, passes=passes)[2] / (t * N):.3f}" for passes in CLAIMS.values()
        ]
        rows.append([kind, *shares])
    print(f"# Decided sweeps: share of the examples computed (n = {N}, t = {t})\n")
    table(["prompts", *CLAIMS], rows)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        task = Task("list", tuple(made(N + 60)), Layout(append_choices=False))
        tokenizer = train_tokenizer([task])
        save_model(Path(folder), tokenizer, small=True)
        network = CausalModel(load_model(Path(folder), "float32", "cpu"), tokenizer, "cpu")
        for shots in (0, 4):
            jobs = jobs_for(shots, t)
            found, whole, scored = measure(jobs, network, passes=False)
            cost = found.sweep.engine if isinstance(found, DecidedSweep) else found.engine
            rows.append(
                [
                    str(shots),
                    f"{scored / (len(jobs) * N):.3f}",
                    f"{cost.tokens_forwarded / whole.engine.tokens_forwarded:.3f}",
                    f"{cost.seconds / whole.engine.seconds:.2f}",
                ]
            )
    print("\n# A network of random weights under both p-values, decided / whole\n")
    table(["shots", "examples", "tokens", "seconds"], rows)


if __name__ == "__main__":
    main()
