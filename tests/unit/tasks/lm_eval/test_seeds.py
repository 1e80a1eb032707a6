"""What functions of tasks draw depends neither on the machine nor on other tasks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.lm_eval import building
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.load import load_task, members
from tests.needs import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.tasks.task import Task

require("lm_eval")
require("hf")  # one of its functions draws from torch
pytestmark = pytest.mark.slow  # lm-eval in processes of their own

N = 5
ROWS: list[dict[str, Any]] = [
    {
        "Question": f"Which  [title] is element {n}?",
        "Correct Answer": f"right {n} ",
        **{f"Incorrect Answer {i}": f"wrong {n}.{i}" for i in (1, 2, 3)},
    }
    for n in range(N)
]
PACKAGED = {"zero": "gpqa/zeroshot/gpqa_main_zeroshot", "shots": "gpqa/n_shot/gpqa_main_n_shot"}
DATA = "dataset_path: json\ndataset_name: null\ndataset_kwargs: {data_files: {train: rows.jsonl}}\n"
OWN = """
task: {name}
output_type: multiple_choice
validation_split: train
process_docs: !function {name}.process_docs
doc_to_text: "{{{{Question}}}} {{{{drawn}}}}"
doc_to_choice: [a, b]
doc_to_target: a
"""
CODE = {
    "drawn": "    import numpy, random, torch\n"
    "    return [random.random(), numpy.random.rand(), torch.rand(1).item()]\n",
    "unsure": "    import os\n    return os.urandom(4).hex()\n",
    "dropped": "    import random\n    return random.random()\n",
}
MAPPED = "dataset.map(lambda doc: {'drawn': drawn()}, load_from_cache_file=False"
LM_EVAL = """
import json, sys
from pathlib import Path
import datasets, lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

class Mute(LM):
    def loglikelihood(self, requests, **_):
        return [(0.0, False) for _ in requests]
    loglikelihood_rolling = generate_until = None

folder, found = Path(sys.argv[1]), {}
manager = TaskManager(include_path=str(folder), include_defaults=False)
names = "zero", "shots", "drawn"
for seed, name in [(7, "zero"), (7, "drawn"), *((0, name) for name in names)]:
    if not seed:
        datasets.config.HF_DATASETS_CACHE = folder / f"cache of {name}"
    done = lm_eval.simple_evaluate(
        Mute(), tasks=[name], num_fewshot=2, task_manager=manager, bootstrap_iters=0,
        **({"random_seed": seed} if seed else {}),
    )
    rows = sorted(done["samples"][name], key=lambda row: row["doc_id"])
    found[name] = [[list(pair) for pair in row["arguments"]] for row in rows]
Path(sys.argv[2]).write_text(json.dumps(found))
"""


@dataclass
class Built:
    """Tasks, and the processes that built them."""

    tasks: dict[str, Task] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    processes: int = 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder, packaged = tmp_path_factory.mktemp("tasks"), installed()
    assert packaged is not None
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    data = DATA.replace("rows.jsonl", str(folder / "rows.jsonl"))
    for name, file in PACKAGED.items():
        of_task = Path(file).parent
        shutil.copytree(packaged / of_task, folder / of_task)
        text = f"include: {file}.yaml\ntask: {name}\nnum_fewshot: 1\n{data}"
        (folder / f"{name}.yaml").write_text(text)
    for name, code in CODE.items():
        removed = ", remove_columns=list(dataset.column_names)" if name == "dropped" else ""
        process = f"def process_docs(dataset):\n    return {MAPPED}{removed})\n"
        (folder / f"{name}.py").write_text(f"def drawn():\n{code}\n{process}")
        text = OWN.format(name=name)
        if removed:
            text = text.replace("{{Question}} ", "")
        (folder / f"{name}.yaml").write_text(text + data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(building.TRUSTED, str(folder))
        patch.setenv("HF_HOME", str(folder / "home"))
        yield folder


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, Any]:
    """What lm-eval asks of each document after two shots, by the name of the task.

    Before that it leaves results of other seeds in the cache of `datasets` that we use.
    """
    subprocess.run(
        [sys.executable, "-c", LM_EVAL, str(folder), str(folder / "asked.json")],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONHASHSEED": "3"},
    )
    found: dict[str, Any] = json.loads((folder / "asked.json").read_text())
    return found


def built(folder: Path, *names: str) -> Built:
    """Let a group of tasks be built."""
    keys = {"name": "t", "format": "lm_eval", "path": ".", "task": list(names)}
    spec = LmEvalSpec.model_validate(keys | {"trust_remote_code": True})
    found = Built()
    with pytest.MonkeyPatch.context() as patch:
        run = building._run

        def counted(asked: str) -> Any:
            found.processes += 1
            return run(asked)

        patch.setattr(building, "_run", counted)
        for name, one in zip(names, members(spec, folder, lambda *_: (folder, None)), strict=True):
            try:
                found.tasks[name] = load_task(one, folder)
            except SuiteError as error:
                found.refused[name] = str(error)
    return found


@pytest.fixture(scope="module")
def group(folder: Path, theirs: dict[str, Any]) -> Built:
    return built(folder, "zero", "drawn", "unsure", "shots", "dropped")


def test_one_process_builds_a_group(group: Built) -> None:
    assert group.processes == 1
    assert set(group.tasks) == {"zero", "drawn", "shots"}


@pytest.mark.parametrize("name", [*PACKAGED, "drawn"])
def test_documents_and_texts_after_two_shots_are_those_of_lm_eval(
    group: Built, theirs: dict[str, Any], name: str
) -> None:
    task, scorer = group.tasks[name], SCORERS["sum_logprob"]
    spec = PromptsSpec(shots=[2], count=1, demonstrations="leave_out")
    (prompt,) = draw_prompts(task, task.examples, spec, 2).prompts
    pairs = [replace(prompt, demonstrations=pair) for pair in product(task.examples, task.examples)]
    for example, asked in zip(task.examples, theirs[name], strict=True):
        ours = [
            [
                [question.context, answer]
                for question in scorer.questions(each, example)
                for answer in question.answers
            ]
            for each in pairs
        ]
        assert sum(one == asked for one in ours) == 1


@pytest.mark.parametrize("name", PACKAGED)
def test_the_right_answer_is_that_of_the_text(group: Built, name: str) -> None:
    # lm-eval judges by documents that it makes once more, and where each making draws on (shots)
    # they list other choices than those that it asked.
    for number, example in enumerate(group.tasks[name].examples):
        (place,) = example.right
        assert f"\n{example.choices[place]} right {number}\n" in example.input


def test_choices_are_shuffled_and_demonstrations_as_lm_eval_shuffles_them(group: Built) -> None:
    for name in PACKAGED:
        assert len({example.right for example in group.tasks[name].examples}) > 1
    # Of the one task demonstrations are the questions themselves, of the other they are drawn anew.
    assert all(example.solved is None for example in group.tasks["zero"].examples)
    assert any(example.solved is not None for example in group.tasks["shots"].examples)


def test_what_differs_a_second_time_is_refused_by_name(group: Built) -> None:
    assert "unsure: its functions give other documents each time" in group.refused["unsure"]
    assert "dropped: its functions make other documents of the same" in group.refused["dropped"]
    assert all(len(said.splitlines()) == 1 for said in group.refused.values())


def test_neither_other_tasks_nor_their_order_change_a_task(folder: Path, group: Built) -> None:
    reverse, alone = built(folder, "shots", "zero"), built(folder, "shots")
    assert (reverse.processes, alone.processes) == (1, 1)
    for name, task in (reverse.tasks | alone.tasks).items():
        assert task.examples == group.tasks[name].examples
    assert alone.tasks["shots"].examples == reverse.tasks["shots"].examples
