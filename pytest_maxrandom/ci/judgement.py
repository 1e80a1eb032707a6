"""A run of pytest judged by its report and by the base: the gate's colour, and what it says."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.ci import gate
from pytest_maxrandom.ci.comparison import Comparison
from pytest_maxrandom.ci.selection import Selection
from pytest_maxrandom.ci.watch import Committed, Uncounted, Watch, how_to_commit
from pytest_maxrandom.errors import GitError, ReportError
from pytest_maxrandom.host.git import Repository, repository
from pytest_maxrandom.ledger.history import Commit
from pytest_maxrandom.reports.losses import whether_worse
from pytest_maxrandom.reports.page.render import headed
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump, load
from pytest_maxrandom.reports.summary import not_compared, reserved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pytest_maxrandom.ci.process import Ran
    from pytest_maxrandom.ci.since import Since
    from pytest_maxrandom.host.data import Boundary
    from pytest_maxrandom.record import NotCompared, Reservation, Reserved, RunRecord

Ledger: TypeAlias = Literal["required", "artifact", "off"]
"""What becomes of tries that no committed ledger counts: they fail the gate, are kept, or pass."""


@dataclass
class Judged:
    """What becomes of a run, and all that was found of it."""

    outcome: gate.Outcome
    recorded: RunRecord | None = None
    root: Path = field(default_factory=Path.cwd)
    """What the files of its ids are relative to."""
    said: list[str] = field(default_factory=list)
    """For a person, before the last sentence."""
    ledger: list[Path] = field(default_factory=list)
    """Files with lines to commit."""
    first: bool = False
    """Whether why the gate is red stands before what the claims tell."""


class Before:
    """What is known before pytest begins, in which the code of a pull request runs.

    Parameters
    ----------
    base : str
        The base as the user says it; see `known_base`.
    suites, arguments : sequence of str
        What pytest is to test, and its other arguments.
    limits : Boundary
        What suites may read.
    since : callable, optional
        Reads the base's report, where it is asserted that nothing got worse; called with the base.

    Attributes
    ----------
    ref : str
        The base; empty if there is none.

    Raises
    ------
    GitError, OSError, ValueError
        If the base cannot be read.
    """

    def __init__(
        self,
        base: str,
        suites: Sequence[str],
        arguments: Sequence[str],
        limits: Boundary,
        since: Callable[[str], Since] | None = None,
    ) -> None:
        self.ref = ref = gate.known_base(base, os.environ)
        self._not_compared: NotCompared | None = (
            None if ref else ("declined" if base else "unknown")
        )
        self._suites, self._arguments = suites, arguments
        self._since = None if since is None else since(ref)
        self._tree = _tree(required=bool(ref))
        self._committed = Committed(self._tree)
        self._base: tuple[Commit, Watch, Comparison] | None = None
        if ref and self._tree is not None:
            at = Commit(self._tree, ref)
            selection = Selection(at, suites, arguments, limits)
            self._base = at, Watch(at), Comparison(at, suites, selection)

    def judge(
        self, ran: Ran, files: Mapping[str, Path], fail_on: Collection[Reserved], ledger: Ledger
    ) -> Judged:
        """Judge a run by its report and by the base.

        The reports gain what is found; `fail_on` are the kinds of reservations that fail the gate.
        """
        run, said = _read(files["json"])
        judged = Judged(gate.judge(ran.code, run, ", ".join(self._suites)), run, ran.root, said)
        try:
            reservations, gone = self._of_base(judged, ran)
        except (GitError, OSError) as error:
            return replace(judged, outcome=gate.unread_base(str(error)), recorded=None)
        lost = None if run is None or self._since is None else self._since.of(run, ran.root)
        uncounted = Uncounted()
        if run is not None and ledger != "off":
            uncounted = self._committed.lacks(run, ran.root)
        reservations += uncounted.reservations
        for reservation in reservations:
            reservation.fails = reservation.kind in fail_on and "untold" not in reservation.weaker
        if run is not None and (reservations or self._not_compared or lost):
            judged.recorded = run = replace(
                run,
                reservations=reservations,
                not_compared=self._not_compared,
                regressions=lost,
            )
            _write_again(run, files, ran.templates)
        judged.ledger = uncounted.files
        reasons = [gate.lines_lost(gone, self.ref)] if gone else []
        if run is not None and not ran.told:
            reasons.append(
                "pytest ran without the gate's own plugin, so nothing tells how it was configured; "
                "take `-p no:pytest_maxrandom.ci.process` out of its configuration"
            )
        if ran.shards and not any("--maxrandom-shards" in each for each in self._arguments):
            reasons.append(
                f"a configuration of pytest has --maxrandom-shards={ran.shards}, whose answers a "
                "gate would believe; give the option in pytest-args"
            )
        reasons += gate.why_fatal(reservations)
        judged.said += gone
        if lost is not None:
            judged.said.append(whether_worse(lost))
            if not lost.met:
                reasons.append(judged.said[-1])
        if uncounted.reservations:
            judged.said.append(how_to_commit(self._tree, uncounted))
            if "uncounted" in fail_on:
                reasons.append(judged.said[-1])
        elif reservations and run is not None:
            judged.said.append(reserved(run))
        if run is not None and run.not_compared:
            judged.said.append(not_compared(run))
        judged.first = bool(reasons)
        judged.outcome = gate.held_against(judged.outcome, reasons)
        return judged

    def _of_base(self, judged: Judged, ran: Ran) -> tuple[list[Reservation], list[str]]:
        """Return what the base's suites and ledger hold against a run, and the lines it lost."""
        if self._base is None:
            return [], []
        at, watch, comparison = self._base
        unread = comparison.base.unread.items()
        judged.said += [f"not compared with {self.ref}: {file}: {why}" for file, why in unread]
        reservations = comparison.reservations(judged.recorded, ran)
        if reservations:
            at.tree.check_fork_known(self.ref)
        lost = watch.lost()
        if judged.recorded is not None:
            reservations += watch.restarted(judged.recorded, ran.root, comparison.moved)
        return reservations, lost


def _tree(*, required: bool) -> Repository | None:
    """Return the work tree of the current folder; None where there is none, and none is needed."""
    try:
        return repository(Path.cwd())
    except GitError:
        if required:
            raise
        return None


def _read(json: Path) -> tuple[RunRecord | None, list[str]]:
    """Return the run as it was recorded, if it was, and what a person must know of that."""
    try:
        return (load(json) if json.exists() else None), []
    except ReportError as error:
        return None, [str(error)]


def _write_again(run: RunRecord, files: Mapping[str, Path], templates: Path | None) -> None:
    files["json"].write_text(dump(run), encoding="utf-8")
    if files["report"].exists():
        files["report"].write_text(markdown(run, templates), encoding="utf-8")
    if (page := files["page"]).exists():
        page.write_text(headed(page.read_text(encoding="utf-8"), run), encoding="utf-8")
