"""Which files pytest takes for suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_maxrandom.suite import is_suite

ROOT = Path("/home/me/project")


@pytest.mark.parametrize(
    "name",
    [
        "eval_suites/a.yaml",
        "eval_suites/a.yml",
        "eval_suites/deeper/still/a.yaml",
        "packages/one/eval_suites/a.yaml",
        "a.maxrandom.yaml",
        "docs/a.maxrandom.yml",
    ],
)
def test_yaml_below_eval_suites_and_maxrandom_yaml_anywhere_are_suites(name: str) -> None:
    assert is_suite(ROOT / name, ROOT)


@pytest.mark.parametrize(
    "name",
    [
        "a.yaml",
        "eval_suites/a.json",
        "eval_suites/data.yaml.txt",
        "eval_suites.yaml",
        "my_eval_suites/a.yaml",
        "maxrandom.yaml",
        ".github/workflows/ci.yml",
    ],
)
def test_other_files_are_no_suites(name: str) -> None:
    assert not is_suite(ROOT / name, ROOT)


def test_a_checkout_below_a_folder_named_eval_suites_is_no_suite() -> None:
    root = Path("/data/eval_suites/project")
    assert not is_suite(root / "config.yaml", root)
    assert is_suite(root / "eval_suites" / "a.yaml", root)


def test_pytest_may_be_started_in_eval_suites_itself_or_on_a_file_elsewhere() -> None:
    assert is_suite(ROOT / "eval_suites" / "a.yaml", ROOT / "eval_suites")
    assert is_suite(Path("/elsewhere/eval_suites/a.yaml"), ROOT)
    assert not is_suite(Path("/elsewhere/a.yaml"), ROOT)
