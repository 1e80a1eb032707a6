"""A package adds a part of each kind, with words of its own, and suites use all of them.

It is the package that docs/how-to/packages.md shows whole.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import page_blocks
import pytest
from jsonschema import Draft202012Validator

from pytest_maxrandom.cli import main
from pytest_maxrandom.host.packages import (
    BACKENDS,
    METRICS,
    READERS,
    RED_FLAGS,
    SCORERS,
    SOURCES,
    load,
)
from pytest_maxrandom.suite.base import SCORINGS
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.schema import PATH
from tests.installed import Orders, install, page
from tests.suites import either

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Check = Callable[[], list[str]]

SUITE, RECORDED = "eval_suites/orders.yaml", "eval_suites/recorded.yaml"


@dataclass(frozen=True)
class Folder:
    """Where the package is installed, and its suites are."""

    path: Path
    code: Path

    def change(self, file: str, old: str, new: str) -> None:
        text = (self.path / file).read_text()
        assert old in text
        (self.path / file).write_text(text.replace(old, new, 1))

    def breaks(self, old: str, new: str) -> None:
        """Change the package's code."""
        self.change(str(self.code), old, new)


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Folder:
    orders, path = Orders.shown(), pytester.path
    place = orders.install(path)
    on_path(place, monkeypatch)
    orders.suites(path)
    return Folder(path, place / "orders.py")


def on_path(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process, and those that it starts, find a package."""
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    forget()


def forget() -> None:
    """Forget what was imported of packages, so that it is read anew."""
    for name in ("orders", "broken"):
        sys.modules.pop(name, None)
    load.cache_clear()


@pytest.fixture
def check(folder: Folder, capsys: pytest.CaptureFixture[str]) -> Check:
    """Return what `maxrandom check` says of the suites."""

    def said() -> list[str]:
        main(["check", "eval_suites"])
        return [line.strip() for line in capsys.readouterr().out.splitlines()]

    return said


@pytest.mark.slow  # each command of the page in a process of its own
def test_who_follows_the_page_sees_what_it_shows(folder: Folder, pytester: pytest.Pytester) -> None:
    """One run of pytest uses all parts, and workers of pytest-xdist have them as well."""
    reader = page_blocks.Reader(folder.path)
    for block in page():
        try:
            reader.follow(block)
        except page_blocks.PageError as error:
            raise AssertionError(f"docs/how-to/packages.md:{block.line}: {error}") from None
    first = claims(folder)
    assert {claim["id"].partition("::")[2]: claim["best_score"] for claim in first} == {
        "orders[honest-1shot]": 1.0,
        "orders[contrary-1shot]": 0.0,
        "theirs[theirs-0shot]": 53 / 60,
    }
    assert [flag["text"] for flag in first[0]["red_flags"]] == [
        "The best prompt is right on all 60 examples: check whether the answers stand in the "
        "questions."
    ]
    assert [(claim["scoring"], claim["backend"], claim["metric"]) for claim in first[:2]] == [
        ("per_word", "rules", "worst_class")
    ] * 2
    # It computes, so it is stored and counted like any.
    assert [*(folder.path / "eval_suites" / "maxrandom-ledger").iterdir()]
    result = pytester.runpytest_subprocess("-n2", "--maxrandom-json=report.json")
    result.assert_outcomes(passed=2, failed=1)
    for claim, again in zip(first, claims(folder), strict=True):
        for key in ("id", "p_max", "permutation_p", "red_flags", "warnings"):
            assert again[key] == claim[key]
        assert (again["engine"] or {}).get("reused") == (3 if again["engine"] else None)


def claims(folder: Folder) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder.path / "report.json").read_text())["claims"]
    return found


def test_what_is_stored_is_that_of_a_version(folder: Folder, pytester: pytest.Pytester) -> None:
    """Another version of a scorer may ask otherwise, so that it asks anew."""
    (folder.path / RECORDED).unlink()
    for version in ("1.0", "1.1"):
        (info,) = folder.path.glob("installed_orders/*.dist-info")
        text = f"Metadata-Version: 2.1\nName: orders\nVersion: {version}\n"
        (info / "METADATA").write_text(text)
        forget()
        result = pytester.runpytest("--maxrandom-json=report.json")
        result.assert_outcomes(passed=1, failed=1)
        assert {claim["engine"]["reused"] for claim in claims(folder)} == {0}


def test_a_suite_is_skipped_where_their_backend_says_that_something_is_missing(
    folder: Folder, pytester: pytest.Pytester
) -> None:
    missing = "backend: rules, file: weights.bin, if_missing: get the weights"
    folder.change(SUITE, "backend: rules", missing)
    result = pytester.runpytest("-rs", SUITE)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*get the weights (there is no weights.bin)*"])


def test_a_model_that_does_not_say_that_it_generates_is_not_asked_to(
    folder: Folder, pytester: pytest.Pytester
) -> None:
    folder.change(SUITE, "scoring: per_word", "scoring: generate")
    result = pytester.runpytest(SUITE)
    result.stdout.fnmatch_lines(["*the model cannot generate answers, which `scoring: generate`*"])


MISTAKES = [
    (
        SUITE,
        "backend: rules",
        "backend: rules, ruel: honest",
        "3: unknown key `models[0].ruel`; did you mean `rule`? (keys here: name, label, backend, "
        "if_missing, rule, file)",
    ),
    (
        SUITE,
        "backend: rules",
        "backend: ruels",
        f"3: `models[0].backend`: found 'ruels', expected {either(MODELS.specs)} or 'rules' or "
        "'recorded'; did you mean `rules`?",
    ),
    (
        SUITE,
        "backend: rules",
        "backend: rules, rule: any",
        "3: models[0].rule: there is no rule 'any'; take honest",
    ),
    (
        SUITE,
        "backend: rules",
        "backend: rules, rule: ''",
        "3: models[0].name: the backend 'rules' of orders 1.0 failed (KeyError: 'no rule'); report "
        "this to its authors",
    ),
    (
        SUITE,
        "rule: contrary",
        "rule: any",
        "6: arms.contrary.rule: there is no rule 'any'; take honest",
    ),
    (
        SUITE,
        "rule: contrary",
        "quantization: nf4",
        "6: unknown key `arms.contrary.quantization` (keys here: model, instruction, format, "
        "scoring, train, classify, rule, file)",
    ),
    (
        SUITE,
        "length: 90",
        "length: many",
        "8: `tasks[0].length`: found 'many', expected a whole number",
    ),
    (
        SUITE,
        "scoring: per_word",
        "scoring: per_world",
        f"10: `scoring`: found 'per_world', expected {either((*SCORINGS, 'per_word'))} or "
        "a scorer of an installed package; did you mean `per_word`?",
    ),
    (
        SUITE,
        "rule: contrary",
        "scoring: word",
        f"6: `arms.contrary.scoring`: found 'word', expected {either((*SCORINGS, 'per_word'))} "
        "or a scorer of an installed package; did you mean `per_word`?",
    ),
    (
        SUITE,
        "metric: worst_class",
        "metric: min_recall",
        "11: `metric`: found 'min_recall', expected 'accuracy' or 'balanced_accuracy' or "
        "'macro_f1' or 'worst_class' or a metric of an installed package; did you mean "
        "`worst_class`?",
    ),
    (
        SUITE,
        "all_right: warn",
        "all_rigth: warn",
        "12: unknown key `assert.red_flags.all_rigth`; did you mean `all_right`? *",
    ),
    (
        RECORDED,
        "format: marks",
        "format: mark",
        f"3: `models[0].results.format`: found 'mark', expected {either(RESULTS.specs)} or "
        "'marks'; did you mean `marks`?",
    ),
    (
        RECORDED,
        "right: x",
        "rigth: x",
        "3: unknown key `models[0].results.rigth`; did you mean `right`? (keys here: path, "
        "format, model, right)",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "told"), MISTAKES)
def test_mistakes_in_their_words_are_told_with_their_lines(
    folder: Folder, check: Check, file: str, old: str, new: str, told: str
) -> None:
    folder.change(file, old, new)
    start, any_end, _ = told.partition("*")
    (line,) = [each for each in check() if each.startswith(f"{file}:{start}")]
    assert any_end or line == f"{file}:{told}"


def test_the_schema_has_their_words(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    schema = Draft202012Validator(made)
    spec = made["$defs"]["RuleSpec"]["properties"]["rule"]
    assert spec["description"] == "What it says: honest or contrary."
    told = made["$defs"]["SuiteSpec"]["properties"]["metric"]["description"]
    assert "; worst_class: the least recall of a class." in told
    task = {"name": "orders", "format": "series", "length": 60}
    model = {"name": "measures", "backend": "rules", "rule": "honest"}
    suite = {
        "models": [model],
        "tasks": [task],
        "arms": {"x": {"rule": "contrary", "scoring": "per_word"}},
        "scoring": "per_word",
        "metric": "worst_class",
        "assert": {"red_flags": {"all_right": "fail"}},
    }
    assert schema.is_valid(suite)
    for wrong in (
        {"models": [{**model, "ruel": "x"}]},
        {"tasks": [{**task, "length": "x"}]},
        {"arms": {"x": {"ruel": "x"}}},
        {"scoring": "per_world"},
        {"metric": "min_recall"},
        {"assert": {"red_flags": {"all_rigth": "fail"}}},
    ):
        assert not schema.is_valid({**suite, **wrong})
    results = {"path": "x", "format": "marks", "right": "x"}
    recorded = {
        "models": [{"name": "x", "backend": "recorded", "results": results}],
        "tasks": [{"name": "x"}],
    }
    assert schema.is_valid(recorded)
    # What is shipped for editors depends on no package: it allows others' keys, but no words.
    shipped = Draft202012Validator(json.loads(PATH.read_text(encoding="utf-8")))
    assert shipped.is_valid({"models": [model], "tasks": [task]})
    assert not shipped.is_valid({"models": [model], "tasks": [task], "scoring": "per_word"})
    assert shipped.is_valid(recorded)
    results["rigth"] = "x"
    assert shipped.is_valid(recorded)
    assert not schema.is_valid(recorded)


WORDS = {
    BACKENDS: ("mock", SUITE, "backend: rules", "models[0].backend"),
    SOURCES: ("csv", SUITE, "format: series", "tasks[0].format"),
    READERS: ("npz", RECORDED, "format: marks", "models[0].results.format"),
    SCORERS: ("paper", SUITE, "scoring: per_word", "scoring"),
    METRICS: ("macro_f1", SUITE, "metric: worst_class", "metric"),
    RED_FLAGS: ("majority", SUITE, "all_right: warn", "assert.red_flags.broken"),
}
"""By group a name that is built in, where a suite says a part's name, and the key in messages."""
WRONG = {
    BACKENDS: "has no attribute `spec` that is a subclass of *.ModelSpec; repair *",
    SOURCES: "has no attribute `spec` that is a subclass of *.TaskSpec; repair *",
    READERS: "has no attribute `spec` that is a subclass of *.ResultsSpec; repair *",
    SCORERS: "is int, expected what pytest_maxrandom.sweeps.scorers.Scorer lists (criterion, *",
    METRICS: "is int, expected pytest_maxrandom.stats.metrics.MetricDefinition, with guessers; *",
    RED_FLAGS: "is int, expected pytest_maxrandom.flags.RedFlagKind with `kind='broken'` and *",
}
"""What is said of a part that is none."""


def name_broken(folder: Folder, group: str, name: str) -> str:
    """Let a suite name a part of the package `broken`, and return that part in words."""
    _, file, said, _ = WORDS[group]
    key, _, value = said.partition(": ")
    folder.change(file, said, f"{name}: {value}" if group == RED_FLAGS else f"{key}: {name}")
    return (
        f"the {group.rpartition('.')[2].removesuffix('s').replace('_', ' ')} {name!r} of broken 1.0"
    )


@pytest.mark.parametrize("group", WORDS)
def test_a_package_that_cannot_be_imported_is_told_in_one_sentence(
    folder: Folder, check: Check, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    on_path(
        install(folder.path, "broken", group, "broken", "import absent", "broken:PART"), monkeypatch
    )
    part, (_, file, _, key) = name_broken(folder, group, "broken"), WORDS[group]
    (told,) = [line for line in check() if "broken 1.0" in line]
    assert told.startswith(f"{file}:")
    assert told.partition(": ")[2] == (
        f"`{key}`: {part} cannot be loaded from broken:PART (ModuleNotFoundError: No module named "
        "'absent'); repair or uninstall the package"
    )


@pytest.mark.parametrize("group", WORDS)
def test_a_part_that_is_none_is_told_in_one_sentence(
    folder: Folder, check: Check, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    on_path(install(folder.path, "broken", group, "broken", "PART = 3", "broken:PART"), monkeypatch)
    part, file = name_broken(folder, group, "broken"), WORDS[group][1]
    (told,) = [line for line in check() if "broken 1.0" in line]
    assert told.startswith(f"{file}:")
    start, *_ = WRONG[group].split("*")
    assert f"{part} {start}" in told


@pytest.mark.parametrize("group", [group for group in WORDS if group != RED_FLAGS])
def test_a_name_that_is_built_in_is_told_in_one_sentence(
    folder: Folder, check: Check, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    built_in, file, _, key = WORDS[group]
    on_path(install(folder.path, "broken", group, built_in, "PART = 3", "broken:PART"), monkeypatch)
    part = name_broken(folder, group, built_in)
    (told,) = [line for line in check() if "broken 1.0" in line]
    assert told.startswith(f"{file}:")
    assert told.partition(": ")[2] == (
        f"`{key}`: {part} has the name of a built-in one; rename it there, or uninstall the package"
    )


@pytest.mark.parametrize("group", WORDS)
def test_the_schema_is_not_made_where_a_part_is_none(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], group: str
) -> None:
    on_path(install(folder.path, "broken", group, "broken", "PART = 3", "broken:PART"), monkeypatch)
    assert main(["schema"]) == 2
    assert "'broken' of broken 1.0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "return [answers]",
            "return [3]",
            "theirs.marks cannot be read as `format: marks` (TypeError: it returned int, expected "
            "Answers); check that the file is complete and has that format, or report this to the "
            "authors of orders 1.0",
        ),
        (
            "return simulated(t",
            "return t / 0; (t",
            "orders: the metric 'worst_class' of orders 1.0 failed (ZeroDivisionError: division by "
            "zero); report this to its authors",
        ),
    ],
)
def test_what_fails_before_a_run_is_told_by_check(
    folder: Folder, check: Check, old: str, new: str, told: str
) -> None:
    folder.breaks(old, new)
    assert any(line.endswith(told) for line in check())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "value / len(text.split())",
            "value / 0",
            "the scorer 'per_word' of orders 1.0 failed (ZeroDivisionError: *); report this to its "
            "authors",
        ),
        (
            "    return min(\n",
            "    return max(), min(\n",
            "the metric 'worst_class' of orders 1.0 failed (TypeError: *); report this to its *",
        ),
        (
            "tuple(answers), len",
            "tuple(answers[1:]), len",
            "the model gave 59 answers to 60 questions, expected one*",
        ),
    ],
)
def test_what_fails_in_a_run_is_told_of_the_claims_that_need_it(
    folder: Folder, pytester: pytest.Pytester, old: str, new: str, told: str
) -> None:
    folder.breaks(old, new)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([f"*{told}"] * 2)


def test_a_red_flag_that_raises_costs_a_warning_and_nothing_else(
    folder: Folder, pytester: pytest.Pytester
) -> None:
    pytester.runpytest("--maxrandom-json=report.json").assert_outcomes(passed=2, failed=1)
    before = claims(folder)
    folder.breaks("    result = judged.passing\n", "    result = judged.past\n")
    result = pytester.runpytest_subprocess(
        "--maxrandom-json=report.json", "--maxrandom-report=report.md"
    )
    result.assert_outcomes(passed=2, failed=1)
    told = (
        "the red flag 'all_right' of orders 1.0 failed (AttributeError: 'View' object has "
        "no attribute 'past'); it was not looked for, so report this to its authors"
    )
    for was, claim in zip(before, claims(folder), strict=True):
        assert [warning["text"] for warning in claim["warnings"]] == [told]
        assert {flag["kind"] for flag in was["red_flags"]} - {"all_right"} == {
            flag["kind"] for flag in claim["red_flags"]
        }
        # The package is another one now, and so may its scorer be: that is another look.
        looks = {"tries", "different_answers"}
        kept = was.keys() - {"warnings", "red_flags", "engine", "notes"} - looks
        assert {key: claim[key] for key in kept} == {key: was[key] for key in kept}
    assert "the red flag 'all_right' of orders 1.0 failed" in (
        (folder.path / "report.md").read_text().replace("`", "'")
    )


def test_a_report_format_that_fails_or_is_not_there_is_told(
    folder: Folder, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.path / SUITE).unlink()
    pytester.runpytest("--maxrandom-json=report.json")
    with pytest.raises(SystemExit):
        main(["report", "report.json", "--format", "line"])
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith(
            "found 'line', expected markdown or disclosure or checklist or html or latex or bibtex "
            "or csv or badge or badge-svg or hub or lines; did you mean 'lines'?"
        )
    )
    folder.breaks('    return "".join(', "    return len(")
    forget()
    assert main(["report", "report.json", "--format", "lines"]) == 2
    assert capsys.readouterr().err.startswith(
        "maxrandom report: the report format 'lines' of orders 1.0 failed (TypeError: "
    )
