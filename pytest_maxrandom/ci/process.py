"""pytest as a process of its own, so that the gate outlives whatever ends it.

There this module is a plugin that tells what the paths in the reports start from.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pytest

_ROOT = "MAXRANDOM_GATE_ROOT"
"""Names the file that rootdir is written to."""


def pytest_configure(config: pytest.Config) -> None:
    """Write rootdir to the file that the gate names, and take interrupts in any case.

    A shell's background processes ignore them, and so would pytest, which the gate interrupts.
    """
    if _ROOT in os.environ and not hasattr(config, "workerinput"):
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        Path(os.environ[_ROOT]).write_text(str(config.rootpath), encoding="utf-8")


def run_pytest(arguments: Sequence[str], told: Mapping[str, str] = {}) -> tuple[int, Path]:
    """Run pytest in the current folder; its output goes where this process's does.

    Parameters
    ----------
    told : mapping of str to str
        More of its environment.

    Returns
    -------
    int
        pytest's exit code; 128 + s if signal s has ended it, as shells say it.
    Path
        pytest's rootdir, or the current folder if pytest ended before it had one.
    """
    command = [sys.executable, "-m", "pytest", "-p", __name__, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        # In a session of its own, so that an interrupt reaches it once: through this process. At
        # the second one pytest would give up its reports.
        with (
            subprocess.Popen(
                command,
                env={**os.environ, **told, _ROOT: str(root)},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            ) as process,
            _interrupts_for(process),
        ):
            code = process.wait()
        found = Path(root.read_text(encoding="utf-8")) if root.exists() else Path.cwd()
    return (code if code >= 0 else 128 - code), found


@contextlib.contextmanager
def _interrupts_for(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand over interrupts and requests to end as interrupts, upon which pytest reports."""

    def hand_over(*_: Any) -> None:
        if os.name == "posix":  # elsewhere a console interrupts all its processes by itself
            process.send_signal(signal.SIGINT)

    before = {
        number: signal.signal(number, hand_over) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
