"""pytest hooks. Every pytest run loads this module: it imports nothing heavy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import CannotTell
from pytest_maxrandom.hooks.options import add_options, read_settings
from pytest_maxrandom.hooks.reporting import Reporting
from pytest_maxrandom.hooks.run import attach
from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pytest_maxrandom.hooks.collect import SuiteFile
    from pytest_maxrandom.hooks.fixture import HandWrittenClaims

_COLLECT = "pytest_maxrandom.hooks.collect"
_STATE = "pytest_maxrandom.hooks.items.base"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Let one process, the controller, gather the claims and write the reports."""
    if read_settings(config).dry_run:
        # One process tells what all would do; pytest-xdist reads this when it is configured.
        vars(config.option).update(dist="no", tx=[], numprocesses=0)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporting(config), "maxrandom_reporting")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Collect suites: YAML below a folder named eval_suites, and *.maxrandom.yaml anywhere."""
    if not is_suite(file_path, parent.config.rootpath):
        return None
    from pytest_maxrandom.hooks.collect import SuiteFile

    return SuiteFile.from_parent(parent, path=file_path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let claims that share a model run on one worker, where the user has not asked otherwise."""
    if config.getoption("dist") != "load":
        return None
    from pytest_maxrandom.hooks.scheduling import SuiteScheduling

    return SuiteScheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let a worker of pytest-xdist tell how far it is."""
    from pytest_maxrandom.hooks.progress import board

    board(node.config).listen(node)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what claims have opened."""
    if _STATE in sys.modules:
        sys.modules[_STATE].close(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let claims that share a model follow each other."""
    if _COLLECT in sys.modules:
        sys.modules[_COLLECT].order_by_model(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Tell what claims would cost, where nothing is to be tested."""
    option = session.config.option
    failed = session.testsfailed and not option.continue_on_collection_errors
    if failed or option.collectonly or not read_settings(session.config).dry_run:
        return None
    from pytest_maxrandom.hooks.collect import foretell

    foretell(session)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Drop a model that the next item does not need, when the item itself has let go of it."""
    try:
        return (yield)
    finally:
        if _COLLECT in sys.modules:
            if isinstance(item, sys.modules[_COLLECT].SuiteItem):
                _forget_failure()
            sys.modules[_COLLECT].release_model(item, nextitem)


def _forget_failure() -> None:
    """Let go of a failed claim's frames, and so of its model, before another model is loaded.

    pytest keeps them for debuggers, and drops them itself, but when the next item is called only.
    """
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # behind what makes a failure an expected one
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a claim's numbers travel with its report; one that cannot tell was never expected to."""
    report = yield
    if call.excinfo and call.excinfo.errisinstance(CannotTell) and hasattr(report, "wasxfail"):
        report.outcome = "failed"
        del report.wasxfail
    attach(item, report)
    return report


@pytest.fixture
def maxrandom(request: pytest.FixtureRequest) -> HandWrittenClaims:
    """Test claims about sweeps that were run elsewhere; they appear in the reports."""
    from pytest_maxrandom.hooks.fixture import HandWrittenClaims

    return HandWrittenClaims(request.node)
