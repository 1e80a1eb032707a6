"""Markdown, shortened so that what is left still reads."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


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
    kept = end = size = depth = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        size += len(line.encode())
        if size > left:
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
