"""Suites of mock models run whole, without torch, and nothing takes them for results of a model."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = """\
models:
  - {name: knows-half, backend: mock, knows: 0.5}
  - {name: guesses, backend: mock}
  - {name: says-no, backend: mock, prefers: "no"}
tasks:
  - {name: primes, format: csv, path: primes.csv, choices: ["yes", "no"]}
prompts: {shots: 2, count: 20}
"""
SAID = "simulated: the answers were made up by a rule, and say nothing of any real model"
ALL = f"All results are {SAID}"


@pytest.fixture
def example(pytester: pytest.Pytester) -> Path:
    """Mock models that know half, guess, and say one label."""
    folder = pytester.mkdir("eval_suites")
    (folder / "first.yaml").write_text(SUITE)
    rows = [
        f"Is {n} prime?,{'no' if any(n % k == 0 for k in range(2, n)) else 'yes'}"
        for n in range(2, 122)
    ]
    (folder / "primes.csv").write_text("\n".join(["input,answer", *rows, ""]))
    return folder


def _report(pytester: pytest.Pytester) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((pytester.path / "r.json").read_text())
    return report


def test_who_guesses_or_says_one_label_does_not_pass(
    pytester: pytest.Pytester, example: Path
) -> None:
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=2)
    claims = {claim["model"]: claim for claim in _report(pytester)["claims"]}
    assert {name: claim["passed"] for name, claim in claims.items()} == {
        "knows-half": True,
        "guesses": False,
        "says-no": False,
    }
    assert [claim["id"].partition("::")[2] for claim in claims.values()] == [
        f"primes[{name}-2shot]" for name in claims
    ]
    assert round(claims["says-no"]["best_accuracy"], 2) == 0.76
    assert claims["says-no"]["p_max"] < 0.05 < claims["says-no"]["permutation_p"]


@pytest.mark.slow
def test_neither_torch_nor_transformers_is_needed(pytester: pytest.Pytester, example: Path) -> None:
    pytester.makeconftest("import sys\nsys.modules['torch'] = sys.modules['transformers'] = None")
    pytester.runpytest_subprocess().assert_outcomes(passed=1, failed=2)


def test_every_report_says_that_results_are_simulated(
    pytester: pytest.Pytester, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.stdout.fnmatch_lines([ALL])
    report = pytester.path / "r.json"
    assert all(claim["simulated"] for claim in _report(pytester)["claims"])
    texts = {"markdown": (pytester.path / "r.md").read_text()}
    for form in ("html", "latex", "csv"):
        capsys.readouterr()
        assert main(["report", str(report), "--format", form]) == 0
        texts[form] = capsys.readouterr().out
    assert main(["comment", str(report), "--dry-run", "--out", "comment.md"]) == 0
    texts["comment"] = Path("comment.md").read_text()
    computing = ("Cost:", "Precision:", "models on")
    assert [word for word in computing if word in texts["markdown"]] == []
    assert "**Computed:** by a rule: the answers are simulated" in texts["markdown"]
    header, *rows = texts.pop("csv").splitlines()
    place = header.split(",").index("simulated")
    assert len(rows) == 3
    assert place > 0
    assert [form for form, text in texts.items() if SAID not in " ".join(text.split())] == []


def test_they_are_counted_and_kept_apart_from_a_users_results(
    pytester: pytest.Pytester, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_repository(pytester.path)
    for seed, reused, look, t in ((0, 0, 1, 20), (0, 20, 1, 20), (1, 0, 2, 40)):
        text = (example / "first.yaml").read_text()
        (example / "first.yaml").write_text(
            re.sub("count: 20.*}", f"count: 20, seed: {seed}}}", text)
        )
        pytester.runpytest("--maxrandom-json=r.json")
        for claim in _report(pytester)["claims"]:
            assert (claim["engine"]["reused"], claim["tries"]["look"]) == (reused, look)
            assert claim["t"] == t
    apart = example / "maxrandom-ledger-simulated"
    assert {path.name for path in example.iterdir()} == {"first.yaml", "primes.csv", apart.name}
    stores = {path.name for path in (pytester.path / ".maxrandom").iterdir()}
    assert stores == {".gitignore", "results-simulated.db"}
    said = git(pytester.path, "status", "--porcelain", "--untracked-files=all").split()
    assert not [name for name in said if "simulated" in name]
    capsys.readouterr()
    assert main(["ledger", "show"]) == 0
    nothing = capsys.readouterr().out
    assert nothing.startswith("no ledger below")
    assert f"tries of mock models are in {apart.relative_to(pytester.path)}" in nothing
    assert main(["ledger", "show", str(apart)]) == 0
    assert capsys.readouterr().out.count("  40  ") == 3


@pytest.mark.slow
def test_a_gate_does_not_pass_on_them(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = (example / "first.yaml").read_text()
    kept = [line for line in suite.splitlines() if "guesses" not in line and "says-no" not in line]
    (example / "first.yaml").write_text("\n".join(kept))
    assert main(["gate", "eval_suites"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        "maxrandom gate: failed: 1 of 1 claim passes; the result is simulated: the answers were "
        "made up by a rule, and say nothing of any real model; a gate needs models that are run"
    )


READ = """\
models:
- {name: knows-half, backend: recorded, results: {path: ../p.jsonl, format: predictions}}
- {name: guesses, backend: recorded, results: {path: ../p.jsonl, format: predictions}}
tasks: [{name: primes}]
compare: [knows-half - guesses]
assert: {p_max: 0.5, red_flags: {majority: ignore}}
"""


@pytest.mark.slow
def test_what_they_answered_stays_simulated_when_it_is_read_back(
    pytester: pytest.Pytester, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytester.runpytest("--maxrandom-predictions=p.jsonl")
    lines = (pytester.path / "p.jsonl").read_text().splitlines()
    assert {json.loads(line)["simulated"] for line in lines} == {True}
    (example / "first.yaml").write_text(READ)
    gate = (sys.executable, "-m", "pytest_maxrandom.cli", "gate", "eval_suites")
    done = pytester.run(*gate)
    assert (done.ret, done.outlines[-1]) == (
        1,
        f"maxrandom gate: failed: 2 of 2 claims pass; 1 comparison reported; all results "
        f"are {SAID}; a gate needs models that are run",
    )
    report = json.loads((pytester.path / "maxrandom-report" / "report.json").read_text())
    kinds = ("claims", "comparisons")
    assert all(record["simulated"] for kind in kinds for record in report[kind])
    assert {kind: len(report[kind]) for kind in kinds} == {
        "claims": 2, "comparisons": 1,
    }  # fmt: skip
    assert ALL in (pytester.path / "maxrandom-report" / "report.md").read_text()
    assert main(["holdout", "p.jsonl", "--splits=2"]) == 0
    assert capsys.readouterr().out.count("knows-half (simulated)") == 2


WHOLE = """\
models: [{name: m, backend: mock, knows: 0.6}]
arms:
  as-is: {}
  worse: {knows: 0.2}
tasks: [{name: primes, format: csv, path: primes.csv, choices: ["yes", "no"]}]
prompts: {shots: 1, count: 5}
replicates: 3
label_bias: {interactions: [cloze, counterfactual]}
compare: [{arms: as-is - worse, assert: {better: 0.0}}]
assert: {p_max: 0.05}
"""


def _records(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind in ("claims", "replicates", "label_bias", "comparisons"):
        assert report[kind]
        yield from report[kind]


@pytest.mark.slow
def test_all_kinds_of_items_run_the_same_in_any_number_of_processes(
    pytester: pytest.Pytester, example: Path
) -> None:
    (example / "first.yaml").write_text(WHOLE)
    told = []
    for arguments in ((), ("-n", "2")):
        pytester.runpytest("--maxrandom-json=r.json", *arguments)
        report = _report(pytester)
        assert all(record["simulated"] for record in _records(report))
        told.append([(each["id"], each["outcome"]) for each in _records(report)])
        told[-1].append(("difference", round(report["comparisons"][0]["difference"], 9)))
    assert told[0] == told[1]
    outcomes = dict(told[0])
    assert outcomes["eval_suites/first.yaml::primes::compare[as-is-worse]"] == "passed"
    assert outcomes["eval_suites/first.yaml::primes[as-is-1shot]::label_bias"] == "passed"


def test_neither_they_nor_models_that_are_run_count_for_the_other(
    pytester: pytest.Pytester, real_suites: Path, tiny_llama: Path
) -> None:
    text = (real_suites / "suite.yaml").read_text()
    # Even of one name they are two.
    text = text.replace("tasks:", f"  - {{name: {tiny_llama}, backend: mock, label: m}}\ntasks:", 1)
    text += "assert: {count: task, p_max: 0.05, red_flags: warn}\n"
    begin_repository(pytester.path)

    def told(instruction: str) -> tuple[set[int], dict[bool, set[tuple[int, int, int]]], set[str]]:
        said = f"shots: 0\n  instructions: ['{instruction}']"
        (real_suites / "suite.yaml").write_text(text.replace("shots: 0", said))
        collected = pytester.runpytest("--collect-only").stdout.str()
        pytester.runpytest("--maxrandom-json=r.json")
        found: dict[bool, set[tuple[int, int, int]]] = {True: set(), False: set()}
        for claim in _report(pytester)["claims"]:
            tries, engine = claim["tries"], claim["engine"]
            found[claim["simulated"]].add((claim["t"], tries["look"], engine["reused"]))
        warnings = {text for claim in _report(pytester)["claims"] for text in claim["warnings"]}
        return set(map(int, re.findall(r" t=(\d+)", collected))), found, warnings

    assert told("") == ({1}, {True: {(1, 1, 0)}, False: {(1, 1, 0)}}, set())
    commit(pytester.path)
    assert told("Say:") == ({2}, {True: {(2, 2, 0)}, False: {(2, 2, 0)}}, set())
    assert told("Say:") == ({2}, {True: {(2, 2, 1)}, False: {(2, 2, 1)}}, set())
    # What was committed of a model that is run is nothing that a mock model elsewhere must have.
    other = pytester.mkdir("other")
    shutil.copytree(real_suites / "data", other / "data")
    (other / "s.maxrandom.yaml").write_text(re.sub("  - name: .*?(?=  - {)", "", text, flags=re.S))
    assert main(["ledger", "verify", "--base", "HEAD"]) == 0
    shutil.rmtree(other)
    # Where one of them is forgotten, the other is none of it.
    shutil.rmtree(real_suites / "maxrandom-ledger-simulated")
    assert told("Say:")[1] == {True: {(1, 1, 1)}, False: {(2, 2, 1)}}
    shutil.rmtree(real_suites / "maxrandom-ledger")
    assert told("Say:")[1] == {True: {(1, 1, 1)}, False: {(1, 1, 1)}}


def test_nothing_is_lost_with_their_ledger(
    pytester: pytest.Pytester, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_repository(pytester.path)
    pytester.runpytest()
    apart = example / "maxrandom-ledger-simulated"
    git(pytester.path, "add", "--force", apart)  # whoever insists
    commit(pytester.path)
    assert any("simulated" in name for name in git(pytester.path, "ls-files").split())
    shutil.rmtree(apart)
    capsys.readouterr()
    assert main(["ledger", "verify", "--base", "HEAD"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 files, every line is valid, and none is missing since HEAD"
    ]
