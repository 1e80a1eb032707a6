"""One line of progress for a long claim, where a person is watching."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def say(config: pytest.Config, sentence: str) -> None:
    """Write a sentence on a line of its own, also where tests' output is captured."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None or capture is None:  # a worker of pytest-xdist
        return
    with capture.global_and_fixture_disabled():
        reporter.ensure_newline()
        reporter.write_line(f"maxrandom: {sentence}")
        reporter.flush()


_SAVE, _RESTORE, _ERASE = "\0337", "\0338", "\033[K"
_INTERVAL = 0.2


class Progress:
    """Writes "37/200 prompts, 4.2/s, 39 s left" behind pytest's own line, and takes it away.

    The cursor is saved before and restored after each writing, so that pytest's idea of where it
    stands in the line stays true. Nothing is written where standard output is no terminal.
    """

    def __init__(self, config: pytest.Config, name: str) -> None:
        self._name = name
        self._started = time.monotonic()
        self._shown = 0.0
        self._reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._capture = config.pluginmanager.get_plugin("capturemanager")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            self._write("")

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` prompts are finished."""
        now = time.monotonic()
        if done and now - self._shown < _INTERVAL:
            return
        elapsed = now - self._started
        text = f"  {self._name}: {done}/{total} prompts"
        if done:
            rate = done / elapsed
            text += f", {rate:.2g}/s, {_duration((total - done) / rate)} left"
        if self._write(text):
            self._shown = now

    def _write(self, text: str) -> bool:
        """Write the text if a person can see it."""
        stream = sys.__stdout__
        if self._reporter is None or self._capture is None or stream is None:
            return False
        with self._capture.global_and_fixture_disabled():
            if not stream.isatty():
                return False
            writer = self._reporter._tw
            room = writer.fullwidth - writer.width_of_current_line - 1
            stream.write(f"{_SAVE}{text[: max(room, 0)]}{_ERASE}{_RESTORE}")
            stream.flush()
        return True


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
