"""`--maxrandom-dry-run`: what the selected claims would cost, in place of testing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.dry_run import costs
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.hooks.items.base import SuiteItem
from pytest_maxrandom.hooks.session_state import drop_model, session_state
from pytest_maxrandom.reports.dry_run import lines

if TYPE_CHECKING:
    import pytest

    from pytest_maxrandom.claims.dry_run import Asked


def foretell(session: pytest.Session) -> None:
    """Print what the session's claims would cost.

    What would not run is an error of the session.
    """
    config = session.config
    items = [item for item in session.items if isinstance(item, SuiteItem)]
    asked: list[Asked] = []
    mistakes: dict[str, list[str]] = {}
    for item in items:
        try:
            asked += item.asks()
        except MaxRandomError as error:
            mistakes.setdefault(str(error), []).append(item.nodeid)
    found = costs(asked, session_state(config)) if asked else []
    drop_model(config)
    recorded: dict[str, int] = {}
    for item in items:
        if isinstance(item.planned, RecordedClaim):
            name = item.planned.model.name
            recorded[name] = recorded.get(name, 0) + 1
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.section("maxrandom: dry run")
        for line in lines(found, recorded, mistakes):
            reporter.write_line(line)
    session.testsfailed += len(mistakes) + sum(cost.problem is not None for cost in found)
