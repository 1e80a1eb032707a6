"""Claims in several processes: one worker for a model, one model in the memory of a worker."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models:
  - {name: one, backend: mock}
  - {name: two, backend: mock}
tasks:
  - {name: odd, format: jsonl, path: odd.jsonl}
  - {name: even, format: jsonl, path: even.jsonl}
prompts: {shots: 0}
allow_unpassable: true
"""

CONFTEST = """
import os, weakref
from pytest_maxrandom.models.mock import Mock

load, seen = Mock.load, []

def logged(backend, located, resources):
    before = sum(model() is not None for model in seen)
    model = load(backend, located, resources)
    seen.append(weakref.ref(model))
    with open("loads", "a") as log:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        log.write(f"{worker} {located.spec.name} {before}\\n")
    return model

Mock.load = logged
"""

ORDINARY = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_ordinary(number):
    pass
"""

CRASH = """
import os

def test_crash():
    os._exit(1)
"""

WITHOUT_XDIST = """
import sys, pytest

class Missing:
    def find_spec(name, *_):
        if name.partition(".")[0] == "xdist":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing)
sys.exit(pytest.main(["-p", "no:xdist", "-p", "no:xdist.looponfail"]))
"""


@pytest.fixture
def two_models(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of two models and two tasks, beside ordinary tests; `loads` tells what is loaded."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    for folder in ("a", "b"):
        suites = pytester.mkdir(folder) / "eval_suites"
        suites.mkdir()
        for name in ("odd", "even"):
            rows = (
                {"input": f"{folder}{number} {name}?", "choices": ["Yes", "No"], "answer": 0}
                for number in range(5)
            )
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (suites / f"{name}.jsonl").write_text(text)
        (suites / "suite.yaml").write_text(SUITE)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_ordinary=ORDINARY)
    return pytester.path


def _claims(folder: Path) -> list[dict[str, object]]:
    claims: list[dict[str, object]] = json.loads((folder / "r.json").read_text())["claims"]
    return claims


def _loads(folder: Path) -> list[list[str]]:
    return [line.split() for line in (folder / "loads").read_text().splitlines()]


@pytest.mark.slow
def test_two_workers_load_each_model_once_and_report_all_claims(
    pytester: pytest.Pytester, two_models: Path
) -> None:
    result = pytester.runpytest_subprocess("-n2", "--maxrandom-json=r.json", "-v")
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    loads = _loads(two_models)
    assert {(model, before) for _, model, before in loads} == {("one", "0"), ("two", "0")}
    assert {worker for worker, *_ in loads} == {"gw0", "gw1"}
    assert len(loads) == 2
    claims = _claims(two_models)
    assert len(claims) == 8
    assert all(claim["best_correct"] is not None for claim in claims)
    assert len({claim["id"] for claim in claims}) == 8
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) == 8 + 6
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [pytest.param(["-n0"], id="-n0"), pytest.param(["-p", "no:xdist"], id="no:xdist")],
)
def test_one_process_has_one_model_in_memory_at_a_time(
    pytester: pytest.Pytester, two_models: Path, arguments: list[str]
) -> None:
    result = pytester.runpytest_subprocess(*arguments, "--maxrandom-json=r.json")
    assert _loads(two_models) == [["main", "one", "0"], ["main", "two", "0"]]
    assert len(_claims(two_models)) == 8
    # A failure keeps its frames; the model that was used there must be gone all the same.
    assert result.parseoutcomes()["failed"]


def test_pytest_xdist_need_not_be_installed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = subprocess.run([sys.executable, "-c", WITHOUT_XDIST], cwd=pytester.path)
    assert result.returncode == pytest.ExitCode.OK


@pytest.mark.slow
def test_a_test_that_kills_its_worker_fails_once_and_all_claims_are_tested(
    pytester: pytest.Pytester, two_models: Path
) -> None:
    pytester.makepyfile(test_crash=CRASH)
    result = pytester.runpytest_subprocess("-n2", "--maxrandom-json=r.json")
    result.stdout.fnmatch_lines(["replacing crashed worker *"])
    assert len([line for line in result.outlines if "replacing crashed worker" in line]) == 1
    claims = _claims(two_models)
    assert len(claims) == 8
    assert all(claim["best_correct"] is not None for claim in claims)


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["loadfile", "worksteal"])
def test_another_way_to_distribute_is_left_to_the_user(
    pytester: pytest.Pytester, dist: str
) -> None:
    pytester.makepyfile(test_ordinary=ORDINARY)
    suite = pytester.path / "eval_suites" / "suite.yaml"
    assert is_suite(suite, pytester.path)
    result = pytester.runpytest_subprocess("-n2", "-v", f"--dist={dist}")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["scheduling tests via *"])
    result.stdout.no_fnmatch_line("scheduling tests via SuiteScheduling")
