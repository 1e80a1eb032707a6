"""From a suite file of any kind to all that is planned in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.plan import plan
from pytest_maxrandom.recorded.plan import plan_recorded
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.plan import PlannedClaim
    from pytest_maxrandom.recorded.claims import RecordedClaim


def plan_file(path: Path) -> Sequence[PlannedClaim | RecordedClaim]:
    """Return the claims of a suite file.

    Raises
    ------
    SuiteError
        With all the mistakes in it, and in the files that it names.
    """
    suite = load_any_suite(path)
    return plan_recorded(suite) if isinstance(suite, RecordedSuite) else plan(suite)
