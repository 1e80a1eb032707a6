"""Which tasks paths hold, each once, and what files are that hold none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.tasks.found import Found, FoundTask, NoTask, Unreadable, find_tasks
from pytest_maxrandom.tasks.load import load_task
from tests.needs import needs

if TYPE_CHECKING:
    from collections.abc import Iterable


ROWS = 'input,choices,answer\nq1,"[""a"", ""b""]",a\nq2,"[""a"", ""b""]",b\n'
SUITE = "models: [{name: m}]\ntasks:\n  - {name: own, format: csv, path: rows.csv}\n"
BIGBENCH = {"examples": [{"input": "q", "target_scores": {"a": 1, "b": 0}}]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str = ROWS) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def told(found: Iterable[Found]) -> dict[str, str]:
    """By path: name and format of a task, else why there is none."""
    lines = {}
    for each in found:
        match each:
            case FoundTask():
                lines[f"{each.path}::{each.name}"] = each.spec.format
            case Unreadable():
                lines[str(each.path)] = "; ".join(problem.message for problem in each.problems)
            case NoTask():
                lines[str(each.path)] = each.reason
    return lines


def test_a_file_is_what_its_suffix_says() -> None:
    paths = [
        write("a.csv"),
        write("b.jsonl", '{"input": "q", "choices": ["a", "b"], "answer": "a"}\n'),
        write("c.json", json.dumps(BIGBENCH)),
        write("sub/task.json", json.dumps(BIGBENCH)),
        write("any.yaml", SUITE),
    ]
    assert told(find_tasks(paths)) == {
        "a.csv::a": "csv",
        "b.jsonl::b": "jsonl",
        "c.json::c": "bigbench",
        "sub/task.json::sub": "bigbench",
        "any.yaml::own": "csv",
    }
    for each in find_tasks(paths[:4]):
        assert isinstance(each, FoundTask)
        assert load_task(each.spec, each.base, each.where).name == each.name


def test_a_format_that_is_said_counts_more_than_the_suffix() -> None:
    path = write("a.txt")
    assert "expected a suite" in told(find_tasks([path]))["a.txt"]
    assert "--task-format" in told(find_tasks([path]))["a.txt"]
    assert told(find_tasks([path], "csv")) == {"a.txt::a": "csv"}
    assert "did you mean" in told(find_tasks([path], "cvs"))["a.txt"]


def test_a_folder_may_be_one_task_of_a_format_that_is_said() -> None:
    write("rows/train.csv")
    keys = {"split": "train"}
    assert told(find_tasks([Path("rows")], "hub", keys)) == {"rows::rows": "hub"}
    assert told(find_tasks([Path()], "hub", keys)) == {f".::{Path.cwd().name}": "hub"}


def test_a_folder_is_searched_and_each_file_is_told_once() -> None:
    write("tasks/a.csv")
    write("tasks/deep/task.json", json.dumps(BIGBENCH))
    write("tasks/.hidden/b.csv")
    write("tasks/notes.txt", "no task")
    expected = {"tasks/a.csv::a": "csv", "tasks/deep/task.json::deep": "bigbench"}
    for paths in ([Path("tasks")], [Path("tasks"), Path("tasks/a.csv")], [Path("tasks")] * 2):
        found = [*find_tasks(paths)]
        assert told(found) == expected
        assert len(found) == 2
    assert told(find_tasks([Path("tasks")], "bigbench")) == {
        "tasks/deep/task.json::deep": "bigbench"
    }


def test_data_of_a_suite_is_no_task_of_its_own() -> None:
    write("eval_suites/s.yaml", SUITE)
    write("eval_suites/rows.csv")
    write("eval_suites/other.csv")
    assert told(find_tasks([Path()])) == {
        "eval_suites/s.yaml::own": "csv",
        "eval_suites/rows.csv": "the data of a suite found here",
        "eval_suites/other.csv::other": "csv",
    }
    # Who names it asks for it.
    assert "eval_suites/rows.csv::rows" in told(find_tasks([Path("eval_suites/rows.csv"), Path()]))


def test_what_is_found_in_a_folder_may_be_no_task() -> None:
    write("x/table.csv", "name,value\na,1\n")
    write("x/lines.jsonl", '{"name": 1}\n')
    write("x/package.json", '{"name": "x"}')
    write("x/workflow.yaml", "on: push\ntasks: [1]\n")
    write("x/broken.csv", 'input,choices,answer\nq1,"[""a""",a\n')
    found = told(find_tasks([Path("x")]))
    assert found == {
        "x/table.csv": "without columns 'choices', 'input', 'answer'",
        "x/lines.jsonl": "without columns 'choices', 'input', 'answer'",
        "x/package.json": "JSON without examples",
        "x/workflow.yaml": "neither a suite nor a task",
        "x/broken.csv::broken": "csv",
    }
    keys = {"columns": {"input": "name", "answer": "value"}, "choices": ["1", "2"]}
    assert "x/table.csv::table" in told(find_tasks([Path("x")], keys=keys))


LM_EVAL = """\
task: own_name
include: {include}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_choice: ["no", "yes"]
doc_to_target: label
"""


def test_yaml_of_lm_eval_is_a_task_with_what_it_includes_anywhere_in_the_folder() -> None:
    write("l/_shared_yaml", "output_type: multiple_choice\n")
    write("l/deep/own.yaml", LM_EVAL.format(include="../_shared_yaml", data="rows.jsonl"))
    write("l/deep/group.yaml", "group: g\ntask: [own_name]\n")
    write("l/deep/part.yaml", "doc_to_text: question\n")
    rows = [{"question": f"q{i}", "label": i % 2} for i in range(6)]
    write("l/deep/rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = [*find_tasks([Path("l")])]
    assert told(found) == {
        "l/deep/own.yaml::own_name": "lm_eval",
        "l/deep/group.yaml": "a group, whose tasks have rows of their own",
        "l/deep/part.yaml": "neither a suite nor a task",
        "l/deep/rows.jsonl": "without columns 'choices', 'input', 'answer'",
    }
    task = next(each for each in found if isinstance(each, FoundTask))
    loaded = load_task(task.spec, task.base, task.where)
    assert [example.right for example in loaded.examples] == [(0,), (1,)] * 3
    assert told(find_tasks([Path("l")], "lm_eval")) == {
        path: reason for path, reason in told(found).items() if "jsonl" not in path
    }
    assert "l/deep/own.yaml::own_name" in told(find_tasks([Path("l/deep/own.yaml")]))


@needs("lm_eval")
def test_a_word_that_is_no_file_is_a_name_of_lm_eval() -> None:
    (task,) = find_tasks([Path("arc_easy")])
    assert isinstance(task, FoundTask)
    assert (task.name, task.spec.format) == ("arc_easy", "lm_eval")
    (absent,) = find_tasks([Path("arc_easy.jsonl")])
    assert isinstance(absent, Unreadable)


def test_what_a_task_has_no_key_for_is_told_in_the_words_of_suites() -> None:
    path = write("a.csv")
    (unread,) = find_tasks([path], keys={"colums": {"input": "q"}})
    assert isinstance(unread, Unreadable)
    assert unread.problems[0].message.startswith("unknown key `colums`; did you mean `columns`?")
    (unread,) = find_tasks([path], keys={"columns": {"inptu": "q"}})
    assert isinstance(unread, Unreadable)
    assert "`columns.inptu`" in unread.problems[0].message


def test_what_does_not_exist_or_is_broken_is_told_and_costs_the_others_nothing() -> None:
    write("eval_suites/bad.yaml", "models: 3\ntasks: []\n")
    found = told(find_tasks([Path("nowhere.csv"), Path("eval_suites/bad.yaml"), write("a.csv")]))
    assert found["nowhere.csv"].startswith("there is no file or folder 'nowhere.csv'")
    assert "`models`" in found["eval_suites/bad.yaml"]
    assert found["a.csv::a"] == "csv"


def test_a_suite_of_recorded_results_has_no_examples() -> None:
    text = (
        "models: [{name: m, backend: recorded, results: {path: r.csv, format: table}}]\n"
        "tasks: [{name: t, chance: 1/2}]\n"
    )
    found = told(find_tasks([write("eval_suites/r.yaml", text)]))
    assert found == {"eval_suites/r.yaml": "a suite of recorded results, which hold no examples"}
