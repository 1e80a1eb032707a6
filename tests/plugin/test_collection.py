"""Which files are suites, and what their items look like."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_claims_are_shown_with_their_t_and_n(pytester: pytest.Pytester, suites: Path) -> None:
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        [
            "*<SuiteFile suite.yaml>",
            "*<Claim known[[]tiny-none-0shot] t=1 n=24 (200 asked for, 1 possible)>",
            "*<Claim unknown[[]tiny-none-0shot] t=1 n=24 (200 asked for, 1 possible)>",
        ]
    )
    result.stdout.no_fnmatch_line("*= maxrandom =*")


def test_node_ids_name_task_model_quantization_and_shots(
    pytester: pytest.Pytester, suites: Path
) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("shots: 0", "shots: [0, 2]"))
    result = pytester.runpytest("--collect-only", "-q")
    result.stdout.fnmatch_lines(
        [
            "eval_suites/suite.yaml::known[[]tiny-none-0shot]",
            "eval_suites/suite.yaml::known[[]tiny-none-2shot]",
            "eval_suites/suite.yaml::unknown[[]tiny-none-0shot]",
            "eval_suites/suite.yaml::unknown[[]tiny-none-2shot]",
        ]
    )


def test_yaml_is_a_suite_below_eval_suites_or_by_its_name(
    pytester: pytest.Pytester, suites: Path
) -> None:
    text = (suites / "suite.yaml").read_text().replace("data/", f"{suites}/data/")
    (suites / "deep").mkdir()
    (suites / "deep" / "a.yml").write_text(text)
    (pytester.path / "b.maxrandom.yaml").write_text(text)
    (pytester.path / "c.yaml").write_text("no: suite\n")
    result = pytester.runpytest("--collect-only", "-q")
    result.stdout.fnmatch_lines_random(
        ["eval_suites/deep/a.yml::known*", "b.maxrandom.yaml::known*"]
    )
    result.stdout.no_fnmatch_line("*c.yaml*")
    result.assert_outcomes()


def test_collecting_loads_nothing_heavy(pytester: pytest.Pytester, real_suites: Path) -> None:
    code = (
        "import sys, pytest; assert pytest.main(['--collect-only', '-q']) == 0; "
        "print([m for m in ('torch', 'transformers', 'scipy', 'datasets', 'jinja2') "
        "if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stdout


def test_a_run_without_suites_pays_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    code = (
        "import sys, pytest; assert pytest.main(['-q']) == 0; "
        "assert 'pytest_maxrandom.plugin' in sys.modules; print([m for m in ('torch', "
        "'transformers', 'scipy', 'numpy', 'jinja2', 'pydantic', 'yaml', 'urllib3') "
        "if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stdout + result.stderr


def test_all_mistakes_of_a_suite_are_shown_without_a_traceback(
    pytester: pytest.Pytester, real_suites: Path
) -> None:
    suite = real_suites / "suite.yaml"
    text = suite.read_text().replace("quantization: none", "quantisation: none")
    suite.write_text(text.replace("format: jsonl", "format: json", 1))
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "eval_suites/suite.yaml:4: unknown key `models[[]0].quantisation`; did you mean "
            "`quantization`? *",
            "eval_suites/suite.yaml:7: `tasks[[]0].format`: found 'json', expected *did you mean "
            "`jsonl`?",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*")


def test_k_m_and_lf_select_claims(pytester: pytest.Pytester, suites: Path) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("    xfail: the answers", "    # the answers"))
    pytester.runpytest("-k", "unknown").assert_outcomes(failed=1, deselected=1)
    pytester.runpytest("-m", "not hard").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest().assert_outcomes(passed=1, failed=1)
    pytester.runpytest("--lf").assert_outcomes(failed=1)


def test_claims_that_share_a_model_follow_each_other(
    pytester: pytest.Pytester, suites: Path
) -> None:
    text = (suites / "suite.yaml").read_text()
    other = text.replace("backend: mock", "backend: mock\n    seed: 1")
    (suites / "a.yaml").write_text(text)
    (suites / "b.yaml").write_text(other)
    (suites / "c.yaml").write_text(text)
    (suites / "suite.yaml").unlink()
    result = pytester.runpytest("--collect-only", "-q", "-k", "unknown")
    names = [line.split("::")[0] for line in result.outlines if "::" in line]
    assert names == ["eval_suites/a.yaml", "eval_suites/c.yaml", "eval_suites/b.yaml"]


def test_a_mark_that_is_not_registered_is_an_error_under_strict_markers(
    pytester: pytest.Pytester, suites: Path
) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("[hard]", "[hart]"))
    result = pytester.runpytest("--strict-markers")
    result.stdout.fnmatch_lines(["*'hart' not found in `markers` configuration option*"])
    assert result.ret != 0
