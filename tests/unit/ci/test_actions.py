"""The files and the log of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.ci import actions

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_outside_of_a_step_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    actions.write_outputs({"a": "1"})
    actions.write_summary("text")
    assert actions.silence() == ([], [])


def test_no_value_sets_another_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "output"
    file.write_text("earlier=1\n")
    monkeypatch.setenv("GITHUB_OUTPUT", str(file))
    actions.write_outputs({"a": "one\ncode=0\nEOF\nb<<EOF"})
    earlier, first, *value, last = file.read_text().splitlines()
    assert earlier == "earlier=1"
    name, _, end = first.partition("<<")
    assert (name, value, last) == ("a", ["one", "code=0", "EOF", "b<<EOF"], end)


def test_a_summary_is_added_and_holds_one_mebibyte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    actions.write_summary("first\n")
    row = "| ä |\n"
    for _ in range(3):
        actions.write_summary(row * 100_000)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("first\n| ä |\n")
    assert 2**20 - 2000 < len(text.encode()) <= 2**20
    assert "report is cut here" in text.splitlines()[-1]
    assert set(text.splitlines()[1:-2]) == {"| ä |"}


def test_the_word_that_ends_silence_cannot_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (before,), (after,) = actions.silence()
    assert after == f"::{before.removeprefix('::stop-commands::')}::"
    assert actions.silence() != ([before], [after])
    assert len(after) >= 32
