"""What the command line may say, and how it is told that it said something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.hooks.options import Settings, read_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)  # the page holds fewer texts where CI is set


def _settings(pytester: pytest.Pytester, *arguments: str) -> Settings:
    return read_settings(pytester.parseconfig(*arguments))


def test_without_options_the_store_is_below_rootdir_and_nothing_else_is_written(
    pytester: pytest.Pytester,
) -> None:
    assert _settings(pytester) == Settings(
        report=None,
        json=None,
        templates=None,
        adjust="holm",
        predictions=None,
        engine="auto",
        batch_tokens=None,
        store=pytester.path / ".maxrandom" / "results.db",
        fresh=False,
        no_test=False,
    )


def test_every_option_has_its_place(pytester: pytest.Pytester) -> None:
    here: Path = pytester.path
    templates = pytester.mkdir("templates")
    assert _settings(
        pytester,
        "--maxrandom-report=r.md",
        "--maxrandom-json=r.json",
        "--maxrandom-templates=templates",
        "--maxrandom-adjust=bh",
        "--maxrandom-predictions=p.jsonl",
        "--maxrandom-engine=plain",
        "--maxrandom-batch-tokens=2048",
        "--maxrandom-store=new/folder/store.db",
        "--maxrandom-trained-gb=5",
        "--maxrandom-fresh",
        "--maxrandom-no-test",
    ) == Settings(
        report=here / "r.md",
        json=here / "r.json",
        templates=templates,
        adjust="bh",
        predictions=here / "p.jsonl",
        engine="plain",
        batch_tokens=2048,
        store=here / "new" / "folder" / "store.db",
        trained_gb=5,
        fresh=True,
        no_test=True,
        until="all",  # a predictions file holds all answers
    )


def test_paths_are_relative_to_where_pytest_was_called(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]")
    below = pytester.mkdir("below")
    monkeypatch.chdir(below)
    settings = _settings(pytester, "--maxrandom-report=r.md", "--maxrandom-store=s.db")
    assert (settings.report, settings.store) == (below / "r.md", below / "s.db")
    assert _settings(pytester).store == pytester.path / ".maxrandom" / "results.db"


def test_options_are_read_once(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()
    assert read_settings(config) is read_settings(config)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--maxrandom-report=no/r.md",
            "expected a file in a folder that exists, found no folder *",
        ),
        ("--maxrandom-json=.", "expected a file in a folder that exists, found the folder *"),
        ("--maxrandom-predictions=no/p", "expected a file in a folder that exists, found no *"),
        ("--maxrandom-templates=no", "expected a folder, found none at *"),
        ("--maxrandom-store=.", "expected a file, found the folder *"),
        ("--maxrandom-batch-tokens=0", "expected a whole number from 1 on, found 0"),
        ("--maxrandom-batch-tokens=-5", "expected a whole number from 1 on, found -5"),
        ("--maxrandom-batch-tokens=1e3", "expected a whole number from 1 on, found 1e3"),
        ("--maxrandom-batch-tokens=", "expected a whole number from 1 on, found nothing"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_in_one_line(
    pytester: pytest.Pytester, option: str, told: str
) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    result.stderr.fnmatch_lines([f"ERROR: {option.partition('=')[0]}: {told}"])
    assert line.startswith("ERROR: ")


@pytest.mark.parametrize("option", ["engine", "adjust"])
def test_a_value_that_is_no_choice_is_told_with_the_choices(
    pytester: pytest.Pytester, option: str
) -> None:
    result = pytester.runpytest(f"--maxrandom-{option}=fast")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--maxrandom-{option}: invalid choice: 'fast' (choose from *"])
