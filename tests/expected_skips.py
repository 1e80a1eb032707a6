"""Skipped tests must be named by a list where the run asks for it, as continuous integration does.

A test that is skipped proves nothing, and a run is as green without it. The environment variable
``MAXRANDOM_SKIPS`` names text files, with ``:`` between them; each line of one is

    PATTERN OF NODE IDS | PATTERN OF REASONS | CONDITION

where the patterns are those of `fnmatch` and the condition, which may be left out, is one of
`CONDITIONS`. A skip that no line names, or only lines whose condition does not hold here, fails
the run. Without the variable nothing is checked, and pytest's summary tells what was skipped.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

VARIABLE = "MAXRANDOM_SKIPS"


def _processor_flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    return {flag for line in text.splitlines() if line.startswith("flags") for flag in line.split()}


def _no_gpu() -> bool:
    import torch

    return not torch.cuda.is_available()


CONDITIONS: dict[str, Callable[[], bool]] = {
    "": lambda: True,
    "avx512_bf16": lambda: "avx512_bf16" in _processor_flags(),
    "no avx512_bf16": lambda: "avx512_bf16" not in _processor_flags(),
    "no GPU": _no_gpu,
    "no llama_cpp": lambda: find_spec("llama_cpp") is None,
    "no gptqmodel": lambda: find_spec("gptqmodel") is None,
    "no ray": lambda: find_spec("ray") is None,
    "no bambi": lambda: find_spec("bambi") is None,
    "no dspy": lambda: find_spec("dspy") is None,
    "no mcp": lambda: find_spec("mcp") is None,
    "no math_verify": lambda: find_spec("math_verify") is None,
    "no optuna": lambda: find_spec("optuna") is None,
    "no site": lambda: not Path("build/docs/index.html").exists(),
    "no pdflatex": lambda: shutil.which("pdflatex") is None,
    "not root": lambda: not hasattr(os, "getuid") or os.getuid() != 0,
    "not Linux": lambda: platform.system() != "Linux",
    "Python 3.14": lambda: sys.version_info >= (3, 14),
}


@dataclass(frozen=True)
class Expected:
    """One line of a list."""

    node_ids: str
    reasons: str
    condition: str

    @classmethod
    def read(cls, path: Path) -> list[Expected]:
        """Read a list; ``#`` begins a comment.

        Raises
        ------
        pytest.UsageError
            If a line is not as the module's documentation says.
        """
        expected = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise pytest.UsageError(f"{VARIABLE}: {path}: {error.strerror}") from error
        for number, line in enumerate(lines, start=1):
            parts = [part.strip() for part in line.partition("#")[0].split("|")]
            if parts == [""]:
                continue
            if len(parts) == 2:
                parts.append("")
            if len(parts) != 3 or parts[2] not in CONDITIONS:
                raise pytest.UsageError(
                    f"{path}:{number}: found {line!r}, expected NODE IDS | REASONS | CONDITION "
                    f"with one of the conditions {', '.join(filter(None, CONDITIONS))}"
                )
            expected.append(cls(*parts))
        return expected

    def names(self, node_id: str, reason: str) -> bool:
        """Tell whether a skip is this one; ``test_file.py::*`` names the whole file as well."""
        return (
            any(fnmatchcase(name, self.node_ids) for name in (node_id, f"{node_id}::"))
            and fnmatchcase(reason, self.reasons)
            and CONDITIONS[self.condition]()
        )


def unlisted(skips: Iterable[tuple[str, str]], lists: Iterable[Path]) -> list[tuple[str, str]]:
    """Return the skips, as node id and reason, that no list names."""
    expected = [line for path in lists for line in Expected.read(path)]
    return [skip for skip in skips if not any(line.names(*skip) for line in expected)]


def _lists() -> list[Path]:
    return [Path(name) for name in os.environ.get(VARIABLE, "").split(":") if name]


def _skips(config: pytest.Config) -> Iterator[tuple[str, str]]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for report in [] if reporter is None else reporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        yield report.nodeid, reason.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    """Tell a mistake in a list before anything runs."""
    unlisted([], _lists())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that skipped what no list names."""
    if _lists() and exitstatus == pytest.ExitCode.OK and unlisted(_skips(session.config), _lists()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name those skips."""
    found = unlisted(_skips(config), _lists()) if _lists() else []
    if not found:
        return
    terminalreporter.section("skips that no list names", red=True)
    for node_id, reason in found:
        terminalreporter.line(f"{node_id}: {reason}")
    terminalreporter.line(f"Let them run, or name them in {os.environ[VARIABLE]}.")
