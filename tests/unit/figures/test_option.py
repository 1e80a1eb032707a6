"""`--maxrandom-figures`: figures at the end of a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = """
    def test_claim(maxrandom):
        maxrandom.check(best_correct=70, n=100, t=10, chance=0.5, task="from a test", p_max=0.05)
"""

LOADED = """
    import sys
    def pytest_unconfigure():
        print("loaded:", "{module}" in sys.modules)
"""


@pytest.mark.parametrize("workers", [[], pytest.param(["-n1"], marks=pytest.mark.slow)])
def test_a_run_draws_its_claims_once_and_says_where(
    pytester: pytest.Pytester, workers: list[str]
) -> None:
    pytester.makepyfile(CLAIM)
    pytester.makeconftest(LOADED.format(module="matplotlib.pyplot"))
    result = pytester.runpytest_subprocess("--maxrandom-figures=some/figures", *workers)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["loaded: False"])  # which would look for a window system
    folder: Path = pytester.path / "some" / "figures"
    result.stdout.fnmatch_lines(
        [
            f"figures: {folder}; selection: left out 1 claim without*; "
            "histogram: left out 1 claim without*"
        ]
    )
    names = {"best_of_t", "baseline_over_t_and_n", "p_contours", "increase", "normalized"}
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{ending}" for name in names for ending in ("svg", "png")
    }


def test_a_run_without_claims_says_that_there_is_nothing_to_draw(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest("--maxrandom-figures=figures")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["figures: none; no claim was tested"])


def test_nothing_is_drawn_when_tests_are_only_collected(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(CLAIM)
    pytester.runpytest("--maxrandom-figures=figures", "--collect-only")
    assert not (pytester.path / "figures").exists()


def test_a_file_in_place_of_the_folder_is_told_before_anything_runs(
    pytester: pytest.Pytester,
) -> None:
    pytester.makefile(".txt", figures="")
    result = pytester.runpytest("--maxrandom-figures=figures.txt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    path = pytester.path / "figures.txt"
    assert line == f"ERROR: --maxrandom-figures: expected a folder, found the file {path}"


def test_without_matplotlib_one_sentence_says_how_to_get_it_before_anything_runs(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    pytester.makepyfile(CLAIM)
    result = pytester.runpytest_inprocess("--maxrandom-figures=figures")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    assert line == (
        "ERROR: --maxrandom-figures: figures need the package matplotlib; install it with "
        '`pip install "pytest-maxrandom[plots]"`'
    )


def test_a_run_without_the_option_does_not_load_matplotlib(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(CLAIM)
    pytester.makeconftest(LOADED.format(module="matplotlib"))
    result = pytester.runpytest_subprocess("--maxrandom-json=r.json")
    result.stdout.fnmatch_lines(["loaded: False"])
