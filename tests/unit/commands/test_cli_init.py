"""`maxrandom init`: a suite that passes `check`, whose comments are right about its own task."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy import optimize, stats

from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import KEYS
from pytest_maxrandom.studies.plan import plan_file, sweeps_of

OUT = Path("eval_suites/even.yaml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data of 90 questions with four choices, and 300 with two or five."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    rows = [
        {"input": f"question {i}", "choices": [f"{i}{c}" for c in "abcd"], "answer": i % 4}
        for i in range(90)
    ]
    (data / "even.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mixed = [
        {"input": f"question {i}", "choices": [f"{i}{c}" for c in "abcde"[: 2 if i % 2 else 5]],
         "answer": i % 2}
        for i in range(300)
    ]  # fmt: skip
    (data / "mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in mixed))
    return data


def _init(*arguments: str, task: str = "data/even.jsonl", model: str = "mock") -> int:
    return main(["init", "--task", task, "--model", model, *arguments])


def _table(text: str) -> dict[int, list[str]]:
    """Return the rows of the only table by t: all that follows."""
    rows = re.findall(r"^  #\s+>?\s*([\d,]+) {2,}([.\d].*)$", text, re.MULTILINE)
    return {int(t.replace(",", "")): re.split(r" {2,}", rest.strip()) for t, rest in rows}


def test_the_suite_is_accepted_and_collected(capsys: pytest.CaptureFixture[str]) -> None:
    assert _init("--t", "30") == 0
    assert f"maxrandom check {OUT}" in capsys.readouterr().out
    assert main(["check", str(OUT)]) == 0
    assert capsys.readouterr().out == "1 suite, no mistake\n"
    assert KEYS in OUT.read_text()
    suite = yaml.safe_load(OUT.read_text())
    assert suite["tasks"][0]["path"] == "../data/even.jsonl"
    assert suite["prompts"] == {"shots": [4], "count": 30}
    assert not [path for path in OUT.parent.iterdir() if path != OUT]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only"]
    told = subprocess.run([*command, str(OUT)], capture_output=True, text=True, check=True).stdout
    assert "even[mock-4shot]" in told
    assert "t=30 n=86" in told


def test_all_of_a_simulated_model_stands_on_the_line_that_a_real_one_replaces() -> None:
    assert _init() == 0
    lines = OUT.read_text().splitlines()
    (at,) = [place for place, line in enumerate(lines) if "mock" in line or "knows" in line]
    assert "replace this whole line" in lines[at]
    assert yaml.safe_load(lines[at]) == [{"name": "mock", "backend": "mock", "knows": 0.6}]
    real = yaml.safe_load("\n".join([*lines[:at], "  - {name: some/model}", *lines[at + 1 :]]))
    assert real["models"] == [{"name": "some/model"}]


@pytest.mark.parametrize(
    ("shots", "claimed"),
    [
        (["0"], {"permutation_p": 0.05, "beats": "max_random"}),
        (["2"], {"p_max": 0.05, "permutation_p": 0.05}),
        (["0", "2"], None),
    ],
)
def test_it_claims_what_a_suite_claims_by_default(
    shots: list[str], claimed: dict[str, Any] | None
) -> None:
    assert _init(*(each for number in shots for each in ("--shots", number))) == 0
    said = yaml.safe_load(OUT.read_text())
    assert said.get("assert") == claimed
    plain = {key: value for key, value in said.items() if key != "assert"}
    (OUT.parent / "plain.yaml").write_text(yaml.safe_dump(plain))
    of_plain, of_init = (
        [claim.claim.bounds() for claim in sweeps_of(plan_file(path))]
        for path in (OUT.parent / "plain.yaml", OUT)
    )
    assert of_plain == of_init
    alike = "The more alike they answer, the fewer are needed" in OUT.read_text()
    assert alike == any("p_max" not in each for each in of_plain)


@pytest.mark.parametrize("task", ["even", "mixed"])
def test_its_numbers_are_those_of_its_own_examples_and_choices(task: str) -> None:
    assert _init("--shots", "2", "--t", "7", task=f"data/{task}.jsonl") == 0
    text = Path(f"eval_suites/{task}.yaml").read_text()
    n = int(re.findall(r"n = (\d+)", text)[0])
    assert n == {"even": 88, "mixed": 200}[task]
    marked = re.findall(r"> +(\d+)", text)
    assert marked == ["7"]
    table = _table(text)
    assert list(table) == [1, 7, 10, 100, 1000]
    if task == "mixed":
        return  # below for chances that are mixed
    counts = stats.binom(n, 1 / 4)
    for t, (expected, needed, at_n, at_2n) in table.items():
        p_max = [1 - counts.cdf(k - 1) ** t for k in range(n + 1)]
        critical = next(k for k, p in enumerate(p_max) if p <= 0.05)
        assert needed == f"{critical}/{n} = {critical / n:.3f}".replace("= 0.", "= .")
        assert float(expected) == pytest.approx(sum(p_max[1:]) / n, abs=5e-4)
        for shown, examples in ((at_n, n), (at_2n, 2 * n)):
            guesses = stats.binom(examples, 1 / 4)
            k = next(k for k in range(examples) if 1 - guesses.cdf(k - 1) ** t <= 0.05)
            true = optimize.brentq(
                lambda a, k=k, m=examples: stats.binom.sf(k - 1, m, a) - 0.8, 0.01, 0.999
            )
            assert float(shown) == pytest.approx(true, abs=6e-4)


def test_mixed_numbers_of_choices_are_counted_not_averaged() -> None:
    assert _init("--shots", "0", "--n", "300", task="data/mixed.jsonl") == 0
    needed = _table(Path("eval_suites/mixed.yaml").read_text())[100][1]
    one = stats.binom(150, 1 / 2).pmf(range(151))
    other = stats.binom(150, 1 / 5).pmf(range(151))
    pmf = [0.0] * 301
    for i, p in enumerate(one):
        for j, q in enumerate(other):
            pmf[i + j] += p * q
    below, critical = 0.0, 0
    while 1 - below**100 > 0.05:
        below += pmf[critical]
        critical += 1
    assert needed.startswith(f"{critical}/300 ")


def test_no_more_examples_are_asked_for_than_there_are() -> None:
    assert _init(task="data/even.jsonl") == 0
    assert _init("--n", "80", "--out", "fewer.maxrandom.yaml", task="data/even.jsonl") == 0
    said = [yaml.safe_load(path.read_text()) for path in (OUT, Path("fewer.maxrandom.yaml"))]
    assert [suite["tasks"][0].get("validation") for suite in said] == [None, {"max_examples": 80}]


def test_where_demonstrations_come_from_and_that_prompts_run_out_is_said() -> None:
    assert _init("--n", "60", "--shots", "0", "--shots", "3") == 0
    text = OUT.read_text()
    assert "0-shot: n = 60 of 90 examples." in text
    assert "3-shot: n = 60 of 90 examples; demonstrations come from the other 30." in text
    assert "even, 0-shot, n = 60, t = 1:\n  # (only 1 distinct prompt can be drawn here)" in text
    assert _init("--out", "all.maxrandom.yaml") == 0
    text = Path("all.maxrandom.yaml").read_text()
    assert "4-shot: n = 86. There are 90 examples, too few to set some aside:" in text


def test_several_tasks_and_models_stand_in_one_suite(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = folder / "my-model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    arguments = ["--task", "data/mixed.jsonl", "--model", "data/my-model", "--model", "some/model"]
    assert _init(*arguments) == 0
    suite = yaml.safe_load(OUT.read_text())
    assert [each["name"] for each in suite["models"]] == ["mock", "../data/my-model", "some/model"]
    assert [each["name"] for each in suite["tasks"]] == ["even", "mixed"]
    assert main(["check", str(OUT)]) == 0


def test_columns_are_written_as_they_are_told(folder: Path) -> None:
    (folder / "own.csv").write_text(
        "question,A,B,label\n"
        + "".join(f"is {i}?,no,yes,{'yes' if i % 2 else 'no'}\n" for i in range(60))
    )
    columns = {"input": "question", "choices": ["A", "B"], "answer": "label"}
    words = [f"--set=columns.{key}={json.dumps(value)}" for key, value in columns.items()]
    assert _init(*words, task="data/own.csv") == 0
    (task,) = yaml.safe_load(Path("eval_suites/own.yaml").read_text())["tasks"]
    assert task["columns"] == columns
    assert main(["check", "eval_suites"]) == 0


def test_nothing_is_ever_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    OUT.parent.mkdir()
    OUT.write_text("mine")
    assert _init() == 2
    assert capsys.readouterr().err == (
        "maxrandom init: eval_suites/even.yaml already exists and was not changed; give --out "
        "another name\n"
    )
    assert OUT.read_text() == "mine"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"task": "data/evn.jsonl"}, "there is no file or folder 'data/evn.jsonl'"),
        ({"model": "./nowhere"}, "--model: there is no file or folder ./nowhere"),
        ({"model": "http://localhost:8000"}, "write the keys backend, url and name"),
        ({"model": "a b"}, "eval_suites/even.yaml: models[0].name"),
        ({"arguments": ["--out", "even.yaml"]}, "pytest would not collect even.yaml"),
        ({"arguments": ["--t", "0"]}, "eval_suites/even.yaml: `prompts.count`: found 0"),
        ({"arguments": ["--n", "3", "--t", "900"]}, "eval_suites/even.yaml: "),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_leaves_nothing(
    changed: dict[str, object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = changed.pop("arguments", [])
    assert _init(*arguments, **changed) == 2  # type: ignore[arg-type,misc]
    said = capsys.readouterr().err
    assert said.startswith("maxrandom init: ")
    assert told in said
    assert not OUT.parent.exists()


def test_a_suite_is_no_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert _init() == 0
    assert _init("--out", "b.maxrandom.yaml", task=str(OUT)) == 2
    assert "is a suite already" in capsys.readouterr().err


REVIEWS = [
    (f"this film is {i} times good", ("negative", "neutral", "positive")[i % 3]) for i in range(60)
]


def _reviews(header: str = "text,sentiment") -> None:
    rows = [",".join(review) for review in REVIEWS]
    Path("reviews.csv").write_text("\n".join([header, *rows]) + "\n")


def test_several_keys_may_follow_one_set() -> None:
    _reviews()
    assert _init("--set", "columns.input=text", "columns.answer=sentiment", task="reviews.csv") == 0
    (task,) = yaml.safe_load(Path("eval_suites/reviews.yaml").read_text())["tasks"]
    assert task["columns"] == {"input": "text", "answer": "sentiment"}


def test_an_answer_that_is_no_choice_is_told_once_with_its_number_of_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _reviews("input,answer")
    assert _init("--set", "choices=[negative, positive]", task="reviews.csv") == 2
    assert capsys.readouterr().err == (
        "maxrandom init: reviews.csv:3: the answer 'neutral' is none of the choices 'negative', "
        f"'positive' (the same in {sum(a == 'neutral' for _, a in REVIEWS)} rows; this is the "
        "first)\n"
    )


def test_a_slip_in_a_named_column_is_told_without_a_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _reviews()
    assert _init("--set", "columns.input=txet", "columns.answer=sentiment", task="reviews.csv") == 2
    said = capsys.readouterr().err
    assert "reviews.csv:1: the column 'txet'" in said
    assert "did you mean 'text'?" in said
    assert "named in" not in said
