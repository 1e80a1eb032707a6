"""What a gate writes, what a run of pytest means for it, and what the ledger lost meanwhile."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.ledger.history import Commit, WorkTree
from pytest_maxrandom.ledger.losses import lost
from pytest_maxrandom.record import FAILING, RunRecord
from pytest_maxrandom.reports.summary import records, simulated, tally, unread
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping


_OWN = {
    "json": re.compile(rb'\s*\{\s*"schema_version"\s*:|\s*\Z'),
    "page": re.compile(
        rb'\s*(<!doctype html>[^{]{0,200}<meta name="generator" content="pytest-maxrandom">|\Z)'
    ),
    "junit": re.compile(rb"\s*(<\?xml[^>]*>)?\s*(<testsuites?[\s>/]|\Z)"),
}
"""How a report and a page of this package, and a JUnit file, begin; an empty file holds nothing to
lose."""
NOTHING_TESTED = 5
"""The exit code of pytest where no test was collected."""
_SUITES = "suites are YAML files below a folder named eval_suites, and *.maxrandom.yaml anywhere"
_INTERRUPTED = 2
_ENDED = {
    _INTERRUPTED: "pytest was interrupted",
    3: "pytest had an internal error; the log shows it",
    4: "pytest got wrong arguments; the log shows them",
}
_Word: TypeAlias = Literal["passed", "failed", "error"]
_WORDS: dict[int, _Word] = {0: "passed", 1: "failed"}
_SHOWN = 3
"""Lines that the ledger lost, in the gate's last sentence."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of the gate."""

    word: _Word
    """passed; failed: a claim, or another test, fails; error: not everything could be tested."""
    code: int
    """The exit code: pytest's own, but NOTHING_TESTED where pytest ended well without a claim."""
    passed: int
    failed: int
    """Claims, comparisons and contamination checks that hold; those that do not end as they should,
    could not be tested or have no result."""
    sentence: str
    """The same for a person."""
    reason: str
    """Why the gate does not pass, where no report says it; else empty."""

    @property
    def title(self) -> str:
        """What `reason` is about."""
        if self.word == "failed":
            return "The gate failed"
        return "The gate could not test everything"

    @property
    def notice(self) -> str:
        """`reason` as a sentence that can stand alone; empty if there is none."""
        return f"{self.title}: {self.reason}" if self.reason else ""


def judge(code: int, run: RunRecord | None, suites: str) -> Outcome:
    """Judge a run.

    Parameters
    ----------
    code : int
        pytest's exit code.
    run : RunRecord or None
        What pytest recorded; None if it wrote no report.
    suites : str
        What pytest was to test, for the sentence.
    """
    found = records(run) if run else []
    counts = Counter[str | None](record.outcome for record in found)
    failed = sum(counts[each] for each in FAILING) + (run.not_run if run else 0)
    if code == 0 and not found:
        code = NOTHING_TESTED
    word = _WORDS.get(code, "error")
    reason = _reason(code, failed, run, suites)
    if run is not None and code in _WORDS and (made_up := simulated(run)):
        word, code = "failed", 1
        reason = f"{made_up[0].lower()}{made_up[1:]}; a gate needs models that are run"
    told = run is not None and (run.broken or (run.interrupted and code == _INTERRUPTED))
    sentence = reason
    if run is not None and code != NOTHING_TESTED:
        counted = tally(run) if found or run.not_run else ""
        sentence = "; ".join(filter(None, [counted, unread(run) or reason]))
    return Outcome(word, code, counts["passed"], failed, sentence, reason="" if told else reason)


def _reason(code: int, failed: int, run: RunRecord | None, suites: str) -> str:
    """Say why the gate does not pass, apart from what became of the claims."""
    if code == NOTHING_TESTED:
        if run is None:
            return (
                "pytest succeeded without a report, as with --collect-only or --help: leave out "
                "such options"
            )
        return f"no claim was found or selected in {suites}: {_SUITES}"
    if code > 1:
        killed = ", as when memory runs out" if code == 128 + 9 else ""
        signal = f"pytest was ended by signal {code - 128}{killed}"
        return _ENDED.get(code, signal if code > 128 else f"pytest ended with code {code}")
    if code == 1 and run is None:
        return "pytest failed before it wrote a report; the log says why"
    if code == 1 and not failed:
        return "pytest failed, but not because of a claim; the log says why"
    return ""


def report_files(report: str) -> dict[str, Path]:
    """Return the files to write, by the names of the step's outputs.

    Raises
    ------
    ValueError
        If `report` is no path of a Markdown file.
    """
    path = Path(report)
    if path.suffix != ".md" or not report.isprintable() or report.startswith("-"):
        raise ValueError(f"report: found {report!r}, expected the path of a file *.md")
    return {
        "report": path,
        "json": path.with_suffix(".json"),
        "page": path.with_suffix(".html"),
        "junit": path.with_suffix(".xml"),
    }


def discard(files: Mapping[str, Path]) -> None:
    """Remove the files of an earlier gate, which would pass for this one's.

    Raises
    ------
    ValueError
        If a file that no argument names is none of a gate's; then all are left.
    OSError
        If a file cannot be read or removed.
    """
    for name, own in _OWN.items():
        file = files[name]
        if file.exists() and not (file.is_file() and own.match(file.read_bytes())):
            raise ValueError(
                f"report: {file}, in the folder of {files['report'].name}, would be overwritten, "
                "but no gate wrote it; give --report another name, or move that file"
            )
    for file in files.values():
        file.unlink(missing_ok=True)


def known_base(said: str, environ: Mapping[str, str]) -> str:
    """Return the reference to compare with; empty where none is known, or none is wanted.

    Parameters
    ----------
    said : str
        What the user says: a reference, or that there is ``none``; empty if nothing.
    environ : mapping
        What GitHub or GitLab tell a job about a pull request.
    """
    if said:
        return "" if said == "none" else said
    if branch := environ.get("GITHUB_BASE_REF"):
        return f"refs/remotes/origin/{branch}"
    if commit := environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        return commit
    branch = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    return branch and f"refs/remotes/origin/{branch}"


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
        self._base = Commit(self._tree, ref)
        self._before = self._lost()

    def _lost(self) -> list[str]:
        if not self._base.files:
            return []
        now = WorkTree(self._tree)
        return list(map(visible, lost(self._base, now, now.claimed_sets())))

    def judge(self, outcome: Outcome) -> tuple[Outcome, list[str]]:
        """Return the outcome where the ledger is taken into account, and what is gone.

        That is a sentence each, those of before the run included.
        """
        try:
            found = list(dict.fromkeys([*self._before, *self._lost()]))
        except (GitError, OSError) as error:
            return unread_base(str(error)), []
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


def unread_base(problem: str) -> Outcome:
    """Return the outcome where the base cannot be read; pytest is then not run."""
    reason = f"the ledger cannot be compared with its base: {problem}"
    return Outcome("error", 2, 0, 0, reason, reason)
