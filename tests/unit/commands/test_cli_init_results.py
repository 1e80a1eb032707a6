"""`maxrandom init --results`: a suite that reads what exists, or all that is missing at once."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.cli import main
from pytest_maxrandom.studies.plan import plan_file
from tests.unit.recorded.logs import inspect_logs, lm_eval_logs
from tests.unit.recorded.suites import write_csv

GOLD = [example % 2 for example in range(12)]
SAID = [[(example * prompt) % 3 % 2 for example in range(12)] for prompt in range(1, 6)]
RIGHT = [sum(one == right for one, right in zip(row, GOLD, strict=True)) for row in SAID]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(**names: str) -> list[dict[str, Any]]:
    return [
        {
            names.get("prompt", "prompt"): f"wording {prompt}",
            names.get("example", "example"): f"q{example}",
            names.get("prediction", "prediction"): "ny"[said],
            names.get("gold", "gold"): "ny"[GOLD[example]],
        }
        for prompt, row in enumerate(SAID)
        for example, said in enumerate(row)
    ]


def init(*arguments: str) -> int:
    return main(["init", *arguments])


def claims(path: str) -> list[RecordedClaim]:
    return [each for each in plan_file(Path(path)) if isinstance(each, RecordedClaim)]


def _csv() -> str:
    content = rows(gold="Gold Label (final)", prompt="Prompt Nr.")
    write_csv(Path("a.csv"), content, ";", encoding="utf-8-sig")
    return "a.csv"


def _jsonl() -> str:
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(example="qid")))
    return "a.jsonl"


def _parquet() -> str:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows(prediction="pred")), "a.parquet")
    return "a.parquet"


def _npz() -> str:
    arrays: dict[str, Any] = {
        "prompt_ids": [f"p{i}" for i in range(5)],
        "example_ids": range(12),
        "answers": SAID,
        "gold": GOLD,
        "choice_texts": [["n", "y"]] * 12,
    }
    named: dict[str, Any] = {f"a__0__{name}": np.array(each) for name, each in arrays.items()}
    np.savez("correct_a.npz", **named)
    return "correct_a.npz"


@pytest.mark.parametrize("written", [_csv, _jsonl, _parquet, _npz])
def test_every_kind_of_file_gives_the_suite_of_its_answers(
    written: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written()
    assert init("--results", source, "--out", "a.maxrandom.yaml") == 0
    assert "pytest a.maxrandom.yaml" in capsys.readouterr().out
    [claim] = claims("a.maxrandom.yaml")
    assert claim.evidence is not None
    assert claim.null is not None
    assert (claim.null.t, claim.evidence.n, claim.null.standard_baseline) == (5, 12, 0.5)
    assert claim.evidence.results.correct_counts.tolist() == RIGHT
    assert main(["check", "a.maxrandom.yaml"]) == 0


def test_what_seems_so_is_told_with_its_reason_and_stands_in_the_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert init("--results", _csv(), "--model", "my model", "--set", "shots=2") == 0
    told, suite = capsys.readouterr().out, Path("eval_suites/a.yaml").read_text()
    assert "a.csv holds 5 prompts and 12 examples" in told
    assert "'Gold Label (final)'  'label' is in its name" in told
    assert "chance      1/2" in told
    assert "gold: Gold Label (final)  # 'label' is in its name" in suite
    [model] = yaml.safe_load(suite)["models"]
    assert (model["name"], model["results"]["shots"]) == ("my model", 2)
    assert model["results"]["path"] == "../a.csv"


def test_all_that_is_missing_comes_in_one_message_whose_line_runs_in_a_shell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = [dict(zip(["one col", "two", "it's"], row.values(), strict=False)) for row in rows()]
    write_csv(Path("my file.csv"), content[:30] + content[:30])
    assert init("--results", "my file.csv", "--set", "columns.gold=two") == 2
    told = capsys.readouterr().err
    first, *reasons = told.partition("\nOf its columns")[0].splitlines()
    assert first.endswith("4 things that a claim needs are not known")
    keys = [key for line in reasons for key in line.partition(": ")[0].strip().split(", ")]
    assert keys == ["columns.prompt", "columns.example", "columns.prediction", "chance"]
    assert len({line.partition(": ")[2] for line in reasons}) == len(reasons)
    assert '''free are 'one col', "it's"''' in told
    *_, line = told.splitlines()
    program, command, *words = shlex.split(line)
    assert (program, command) == ("maxrandom", "init")
    assert words[:4] == ["--results", "my file.csv", "--set", "columns.gold=two"]
    pairs = dict(word.split("=") for word in words[5::2])
    assert pairs["chance"] == "1/4"
    assert pairs["columns.prompt"] == "COLUMN"


def test_of_right_and_wrong_only_p_max_is_claimed_and_the_reason_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = [
        {"prompt": row["prompt"], "example": row["example"], "hit": f"{int(said)},0"}
        for row in rows()
        for said in [row["prediction"] == row["gold"]]
    ]
    write_csv(Path("a.csv"), content, ";")
    assert init("--results", "a.csv") == 2
    assert "--set chance=1/4" in capsys.readouterr().err
    assert init("--results", "a.csv", "--set", "chance=1/2") == 0
    assert "cannot be distinguished" in " ".join(capsys.readouterr().out.split())
    [claim] = claims("eval_suites/a.yaml")
    assert claim.claim.asserted() == {"p_max": 0.05}
    assert claim.evidence is not None
    assert claim.evidence.results.correct_counts.tolist() == RIGHT


def test_of_letters_is_claimed_what_they_can_show() -> None:
    letters = [
        row | {"prediction": "AB"[row["prediction"] == "y"], "gold": "AB"[row["gold"] == "y"]}
        for row in rows()
    ]
    write_csv(Path("a.csv"), letters)
    assert init("--results", "a.csv") == 0
    [claim] = claims("eval_suites/a.yaml")
    assert claim.claim.asserted() == {"permutation_p": 0.05, "beats": "max_random"}
    assert claim.claim.cannot_tell is None


def test_models_tasks_and_shots_of_a_file_are_claims_of_their_own() -> None:
    content = [
        {"llm": model, "dataset": task, "n_shots": shots, **row}
        for model, task in (("m", "one"), ("m", "two"), ("n", "two"))
        for shots in (0, 4)
        for row in rows()
    ]
    write_csv(Path("a.csv"), content)
    assert init("--results", "a.csv") == 0
    named = {each.name: each.missing is None for each in claims("eval_suites/a.yaml")}
    assert {name for name, there in named.items() if there} == {
        "one[m-0shot]", "one[m-4shot]", "two[m-0shot]", "two[m-4shot]", "two[n-0shot]",
        "two[n-4shot]",
    }  # fmt: skip
    assert [name for name, there in named.items() if not there] == ["one[n]"]


def test_logs_of_other_tools_need_no_word_about_them() -> None:
    documents = [
        lm_eval_logs.Document([" a", " b"], [-1.0, -2.0], target=str(each % 2), acc=1.0 - each % 2)
        for each in range(8)
    ]
    Path("runs").mkdir()
    lm_eval_logs.write_run(Path("runs"), lm_eval_logs.Run(documents))
    assert init("--results", "runs") == 0
    assert [each.name for each in claims("eval_suites/runs.yaml")] == ["weather[small-2shot]"]
    Path("logs").mkdir()
    inspect_logs.write_json(Path("logs/one.json"), inspect_logs.Log())
    assert init("--results", "logs") == 0
    assert [each.name for each in claims("eval_suites/logs.yaml")] == ["colours[small-2shot]"]


def test_a_metric_is_that_of_the_samples_or_what_prompts_are_best_in() -> None:
    documents = [
        lm_eval_logs.Document(
            [" a", " b"], [-1.0, -2.0], target=str(each % 2), acc=1.0 - each % 2, f1=each / 8
        )
        for each in range(8)
    ]
    Path("runs").mkdir()
    lm_eval_logs.write_run(Path("runs"), lm_eval_logs.Run(documents))
    for metric in ("f1", "macro_f1"):
        out = f"eval_suites/{metric}.yaml"
        assert init("--results", "runs", "--out", out, "--set", f"metric={metric}") == 0
        suite = yaml.safe_load(Path(out).read_text())
        own = suite["models"][0]["results"]
        assert (own.get("metric"), suite.get("metric")).count(metric) == 1
        assert ("metric" in own) == (metric == "f1")


def test_a_format_that_somebody_says_needs_no_ending() -> None:
    Path(_npz()).rename("correct_a.bin")
    assert init("--results", "correct_a.bin") == 2
    assert init("--results", "correct_a.bin", "--set", "format=npz") == 0


def test_published_maxima_lack_only_what_they_do_not_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.csv").write_text("Model,Task,N,Accuracy\nm,one,100,0.62\n")
    assert init("--results", "a.csv") == 2
    assert "--set chance=1/4 --set t=200" in capsys.readouterr().err
    assert init("--results", "a.csv", "--set", "chance=1/2", "t=200") == 0
    [claim] = claims("eval_suites/a.yaml")
    assert claim.null is not None
    assert (claim.null.t, claim.claim.asserted()) == (200, {"p_max": 0.05})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--results", "b.csv"], "there is no file or folder b.csv; did you mean 'a.csv'?"),
        (["--results", "a.csv", "--task", "a.csv"], "--task does not go with --results"),
        (["--results", "a.csv", "--set", "columns.promt=x"], "did you mean 'prompt'?"),
        (["--results", "a.csv", "--set", "columns.prompt=Prompt"], "did you mean 'Prompt Nr.'?"),
        (["--results", "a.csv", "--set", "chanse=1/2"], "unknown key `chanse`"),
        (["--results", "a.csv", "--model", "m", "--model", "n"], "give one name with --results"),
        (["--task", "a.csv"], "--model is missing"),
        ([], "--task and --model are missing"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_written(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _csv()
    assert init(*arguments) == 2
    assert told in capsys.readouterr().err
    assert not Path("eval_suites").exists()


def test_answers_that_are_given_as_a_task_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert init("--task", _csv(), "--model", "mock") == 2
    assert "`maxrandom init --results a.csv`" in capsys.readouterr().err
