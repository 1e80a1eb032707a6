"""Progress is for a person at a terminal, and for nobody else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from pytest_maxrandom.hooks.progress import _duration

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def in_a_terminal(folder: Path, *arguments: str) -> str:
    """Run pytest with a pseudo-terminal as its output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments], cwd=folder, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # Linux: the other end was closed
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(ours)
    return b"".join(pieces).decode()


def test_a_terminal_shows_prompts_done_and_takes_the_line_away(
    pytester: pytest.Pytester, suites: Path
) -> None:
    # What is stored is shown as what is computed: the terminal's process need not import torch.
    pytester.runpytest("-k", "known and not unknown").assert_outcomes(passed=1)
    text = in_a_terminal(pytester.path, "-k", "known and not unknown")
    assert "known[tiny-none-0shot]: 0/1 prompts" in text
    assert text.count("\0337") == text.count("\0338") >= 2
    assert text.rindex("\0337\033[K\0338") > text.index("0/1 prompts")
    assert "1 passed" in text


def test_a_log_stays_quiet(pytester: pytest.Pytester, suites: Path) -> None:
    result = pytester.runpytest("-k", "known and not unknown")
    result.assert_outcomes(passed=1)
    assert "prompts," not in result.stdout.str()
    assert "\033" not in result.stdout.str()


def test_what_must_be_said_at_once_is_said_although_output_is_captured(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("""
        from pytest_maxrandom.hooks.progress import say

        def test_that_waits(request):
            print("captured")
            say(request.config, "waiting for a GPU")
    """)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    assert "maxrandom: waiting for a GPU" in result.outlines
    assert "captured" not in result.outlines


def test_durations_read_as_a_person_would_say_them() -> None:
    assert [_duration(s) for s in (4.4, 61, 3600 + 125)] == ["4 s", "1 min 01 s", "1 h 02 min"]
