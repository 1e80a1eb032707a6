"""The command: one table, or JSON, and one sentence for a mistake."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from pytest_maxrandom import cli
from pytest_maxrandom.cli import main
from pytest_maxrandom.commands import gate

ROOT = Path(__file__).parents[3]


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_baseline_prints_what_it_takes_and_what_a_result_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["baseline", "--n", "100", "--choices", "2", "--t", "10", "--correct", "60"]) == 0
    lines = [line.split("  ", 1) for line in capsys.readouterr().out.splitlines()]
    table = {label: value.strip() for label, value in lines}
    p_standard = stats.binom.sf(59, 100, 0.5)
    assert table["standard baseline"] == "0.5000"
    assert table["maximum random baseline"] == "0.5768"
    assert table["needed for p_max <= 0.05"] == "64/100 = 0.6400"
    assert table["p_standard"] == f"{p_standard:.4g}"
    assert table["p_max"] == f"{1 - (1 - p_standard) ** 10:.4g}"
    assert table["union p"] == f"{10 * p_standard:.4g}"


def test_mixed_choices_are_counted_not_averaged(capsys: pytest.CaptureFixture[str]) -> None:
    answer = _json(capsys, "baseline", "--choices", "2:50,5:50", "--t", "200")
    assert answer["n"] == 100
    assert answer["max_random_baseline"] == pytest.approx(0.4763, abs=5e-5)


def test_a_baseline_that_nothing_can_pass_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "--n", "10", "--choices", "2", "--t", "200"]) == 0
    assert "impossible: even 10/10 has p_max 0.1775" in capsys.readouterr().out


def test_plan_answers_all_that_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "plan",
        "--choices",
        "2",
        "--n",
        "100",
        "--t",
        "200",
        "--below",
        "0.55",
        "--true-accuracy",
        "0.6",
    ]
    answer = _json(capsys, *asked)
    assert answer["smallest_n"] == 12
    assert answer["n_for_expected_maximum"] == 753
    assert answer["n_for_power"] == {"0.8": 475, "0.95": 663}
    assert answer["baseline"]["critical_count"] == 68
    assert answer["true_accuracy_for_power"]["0.8"] == pytest.approx(0.713, abs=5e-4)
    assert main(asked) == 0
    out = capsys.readouterr().out
    for part in ("753", "475", "0.7129", "no limit"):
        assert part in out


def test_plan_says_what_scores_can_show(capsys: pytest.CaptureFixture[str]) -> None:
    scores = ["--beats", "0.62", "--true-score", "0.7"]
    answer = _json(capsys, "plan", *scores, "--t", "20", "--n", "474")
    # What right and wrong answers take, by the normal approximation.
    spread = (0.7 * 0.3) ** 0.5
    about = ((stats.norm.isf(0.05 / 20) + stats.norm.isf(0.2)) * spread / 0.08) ** 2
    assert answer["n_for_power"]["0.8"] == pytest.approx(about, rel=0.1)
    assert answer["power"] == pytest.approx(0.8, abs=0.02)
    assert main(["plan", "--difference", "0.05", "--spread", "0.2", "--n", "100"]) == 0
    assert "power for a difference of 0.05 at n = 100" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("plan --beats 0.6", "give --beats and --true-score, or else --difference, of graded"),
        ("plan --beats 0.6 --true-score 0.5", "expected 0 < bound < true mean < 1, found 0.6 and"),
        ("plan --beats 0.6 --true-score 0.7 --choices 2", "--choices: scores have no guessers"),
        ("plan --difference 0.1 --spread 2", "the spread of scores with the mean 0.1 is above 0"),
        ("plan --choices 2", "maxrandom plan: plan needs n (examples) or t (prompts)"),
        ("baseline --n 0 --choices 2 --t 1", "maxrandom baseline: n must be at least 1, found 0"),
        ("baseline --n 9 --choices 0 --t 1", "--choices: found 0, expected at least 2"),
        ("baseline --n 9 --choices 1 --t 1", "2: with one choice there is nothing to guess"),
        ("baseline --choices 1:5,2:5 --t 1", "--choices: found 1, expected at least 2: with one"),
        ("plan --n 9 --choices 1", "maxrandom plan: --choices: found 1, expected at least 2"),
        (
            "baseline --choices 2 --t 1",
            "--n, the number of examples, is needed if --choices is one number",
        ),
        ("baseline --n 9 --choices 2:5 --t 1", "chance names 5 examples, but n is 9"),
        ("baseline --n 9 --choices 2 --t 1 --correct 10", "correct must be at most 9, found 10"),
        ("baseline --n 9 --choices two --t 1", "--choices: found 'two', expected a number of cho"),
        ("plan --n 9 --choices 2:x", "found '2:x', expected a number of choices such as 4"),
        ("report nowhere.json", "nowhere.json: cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments.split()) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_report_renders_what_a_run_recorded(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytester.makepyfile(
        "def test_it(maxrandom):\n"
        "    maxrandom.check(best_correct=90, n=100, t=9, chance=0.5, p_max=0.05)"
    )
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    capsys.readouterr()
    assert main(["report", "r.json"]) == 0
    assert capsys.readouterr().out == (pytester.path / "r.md").read_text()


def test_the_command_loads_neither_pytest_nor_scipy() -> None:
    code = (
        "import sys; from pytest_maxrandom.cli import main; "
        "main('baseline --n 100 --choices 2 --t 10'.split()); "
        "print([m for m in ('pytest', 'scipy', 'torch', 'pydantic', 'jinja2') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_reader_who_has_seen_enough_is_no_mistake() -> None:
    command = f"{sys.executable} -m pytest_maxrandom.cli plan --choices 2 --n 99 --t 9 | true"
    shell = ["bash", "-o", "pipefail", "-c", command]
    result = subprocess.run(shell, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = pyproject["project"]["version"]
    assert capsys.readouterr().out == f"pytest-maxrandom {version}\n"


def test_help_shows_each_command_once_in_a_group(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for command in cli._COMMANDS:
        assert len(re.findall(rf"^  {command}( |$)", text, re.MULTILINE)) == 1
    groups = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    assert groups == [*cli._GROUPS, "options"]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["report"], "pytest_maxrandom/reports/results.schema.json"),
        (["tasks"], "pytest_maxrandom/reports/tasks.schema.json"),
    ],
)
def test_schemas_of_what_is_written_can_be_printed(
    words: list[str], file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", *words]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((ROOT / file).read_text())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("0.5", "; an accuracy of 0.5 of n = 100 is 50"),
        ("62.5", ""),
        ("many", ""),
    ],
)
def test_what_is_no_count_of_right_answers_gets_one_sentence(
    given: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--n", "100", "--choices", "2", "--t", "20", "--correct", given]
    assert main(["baseline", *words]) == 2
    assert capsys.readouterr().err == (
        f"maxrandom baseline: --correct: found {given}, expected a count of correct answers{told}\n"
    )


def test_the_base_of_a_gate_has_a_short_name() -> None:
    parser = argparse.ArgumentParser()
    gate.add_parser(parser.add_subparsers())
    assert parser.parse_args(["gate", "s.yaml", "--base", "none"]).base_ref == "none"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reprot"], "there is no command 'reprot'; did you mean 'report'?"),
        (["weather"], "there is no command 'weather'; maxrandom --help lists them"),
        (["report", "x.json", "--fromat", "html"], "--fromat html; did you mean '--format'?"),
        (["report", "x.json", "--fromat=html"], "--fromat=html; did you mean '--format'?"),
        (
            ["baseline", "--n", "9", "--choices", "2", "--t", "2", "--accuracy", ".6"],
            "--accuracy .6; did you mean '--correct'?",
        ),
        (["ledger", "show", "x", "--jsn"], "unrecognized arguments: --jsn; did you mean '--json'?"),
    ],
)
def test_an_unknown_command_or_option_names_the_nearest(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
