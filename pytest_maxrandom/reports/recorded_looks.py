"""Comparisons of recorded results with an earlier run: a ledger beside their suite counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.recorded_looks import look_at
from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.record import Remark, RunRecord
from pytest_maxrandom.reports.kept_answers import kept
from pytest_maxrandom.reports.matched import matches
from pytest_maxrandom.reports.remarks import worded

if TYPE_CHECKING:
    from pathlib import Path


def count_looks(base: RunRecord, head: RunRecord, root: Path, name: str) -> None:
    """Write down which recorded answers are compared; the later run's claims tell how many were.

    Nothing is written of a suite that is not here, nor of answers that are the very same. The ids
    of the later run's claims are relative to `root`; `name` names the comparison there.
    """
    for pair in matches(base, head):
        before, now = pair.before, pair.now
        if now is None or now.recorded is None:
            continue
        suite, answers = root / now.id.partition("::")[0], [kept(before), kept(now)]
        known = [each for each in answers if each is not None]
        if len(known) == 2 and known[0].digest != known[1].digest and suite.is_file():
            try:
                found = look_at(now, known, suite.parent, name)
            except LedgerError as error:
                now.warnings.append(worded(Remark("looks_untold", {"why": str(error)})))
                continue
            now.different_answers = found.answers
            now.warnings += map(worded, found.warnings)
