"""What pytest's code and the record of a run mean together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.ci.gate import NOTHING_TESTED, judge
from tests.unit.reports.samples import claim, run, untested

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

HELD, FELL = claim(), claim(best=31)


def test_the_code_for_nothing_is_pytests() -> None:
    assert pytest.ExitCode.NO_TESTS_COLLECTED == NOTHING_TESTED


@pytest.mark.parametrize(
    ("code", "record", "word", "counts", "sentence"),
    [
        (0, run(HELD), "passed", (1, 0), "1 of 1 claim passes"),
        (
            0,
            run(HELD, claim(outcome="xfailed", best=31)),
            "passed",
            (1, 0),
            "1 of 2 claims passes, 1 fails as expected",
        ),
        (
            1,
            run(HELD, FELL, claim(outcome="xpassed"), untested()),
            "failed",
            (1, 3),
            "1 of 4 claims fails, 1 passes unexpectedly, 1 could not be tested, 1 passes",
        ),
        (
            1,
            run(HELD),
            "failed",
            (1, 0),
            "1 of 1 claim passes; pytest failed, but not because of a claim; the log says why",
        ),
        (
            2,
            run(HELD, interrupted=True, not_run=2),
            "error",
            (1, 2),
            "2 of 3 claims were not run, 1 passes; pytest was interrupted",
        ),
        (2, run(broken=["s.yaml:1: no"]), "error", (0, 0), "1 suite could not be read"),
        (3, None, "error", (0, 0), "pytest had an internal error; the log shows it"),
        (
            4,
            None,
            "error",
            (0, 0),
            "pytest got wrong arguments, or lost the plugin (`-p no:maxrandom`); the log shows "
            "them",
        ),
        (137, None, "error", (0, 0), "pytest was ended by signal 9, as when memory runs out"),
        (139, None, "error", (0, 0), "pytest was ended by signal 11"),
        (77, run(HELD), "error", (1, 0), "1 of 1 claim passes; pytest ended with code 77"),
    ],
)
def test_every_end_has_a_word_and_a_sentence(
    code: int, record: RunRecord | None, word: str, counts: tuple[int, int], sentence: str
) -> None:
    outcome = judge(code, record, "eval_suites")
    assert (outcome.word, outcome.code) == (word, code)
    assert (outcome.passed, outcome.failed) == counts
    assert outcome.sentence == sentence


@pytest.mark.parametrize(
    ("code", "record", "notice"),
    [
        (0, run(HELD), ""),
        (1, run(HELD, FELL), ""),
        (1, run(HELD, broken=["s.yaml:1: no"]), ""),
        (2, run(broken=["s.yaml:1: no"]), ""),
        (2, run(HELD, interrupted=True, not_run=2), ""),
        (
            1,
            run(HELD),
            "The gate failed: pytest failed, but not because of a claim; the log says why",
        ),
        (
            1,
            None,
            "The gate failed: pytest failed before it wrote a report; the log says why",
        ),
        (
            3,
            run(HELD),
            "The gate could not test everything: pytest had an internal error; the log shows it",
        ),
        (
            137,
            None,
            "The gate could not test everything: pytest was ended by signal 9, as when memory "
            "runs out",
        ),
        (
            5,
            run(),
            "The gate could not test everything: no claim was found or selected in eval_suites: "
            "suites are YAML files below a folder named eval_suites, and *.maxrandom.yaml anywhere",
        ),
    ],
)
def test_what_no_report_says_has_a_notice(code: int, record: RunRecord | None, notice: str) -> None:
    """Else a report of claims that hold would stand for a gate that is red."""
    assert judge(code, record, "eval_suites").notice == notice


@pytest.mark.parametrize(
    ("record", "word", "code", "sentence"),
    [
        (
            run(HELD, FELL),
            "failed",
            1,
            "1 of 2 claims fails, 1 passes; pytest ended with code 0, but not every claim holds",
        ),
        (
            run(HELD, claim(outcome="xpassed")),
            "failed",
            1,
            "1 of 2 claims passes unexpectedly, 1 passes; pytest ended with code 0, but not every "
            "claim holds",
        ),
        (
            run(HELD, not_run=2),
            "error",
            2,
            "2 of 3 claims were not run, 1 passes; pytest ended with code 0, but not everything "
            "was tested",
        ),
        (
            run(not_run=1),
            "error",
            2,
            "1 of 1 claim was not run; pytest ended with code 0, but not everything was tested",
        ),
        (
            run(HELD, broken=["s.yaml:1: no"]),
            "error",
            2,
            "1 of 1 claim passes; 1 suite could not be read",
        ),
    ],
)
def test_a_code_that_says_less_than_the_report_is_overruled(
    record: RunRecord, word: str, code: int, sentence: str
) -> None:
    outcome = judge(0, record, "eval_suites")
    assert (outcome.word, outcome.code) == (word, code)
    assert outcome.sentence == sentence
    assert outcome.reason == ""  # the report's headline is red, and says it


@pytest.mark.parametrize("record", [None, run()])
@pytest.mark.parametrize("code", [0, NOTHING_TESTED])
def test_a_run_without_a_claim_never_passes(code: int, record: RunRecord | None) -> None:
    outcome = judge(code, record, "some/folder")
    assert (outcome.word, outcome.code) == ("error", NOTHING_TESTED)
    assert ("--collect-only" if record is None else "some/folder") in outcome.sentence
