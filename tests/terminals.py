"""What a person sees who runs pytest in a terminal, where progress is shown."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITTEN = re.compile(r"(?:\x1bD)+\x1b\[\d+A\x1b7.*?\x1b8", re.DOTALL)
"""How lines of progress are written."""


def in_a_terminal(folder: Path, *arguments: str, lines: int = 24) -> str:
    """Run pytest with a pseudo-terminal of 80 columns as its output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
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


def screens(written: str, lines: int = 24) -> Iterator[pyte.Screen]:
    """Yield what a terminal shows after each writing of progress, and at the end."""
    screen = pyte.Screen(80, lines)
    stream = pyte.Stream(screen)
    place = 0
    for piece in WRITTEN.finditer(written):
        stream.feed(written[place : piece.end()])
        place = piece.end()
        yield screen
    stream.feed(written[place:])
    yield screen


def below(screen: pyte.Screen) -> list[str]:
    """Return the lines of models, which stand below the cursor's."""
    shown = [line.rstrip() for line in screen.display[screen.cursor.y + 1 :]]
    return [line for line in shown if line]
