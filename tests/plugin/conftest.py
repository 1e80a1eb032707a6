"""A folder with suites whose claims hold, fail, and fail as expected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.hf import transformers as backend
from pytest_maxrandom.models.mock import MockModel
from pytest_maxrandom.suite.models import MockSpec, TransformersSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.sweeps.sweep import run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task
from tests import label_models, tiny
from tests.kept import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Model

SUITE = """\
models:
  - {model}
tasks:
  - name: known
    format: jsonl
    path: data/known.jsonl
    append_choices: false
  - name: unknown
    format: jsonl
    path: data/unknown.jsonl
    append_choices: false
    xfail: the answers are the opposite of what the model says
    marks: [hard]
    assert: {{red_flags: {{never_right: ignore}}}}
prompts:
  shots: 0
"""

N = 24
MOCK = MockModel(MockSpec(name="tiny"))

INPUTS = [f"word {number * 7919 % 1000}" for number in range(N)]


def answered(model: Model, inputs: Sequence[str] = INPUTS) -> list[int]:
    """Return what a model answers to each question, without demonstrations."""
    questions = tuple(
        Example(f"q{number}", each, ("Yes", "No"), (0,)) for number, each in enumerate(inputs)
    )
    task = Task("known", questions, Layout(append_choices=False))
    prompts = draw_prompts(task, questions, PromptsSpec(shots=[0]), 0)
    work = [(prompt, prompts.scored(prompt)) for prompt in prompts.prompts]
    sweep = run_sweep(jobs_of(work, "mean_logprob"), LocalExecutor(lambda: model))
    return [choice for choice in sweep.predictions[0].chosen if choice is not None]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sentences stand on one line each; the tests of the terminal have other widths.

    Reports hold fewer texts where CI is set.
    """
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture(scope="session")
def answers(tiny_llama: Path) -> list[int]:
    """What the random model answers."""
    spec = TransformersSpec(name=str(tiny_llama), quantization="none")
    return answered(backend.load(spec, str(tiny_llama)))


@pytest.fixture
def suites(pytester: pytest.Pytester) -> Path:
    """Folder `eval_suites` with `suite.yaml`: one claim that holds, one that rightly does not.

    Their model is simulated, and so are its store and its ledger.
    """
    model = "name: tiny\n    label: tiny-none\n    backend: mock"
    return _written(pytester, model, answered(MOCK))


@pytest.fixture
def real_suites(pytester: pytest.Pytester, tiny_llama: Path, answers: list[int]) -> Path:
    """As `suites`, of a model with random weights."""
    model = f"name: {tiny_llama}\n    label: tiny\n    quantization: none"
    return _written(pytester, model, answers)


def _written(pytester: pytest.Pytester, model: str, answers: list[int]) -> Path:
    pytester.makeini("[pytest]\nmarkers =\n    hard: what the model does not know\n")
    folder = pytester.mkdir("eval_suites")
    (folder / "data").mkdir()
    write_data(folder, answers)
    (folder / "suite.yaml").write_text(SUITE.format(model=model))
    return folder


def write_data(folder: Path, answers: Sequence[int], inputs: Sequence[str] = INPUTS) -> None:
    """Write the tasks: in one of them these answers are right, in the other they are wrong."""
    for name, flipped in (("known", 0), ("unknown", 1)):
        rows = [
            {"id": f"q{i}", "input": each, "choices": ["Yes", "No"], "answer": answer ^ flipped}
            for i, (each, answer) in enumerate(zip(inputs, answers, strict=True))
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "data" / f"{name}.jsonl").write_text(text)


def flat(result: pytest.RunResult) -> str:
    """Return what was printed, as one line."""
    return " ".join(result.stdout.str().split())


def ledger_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the ledger beside a suite, of whichever kind of model there is one."""
    (ledger,) = (path for path in folder.iterdir() if path.name.startswith("maxrandom-ledger"))
    files = sorted(ledger.glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def forget(folder: Path) -> None:
    """Begin again without what was counted beside a suite, and without what was stored."""
    for path in (*folder.glob("maxrandom-ledger*"), folder.parent / ".maxrandom"):
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def preferring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that prefers the letter A, whatever it is asked."""
    return label_models.save_preferring(tmp_path_factory.mktemp("models") / "preferring")


@pytest.fixture(scope="session")
def knowing() -> Path:
    """A model that was trained to find the right letter."""
    sources = (Path(module.__file__ or "") for module in (label_models, tiny))
    return kept("knowing", label_models.save_knowing, sources)
