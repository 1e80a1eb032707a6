"""What a run of pytest means for the gate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.reports.summary import tally, unread

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

NOTHING_TESTED = 5
"""The exit code of pytest where no test was collected."""

_SUITES = "suites are YAML files below a folder named eval_suites, and *.maxrandom.yaml anywhere"
_ENDED = {
    2: "pytest was interrupted",
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
        Claims that hold; claims that do not end as they should, could not be tested or have no
        result.
    sentence : str
        The same for a person.
    """

    word: Literal["passed", "failed", "error"]
    code: int
    passed: int
    failed: int
    sentence: str


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
    counts = Counter(claim.outcome for claim in run.claims) if run else Counter()
    failed = counts["failed"] + counts["xpassed"] + counts["error"] + counts[None]
    failed += run.not_run if run else 0
    if code == 0 and not (run and run.claims):
        code = NOTHING_TESTED
    word: Literal["passed", "failed", "error"] = "error"
    if code in (0, 1):
        word = "failed" if code else "passed"
    return Outcome(word, code, counts["passed"], failed, _sentence(code, failed, run, suites))


def _sentence(code: int, failed: int, run: RunRecord | None, suites: str) -> str:
    if code == NOTHING_TESTED:
        if run is None:
            return (
                "pytest ended well without a report, as it does with --collect-only or --help: "
                "leave such options out"
            )
        return f"no claim was found in {suites}: {_SUITES}"
    parts = []
    if run and (run.claims or run.not_run):
        parts.append(tally(run))
    if run and run.broken:
        parts.append(unread(run))
    elif code > 1:
        parts.append(_ENDED.get(code, _ended_otherwise(code)))
    elif code == 1 and not failed:
        parts.append("another test fails")
    return "; ".join(parts)


def _ended_otherwise(code: int) -> str:
    if code > 128:
        return f"pytest was ended by signal {code - 128}" + (
            ", as when memory runs out" if code == 128 + 9 else ""
        )
    return f"pytest ended with code {code}"
