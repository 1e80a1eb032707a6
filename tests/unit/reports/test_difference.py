"""Two runs for a person: every number of both, the reason, no word broken, nothing forgotten."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given, strategies as st

from pytest_maxrandom.reports.difference import Difference, content, difference, lines, markdown
from tests.unit.reports.page import read
from tests.unit.reports.samples import claim, flagged, replicates, run, scored

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def named(name: str, **numbers: Any) -> ClaimRecord:
    return claim(id=f"suites/demo.yaml::{name}[demo-4shot]", task=name, **numbers)


def both() -> Difference:
    before = run(
        named("sums", best=42, t=20), named("emoji", best=38), named("same"), named("left")
    )
    now = run(named("sums", best=42, t=200), named("emoji", best=45), named("same"), named("young"))
    later = replace(now, created="2026-02-03T09:30:00Z")
    return difference("main", before, "r.json", later)


def shown(found: Difference, width: int = 80, most: int | None = None) -> list[str]:
    return [line.text for line in lines(found, width, most)]


def test_the_first_line_says_since_when_and_how_much() -> None:
    first, *_ = shown(both(), 200)
    assert first == (
        "Since main (2026-01-31 12:00 UTC): 1 claim fell, 1 newly passes, t grew for 1, 1 is gone, "
        "1 is new; 1 is as before"
    )


def test_each_change_has_the_numbers_of_both_runs_and_why() -> None:
    told = shown(both())
    place = told.index("fell: sums[demo-4shot]")
    # By scipy.stats.binom(60, .5): 42 of 60 are needed with t = 20, 44 with t = 200.
    assert [line.split() for line in told[place + 1 : place + 4]] == [
        ["before", ".700", ".700", "60", "20", ".026", "passes"],
        ["now", ".700", ".733", "60", "200", ".234", "fails"],
        ["needed", "accuracy", ".700", "to", ".733;", "t", "from", "20", "to", "200"],
    ]


def test_what_fell_stands_first_and_what_is_as_before_nowhere() -> None:
    heads = [line for line in shown(both()) if re.match(r"\w+: ", line)]
    assert [head.split(":")[0] for head in heads] == ["fell", "rose", "gone", "new"]
    assert not any("same" in head for head in heads)


def test_falls_are_red_and_rises_green() -> None:
    painted = {line.text: line.markup for line in lines(both())}
    assert painted["fell: sums[demo-4shot]"] == ("red",)
    assert painted["rose: emoji[demo-4shot]"] == ("green",)
    assert painted["new: young[demo-4shot]"] == ()


@given(st.integers(72, 200))
def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken(width: int) -> None:
    reason = replicates(45, 45, 44), replicates(45, 38, 37)
    found = difference(
        "main", run(named("x"), replicates=[reason[0]]), "r", run(named("x", best=38),
        replicates=[reason[1]], not_run=2),
    )  # fmt: skip
    told = shown(found, width)
    assert max(map(len, told)) <= width
    wide = " ".join(shown(found, 10_000)).split()
    assert " ".join(told).split() == wide


def test_many_changes_are_counted_and_not_shown_where_there_is_a_limit() -> None:
    told = shown(both(), most=1)
    assert told[-1] == "3 more: maxrandom diff shows all"
    assert sum(line.startswith(("fell", "rose", "gone", "new")) for line in told) == 1


def test_runs_that_lack_something_and_other_versions_are_told() -> None:
    old, new = run(claim(), broken=["x"]), run(claim(), interrupted=True)
    found = difference("a", old, "b", replace(new, versions={"pytest-maxrandom": "0.2.0"}))
    assert shown(found)[1:] == [
        "The run of a is incomplete: 1 suite could not be read",
        "The run of b is incomplete: it was interrupted",
        "pytest-maxrandom from 0.1.0 to 0.2.0",
    ]


def test_without_a_change_one_line_says_so() -> None:
    found = difference("a", run(claim()), "b", run(claim()))
    assert shown(found) == ["Since a (2026-01-31 12:00 UTC): nothing changed; 1 is as before"]
    assert not found.fell


def test_markdown_is_a_table_with_a_row_for_each_change() -> None:
    cells = read(markdown(both())).body
    assert [row[1] for row in cells] == [
        "sums[demo-4shot]", "emoji[demo-4shot]", "left[demo-4shot]", "young[demo-4shot]",
    ]  # fmt: skip
    assert cells[0][2:] == [
        ".700", ".700 → .733", "60", "20 → 200", ".026 → .234",
        "needed accuracy .700 to .733; t from 20 to 200",
    ]  # fmt: skip
    assert cells[1][2] == ".633 → .750"


def test_names_are_no_markup() -> None:
    bad = "a|b`c`<img src=x>@someone"
    text = markdown(difference(bad, run(named("x")), "b", run(named("x", best=38), named(bad))))
    page = read(text)
    assert "img" not in page.tags
    assert len(page.body) == 2
    assert {len(row) for row in page.body} == {8}


def test_programs_get_kinds_and_unrounded_numbers() -> None:
    found = content(both())
    assert json.loads(json.dumps(found)) == found
    assert (found["fell"], found["as_before"]) == (True, 1)
    fell = found["changes"][0]
    assert (fell["kind"], fell["now"]["t"], fell["before"]["t"]) == ("fell", 200, 20)
    assert fell["now"]["best"] == 42 / 60
    assert fell["now"]["needed"] == 44 / 60
    assert {"kind": "tries", "text": "t from 20 to 200"} in fell["reasons"]
    assert found["changes"][-1]["before"] is None


def test_other_metrics_stand_in_their_own_values() -> None:
    told = shown(difference("a", run(scored()), "b", run(scored(best_score=0.55))))
    assert [line.split()[:2] for line in told[3:5]] == [["before", ".515"], ["now", ".550"]]


def test_a_red_flag_is_the_reason_where_the_numbers_are_the_same() -> None:
    told = shown(difference("a", run(claim()), "b", run(flagged())), 200)
    assert told[-1].strip() == (
        "red flag tied_scores fails it; red flag tied_scores is new; red flag majority is new"
    )
