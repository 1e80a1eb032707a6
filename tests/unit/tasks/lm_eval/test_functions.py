"""Functions of Python that tasks name run only where suite and runner allow it, by lm-eval."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host import limits
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.load import load_task
from tests.needs import needs

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Task

TRUSTED = "MAXRANDOM_TRUSTED_TASKS"
RAN = "ran.txt"
CODE = f"""
from pathlib import Path

Path(__file__).with_name({RAN!r}).write_text("yes")
print("what a task prints is no reply")


def process_docs(dataset):
    return dataset.map(lambda doc: {{"asked": doc["question"].upper()}})


def choices(doc):
    import numpy

    return ["no", "yes"] if numpy.int64(1) else []


def target(doc):
    import numpy

    return numpy.int64(doc["label"])
"""
TASK = """
task: local
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl, train: train.jsonl}}
output_type: multiple_choice
test_split: test
fewshot_split: train
process_docs: !function utils.process_docs
doc_to_text: "{{asked}}"
doc_to_choice: !function utils.choices
doc_to_target: !function utils.target
"""
ROWS: list[dict[str, Any]] = [
    {"question": f"Is {n} odd, naïve 🦊?", "label": n % 2} for n in range(5)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a task that names functions beside it."""
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/local.yaml").write_text(TASK)
    (tmp_path / "tasks/utils.py").write_text(CODE)
    for name, rows in (("rows", ROWS), ("train", ROWS[::-1])):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"tasks/{name}.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(TRUSTED, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    return tmp_path


def _read(folder: Path, path: str = "tasks/local.yaml", **said: Any) -> Task:
    keys = {"name": "t", "format": "lm_eval", "path": path, "trust_remote_code": True, **said}
    return load_task(LmEvalSpec.model_validate(keys), folder)


def _refusal(folder: Path, **said: Any) -> str:
    with pytest.raises(SuiteError) as caught:
        _read(folder, **said)
    assert not (folder / "tasks" / RAN).exists(), "its code has run"
    (problem,) = caught.value.problems
    return str(problem)


@needs("lm_eval")
@pytest.mark.parametrize(
    "entry",
    ["tasks/local.yaml", *(pytest.param(entry, marks=pytest.mark.slow) for entry in ("tasks", ""))],
)
def test_lm_eval_runs_them_where_both_allow_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.setenv(TRUSTED, f"hellaswag, {folder / entry}")
    task = _read(folder)
    assert (folder / "tasks" / RAN).exists()
    assert [example.input for example in task.examples] == [row["question"].upper() for row in ROWS]
    assert {example.choices for example in task.examples} == {("no", "yes")}
    assert [example.right for example in task.examples] == [(row["label"],) for row in ROWS]
    assert task.pool is not None
    assert [example.input for example in task.pool] == [
        row["question"].upper() for row in ROWS[::-1]
    ]


@pytest.mark.slow
@needs("lm_eval")
def test_another_split_is_asked_where_the_suite_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUSTED, str(folder))
    task = _read(folder, split="train")
    assert [example.right for example in task.examples] == [(row["label"],) for row in ROWS[::-1]]
    assert task.pool is None


def test_a_suite_alone_does_not_make_them_run(folder: Path) -> None:
    said = _refusal(folder)
    assert said.startswith("tasks/local.yaml:8: t: it names Python functions")
    assert "`process_docs: utils.process_docs`" in said
    assert f"whoever runs the suite sets {TRUSTED}={folder / 'tasks/local.yaml'} outside" in said
    assert "trust_remote_code" not in said


def test_nor_does_the_runner_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRUSTED, str(folder))
    said = _refusal(folder, trust_remote_code=False)
    assert "only if the suite's task says `trust_remote_code: true`" in said
    assert TRUSTED not in said


@pytest.mark.parametrize(
    "entries",
    [
        "local",  # a name is that of a task which comes with lm-eval
        "tasks/local.yaml",  # relative to what?
        "tasks, ., *, /*",
        "{folder}/tas",
        "{folder}/tasks/utils.py",
        "{folder}/tasks/local.yaml.other",
        "{folder}/other",
        ",,",
    ],
)
def test_what_is_not_named_is_not_trusted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, entries: str
) -> None:
    monkeypatch.setenv(TRUSTED, entries.format(folder=folder))
    assert "whoever runs the suite sets" in _refusal(folder)


def test_a_trusted_name_is_the_installed_task_and_no_file_that_bears_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tasks/local.yaml").write_text(TASK.replace("task: local", "task: hellaswag"))
    monkeypatch.setenv(TRUSTED, "hellaswag")
    assert "whoever runs the suite sets" in _refusal(folder)


def test_a_trusted_file_does_not_make_a_function_of_another_folder_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tasks/own").mkdir()
    (folder / "tasks/own/one.yaml").write_text("include: ../local.yaml\ntask: one\n")
    monkeypatch.setenv(TRUSTED, str(folder / "tasks/own"))
    assert "whoever runs the suite sets" in _refusal(folder, path="tasks/own/one.yaml")


def test_a_link_is_what_it_leads_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "trusted").mkdir()
    (folder / "trusted/tasks").symlink_to(folder / "tasks")
    monkeypatch.setenv(TRUSTED, str(folder / "trusted"))
    assert "whoever runs the suite sets" in _refusal(folder, path="trusted/tasks/local.yaml")


@pytest.mark.slow  # it reads all tasks of lm-eval
@needs("lm_eval")
def test_an_installed_task_is_named_by_its_name(folder: Path) -> None:
    assert installed() is not None
    said = _refusal(folder, path="winogrande")
    assert f"{TRUSTED}=winogrande outside the repository" in said


@pytest.mark.slow  # it reads all tasks of lm-eval
@needs("lm_eval")
def test_an_installed_task_runs_by_its_name_on_local_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"sentence": "Ann told Joe that _ won.", "option1": "Ann", "option2": "Joe"}
    rows = [{**row, "answer": "1"}, {**row, "answer": "2"}]
    text = "".join(json.dumps(each) + "\n" for each in rows)
    (folder / "blanks.jsonl").write_text(text)
    monkeypatch.setenv(TRUSTED, "winogrande")
    files = {"train": "blanks.jsonl", "validation": "blanks.jsonl"}
    task = _read(folder, "winogrande", dataset_path="json", dataset_kwargs={"data_files": files})
    first, second = task.examples
    assert first.choices == ("Ann told Joe that Ann", "Ann told Joe that Joe")
    assert (first.right, second.right) == ((0,), (1,))
    assert first.continuation == "won."


@pytest.mark.slow
@needs("lm_eval")
def test_what_goes_wrong_in_them_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUSTED, str(folder))
    (folder / "tasks/utils.py").write_text("def process_docs(dataset):\n    return 1 / 0\n")
    (folder / "tasks/local.yaml").write_text(
        TASK.replace("!function utils.choices", "[no, yes]").replace("!function utils.target", "a")
    )
    with pytest.raises(SuiteError, match="lm-eval could not build it: ZeroDivisionError") as caught:
        _read(folder)
    assert len(str(caught.value).splitlines()) == 1


def test_without_lm_eval_the_way_to_install_it_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUSTED, str(folder))
    monkeypatch.setattr("pytest_maxrandom.tasks.lm_eval.building.find_spec", lambda _: None)
    assert 'pip install "pytest-maxrandom[lm_eval]"' in _refusal(folder)


ENDLESS = f"{CODE}\n\ndef process_docs(dataset):\n    while True:\n        pass\n"


@needs("lm_eval")
def test_functions_that_take_for_ever_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUSTED, str(folder))
    (folder / "tasks/utils.py").write_text(ENDLESS)
    with limits.in_force({"function_seconds": 1}), pytest.raises(SuiteError) as caught:
        _read(folder)
    assert "take more than 1 s; name fewer tasks, or raise `limits: function_s" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@needs("lm_eval")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a timer of POSIX stands for Ctrl-C")
def test_an_interrupt_ends_functions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv(TRUSTED, str(folder))
    (folder / "tasks/utils.py").write_text(ENDLESS)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            _read(folder)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
