"""Sweeps that stop when their verdict is known: the verdict is that of all answers."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

N, T = 60, 20


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    """A suite of mock models with t declared; its tests are in the order of its models."""
    folder = pytester.mkdir("eval_suites")
    rows = [
        {"id": f"e{i}", "input": f"question {i * 7919 % 1000}", "choices": ["Yes", "No"],
         "answer": ("Yes", "No")[i * 31 % 7 % 2]}
        for i in range(N)
    ]  # fmt: skip
    (folder / "task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "suite.yaml"
    path.write_text(
        "models:\n"
        "  - {backend: mock, name: knows, knows: 0.9}\n"
        "  - {backend: mock, name: guesses, knows: 0}\n"
        "  - {backend: mock, name: weak, knows: 0.2}\n"
        "  - {backend: mock, name: says-no, prefers: 'No'}\n"
        "tasks:\n"
        "  - {name: task, format: jsonl, path: task.jsonl}\n"
        f"prompts: {{shots: 0, count: {T}, budget: {T}, instructions: {_instructions()}}}\n"
        "until: decided\n"
    )
    return path


def _instructions() -> str:
    return json.dumps([f"Instruction {number}. " for number in range(T)])


def _claims(pytester: pytest.Pytester, *options: str) -> dict[str, dict[str, Any]]:
    pytester.runpytest_inprocess("--maxrandom-json=r.json", "--maxrandom-report=r.md", *options)
    run = json.loads((pytester.path / "r.json").read_text())
    return {claim["model"]: claim for claim in run["claims"]}


def _lines(pytester: pytest.Pytester, model: str) -> list[dict[str, Any]]:
    files = (pytester.path / "eval_suites").rglob("*.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [row for row in rows if row.get("kind") == "prompt" and row["model"] == model]


def test_verdicts_are_those_of_all_answers_and_a_run_without_it_computes_the_rest(
    pytester: pytest.Pytester, suite: Path
) -> None:
    early = _claims(pytester)
    again = _claims(pytester)
    assert again["guesses"]["decided"] == early["guesses"]["decided"]
    assert again["guesses"]["engine"]["requests"] == 0
    rest = _claims(pytester, "--maxrandom-until=all")
    whole = _claims(pytester, "--maxrandom-until=all", "--maxrandom-store=apart.db")
    for key in ("passed", "holds"):
        assert {name: claim[key] for name, claim in early.items()} == {
            name: claim[key] for name, claim in whole.items()
        }
    assert whole["knows"]["passed"]
    assert not whole["guesses"]["passed"]
    # A pass of the default claim takes all answers, and so has all numbers.
    assert early["knows"]["decided"] is None
    assert early["knows"]["best_correct"] == whole["knows"]["best_correct"]
    assert early["knows"]["permutation_p"] == whole["knows"]["permutation_p"]
    decided = early["says-no"]["decided"]
    assert early["says-no"]["best_accuracy"] is early["says-no"]["best_correct"] is None
    assert decided["answers"] < decided["of_answers"] == N * T
    assert decided["begun"] == T
    assert decided["at_least"] <= whole["says-no"]["best_correct"] <= decided["at_most"]
    assert decided["at_most"] < early["says-no"]["critical_count"]
    assert early["says-no"]["critical_count"] == whole["says-no"]["critical_count"]
    assert early["says-no"]["t"] == T
    told = early["says-no"]["message"]
    assert f"{decided['answers']:,} of {N * T:,} answers" in told
    assert early["says-no"]["red_flags"] == []
    first, computed = early["guesses"]["engine"], rest["guesses"]["engine"]
    assert first["requests"] + computed["requests"] == whole["guesses"]["engine"]["requests"]
    timed = ("engine", "notes", "warnings")
    for name, claim in rest.items():
        assert {key: claim[key] for key in claim if key not in timed} == {
            key: whole[name][key] for key in claim if key not in timed
        }
    read = _claims(pytester, "--maxrandom-until=all")
    assert all(claim["engine"]["requests"] == 0 for claim in read.values())


@pytest.mark.slow
def test_what_is_computed_afresh_is_stored_for_a_run_without_it(
    pytester: pytest.Pytester, suite: Path
) -> None:
    early = _claims(pytester, "--maxrandom-fresh")
    again = _claims(pytester)
    assert again["guesses"]["decided"] == early["guesses"]["decided"]
    assert again["guesses"]["engine"]["requests"] == 0


def test_p_max_alone_stops_at_a_pass_and_every_report_says_so(
    pytester: pytest.Pytester, suite: Path
) -> None:
    with suite.open("a") as file:
        file.write("assert: {p_max: 0.05, red_flags: warn}\n")
    early = _claims(pytester)
    knows = early["knows"]
    assert knows["passed"]
    assert knows["decided"]["begun"] == knows["decided"]["whole"] == 1
    assert knows["decided"]["answers"] == N
    assert knows["decided"]["at_least"] >= knows["critical_count"]
    assert knows["verdict"] == "above maximum"
    assert knows["best_accuracy"] is knows["p_max"] is None
    assert [each["kind"] for each in knows["notes"]] == ["labels_not_tested"]
    assert len(_lines(pytester, "knows")) == 1
    assert knows["tries"]["claim"] == 1
    assert knows["tries"]["counted"] == "budget"
    report = (pytester.path / "r.md").read_text()
    assert "There is no check for preferred labels" in report
    assert f"at least {knows['decided']['at_least']} of {N} correct" in report
    assert len(_lines(pytester, "guesses")) == T
    assert all(line["n"] < N for line in _lines(pytester, "guesses"))
    most = early["guesses"]["decided"]["at_most"]
    share = f"{most / N:.3f}".removeprefix("0")
    for language in ("markdown", "html", "latex", "csv"):
        main(["report", "r.json", "--format", language, "--out", language])
    for language in ("markdown", "html", "latex"):
        told = (pytester.path / language).read_text(encoding="utf-8")
        assert f"at most {share}" in told or f"at most {most}/{N}" in told, language
    assert "were begun" in (pytester.path / "markdown").read_text(encoding="utf-8")
    rows = csv.DictReader((pytester.path / "csv").read_text(encoding="utf-8").splitlines())
    (row,) = (row for row in rows if row["model"] == "guesses")
    assert (row["decided_at_most"], row["best_accuracy"]) == (str(most), "")
    whole = _claims(pytester, "--maxrandom-until=all")
    assert {name: claim["passed"] for name, claim in early.items()} == {
        name: claim["passed"] for name, claim in whole.items()
    }
    assert whole["knows"]["tries"]["claim"] == T


@pytest.mark.parametrize(
    "claimed",
    [
        "{p_max: 0.05, red_flags: warn}",
        pytest.param("{union_p: 0.05, beats: max_random}", marks=pytest.mark.slow),
        pytest.param("{p_max: 0.05}", marks=pytest.mark.slow),
    ],
)
def test_prompts_that_leave_out_their_own_examples(
    pytester: pytest.Pytester, suite: Path, claimed: str
) -> None:
    rows = (suite.parent / "task.jsonl").read_text().splitlines()
    made = [json.loads(row) for row in rows]
    for row in made[::3]:  # so that what is left out has other chances
        row["choices"] = ["Yes", "No", "Perhaps"]
    (suite.parent / "task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    text = suite.read_text().replace("shots: 0", "shots: 4, demonstrations: leave_out")
    suite.write_text(f"{text}assert: {claimed}\n")
    early = _claims(pytester)
    whole = _claims(pytester, "--maxrandom-until=all", "--maxrandom-store=apart.db")
    for name, claim in early.items():
        assert (claim["holds"], claim["passed"]) == (whole[name]["holds"], whole[name]["passed"])
        assert claim["critical_count"] == whole[name]["critical_count"]
        if decided := claim["decided"]:
            assert decided["of_answers"] == T * (N - 4)
            assert decided["at_least"] <= whole[name]["best_correct"] <= decided["at_most"]
    assert early["says-no"]["decided"]
    if "warn" in claimed:
        assert early["knows"]["decided"]["begun"] < T


def test_what_cannot_stop_says_why(pytester: pytest.Pytester, suite: Path) -> None:
    text = suite.read_text().replace(f", budget: {T}", "")
    suite.write_text(text)
    result = pytester.runpytest_inprocess("--collect-only", "-q")
    result.stdout.fnmatch_lines(["*suite.yaml:*until: `decided` needs to know t*"])
    suite.write_text(text.replace("until: decided\n", ""))
    result = pytester.runpytest_inprocess("--collect-only", "--maxrandom-until=decided")
    result.stdout.fnmatch_lines(["*not decided early: t is not declared*"])
    found = _claims(pytester, "--maxrandom-until=decided")["guesses"]
    assert found["best_correct"] is not None
    assert [each["kind"] for each in found["notes"]] == ["not_decided_early"]


def test_predictions_need_all_answers(pytester: pytest.Pytester, suite: Path) -> None:
    result = pytester.runpytest_inprocess(
        "--maxrandom-until=decided", "--maxrandom-predictions=p.jsonl"
    )
    result.stderr.fnmatch_lines(["*--maxrandom-until decided skips answers*"])
    claims = _claims(pytester, "--maxrandom-predictions=p.jsonl")
    assert all(claim["decided"] is None for claim in claims.values())


def test_a_pass_takes_all_answers_where_red_flags_may_fail_it(
    pytester: pytest.Pytester, suite: Path
) -> None:
    """Constant answers reach the critical count, which only a red flag tells from knowledge."""
    rows = (suite.parent / "task.jsonl").read_text().splitlines()
    made = [json.loads(row) for row in rows]
    for place, row in enumerate(made):
        row["answer"] = "Yes" if place % 5 == 0 else "No"
    (suite.parent / "task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    with suite.open("a") as file:
        file.write("assert: {p_max: 0.05}\n")
    result = pytester.runpytest_inprocess("--collect-only")
    result.stdout.fnmatch_lines(["*a failure is decided early; a pass takes all answers*"])
    claim = _claims(pytester)["says-no"]
    assert claim["holds"]
    assert not claim["passed"]
    assert claim["decided"] is None
    assert "majority" in {flag["kind"] for flag in claim["red_flags"]}


def test_a_test_set_is_opened_by_the_best_prompt_only(
    pytester: pytest.Pytester, suite: Path
) -> None:
    text = suite.read_text().replace("task.jsonl}", "task.jsonl, test: {fraction: 0.4}}")
    suite.write_text(f"{text}assert: {{p_max: 0.05, red_flags: warn}}\n")
    early = _claims(pytester)
    assert early["knows"]["decided"] is None
    assert early["knows"]["test"]["openings"] == 1
    assert early["guesses"]["decided"]
    assert early["guesses"]["test"] is None


@pytest.mark.parametrize(
    ("claimed", "decided"), [("", False), ("assert: {p_max: 0.05, red_flags: warn}\n", True)]
)
def test_an_expected_failure_is_one_for_its_own_reason(
    pytester: pytest.Pytester, suite: Path, claimed: str, decided: bool
) -> None:
    with suite.open("a") as file:
        file.write(f"xfail: it guesses\n{claimed}")
    claims = _claims(pytester)
    assert bool(claims["guesses"]["decided"]) == decided
    assert claims["guesses"]["outcome"] == "xfailed"
    assert claims["knows"]["outcome"] == "xpassed"
