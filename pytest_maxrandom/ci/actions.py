"""What a step tells GitHub Actions, through its log and the files that its environment names.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
SUMMARY_LIMIT = 1024 * 1024
"""Bytes of a step's summary at most; a longer one is not shown at all."""
_CUT = (
    "*The summary of a step holds 1 MiB: the report is cut here, and stands in full in the file "
    "that the job keeps.*"
)


def here() -> bool:
    """Tell whether this is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workspace() -> Path:
    """Return the folder of the repository, which annotations are relative to."""
    return Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())


def silence() -> tuple[list[str], list[str]]:
    """Return the lines before and after text that the runner must not take for commands.

    There are none outside of GitHub Actions.
    """
    token = secrets.token_hex(16)
    return ([f"::stop-commands::{token}"], [f"::{token}::"]) if here() else ([], [])


def write_outputs(values: Mapping[str, str]) -> None:
    """Set the step's outputs, where there is a file for them.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if file := os.environ.get("GITHUB_OUTPUT"):
        end = secrets.token_hex(16)
        text = "".join(f"{name}<<{end}\n{value}\n{end}\n" for name, value in values.items())
        with Path(file).open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


def write_summary(markdown: str) -> None:
    """Add to the step's summary, where there is one, as much as it holds.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        path = Path(file)
        left = SUMMARY_LIMIT - (path.stat().st_size if path.exists() else 0)
        if left > 2 * len(_CUT):
            with path.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(cut(markdown, left, _CUT))


def cut(text: str, limit: int, notice: str) -> str:
    """Cut Markdown to at most `limit` bytes of UTF-8.

    The cut is after a line (a row of a table is one) that stands in no code block and in no
    ``<details>``, so that nothing is left open.

    Parameters
    ----------
    text : str
        Markdown whose code blocks and ``<details>`` begin and end on lines of their own.
    limit : int
        Bytes, at least those of the notice and two more.
    notice : str
        What stands at the end of a text that was cut, as a paragraph.
    """
    if len(text.encode()) <= limit:
        return text
    ending = f"\n{notice}\n"
    left = limit - len(ending.encode())
    kept = end = depth = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        left -= len(line.encode())
        if left < 0:
            break
        end += len(line)
        fence, depth = _after(line, fence, depth)
        if not fence and not depth:
            kept = end
    return text[:kept] + ending


def _after(line: str, fence: str, depth: int) -> tuple[str, int]:
    """Return the code block's fence, and how many details are open, after a line."""
    found = _FENCE.match(line)
    if fence:
        closed = found and found[1].startswith(fence) and not line[found.end() :].strip()
        return ("" if closed else fence), depth
    if found:
        return found[1], depth
    return "", max(0, depth + line.count("<details") - line.count("</details>"))
