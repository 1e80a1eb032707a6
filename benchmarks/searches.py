"""Share of searches by a real optimizer that pass, with each feedback, before and after.

    python -m benchmarks.searches [--budget 50] [--seeds 4] [--knows 0.7] [--feedback accept ...]

Optuna's TPE sampler searches for instructions and demonstrations on the three tasks of the demo
(60 examples each), with mock models that know a share of the answers whatever the prompt is.
`before` judges the same searches as the best of all prompts of the tree, alike: what stood there
before prompts were weighted by the improvements before them. With `--knows 0` nothing may pass.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import yaml

from pytest_maxrandom import search
from pytest_maxrandom.searches.optuna import objective
from pytest_maxrandom.stats.search import Feedback, Searched, prompts_of

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.searches.tries import Tries

FEEDBACK: tuple[Feedback, ...] = ("none", "accept", "improved", "score")
TASKS = ("swapped_topic", "kind_of", "digit_sum")
WORDS = ("Think. ", "Be exact. ", "Take care. ", "Answer. ", "Look again. ", "")
LEVEL = 0.05


def suite(folder: Path, knows: float, seed: int) -> Path:
    """Write the demo's tasks with a mock model."""
    there = Path(__file__).parents[1] / "eval_suites" / "demo"
    shutil.copytree(there / "data", folder / "data")
    content = yaml.safe_load((there / "demo.yaml").read_text(encoding="utf-8"))
    for task in content["tasks"]:
        task.pop("xfail", None)
    model = {"name": "mock", "backend": "mock", "knows": knows, "seed": seed}
    made = {"models": [model], "tasks": content["tasks"], "prompts": {"shots": 2, "count": 1}}
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(made), encoding="utf-8")
    return path


def passes_alike(tries: Tries, record: ClaimRecord) -> bool:
    """Tell whether a best prompt would pass as the best of all prompts of the tree, alike."""
    if tries.feedback == "none":
        return bool(record.passed)
    steps = tries.t
    alike = prompts_of(0, [Searched(tries.feedback, steps, tries.n, steps)])
    judged, p = record.guessers, record.permutation_p
    if alike is None or judged is None or p is None or p >= 1 or record.best_correct is None:
        return False
    planned = tries._tried.planned.with_t(alike)
    return p / judged * alike <= LEVEL and not planned.claim.unmet(
        planned.null, record.best_correct
    )


def searched(
    path: Path, task: str, feedback: Feedback, budget: int, seed: int
) -> tuple[bool, bool]:
    """Return whether a search passes, before and after."""
    with search(path, task=task, feedback=feedback, budget=budget, by="optuna") as tries:
        shown = sorted(tries.demonstrations)

        def suggest(trial: optuna.Trial) -> dict[str, Any]:
            said = [trial.suggest_categorical(f"words {place}", WORDS) for place in range(2)]
            first = trial.suggest_int("first", 0, len(shown) - 2)
            return {"instruction": "".join(said), "demonstrations": shown[first : first + 2]}

        sampler = optuna.samplers.TPESampler(seed=seed)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.optimize(objective(tries, suggest), n_trials=4 * budget)
        record = tries.verdict()
        return passes_alike(tries, record), bool(record.passed)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--knows", type=float, default=0.7)
    parser.add_argument("--feedback", nargs="+", choices=FEEDBACK, default=FEEDBACK)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    runs = options.seeds * len(TASKS)
    print(f"share of {runs} searches of {options.budget} tries that pass")
    print("| feedback | before | after |\n| --- | --- | --- |", flush=True)
    for feedback in options.feedback:
        found = []
        for seed in range(options.seeds):
            with (
                tempfile.TemporaryDirectory() as folder,
                tempfile.TemporaryDirectory() as private,
                contextlib.chdir(folder),
            ):
                os.environ["MAXRANDOM_PRIVATE"] = private
                path = suite(Path(folder) / "suites", options.knows, seed)
                given = feedback, options.budget, seed
                found += [searched(path, task, *given) for task in TASKS]
        shares = " | ".join(f"{sum(each) / runs:.3f}" for each in zip(*found, strict=True))
        print(f"| `{feedback}` | {shares} |", flush=True)


if __name__ == "__main__":
    main()
