"""What a run of pytest means for the gate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.reports.summary import records, tally, unread

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

NOTHING_TESTED = 5
"""The exit code of pytest where no test was collected."""

_SUITES = "suites are YAML files below a folder named eval_suites, and *.maxrandom.yaml anywhere"
_INTERRUPTED = 2
_ENDED = {
    _INTERRUPTED: "pytest was interrupted",
    3: "pytest met an internal error; the log has its text",
    4: "pytest was called wrongly; the log says how",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of the gate.

    Attributes
    ----------
    word : str
        passed; failed: a claim, or another test, fails; error: not everything could be tested.
    code : int
        The exit code: pytest's own, but NOTHING_TESTED where pytest ended well without a claim.
    passed, failed : int
        Claims, comparisons and contamination checks that hold; those that do not end as they
        should, could not be tested or have no result.
    sentence : str
        The same for a person.
    reason : str
        Why the gate does not pass, where no report says it; else empty.
    """

    word: Literal["passed", "failed", "error"]
    code: int
    passed: int
    failed: int
    sentence: str
    reason: str

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
    counts = Counter(record.outcome for record in found)
    failed = counts["failed"] + counts["xpassed"] + counts["error"] + counts[None]
    failed += run.not_run if run else 0
    if code == 0 and not found:
        code = NOTHING_TESTED
    word: Literal["passed", "failed", "error"] = "error"
    if code in (0, 1):
        word = "failed" if code else "passed"
    reason = _reason(code, failed, run, suites)
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
                "pytest ended well without a report, as it does with --collect-only or --help: "
                "leave such options out"
            )
        return f"no claim was found or selected in {suites}: {_SUITES}"
    if code > 1:
        return _ENDED.get(code, _ended_otherwise(code))
    if code == 1 and run is None:
        return "pytest failed before it wrote a report; the log says how"
    if code == 1 and not failed:
        return "pytest failed otherwise than by a claim; the log says how"
    return ""


def _ended_otherwise(code: int) -> str:
    if code > 128:
        return f"pytest was ended by signal {code - 128}" + (
            ", as when memory runs out" if code == 128 + 9 else ""
        )
    return f"pytest ended with code {code}"
