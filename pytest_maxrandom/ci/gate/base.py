"""What the ledger lost since the branch that a job's changes go into."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.gate.outcome import Outcome
from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.ledger.history import Commit, WorkTree
from pytest_maxrandom.ledger.losses import lost
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "none"
"""Says that there is no base to compare with."""
CODE = 2
"""The exit code where the base cannot be read; pytest is then not run."""
_SHOWN = 3


def known_base(said: str, environ: Mapping[str, str]) -> str:
    """Return the reference to compare with; empty where none is known, or none is wanted.

    Parameters
    ----------
    said : str
        What the user says; empty if nothing.
    environ : mapping
        What GitHub or GitLab tell a job about a pull request.
    """
    if said:
        return "" if said == NONE else said
    if branch := environ.get("GITHUB_BASE_REF"):
        return f"origin/{branch}"
    if commit := environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        return commit
    branch = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    return branch and f"origin/{branch}"


class Watch:
    """Compares the ledger with its base, before a run and after it.

    Before the run it holds what is committed, which the run may add to again. After it the ledger
    of each suite that was run is there, wherever the suite has been moved to.

    Parameters
    ----------
    ref : str
        The base.

    Raises
    ------
    GitError
        With the way out, if git cannot tell what the ledger was there.
    """

    def __init__(self, ref: str) -> None:
        self._ref = ref
        self._tree = repository(Path.cwd())
        self._base = Commit(self._tree, ref, self._tree.fork_point(ref))
        self._found = dict.fromkeys(self._lost())

    def lost(self) -> list[str]:
        """Return what is gone, a sentence each, those of before the run included.

        Raises
        ------
        GitError
            If git cannot tell any more.
        """
        return list(map(visible, self._found | dict.fromkeys(self._lost())))

    def _lost(self) -> list[str]:
        if not self._base.files:
            return []
        now = WorkTree(self._tree)
        return lost(self._base, now, now.claimed_sets())

    def judge(self, outcome: Outcome) -> tuple[Outcome, list[str]]:
        """Return the outcome where the ledger is taken into account, and what is gone."""
        try:
            found = self.lost()
        except (GitError, OSError) as error:
            return unread(str(error)), []
        if not found:
            return outcome, []
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        reason = (
            f"the ledger lost what stood at {self._ref}, so t is too small: "
            f"{'; '.join(found[:_SHOWN])}{more}. `maxrandom ledger verify --base {self._ref}` "
            "lists it"
        )
        return (
            dataclasses.replace(
                outcome,
                word="failed" if outcome.word == "passed" else outcome.word,
                code=outcome.code or 1,
                sentence=f"{outcome.sentence}; {reason}",
                reason="; ".join(filter(None, [reason, outcome.reason])),
            ),
            found,
        )


def unread(problem: str) -> Outcome:
    """Return the outcome where the base cannot be read."""
    reason = f"the ledger cannot be compared with its base: {problem}"
    return Outcome("error", CODE, 0, 0, reason, reason)
