"""Tasks as this package reads them beside what lm-evaluation-harness makes of the same files."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.tasks.load import load_task
from tests.integration.lm_eval_tasks.documents import DECLARATIVE, WITH_FUNCTIONS
from tests.integration.lm_eval_tasks.harness import Local, built_by_lm_eval, localized
from tests.proof.scale import WHOLE, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example, Task

# Each of these with functions is built in a process of its own.
FILES = DECLARATIVE | dict(islice(WITH_FUNCTIONS.items(), scaled(len(WITH_FUNCTIONS), 4)))
DEMO_MODEL = Path(__file__).parents[3] / "eval_suites" / "demo" / "demo-llama"
SHOTS = (0, 1, 2, 3) if WHOLE else (0, 2)


@dataclass(frozen=True)
class Asked:
    """One example after one prompt, as it is asked here and by lm-eval.

    Attributes
    ----------
    built : dict
        What lm-eval asks: "requests", pairs of a context and its continuation; "log_likelihoods",
        "acc" and "acc_norm".
    known : dict
        What it knows of the document: "choices", and those that are "right".
    """

    prompt: Prompt
    example: Example
    built: dict[str, Any]
    known: dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """One task file, read in both ways."""

    local: Local
    task: Task
    prompts: list[tuple[Prompt, list[Example]]]
    built: dict[str, Any]

    @property
    def asked(self) -> Iterator[list[Asked]]:
        """The n examples of each prompt."""
        known = self.built["documents"]
        for (prompt, examples), rows in zip(self.prompts, self.built["prompts"], strict=True):
            yield [
                Asked(prompt, example, rows[place], known[place])
                for example, place in zip(examples, map(_place, examples), strict=True)
            ]


def _place(example: Example) -> int:
    """Return an example's index in its split; ids end with its number."""
    return int(example.id.rpartition("#")[2]) - 1


def _drawn(task: Task) -> list[tuple[Prompt, list[Example]]]:
    pairs = []
    for shots in SHOTS:
        if shots > len(task.pool or task.examples[1:]):
            continue
        spec = PromptsSpec(shots=[shots], count=scaled(4, 1))
        pairs += draw_prompts(task, task.examples, spec, shots).pairs
    return pairs


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    """All task files with local documents, by their path in lm-eval's folder of tasks."""
    if importlib.util.find_spec("lm_eval") is None:
        pytest.skip("lm-eval is not installed (dependency group test)")
    folder = tmp_path_factory.mktemp("tasks")
    locals_ = {file: localized(file, row, folder) for file, row in FILES.items()}
    tasks: dict[str, Task] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAXRANDOM_TRUSTED_TASKS", str(folder))
        for file, local in locals_.items():
            trusted = file in WITH_FUNCTIONS
            spec = LmEvalSpec(
                name=local.name, format="lm_eval", path=str(local.file), trust_remote_code=trusted
            )
            tasks[file] = load_task(spec, folder)
    prompts = {file: _drawn(task) for file, task in tasks.items()}
    places = {
        locals_[file].name: [
            [_place(example) for example in prompt.demonstrations] for prompt, _ in drawn
        ]
        for file, drawn in prompts.items()
    }
    built = built_by_lm_eval(folder, places, DEMO_MODEL)
    return {
        file: Compared(local, tasks[file], prompts[file], built[local.name])
        for file, local in locals_.items()
    }
