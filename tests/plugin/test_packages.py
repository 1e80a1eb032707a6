"""A package adds a backend and a format, with keys of their own, and a suite uses both."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from pytest_maxrandom.host.packages import BACKENDS, SOURCES
from pytest_maxrandom.suite.models import MODELS
from tests.installed import install
from tests.suites import either

if TYPE_CHECKING:
    from pathlib import Path

CODE = '''
from pathlib import Path

from pytest_maxrandom.errors import ModelNotFound
from pytest_maxrandom.models import base
from pytest_maxrandom.models.base import Backend, Identity, Located
from pytest_maxrandom.models.questions import Answer, Reply
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import ModelSpec
from pytest_maxrandom.suite.tasks import TaskSpec
from pytest_maxrandom.tasks import Example, Task


class SeriesSpec(TaskSpec):
    length: int
    """How many questions there are."""


class Series:
    spec = SeriesSpec

    def read(self, spec, base, where):
        def example(n):
            one, other = 1000 + 379 * n % 7919, 1000 + 997 * n % 7907
            return Example(f"e{n}", f"{n}?", (str(one), str(other)), (int(one < other),))

        return Task(spec.name, tuple(map(example, range(1, 1 + spec.length))))


class RuleSpec(ModelSpec):
    rule: str = "largest"
    """Which choice it says: largest or smallest."""
    file: str = "."
    """A file without which nothing is said."""


ARITHMETIC = Arithmetic("rules", "rules", {"rules": "1.0"})


class Rules(Backend):
    spec = RuleSpec

    def locate(self, spec, base):
        if not spec.rule:
            raise KeyError("no rule")
        if spec.rule not in ("largest", "smallest"):
            raise ModelNotFound({"rule": f"there is no rule {spec.rule!r}; take largest"})
        return Located(spec)

    def absent(self, located):
        return None if Path(located.spec.file).exists() else f"there is no {located.spec.file}"

    def identity(self, located):
        told = digest("rules", located.spec.rule)
        return Identity(told, ARITHMETIC, told)

    def load(self, located, resources):
        return Model(located.spec.rule)


class Model(base.Model):
    device = dtype = engine = "rules"
    asked_dtype = revision = context_length = engine_reason = None
    batch_tokens = 0
    arithmetic = ARITHMETIC

    def __init__(self, rule):
        self.sign = 1 if rule == "largest" else -1

    def peak_memory(self):
        return None

    def check(self, questions):
        pass

    def ask(self, questions):
        answers = [
            Answer(tuple(self.sign * int(each) / 1e4 - 9.0 for each in one.answers), (1, 1))
            for one in questions
        ]
        return Reply(tuple(answers), len(answers), len(answers))
'''

SUITE = """\
models: [{name: measures, backend: rules}]
arms:
  largest: {}
  smallest:
    rule: smallest
tasks:
- name: sizes
  format: series
  length: 60
prompts: {shots: 1, count: 3}
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite about both, where the package is installed."""
    place = install(pytester.path, "ruled", BACKENDS, "rules", CODE, "ruled:Rules")
    with (place / "ruled-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write(f"\n[{SOURCES}]\nseries = ruled:Series\n")
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    path = pytester.mkdir("eval_suites") / "suite.yaml"
    path.write_text(SUITE)
    return path


def test_a_suite_runs_with_both(pytester: pytest.Pytester, suite: Path) -> None:
    result = pytester.runpytest_subprocess("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=1)
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert {claim["id"].partition("::")[2]: claim["best_accuracy"] for claim in claims} == {
        "sizes[largest-1shot]": 1.0,
        "sizes[smallest-1shot]": 0.0,
    }
    assert {(claim["backend"], claim["simulated"], claim["quantization"]) for claim in claims} == {
        ("rules", False, "")
    }
    # It computes, so it is stored and counted like any.
    assert [*(suite.parent / "maxrandom-ledger").iterdir()]
    again = pytester.runpytest_subprocess("--maxrandom-json=r.json")
    again.assert_outcomes(passed=1, failed=1)
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert {claim["engine"]["reused"] for claim in claims} == {3}


def test_a_suite_is_skipped_where_their_backend_says_that_something_is_missing(
    pytester: pytest.Pytester, suite: Path
) -> None:
    missing = "backend: rules, file: weights.bin, if_missing: get the weights"
    suite.write_text(SUITE.replace("backend: rules", missing))
    result = pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*get the weights (there is no weights.bin)*"])
    (pytester.path / "weights.bin").touch()
    pytester.runpytest_subprocess().assert_outcomes(passed=1, failed=1)


def test_a_model_that_does_not_say_that_it_generates_is_not_asked_to(
    pytester: pytest.Pytester, suite: Path
) -> None:
    suite.write_text(SUITE + "scoring: generate\n")
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(["*the model cannot generate answers, which `scoring: generate`*"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "backend: rules",
            "backend: rules, ruel: largest",
            "1: unknown key `models[0].ruel`; did you mean `rule`? (keys here: name, label, "
            "backend, if_missing, rule, file)",
        ),
        (
            "backend: rules",
            "backend: ruels",
            f"1: `models[0].backend`: found 'ruels', expected {either(MODELS.specs)} or 'rules' or "
            "'recorded'; did you mean `rules`?",
        ),
        (
            "backend: rules",
            "backend: rules, rule: any",
            "1: models[0].rule: there is no rule 'any'; take largest",
        ),
        (
            "backend: rules",
            "backend: rules, rule: ''",
            "1: models[0].name: the backend 'rules' of ruled 1.0 failed (KeyError: 'no rule'); "
            "report this to its authors",
        ),
        (
            "rule: smallest",
            "rule: any",
            "5: arms.smallest.rule: there is no rule 'any'; take largest",
        ),
        (
            "rule: smallest",
            "quantization: nf4",
            "5: unknown key `arms.smallest.quantization` (keys here: model, instruction, format, "
            "scoring, train, classify, rule, file)",
        ),
        (
            "length: 60",
            "length: many",
            "9: `tasks[0].length`: found 'many', expected a whole number",
        ),
    ],
)
def test_mistakes_in_their_keys_are_told_with_their_lines(
    pytester: pytest.Pytester, suite: Path, old: str, new: str, told: str
) -> None:
    suite.write_text(SUITE.replace(old, new))
    done = pytester.run(sys.executable, "-m", "pytest_maxrandom.cli", "check", "eval_suites")
    assert f"eval_suites/suite.yaml:{told}" in [line.strip() for line in done.outlines]


def test_the_schema_has_their_keys(pytester: pytest.Pytester, suite: Path) -> None:
    done = pytester.run(sys.executable, "-m", "pytest_maxrandom.cli", "schema")
    made: dict[str, Any] = json.loads("\n".join(done.outlines))
    schema = Draft202012Validator(made)
    assert made["$defs"]["RuleSpec"]["properties"]["rule"]["description"].startswith("Which")
    task = {"name": "sizes", "format": "series", "length": 60}
    model = {"name": "measures", "backend": "rules", "rule": "largest"}
    arms = {"x": {"rule": "smallest"}}
    assert schema.is_valid({"models": [model], "tasks": [task], "arms": arms})
    assert not schema.is_valid({"models": [{**model, "ruel": "x"}], "tasks": [task]})
    assert not schema.is_valid({"models": [model], "tasks": [{**task, "length": "x"}]})
    assert not schema.is_valid({"models": [model], "tasks": [task], "arms": {"x": {"ruel": "x"}}})


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import absent", "ModuleNotFoundError: No module named 'absent'"),
        (
            CODE.replace("def load(", "def lode(").replace("class Rules(", "class Broken("),
            "TypeError: Can't instantiate abstract class Broken with abstract method load",
        ),
    ],
)
def test_a_package_that_is_broken_is_told_in_one_sentence(
    pytester: pytest.Pytester, suite: Path, monkeypatch: pytest.MonkeyPatch, code: str, why: str
) -> None:
    place = install(pytester.path, "broken", BACKENDS, "broken", code, "broken:Broken")
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    suite.write_text("models: [{name: m, backend: broken}]\n" + SUITE.partition("\n")[2])
    done = pytester.run(sys.executable, "-m", "pytest_maxrandom.cli", "check", "eval_suites")
    told = (
        done.outlines[0]
        .replace(" without an implementation for", " with")
        .replace("'load'", "load")
    )
    assert told == (
        "eval_suites/suite.yaml:1: `models[0].backend`: the backend 'broken' of broken 1.0 cannot "
        f"be loaded from broken:Broken ({why}); repair or uninstall the package"
    )


def test_another_number_of_answers_than_questions_is_told(
    pytester: pytest.Pytester, suite: Path
) -> None:
    module = next(pytester.path.rglob("ruled.py"))
    module.write_text(CODE.replace("tuple(answers), len", "tuple(answers[1:]), len"))
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(["*the model gave 58 answers to 59 questions, expected one*"])
