"""What a difference means: records, verdicts and their one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord
from pytest_maxrandom.reports.designs import indicated
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.arms.answers import PairedAnswers
from pytest_maxrandom.studies.arms.conclude import (
    contamination_over_tasks,
    record_contamination,
    record_difference,
)
from pytest_maxrandom.studies.arms.reduction import Difference
from pytest_maxrandom.suite.arms import DifferenceSpec
from tests.unit.studies.arms.made import random_answers

LEAK = "tuned on the scored text; other text teaches nothing"


def comparison(**changes: Any) -> ComparisonRecord:
    given = {
        "id": "s::t::compare[x-y]", "suite": "s", "line": 1, "task": "t", "shots": 0, "first": "x",
        "second": "y", "changed": "model: x, not y", "asserted": {}, "replicates": 1,
    }  # fmt: skip
    return ComparisonRecord(**{**given, **changes})


def arms(gains: int, losses: int, n: int = 100) -> PairedAnswers:
    """One prompt, right in the first arm only on `gains` examples, in the second on `losses`."""
    first, second = np.zeros((2, 1, n), dtype=np.bool_)
    first[0, :gains] = True
    second[0, gains : gains + losses] = True
    names = tuple(map(str, range(n)))
    return PairedAnswers(names, first, second, np.ones((1, n), dtype=np.bool_))


def judged(found: Difference, **claim: Any) -> ComparisonRecord:
    spec = DifferenceSpec(**claim)
    record = comparison(confidence=0.9, asserted=spec.model_dump(exclude_none=True))
    record_difference(record, found, spec)
    word(record)
    return record


def test_what_is_not_claimed_passes() -> None:
    record = comparison()
    record_difference(record, Difference([arms(0, 30)]), None)
    assert (record.passed, record.message, record.assertion_p) == (True, None, None)
    assert record.difference == pytest.approx(-0.3)
    assert record.units == "examples"
    assert (record.first_accuracy, record.second_accuracy) == pytest.approx((0, 0.3))
    assert [(each.only_first, each.only_second) for each in record.prompts] == [(0, 30)]


@pytest.mark.parametrize(
    ("gains", "losses", "claim", "passed"),
    [
        (15, 2, {"better": 0.0}, True),
        (2, 15, {"better": 0.0}, False),
        (15, 2, {"better": 0.12}, False),
        (15, 2, {"better": 0.0, "level": 0.0001}, False),
        (5, 5, {"not_worse_than": -0.1}, True),
        (5, 5, {"not_worse_than": -0.01}, False),
        (2, 15, {"not_worse_than": -0.1}, False),
    ],
)
def test_a_claim_holds_where_its_p_value_is_at_most_the_level(
    gains: int, losses: int, claim: dict[str, float], passed: bool
) -> None:
    found = Difference([arms(gains, losses)])
    record = judged(found, **claim)
    margin = claim.get("better", claim.get("not_worse_than", 0.0))
    assert record.assertion_p == found.p_greater(margin)
    assert record.passed is passed
    assert (record.assertion_p <= claim.get("level", 0.05)) is passed
    assert (record.message is None) is passed


def test_why_a_claim_fails_is_one_line() -> None:
    message = judged(Difference([arms(2, 15)]), not_worse_than=-0.02).message
    assert message is not None
    assert message.startswith("x - y = -.130, needs above -.020 (p = .")
    assert message.endswith("; t = 1, n = 100)")
    message = judged(Difference([arms(5, 4)]), better=0.0).message
    assert message is not None
    assert " is above .000, but may be by chance (p = ." in message
    assert message.endswith("): use more examples")
    assert "\n" not in message


def contamination(
    boost: PairedAnswers, bias: PairedAnswers, *, allow: bool = False, trained: bool = False
) -> Any:
    record = ContaminationRecord(
        id="i", suite="s", line=1, task="t", shots=0, base="base", extra="extra", test="test"
    )
    record_contamination(
        record,
        Difference([boost]),
        Difference([bias]),
        allow_inconclusive=allow,
        trained=trained,
    )
    word(record)
    return record


@pytest.mark.parametrize(
    ("boost", "bias", "allow", "finding", "passed"),
    [
        ((30, 3), (30, 3), False, "tuned on the text", False),
        ((30, 3), (30, 3), True, "tuned on the text", False),
        ((30, 3), (10, 9), False, "no sign of it", True),
        ((30, 3), (3, 30), False, "no sign of it", True),
        ((10, 9), (30, 3), False, LEAK, False),
        ((3, 30), (30, 3), False, LEAK, False),
        ((10, 9), (30, 3), True, LEAK, False),
        ((10, 9), (10, 9), False, "cannot tell", None),
        ((3, 30), (9, 10), False, "cannot tell", None),
        ((10, 9), (10, 9), True, "cannot tell", None),
    ],
)
def test_a_bias_is_a_finding_and_none_is_one_only_where_there_is_a_boost(
    boost: tuple[int, int], bias: tuple[int, int], allow: bool, finding: str, passed: bool | None
) -> None:
    record = contamination(arms(*boost), arms(*bias), allow=allow)
    assert (indicated(record).partition(":")[0], record.passed) == (finding, passed)
    assert record.boost == pytest.approx((boost[0] - boost[1]) / 100)
    assert record.bias == pytest.approx((bias[0] - bias[1]) / 100)
    may_be = passed or (passed is None and allow)
    assert (record.message is None) is may_be
    assert (record.cannot_tell is not None) is (passed is None and not allow)
    assert len(record.notes) == (passed is None and allow)
    if record.message:
        assert record.message.startswith(f"{finding}: ")
        assert "\n" not in record.message


@pytest.mark.parametrize("allow", [False, True])
def test_memorised_answers_are_found_where_other_text_teaches_nothing(allow: bool) -> None:
    # Of 80 questions whose answers follow no rule, base has 38 right and extra 37. Tuned on these
    # questions with their answers, test has all of them.
    right = {"base": range(38), "extra": range(20, 57), "test": range(80)}
    base, extra, test = (np.isin(np.arange(80), own)[None] for own in right.values())
    names = tuple(map(str, range(80)))
    boost, bias = (
        PairedAnswers(names, *two, np.ones((1, 80), dtype=np.bool_))
        for two in ((extra, base), (test, extra))
    )
    record = contamination(boost, bias, allow=allow)
    assert record.boost == pytest.approx(0.4625 - 0.475)
    assert record.bias == pytest.approx(1 - 0.4625)
    assert record.boost_p > 0.5
    assert record.bias_p <= 1e-4
    assert (record.finding, record.passed) == ("tuned on the text", False)
    assert record.message.startswith(f"{LEAK}: test is .537 above extra (p ")
    assert record.message.endswith("at level .05")


@pytest.mark.parametrize("trained", [False, True])
def test_what_cannot_tell_says_what_may_tell_whether_it_is_allowed_or_not(trained: bool) -> None:
    shown = contamination(arms(10, 9), arms(9, 10), trained=trained)
    assert shown.message.startswith("cannot tell: extra is not shown to be better than base, nor ")
    assert "(extra is .010 above base (p " in shown.message
    allowed = contamination(arms(10, 9), arms(9, 10), trained=trained, allow=True)
    (note,) = allowed.notes
    for text in (shown.message, note.text):
        assert ("more texts, more `epochs`" in text) is trained
        assert "more examples or replicates" in text
    assert "or write `allow_inconclusive: true`" in shown.message
    assert "allow_inconclusive" not in note.text


def test_a_bias_over_tasks_is_a_finding_whatever_the_boost() -> None:
    checks = []
    for task in range(8):
        check = contamination(arms(10, 9), arms(10 + task % 3, 9))
        check.task = str(task)
        checks.append(check)
    assert {check.finding for check in checks} == {"cannot tell"}
    for check in checks[::2]:
        check.boost *= -1
    (row,) = contamination_over_tasks(checks)
    assert row.boost_p > 0.05
    assert row.bias_p == pytest.approx(1 / 2**8)
    assert row.finding == "tuned on the text"
    assert indicated(row) == LEAK
    for check in checks[::2]:
        check.bias *= -1
    (row,) = contamination_over_tasks(checks)
    assert row.finding == "cannot tell"


def test_both_tests_are_named_where_there_are_two() -> None:
    record = comparison(replicates=6)
    record_difference(record, Difference([random_answers(k) for k in range(6)]), None)
    (remark,) = record.notes
    assert (remark.kind, remark.values["largest"]) == ("signs_flipped", record.units)
    assert record.best_low is not None
    assert len(record.by_replicate) == 6
