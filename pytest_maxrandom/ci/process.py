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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pytest

_TOLD = "MAXRANDOM_GATE_TOLD"
"""Begins the names of the files that pytest writes to what the gate needs to know."""


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
    told: bool = True
    """Whether this plugin told anything: a configuration of pytest can block it."""
    left_out: tuple[str, ...] = ()
    """The ids of tests that were collected and not selected."""
    excused: Mapping[str, str] = field(default_factory=dict)
    """Those that were skipped, or failed as expected, by their ids: "skipped" or "xfailed"."""


def pytest_configure(config: pytest.Config) -> None:
    """Tell the gate of pytest's configuration, and take interrupts in any case.

    A shell's background processes ignore them, and so would pytest, which the gate interrupts.
    """
    if _TOLD not in os.environ:
        return
    worker = getattr(config, "workerinput", {"workerid": "gw0"})  # each one collects all
    if worker["workerid"] == "gw0":
        config.pluginmanager.register(_Tests())  # without a name that -p no:NAME could block
    if hasattr(config, "workerinput"):
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    templates = config.getoption("maxrandom_templates", None)
    told = {
        "root": str(config.rootpath),
        "templates": templates and str(config.invocation_params.dir / templates),
        "shards": config.getoption("maxrandom_shards", None),
    }
    _hand_over("configuration", told)


class _Tests:
    """Tells which tests are not selected, skipped or excused, whatever does that."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._excused: dict[str, str] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._ids[item.nodeid] = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        selected = {item.nodeid for item in session.items}
        if self._ids:  # a controller whose workers collect has none
            _hand_over("left_out", [name for name in self._ids if name not in selected])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            excused = "xfailed" if hasattr(report, "wasxfail") else "skipped"
            self._excused[report.nodeid] = excused

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell it, where all reports arrive."""
        if not hasattr(session.config, "workerinput"):
            _hand_over("excused", self._excused)


def _hand_over(what: str, found: object) -> None:
    Path(f"{os.environ[_TOLD]}-{what}").write_text(json.dumps(found), encoding="utf-8")


def _handed_over(what: str, told: Path) -> Any:
    with contextlib.suppress(OSError, ValueError):
        return json.loads(Path(f"{told}-{what}").read_text(encoding="utf-8"))
    return None


def run_pytest(arguments: Sequence[str], known: Mapping[str, str] = {}) -> Ran:
    """Run pytest in the current folder; its output goes where this process's does.

    `known` is more of its environment.
    """
    command = [sys.executable, "-m", "pytest", "-p", __name__, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        handed_over = Path(folder) / "told"
        # In a session of its own, so that an interrupt reaches it once: through this process. At
        # the second one pytest would give up its reports.
        with (
            subprocess.Popen(
                command,
                env={**os.environ, **known, _TOLD: str(handed_over)},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            ) as process,
            _interrupts_for(process),
        ):
            code = process.wait()
        configuration: dict[str, str | None] = _handed_over("configuration", handed_over) or {}
        left_out: list[str] = _handed_over("left_out", handed_over) or []
        excused: dict[str, str] = _handed_over("excused", handed_over) or {}
    templates = configuration.get("templates")
    return Ran(
        code if code >= 0 else 128 - code,
        Path(configuration.get("root") or Path.cwd()),
        Path(templates) if templates else None,
        configuration.get("shards"),
        bool(configuration),
        tuple(left_out),
        excused,
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
