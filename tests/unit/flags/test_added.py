"""A red flag of a package stands wherever red flags stand, and what it does wrong costs a line."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pydantic import ValidationError

from pytest_maxrandom.claims.assessment import with_red_flags
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.flags import KINDS, Flag, find
from pytest_maxrandom.host.packages import RED_FLAGS, load
from pytest_maxrandom.record import RedFlag, Remark
from pytest_maxrandom.reports.red_flags import brief, gravity, page_of, remedy, sentence
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.terminal import summary
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.suite.claims import AssertSpec
from tests.installed import install
from tests.unit.flags.made import seen
from tests.unit.flags.test_severity import result
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

ODD = """
from pytest_maxrandom.flags import Flag, RedFlagKind


def check(judged):
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
    page="https://example.org/odd",
)
"""


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, monkeypatch, ODD)


def add(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, kind: str = "odd_number") -> None:
    """Install a package with one red flag."""
    monkeypatch.syspath_prepend(str(install(folder, "oddly", RED_FLAGS, kind, code, "oddly:ODD")))
    monkeypatch.delitem(sys.modules, "oddly", raising=False)
    load.cache_clear()


def test_it_is_found_in_the_place_of_its_rank() -> None:
    assert find(seen(np.eye(3))) == [Flag("odd_number", {"prompts": 3, "told": 1})]
    places = [*KINDS]
    assert places.index("clustered_answers") < places.index("odd_number")
    assert places.index("odd_number") < places.index("other_examples")


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
    assert page_of("odd_number") == "https://example.org/odd"
    said = [line.text for line in summary(run(claim(red_flags=[flag])))]
    assert "  odd_number (warns): take an even number (weather[demo-nf4-4shot])" in said


def test_a_report_may_hold_kinds_that_are_not_known_here() -> None:
    flag = RedFlag("of_a_package", "warn", "Something is odd.", {"odd": 1})
    assert brief(flag) == "of a package"
    assert remedy(flag) == "Something is odd."
    assert gravity(flag) == 2
    assert page_of(flag.kind) == ""


def failed(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str = "odd_number"
) -> str:
    """What is told of a package whose red flag has other code; all else is found as without it."""
    add(folder / "other", monkeypatch, code, kind)
    warnings: list[Remark] = []
    assert find(seen(np.eye(3)), warnings) == []
    (warning,) = map(worded, warnings)
    return warning.text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("yield Flag", "len(3); yield Flag", "TypeError: object of type 'int' has no len()"),
        ('"told": 1}', '"told": {1}}', "TypeError: Object of type set is not JSON serializable"),
        ('yield Flag("odd_number"', 'yield Flag("even"', "TypeError: its check yielded *"),
        ("yield Flag", "yield 3; Flag", "TypeError: its check yielded 3, expected *"),
        ('"told": 1}', '"case": "x"}', "ValueError: it has no sentence for the case 'x'"),
    ],
)
def test_a_check_that_fails_costs_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    said = failed(ODD.replace(old, new, 1), tmp_path, monkeypatch)
    assert fnmatch(
        said,
        f"the red flag 'odd_number' of oddly 1.0 failed ({told}); it was not looked for, so report "
        "this to its authors",
    )
    with pytest.raises((TypeError, ValueError)):  # whoever tests a red flag of their own sees why
        find(seen(np.eye(3)))


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (
            "import absent",
            "odd_number",
            "the red flag 'odd_number' of oddly 1.0 cannot be loaded from oddly:ODD "
            "(ModuleNotFoundError: No module named 'absent'); repair or uninstall the package",
        ),
        (
            "ODD = 3",
            "odd_number",
            "the red flag 'odd_number' of oddly 1.0 is int, expected "
            "pytest_maxrandom.flags.RedFlagKind with `kind='odd_number'` and a default of fail, "
            "warn or ignore; repair or uninstall the package",
        ),
        (
            ODD.replace('default="warn"', 'default="warning"'),
            "odd_number",
            "the red flag 'odd_number' of oddly 1.0 is RedFlagKind, expected "
            "pytest_maxrandom.flags.RedFlagKind with `kind='odd_number'` and a default of fail, "
            "warn or ignore; repair or uninstall the package",
        ),
        (
            ODD,
            "majority",
            "the red flag 'majority' of oddly 1.0 has the name of a built-in one; rename it there, "
            "or uninstall the package",
        ),
    ],
)
def test_a_package_that_cannot_be_used_costs_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, kind: str, told: str
) -> None:
    monkeypatch.setattr(sys, "path", [each for each in sys.path if "installed_oddly" not in each])
    assert failed(code, tmp_path, monkeypatch, kind) == f"{told}; this red flag was not looked for"
    if kind == "odd_number":
        with pytest.raises(ValidationError, match=re.escape(told)):
            AssertSpec.model_validate({"red_flags": {kind: "fail"}})


def test_a_sentence_that_cannot_be_made_is_told_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path / "other", monkeypatch, ODD.replace("{left} over.", "{right} over."))
    assert sentence(RedFlag("odd_number", "warn", "", {"prompts": 3, "told": 1})) == (
        "An odd number of prompts. (Its sentence is missing: the red flag 'odd_number' of oddly "
        "1.0 failed (KeyError: 'right'); report this to its authors.)"
    )
