"""What a gate asserts of a run and of the base's: that nothing got worse, by the base's report.

The report is read before pytest begins: in pytest the pull request's own code runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.record import Regressions, RunRecord
from pytest_maxrandom.reports.base_run import base_run
from pytest_maxrandom.reports.recorded_looks import count_looks
from pytest_maxrandom.reports.regressions import Asserted, regressions

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Since:
    """The report of a base, and what is asserted of a run that is compared with it."""

    asserted: Asserted
    named: str
    base: RunRecord | None
    problem: str = ""
    """Why there is no report, and the way out."""

    @classmethod
    def read(cls, asserted: Asserted, named: str, ref: str, json: Path) -> Since:
        """Read the base's report.

        Parameters
        ----------
        asserted
            What is asserted.
        named
            A file, ``REVISION:PATH``, or a suite; empty where it is at the base by the path of this
            report.
        ref
            The base; empty where none is known.
        json
            The report of this run.
        """
        if not named and not ref:
            problem = "no base is known; name its report with --base-report"
            return cls(asserted, "the base", None, problem)
        try:
            return cls(asserted, named or ref, base_run(named or ref, json))
        except MaxRandomError as error:
            way_out = (
                "keep the report of each run on the base, as a file in git or as an artifact, and "
                "name it with --base-report"
            )
            return cls(asserted, named or ref, None, f"{error}. {way_out[0].upper()}{way_out[1:]}")

    def of(self, run: RunRecord, root: Path) -> Regressions:
        """Compare a run with the base; a claim that only the base has cannot be told.

        The files of the run's ids are relative to `root`.
        """
        if self.base is not None:
            count_looks(self.base, run, root, uuid4().hex)
            return regressions(self.base, run, self.named, self.asserted)
        return Regressions(
            since=self.named,
            margin=self.asserted.not_worse_than,
            alpha=self.asserted.alpha,
            allowed=self.asserted.cannot_tell == "pass",
            problem=self.problem,
        )
