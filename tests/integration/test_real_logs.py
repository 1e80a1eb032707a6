"""Logs that other tools really wrote, compared with what those tools say of them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.stats.samples import Aggregate
from tests.notes import sentences
from tests.tiny import save_llama
from tests.unit.recorded.reading import read_inspect, read_lm_eval

INSPECT_LOGS = Path(__file__).parent / "inspect_logs"
SIZE = 12

HEAD = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{train: {folder}/train.jsonl, test: {folder}/test.jsonl}}}}
training_split: train
fewshot_split: train
test_split: test
"""

TASKS = {
    "shared_words": """
output_type: multiple_choice
doc_to_text: "Q: {{text}} A:"
doc_to_choice: [rain, sunshine]
doc_to_target: answer
metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_mutual_info}]
""",
    "own_words": """
output_type: multiple_choice
doc_to_text: "Q: {{text}} A:"
doc_to_choice: choices
doc_to_target: "{{choices[answer]}}"
metric_list: [{metric: acc}, {metric: acc_norm}, {metric: acc_bytes}]
""",
    "many_right": """
output_type: multiple_choice
num_fewshot: 0
doc_to_text: "Q: {{text}} A:"
doc_to_choice: [one, two, three]
doc_to_target: "{{[0, 1 + answer]}}"
metric_list: [{metric: acc}]
""",
    "in_contexts": """
output_type: multiple_choice
doc_to_text: answer
doc_to_choice: "{{[text ~ ' left', text ~ ' right']}}"
doc_to_target: word
metric_list: [{metric: acc}, {metric: acc_norm}]
""",
    "written": """
output_type: generate_until
doc_to_text: "Q: {{text}} A:"
doc_to_target: word
generation_kwargs: {until: ["\\n"], max_gen_toks: 2}
metric_list: [{metric: exact_match}]
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: loose, filter: [{function: lowercase}, {function: take_first}]}
""",
}

DRIVER = """
import sys
from lm_eval.evaluator import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

names = sys.argv[1].split()
for folder, seed, shots, limit in (
    ("runs", 1, 2, None), ("runs", 2, 2, None), ("runs", 1, 2, None), ("limited", 1, 2, 5)
):
    tracker = EvaluationTracker(output_path=folder)
    results = simple_evaluate(
        "hf", model_args="pretrained=model,dtype=float32", device="cpu", batch_size=4, tasks=names,
        task_manager=TaskManager(include_path="tasks", include_defaults=False), num_fewshot=shots,
        fewshot_random_seed=seed, limit=limit, bootstrap_iters=0, evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in names:
        tracker.save_results_samples(task_name=name, samples=samples[name])
"""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of lm-eval runs: seeds 1, 2 and 1 again; and one with a limit."""
    if importlib.util.find_spec("lm_eval") is None:
        pytest.skip("lm-eval is not installed (dependency group bench)")
    folder = tmp_path_factory.mktemp("harness")
    save_llama(folder / "model")
    train = [
        {"text": f"Day {n}", "answer": n % 2, "choices": [f"a{n}", f"bb{n}"], "word": "yes"}
        for n in range(8)
    ]
    test = [
        {
            "text": f"Say {n * n}",
            "answer": n * 7 % 5 % 2,
            "choices": [f"left {n}" * (1 + n % 3), f"right {n}", "neither"][: 2 + n % 2],
            "word": ("yes", "no")[n % 2],
        }
        for n in range(SIZE)
    ]
    for name, rows in (("train", train), ("test", test)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "tasks").mkdir()
    for name, body in TASKS.items():
        head = HEAD.format(name=name, folder=folder)
        (folder / "tasks" / f"{name}.yaml").write_text(head + body)
    subprocess.run(
        [sys.executable, "-c", DRIVER, " ".join(TASKS)],
        cwd=folder,
        env=os.environ | {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"},
        check=True,
        capture_output=True,
    )
    return folder


def means(runs: Path, task: str, metric: str, name: str = "none") -> list[float]:
    """Return what lm-eval says of its runs, in the order of time."""
    files = sorted(runs.rglob("results_*.json"))
    contents = [json.loads(path.read_text()) for path in files]
    return [content["results"][task][f"{metric},{name}"] for content in contents]


@pytest.mark.parametrize("metric", ["acc", "acc_norm"])
def test_accuracies_are_those_of_lm_eval(harness: Path, metric: str) -> None:
    sweeps = read_lm_eval(harness / "runs", metric=metric)
    expected = {name for name, body in TASKS.items() if f"metric: {metric}}}" in body}
    assert {sweep.task for sweep in sweeps} == expected
    for sweep in sweeps:
        assert sweep.model == "model"
        found = sweep.correct.mean(axis=1)
        assert found.tolist() == pytest.approx(means(harness / "runs", sweep.task, metric))


def test_answers_gold_and_chances_agree_with_what_was_counted(harness: Path) -> None:
    sweeps = {sweep.task: sweep for sweep in read_lm_eval(harness / "runs")}
    for name in ("shared_words", "own_words", "many_right"):
        sweep = sweeps[name]
        assert sweep.answers is not None
        assert sweep.gold is not None
        right = [[int(a) in g for a, g in zip(r, sweep.gold, strict=True)] for r in sweep.answers]
        assert right == sweep.correct.tolist()
    assert sweeps["shared_words"].labels == ("rain", "sunshine")
    assert sweeps["shared_words"].chances == (Fraction(1, 2),) * SIZE
    assert sweeps["own_words"].chances == (Fraction(1, 2), Fraction(1, 3)) * (SIZE // 2)
    assert sweeps["many_right"].chances == (Fraction(2, 3),) * SIZE
    assert sweeps["in_contexts"].chances == (Fraction(1, 2),) * SIZE
    assert sweeps["written"].chances is None


def test_a_seed_that_was_run_twice_counts_once(harness: Path) -> None:
    for sweep in read_lm_eval(harness / "runs"):
        first, second, again = sweep.identities
        assert first == again
        assert (first == second) == (sweep.shots == 0)
        assert sweep.shots == (0 if sweep.task == "many_right" else 2)


def test_the_first_filter_of_a_written_answer_counts(harness: Path) -> None:
    [sweep] = (each for each in read_lm_eval(harness / "runs") if each.task == "written")
    found = sweep.correct.mean(axis=1).tolist()
    assert found == pytest.approx(means(harness / "runs", "written", "exact_match", "strict"))


def test_a_limit_is_said_and_does_not_mix_with_whole_runs(harness: Path) -> None:
    for sweep in read_lm_eval(harness / "limited"):
        assert sweep.correct.shape == (1, 5)
        assert f"5 of the {SIZE} documents of {sweep.task} were evaluated (a limit)." in sentences(
            sweep.notes
        )
    with pytest.raises(RecordedError, match=r"5 examples, but .* has 12|12 examples, but .* has 5"):
        read_lm_eval(harness)


def inspect_results(path: Path) -> dict[str, Any]:
    """Return what Inspect itself says of a log."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
    else:
        zstandard = pytest.importorskip("backports.zstd.zipfile")
        with zstandard.ZipFile(path) as archive:
            content = json.loads(archive.read("header.json"))
    scores = content["results"]["scores"]
    return {score["name"]: score["metrics"]["accuracy"]["value"] for score in scores}


def test_inspect_logs_of_both_kinds_are_one_sweep() -> None:
    pytest.importorskip("backports.zstd")
    [sweep] = read_inspect(INSPECT_LOGS / "sweep")
    assert sweep.claim == "addition[mockllm/model-2shot]"
    assert sweep.examples == ("1", "2", "3", "4")
    # make.py has the model answer BA-B, BACB and BA-B; B is right.
    assert sorted(sweep.correct.tolist()) == [[True, False, False, True]] * 3
    assert sweep.chances == (Fraction(1, 3),) * 4
    assert len(set(sweep.identities)) == 2
    accuracies = [
        inspect_results(path)["choice"]
        for name in sweep.prompts
        for path in INSPECT_LOGS.glob(f"sweep/{name}.*")
    ]
    assert sweep.correct.mean(axis=1).tolist() == accuracies


def test_scorers_of_inspect_are_kept_apart() -> None:
    pytest.importorskip("backports.zstd")
    [path] = (INSPECT_LOGS / "scorers").iterdir()
    accuracies = inspect_results(path)
    assert set(accuracies) == {"choice", "includes"}
    for scorer, accuracy in accuracies.items():
        [sweep] = read_inspect(path, scorer=scorer)
        assert sweep.correct.mean() == accuracy
    with pytest.raises(RecordedError, match="the scorers choice, includes judged"):
        read_inspect(path)


def test_epochs_of_inspect_are_samples_and_limits_are_said() -> None:
    pytest.importorskip("backports.zstd")
    [epochs] = read_inspect(INSPECT_LOGS / "epochs")
    assert epochs.correct.shape == (1, 4)
    assert epochs.aggregate == Aggregate("mean", 2)
    [limited] = read_inspect(INSPECT_LOGS / "limit")
    assert limited.correct.tolist() == [[True, False]]
    assert "2 of the 4 samples were evaluated (a limit)." in sentences(limited.notes)
