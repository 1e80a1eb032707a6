"""What a gate writes, and what a run of pytest, and all that is held against it, means for it."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.record import FAILING, RESERVED, Reservation, RunRecord
from pytest_maxrandom.reports.changes import is_partial
from pytest_maxrandom.reports.summary import records, simulated, tally, unread
from pytest_maxrandom.reports.text import some_of, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    4: "pytest got wrong arguments, or lost the plugin (`-p no:maxrandom`); the log shows them",
}
_Word: TypeAlias = Literal["passed", "failed", "error"]
_WORDS: dict[int, _Word] = {0: "passed", 1: "failed"}
_SHOWN = 3
"""Things of a kind that a sentence of the gate names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of the gate."""

    word: _Word
    """passed; failed: a claim, or another test, fails; error: not everything could be tested."""
    code: int
    """The exit code: pytest's own, but never 0 where the report says that not all is well."""
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
    """Judge a run by its report; pytest's code can make it worse, and never better.

    Whatever runs in pytest's process, such as a conftest.py, can change that code. The run is None
    if pytest wrote no report; `suites` is what it was to test, for the sentence.
    """
    ended = records(run) if run else []
    counts = Counter[str | None](record.outcome for record in ended)
    failed = sum(counts[each] for each in FAILING) + (run.not_run if run else 0)
    partial = run is not None and is_partial(run)
    overruled = code == 0 and bool(partial or failed)
    if overruled:
        code = _INTERRUPTED if partial else 1
    elif code == 0 and not ended:
        code = NOTHING_TESTED
    word = _WORDS.get(code, "error")
    reason = _reason(code, failed, run, suites)
    if overruled:
        what = "not everything was tested" if partial else "not every claim holds"
        reason = f"pytest ended with code 0, but {what}"
    if run is not None and code in _WORDS and (made_up := simulated(run)):
        word, code = "failed", 1
        reason = f"{made_up[0].lower()}{made_up[1:]}; a gate needs models that are run"
        overruled = False
    shown = run is not None and (
        overruled or run.broken or (run.interrupted and code == _INTERRUPTED)
    )
    sentence = reason
    if run is not None and code != NOTHING_TESTED:
        counted = tally(run) if ended or run.not_run else ""
        sentence = "; ".join(filter(None, [counted, unread(run) or reason]))
    return Outcome(word, code, counts["passed"], failed, sentence, reason="" if shown else reason)


def _reason(code: int, failed: int, run: RunRecord | None, suites: str) -> str:
    """Say why the gate does not pass, apart from what became of the claims."""
    if code == NOTHING_TESTED:
        if run is None:
            return (
                "pytest ended without a report, as with --collect-only or --help, or where a test "
                "ends the process: leave that out"
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


def known_base(base: str, environ: Mapping[str, str]) -> str:
    """Return the reference to compare with; empty where none is known, or none is wanted.

    The user names one, or ``none``; else it is what GitHub or GitLab tell a job of a pull request.
    """
    if base:
        return "" if base == "none" else base
    if branch := environ.get("GITHUB_BASE_REF"):
        return f"refs/remotes/origin/{branch}"
    if commit := environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"):
        return commit
    branch = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    return branch and f"refs/remotes/origin/{branch}"


def unread_base(problem: str) -> Outcome:
    """Return the outcome where the base cannot be read; pytest is then not run."""
    reason = f"the suites and the ledger cannot be compared with their base: {problem}"
    return Outcome("error", 2, 0, 0, reason, reason)


def lines_lost(found: Sequence[str], ref: str) -> str:
    """Say that the ledger lost lines, of which there is a sentence each."""
    return (
        f"the ledger lost what stood at {ref}, so t is too small: {several(found)}. `maxrandom "
        f"ledger verify --base {ref}` lists it"
    )


def held_against(outcome: Outcome, reasons: Sequence[str]) -> Outcome:
    """Return an outcome that fails for reasons that pytest does not know."""
    if not reasons:
        return outcome
    return dataclasses.replace(
        outcome,
        word="failed" if outcome.word == "passed" else outcome.word,
        code=outcome.code or 1,
        sentence="; ".join([outcome.sentence, *reasons]),
        reason="; ".join(filter(None, [*reasons, outcome.reason])),
    )


def several(found: Sequence[str]) -> str:
    """Name the first of several things, and say how many others there are."""
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{'; '.join(found[:_SHOWN])}{more}"


def why_fatal(reservations: Sequence[Reservation]) -> list[str]:
    """Say what fails the gate of what is held against its run, a sentence for each kind."""
    reasons = []
    for kind, shown in RESERVED.items():
        names = [
            each.id.partition("::")[2] or each.id
            for each in reservations
            if each.fails and each.kind == kind
        ]
        if names:
            verb = shown.one if len(names) == 1 else shown.more
            reasons.append(visible(f"{some_of(names, _SHOWN)} {verb}"))
    return reasons
