"""A red flag that is added later stands wherever red flags stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.assessment import with_red_flags
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.flags import KINDS, Flag, RedFlagKind, find
from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.reports.red_flags import brief, gravity, remedy
from pytest_maxrandom.reports.terminal import summary
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.suite.claims import AssertSpec
from tests.unit.flags.made import seen
from tests.unit.flags.test_severity import result
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.flags import JudgedAnswers


def check(judged: JudgedAnswers) -> Iterator[Flag]:
    yield Flag("odd_number", {"prompts": len(judged.answers.prompts), "told": 1})


ODD = RedFlagKind(
    kind="odd_number",
    rank=65,
    topic="prompts",
    default="warn",
    description="An odd number of prompts.",
    sentences="{who} {told:is/are} {left} over.",
    brief="one prompt is over",
    brief_of="{left} is over",
    remedy="take an even number",
    check=check,
    parts={"left": lambda of: f"number {of['prompts']}"},
)


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KINDS, "_kinds", dict(KINDS))
    KINDS.add(ODD)


def test_it_is_found_in_the_place_of_its_rank() -> None:
    assert find(seen(np.eye(3))) == [Flag("odd_number", {"prompts": 3, "told": 1})]
    places = [*KINDS]
    assert places.index("clustered_answers") < places.index("odd_number")
    assert places.index("odd_number") < places.index("other_examples")
    with pytest.raises(ValueError, match="there are two red flags 'odd_number'"):
        KINDS.add(ODD)


def test_a_suite_may_name_it_and_the_schema_tells_it() -> None:
    spec = AssertSpec.model_validate({"red_flags": {"odd_number": "fail"}})
    assert Claim.of(spec).severities()["odd_number"] == "fail"
    assert Claim.of(None).severities()["odd_number"] == "warn"
    told, *_ = [
        each["properties"]
        for each in AssertSpec.model_json_schema()["properties"]["red_flags"]["anyOf"]
        if "properties" in each
    ]
    assert [*told] == [*KINDS]
    assert told["odd_number"] == {
        "description": "An odd number of prompts.",
        "default": "warn",
        "enum": ["fail", "warn", "ignore"],
        "type": "string",
    }


def test_a_record_and_the_terminal_say_it() -> None:
    found = with_red_flags(result(holds=True), Claim.of(None), find(seen(np.eye(3))))
    made = found.record(claim())
    word(made)
    (flag,) = made.red_flags
    assert (flag.kind, flag.severity) == ("odd_number", "warn")
    assert flag.text == "1 of 3 prompts is number 3 over."
    assert brief(flag) == "number 3 is over"
    assert brief(RedFlag("odd_number", "warn")) == "one prompt is over"
    assert remedy(flag) == "take an even number"
    assert gravity(flag) == 2
    said = [line.text for line in summary(run(claim(red_flags=[flag])))]
    assert "  odd_number (warns): take an even number (weather[demo-nf4-4shot])" in said


def test_a_report_may_hold_kinds_that_are_not_known_here() -> None:
    flag = RedFlag("of_a_package", "warn", "Something is odd.", {"odd": 1})
    assert brief(flag) == "of a package"
    assert remedy(flag) == "Something is odd."
    assert gravity(flag) == 2
