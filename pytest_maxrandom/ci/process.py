"""pytest as a process of its own, so that the gate outlives whatever ends it.

There this module is a plugin that tells what the paths in the reports start from, and which
templates the user has.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pytest

_TOLD = "MAXRANDOM_GATE_TOLD"
"""Names the file that pytest writes to what the gate needs of its configuration."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of pytest."""

    code: int
    """Its exit code; 128 + s if signal s has ended it, as shells say it."""
    root: Path
    """Its rootdir, or the current folder if it ended before it had one."""
    templates: Path | None
    """The folder of the user's templates."""
    shards: str | None
    """The folder whose answers were judged, where no model was run."""


def pytest_configure(config: pytest.Config) -> None:
    """Tell the gate of pytest's configuration, and take interrupts in any case.

    A shell's background processes ignore them, and so would pytest, which the gate interrupts.
    """
    if _TOLD not in os.environ or hasattr(config, "workerinput"):
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    templates = config.getoption("maxrandom_templates", None)
    told = {
        "root": str(config.rootpath),
        "templates": templates and str(config.invocation_params.dir / templates),
        "shards": config.getoption("maxrandom_shards", None),
    }
    Path(os.environ[_TOLD]).write_text(json.dumps(told), encoding="utf-8")


def run_pytest(arguments: Sequence[str], known: Mapping[str, str] = {}) -> Ran:
    """Run pytest in the current folder; its output goes where this process's does.

    Parameters
    ----------
    known : mapping of str to str
        More of its environment.
    """
    command = [sys.executable, "-m", "pytest", "-p", __name__, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        # In a session of its own, so that an interrupt reaches it once: through this process. At
        # the second one pytest would give up its reports.
        with (
            subprocess.Popen(
                command,
                env={**os.environ, **known, _TOLD: str(told)},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            ) as process,
            _interrupts_for(process),
        ):
            code = process.wait()
        found: dict[str, str | None] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(told.read_text(encoding="utf-8"))
    templates = found.get("templates")
    return Ran(
        code if code >= 0 else 128 - code,
        Path(found.get("root") or Path.cwd()),
        Path(templates) if templates else None,
        found.get("shards"),
    )


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
