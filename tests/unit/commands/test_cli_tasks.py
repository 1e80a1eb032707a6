"""`maxrandom tasks`: a table, CSV, JSON or Markdown; a bad task costs its own row."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from scipy import stats

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.schema import TASKS_PATH

YES = [0, 1] * 35 + [0] * 30  # 65 of 100


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three tasks: balanced, unbalanced, and one with a mistake in line 3."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    path = Path("tasks")
    path.mkdir()
    rows = [{"input": f"question {i}", "choices": [f"{i}a", f"{i}b", f"{i}c", f"{i}d"],
             "answer": f"{i}{'abcd'[i % 4]}"} for i in range(60)]  # fmt: skip
    (path / "even.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = "".join(f"is {i}?,no,yes,{'no' if not each else 'yes'}\n" for i, each in enumerate(YES))
    (path / "primes.csv").write_text(f"question,A,B,label\n{lines}")
    (path / "broken.csv").write_text("question,A,B,label\nq,no,yes,no\nq2,no,yes,maybe\n")
    return path


COLUMNS = ("--set", "columns.input=question", "--set", "columns.answer=label", "--set",
           "columns.choices=[A, B]")  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["tasks", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    told = json.loads(printed(capsys, *arguments, "--format", "json", code=code))
    jsonschema.validate(told, json.loads(TASKS_PATH.read_text(encoding="utf-8")))
    return told


@pytest.mark.parametrize(
    "words",
    [
        ["tasks/primes.csv", "--set", *COLUMNS[1::2]],
        ["--set", *COLUMNS[1::2], "tasks/primes.csv"],
        ["tasks/primes.csv", "--set", *COLUMNS[1::2], "tasks/even.jsonl"],
    ],
)
def test_several_keys_may_follow_one_set_and_paths_may_stand_anywhere(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [word for word in words if word.startswith("tasks/")]
    code = len(paths) - 1  # the other has no columns of these names
    assert as_json(capsys, *words, code=code) == as_json(capsys, *paths, *COLUMNS, code=code)


def test_json_has_the_numbers_and_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    (task,) = as_json(capsys, "tasks/primes.csv", *COLUMNS)["tasks"]
    assert (task["name"], task["n"], task["chance"]) == ("primes", 100, 0.5)
    assert task["majority"]["answer"] == "no"
    assert task["majority"]["correct"] == 65
    assert [each["t"] for each in task["baselines"]] == [1, 10, 100]
    for each in task["baselines"]:

        def p_max(k: int, t: int = each["t"]) -> float:
            return float(1 - stats.binom.cdf(k - 1, 100, 0.5) ** t)

        critical = next(k for k in range(101) if p_max(k) <= 0.05)
        assert each["critical_count"] == critical
        expected = sum(p_max(k) for k in range(1, 101)) / 100
        assert each["expected_maximum"] == pytest.approx(expected, rel=1e-9)
    kinds = {finding["kind"]: finding for finding in task["findings"]}
    # 65 of 100 pass for one prompt and for ten, which need 59 and 64, not for 100.
    assert kinds["majority"]["parameters"]["passes"] == [1, 10]
    assert kinds["majority"]["text"] == (
        "Always saying 'no' is right on 65 of 100 examples, which passes p_max at t = 1 and 10."
    )


def test_a_bad_task_costs_its_own_row(capsys: pytest.CaptureFixture[str]) -> None:
    told = as_json(capsys, "tasks/primes.csv", "tasks/broken.csv", "nowhere", *COLUMNS, code=1)
    good, bad, absent = told["tasks"]
    assert (good["n"], good["problems"]) == (100, [])
    assert (bad["n"], bad["majority"]) == (None, None)
    assert bad["problems"][0].startswith("tasks/broken.csv:3: the answer 'maybe' is none of the")
    assert "there is no file or folder 'nowhere'" in absent["problems"][0]
    out = printed(capsys, "tasks/primes.csv", "tasks/broken.csv", *COLUMNS, code=1)
    assert "broken: cannot be read\n  - tasks/broken.csv:3: the answer 'maybe'" in out
    assert "2 tasks, something is wrong with 1, 1 cannot be read" in out


def test_csv_has_a_row_for_each_task_and_the_same_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = ("tasks/even.jsonl", "nowhere")
    told = as_json(capsys, *paths, code=1)["tasks"]
    out = printed(capsys, *paths, "--format", "csv", code=1)
    good, absent = csv.DictReader(io.StringIO(out))
    assert good["name"] == "even"
    assert good["choices"] == "4:60"
    assert [int(good[f"critical_count_{t}"]) for t in (1, 10, 100)] == [
        each["critical_count"] for each in told[0]["baselines"]
    ]
    assert float(good["expected_maximum_100"]) == told[0]["baselines"][2]["expected_maximum"]
    assert float(good["heuristic_longest"]) == told[0]["heuristics"]["longest"]
    assert absent["n"] == absent["expected_maximum_10"] == ""
    assert "no file or folder" in absent["problems"]
    # What stands there is what another command reads.
    assert main(["baseline", "--choices", good["choices"], "--t", "100", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["max_random_baseline"] == float(good["expected_maximum_100"])


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_a_table_fits_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    long = Path("tasks", f"{'long_' * 20}.jsonl")
    long.write_text(Path("tasks/even.jsonl").read_text())
    out = printed(capsys, str(long), "tasks/even.jsonl", "tasks/primes.csv", *COLUMNS, code=1)
    lines = out.splitlines()
    assert max(map(len, lines)) <= columns
    header, first = lines[1].split(), lines[2]
    assert header[0] == "n"
    assert header[-1] == "task"
    assert first.split()[0] == "-"  # it has no such columns
    assert "…" in first
    assert ("copies" in lines[1]) == (columns == 120)
    assert "t=100" in lines[1]
    primes = next(line for line in lines if line.endswith("primes")).split()
    assert primes[:4] == ["100", "2", ".500", ".650"]


def test_markdown_is_a_table_and_lists(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "tasks/primes.csv", *COLUMNS, "--format", "md")
    header, edges, row = out.splitlines()[:3]
    assert header.count("|") == edges.count("|") == row.count("|")
    assert "`primes`" in row
    assert "- Always saying 'no' is right on 65 of 100 examples" in out


def test_a_suite_is_judged_by_its_validation_examples(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.maxrandom.yaml").write_text(
        "models: [{name: m}]\ntasks:\n"
        "  - name: even\n    format: jsonl\n    path: tasks/even.jsonl\n"
        "    validation: {max_examples: 20}\n    test: {fraction: 0.5}\n"
    )
    (task,) = as_json(capsys, "s.maxrandom.yaml")["tasks"]
    assert (task["n"], task["examples"], task["line"]) == (20, 60, 3)
    Path("s.maxrandom.yaml").write_text(
        "models: [{name: m}]\ntasks:\n  - {name: even, format: jsonl, path: tasks/evn.jsonl}\n"
    )
    (task,) = as_json(capsys, "s.maxrandom.yaml", code=1)["tasks"]
    assert task["problems"][0].startswith("s.maxrandom.yaml:3: there is no file")


def test_a_task_of_lm_eval_is_told_with_what_it_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"question": f"q{i}", "choices": ["a", "a"] if i % 5 == 0 else [f"{i}x", f"{i}y", f"{i}z"],
         "answer": i % 3 if i % 5 else 0}
        for i in range(50)
    ]  # fmt: skip
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("own.yaml").write_text(
        "task: own\noutput_type: multiple_choice\ndataset_path: json\n"
        "dataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "doc_to_text: question\ndoc_to_choice: choices\ndoc_to_target: answer\n"
    )
    (task,) = as_json(capsys, "own.yaml")["tasks"]
    assert (task["name"], task["format"], task["n"], task["choices"]) == (
        "own", "lm_eval", 40, {"3": 40},
    )  # fmt: skip
    (finding,) = task["findings"]
    assert finding["kind"] == "unanswerable"
    assert "10" in finding["text"]
    (note,) = task["notes"]
    assert note["kind"] == "lm_eval"
    out = printed(capsys, "own.yaml", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["notes"] == note["text"]


def test_a_blank_in_a_sentence_is_no_empty_input(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"right": i % 2, "choices": [f"{i} one", f"{i} two"], "end": f"end {i}"}
            for i in range(30)]  # fmt: skip
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("blank.yaml").write_text(
        "task: blank\noutput_type: multiple_choice\ndataset_path: json\n"
        "dataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "doc_to_text: right\ndoc_to_choice: choices\ndoc_to_target: end\n"
    )
    (task,) = as_json(capsys, "blank.yaml")["tasks"]
    assert task["n"] == 30
    assert task["findings"] == []


def test_names_that_repeat_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("x", "y"):
        Path(folder).mkdir()
        Path(folder, "same.jsonl").write_text(Path("tasks/even.jsonl").read_text())
    out = printed(capsys, "x", "y")
    assert [line.split()[-1] for line in out.splitlines()[2:4]] == ["x/same.jsonl", "y/same.jsonl"]


def test_other_numbers_of_prompts_and_another_level(capsys: pytest.CaptureFixture[str]) -> None:
    told = as_json(capsys, "tasks/even.jsonl", "--t", "50,5", "--alpha", "0.01")
    assert (told["prompts"], told["alpha"]) == ([5, 50], 0.01)
    (task,) = told["tasks"]
    for each in task["baselines"]:
        least = each["critical_count"]
        for k, passes in ((least, True), (least - 1, False)):
            p = 1 - stats.binom.cdf(k - 1, 60, 0.25) ** each["t"]
            assert (p <= 0.01) == passes


def test_what_is_written_to_a_file_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    whole = printed(capsys, "tasks/even.jsonl", "--format", "csv")
    told = printed(capsys, "tasks/even.jsonl", "--format", "csv", "--output", "audit.csv")
    assert told == "1 task in audit.csv\n"
    assert Path("audit.csv").read_text() == whole


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("tasks/even.jsonl --t 0", "--t: found '0', expected numbers of prompts such as 1,10,100"),
        ("tasks/even.jsonl --t one", "--t: found 'one', expected numbers of prompts"),
        ("tasks/even.jsonl --alpha 2", "alpha must be a probability from 0 to 1, found 2.0"),
        ("tasks/even.jsonl --set x", "--set: found 'x', expected KEY=VALUE"),
        (
            "tasks/even.jsonl --set a=1 --set a.b=2",
            "--set: a.b is below a key that already has a val",
        ),
        ("tasks/even.jsonl --set a=[", "--set: '[' of a is not valid YAML"),
        ("empty", "no task in empty; expected a suite"),
        ("--set a=1", "found no PATH; expected a suite, a task file, or a folder to search"),
        ("tasks --task-format bigbench", "no task in tasks"),
        ("tasks --task-format lm_eval", "no task in tasks"),
    ],
)
def test_a_mistake_of_the_call_is_one_sentence(
    arguments: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert main(["tasks", *arguments.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"maxrandom tasks: {sentence}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_hidden_characters_of_data_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"input": f"q{i}", "choices": ["no\x1b[31m", "yes"], "answer": 0} for i in range(50)]
    Path("e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for form in ("table", "csv", "md"):
        assert "\x1b" not in printed(capsys, "e.jsonl", "--format", form)


def test_no_model_library_is_needed() -> None:
    code = (
        "import sys; from pytest_maxrandom.cli import main; code = main(['tasks', "
        "'tasks/even.jsonl']); assert not {'torch', 'transformers', 'jinja2', 'lm_eval'} & "
        "sys.modules.keys(); sys.exit(code)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_published_schema_is_that_of_the_records() -> None:
    """Refresh it with ``python -m pytest_maxrandom.reports.schema``."""
    from pytest_maxrandom.reports.schema import dump_schema, tasks_schema

    assert TASKS_PATH.read_text(encoding="utf-8") == dump_schema(tasks_schema())
