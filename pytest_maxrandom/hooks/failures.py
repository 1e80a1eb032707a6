"""What pytest shows of a failure that its user can understand: one block, as wide as the terminal.

The process with the terminal makes it, of a report that may have come from another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import CannotTell, ClaimFailed, RedFlagged
from pytest_maxrandom.hooks.run import attached
from pytest_maxrandom.record import LISTS, ClaimRecord, Record, adapter_of

if TYPE_CHECKING:
    import pytest


_INDENT = "    "
_FAILED = "Failed: "
"""What pytest puts before the message of `pytest.fail`."""
_XPASSED = "[XPASS(strict)]"


@dataclass(frozen=True, slots=True)
class Crash:
    """Where and why, as pytest names it in its lines of failures and short summaries."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


@dataclass(frozen=True, slots=True)
class Failure:
    """What stands in the place of a traceback."""

    reprcrash: Crash
    """What `--tb=line` and the short summary show."""
    whole: str
    """All of it, which JUnit and other reports get."""
    lines: tuple[str, ...]
    """What stands in a terminal, the message first."""
    style: str
    """pytest's `--tb`."""
    same_as: str = ""
    """What had the same error before, which is not written again; may be empty."""

    def __str__(self) -> str:
        return self.whole

    def toterminal(self, terminal: Any) -> None:
        """Write it, broken between words; pytest itself writes the line of `--tb=line`."""
        from pytest_maxrandom.reports.layout import wrapped
        from pytest_maxrandom.reports.text import visible

        if self.style == "line":
            return
        if self.same_as:
            terminal.line(f"The same error as of {visible(self.same_as)}.")
            return
        width = terminal.fullwidth
        markup = {"red": True, "bold": True}
        for text in self.lines:
            for line in wrapped(visible(text), width, indent=_INDENT):
                terminal.line(line.text, **markup)
            markup = {}


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The mistakes of a suite, each in a line of its own."""

    whole: str
    """As other reports get them."""

    def __str__(self) -> str:
        return self.whole

    def toterminal(self, terminal: Any) -> None:
        """Write them, broken between words where the terminal would break within them."""
        from pytest_maxrandom.reports.layout import wrapped

        for text in self.whole.splitlines():
            broken = wrapped(text, terminal.fullwidth, indent=_INDENT)
            for line in [each.text for each in broken] if terminal.hasmarkup else [text]:
                terminal.line(line, red=True)


def raise_said(record: Record) -> None:
    """Raise what a record says, the red flags of a claim first."""
    __tracebackhide__ = True
    cannot_tell = record.cannot_tell is not None
    if isinstance(record, ClaimRecord) and record.failing_flags and not cannot_tell:
        from pytest_maxrandom.reports.red_flags import explained

        raise RedFlagged(explained(record))
    if record.message:
        raise (CannotTell if cannot_tell else ClaimFailed)(record.message)


class Failures:
    """The failures of a run; an error that several items have in common is written once."""

    def __init__(self, style: str) -> None:
        self._style = style
        self._first: dict[str, str] = {}

    def show(self, report: pytest.TestReport) -> None:
        """Let a report show its failure so, unless it has a traceback to show."""
        from pytest_maxrandom.reports.summary import label

        told = attached(report)
        if not (report.failed and told):
            return
        name, fields = told[0]
        record = _read(LISTS[name], fields)
        shown: Any = report.longrepr
        crash = getattr(shown, "reprcrash", None)
        if isinstance(shown, str):
            whole = shown
        elif crash is not None and crash.message == f"{_FAILED}{record.message}":
            whole = crash.message.removeprefix(_FAILED)
        else:
            return
        message, *more = whole.split("\n")
        where, line = record.suite, record.line
        if message.startswith(_XPASSED):
            message = _unexpected(record)
        elif report.when == "call" and not more:
            message += _main_reason(record)
        if self._style == "long" and report.when == "call":
            more += _details(record)
        if found := re.match(rf"{re.escape(where)}:(\d+): ", message):
            lines = [message, *more]
            line, message = int(found[1]), message[found.end() :]
        else:
            lines = [message, *more, f"{where}:{line}"]
        name = label(record)
        first = self._first.setdefault(message, name) if report.when != "call" else name
        same_as = "" if first == name else first
        crash = Crash(where, line, message)
        failure: Any = Failure(crash, whole, tuple(lines), self._style, same_as)
        report.longrepr = failure


def _read(kind: type[Record], fields: dict[str, Any]) -> Record:
    from pydantic import ValidationError

    try:
        record: Record = adapter_of(kind).validate_python(fields)
    except ValidationError:
        record = kind(**fields)  # the run says what is wrong with it
    return record


def _unexpected(record: Record) -> str:
    from pytest_maxrandom.reports.phrases import finding

    record.outcome = "xpassed"
    return finding(record)


def _main_reason(record: Record) -> str:
    """Say what lies behind the numbers of a claim that fails; empty where nothing is known to."""
    from pytest_maxrandom.reports.headlines import cause

    if (
        not isinstance(record, ClaimRecord)
        or record.passed is not False
        or record.best_accuracy is None
    ):
        return ""
    why = cause(record)
    return f"; {why}" if why else ""


def _details(record: Record) -> list[str]:
    """Say what `--tb=long` adds."""
    from pytest_maxrandom.notation import accuracy
    from pytest_maxrandom.reports import phrases

    if not isinstance(record, ClaimRecord) or record.best_accuracy is None:
        return []
    if record.standard_baseline is None:
        return [f"Claimed: {phrases.claimed(record)}.", f"Found: {phrases.result(record)}."]
    return [
        f"Claimed: {phrases.claimed(record)}.",
        f"Standard baseline {accuracy(record.standard_baseline)}, maximum random baseline "
        f"{accuracy(record.max_random_baseline)}; {phrases.result(record)}.",
        f"Guessers: {phrases.guessing(record)}.",
    ]
