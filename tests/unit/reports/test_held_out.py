"""What the reports say of a test set that was opened, or that stayed closed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import ClaimRecord, HeldOut, ValidationSet
from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.origins import held_out
from pytest_maxrandom.reports.phrases import claimed, finding, needed
from pytest_maxrandom.reports.rendering import latex, markdown
from pytest_maxrandom.reports.results import dump, load_untrusted
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path


ASIDE = ValidationSet(
    examples=60, available=100, duplicates=0, seed=0, chances={"1/2": 60}, test=50
)
CONSTANT = HeldOut(
    50,
    35,
    0.7,
    0.56,
    0.81,
    0.5,
    0.0033,
    openings=3,
    majority_rate=0.7,
    permutation_p=1.0,
    p=1.0,
    tests=3,
)
ASSERTED = {"p_max": 0.05, "test_p": 0.05}


def unconfirmed(**changed: Any) -> ClaimRecord:
    said = "35 of 50 correct on the test set (always the same answer: 35): p > .999 is above .05"
    failed = {"test": CONSTANT, "holds": False, "passed": False, "outcome": "failed"}
    return claim(best=45, asserted=ASSERTED, **{**failed, "message": said, **changed})


def test_the_majority_rate_stands_beside_the_accuracy() -> None:
    assert held_out(unconfirmed()) == (
        "35 of 50 correct (.700, 95 % interval .560 to .810), compared with a standard "
        "baseline of .500 and .700 for always the same answer: p = .0033 of one guesser, > .999 "
        "with right answers shuffled; 3 openings of this test set so far; adjusted for 3, p > .999"
    )


def test_the_first_opening_needs_no_adjustment() -> None:
    once = claim(test=replace(CONSTANT, openings=1, tests=1))
    assert held_out(once).endswith("; 1 opening of this test set so far")


def test_a_report_of_an_earlier_version_says_what_it_knows() -> None:
    earlier = HeldOut(40, 30, 0.75, 0.6, 0.86, 0.5, 0.0011, openings=2)
    assert held_out(claim(test=earlier)).endswith(
        "compared with a standard baseline of .500: p = .0011; 2 openings of this test set so far"
    )


@pytest.mark.parametrize(
    ("holds", "why"),
    [
        (False, "the claim fails"),
        (True, "a red flag fails the claim"),
        (None, "opening it was switched off"),
    ],
)
def test_what_stayed_closed_was_not_tested(holds: bool | None, why: str) -> None:
    closed = unconfirmed(test=None, holds=holds, validation=ASIDE)
    assert (
        held_out(closed) == f"50 examples are still closed, because {why}; so test_p was not tested"
    )


def test_the_reason_and_the_claim_are_told() -> None:
    record = unconfirmed()
    assert finding(record) == record.message
    assert claimed(record) == "p_max is at most .05, and p on the test set is at most .05"
    assert needed(record) == "at least 42 of 60 correct"
    assert f"**Result:** {record.message.split(' (')[0] if record.message else ''}" in markdown(
        run(record)
    )


def test_the_disclosure_says_how_it_was_tested() -> None:
    said = "right answers are shuffled as well as guessed"
    assert said in latex(run(unconfirmed()))
    assert said not in latex(run(claim(best=45)))


def test_a_claim_that_no_longer_asks_for_the_test_set_is_weakened() -> None:
    before = claim(best=45, asserted=ASSERTED, test=CONSTANT)
    (change,) = changes(run(claim(best=45)), run(before))
    assert change.kind == "weakened"
    (looser,) = changes(run(replace(before, asserted={**ASSERTED, "test_p": 0.2})), run(before))
    assert looser.kind == "weakened"


def test_a_report_of_anybody_keeps_the_claim_and_holds_no_number_that_no_run_has(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(run(unconfirmed())))
    (record,) = load_untrusted(path).claims
    assert (record.asserted, record.test) == (ASSERTED, CONSTANT)
    path.write_text(dump(run(unconfirmed(test=replace(CONSTANT, p=1.5)))))
    with pytest.raises(ReportError, match=r"claims\[0\]\.test\.p"):
        load_untrusted(path)
