"""The comment is short enough, says first what changed, and keeps all data in its cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.flags import KINDS as RED_FLAGS
from pytest_maxrandom.record import ClaimRecord, Outcome, Reservation, RunRecord
from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.comment import comment
from tests.unit.reports.page import folded, read
from tests.unit.reports.samples import claim, flag, linked, run, scored, untested
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pathlib import Path


URL = "https://ci.test/runs/1"


def named(name: str, **changed: Any) -> ClaimRecord:
    return claim(**{"id": f"demo.yaml::{name}", "task": name, **changed})


def points(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def rows(text: str) -> list[list[str]]:
    return read(text).body


def test_red_flags_that_are_new_since_the_base_stand_in_full_and_known_ones_are_folded() -> None:
    tied = flag("30 of 60 scores tie.", kind="tied_scores")
    before = named("a", red_flags=[flag("Always wet is right on 30.")])
    now = named("a", red_flags=[flag("Always wet is right on 31."), tied])
    text = comment(run(now), run(before))
    above = text.partition("<details>")[0]
    assert f"🚩 `a` 4-shot: **{linked('tied_scores', 'warns')}**; 30 of 60 scores tie." in points(
        above
    )
    assert "Always wet" not in above
    assert text.count("tied_scores") == linked("tied_scores", "warns").count("tied_scores")
    # Its numbers are other ones, and it is the same flag.
    assert "right on 31" in folded(text, "1 known red flag, with what to look at")
    alone = comment(run(now)).partition("<details>")[0]
    assert [point for point in points(alone) if "🚩" in point] == [
        "🚩 `a` 4-shot: passes, but no better than the same answer to all",
        "🚩 `a` 4-shot: passes, but scores tie",
    ]


def test_the_base_has_the_name_of_its_branch() -> None:
    text = comment(run(claim(best=38)), run(claim()), branch="main")
    assert "**Since `main` of 2026-01-31 12:00 UTC:** 1 claim fell. " in text


def test_a_single_claim_is_one_quotable_line_and_a_row() -> None:
    text = comment(run(claim(best=41)), report=URL, commit="c0ffee1234567890", key="nightly")
    assert text.startswith("### ❌ maxrandom · nightly: 1 of 1 claim fails\n\n- ❌ `weather` 4-")
    # By hand, as in test_markdown: P(X <= 40)^20 and E[max of 20]/60 of scipy.stats.binom(60, .5);
    # scipy.stats.beta(41, 20).ppf(.05 / 20) and beta(42, 19).ppf(.95).
    assert rows(text) == [
        [
            "❌\xa0fails",
            "weather4-shot",
            ".683.495\N{EN DASH}.782",
            ".700",
            ".060p_max",
            "60",
            "20",
            ".500",
            ".620",
        ]
    ]
    first = "❌ `weather` 4-shot: **best .683, needs .700** (p_max = .060; t = 20, n = 60)"
    assert points(text)[0] == first
    assert f"\n[Full report](<{URL}>)\n" in text
    assert text.endswith("<sub>commit `c0ffee1234`</sub>\n")
    assert "base" not in text.replace("baseline", "")


def test_the_full_report_is_the_page_where_there_is_one() -> None:
    page = "https://ci.test/artifacts/7"
    links = read(comment(run(claim()), report=URL, page=page)).links
    assert links == [page, URL]
    with pytest.raises(ReportError, match="the address of the report is 'x'"):
        comment(run(claim()), report=URL, page="x")


def test_a_row_shows_the_change_of_each_number() -> None:
    now = claim(best=42, t=200)
    text = comment(run(now), run(claim(best=37, n=50, t=20)), report=URL)
    # By hand: 1 - scipy.stats.binom(60, .5).cdf(41)**200, and 1 - scipy.stats.binom(50, .5)
    # .cdf(36)**20; scipy.stats.beta(42, 19).ppf(.05 / 200) and beta(43, 18).ppf(.95).
    assert rows(text) == [
        [
            "❌\xa0fails(before: passes)",
            "weather4-shot",
            ".700(-.040).469\N{EN DASH}.796",
            ".733",
            ".234(was\xa0.0093)p_max",
            "60(+10)",
            "200(+180)",
            ".500",
            ".675",
        ]
    ]


def test_an_unchanged_row_shows_no_change() -> None:
    record = run(claim(), untested(), scored(id="demo.yaml::scored"))
    with_base, without = comment(record, record), comment(record)
    assert rows(with_base) == rows(without)
    assert "**Since the base of 2026-01-31 12:00 UTC:** nothing changed." in with_base


def test_what_changed_stands_first_in_the_list_and_in_the_table() -> None:
    now = run(
        named("same"),
        named("new"),
        named("other", best=50),
        named("still", best=30),
        named("grew", t=30),
        named("rose"),
        named("weaker", level=0.06),
        named("fell", best=38),
    )
    before = run(
        named("same"),
        named("other"),
        named("still", best=30),
        named("grew"),
        named("rose", best=38),
        named("weaker"),
        named("fell"),
        named("gone"),
    )
    text = comment(now, before)
    order = ["fell", "still", "weaker", "rose", "grew", "gone", "other"]
    told = [point.split("`")[1] for point in points(text)]
    assert told[: len(order)] == order
    unfolded, rest = text.split("<summary>3 more to look at</summary>")
    assert [name for name in order if f"`{name}`" in unfolded] == order[:3]
    assert rest.index("`gone`") < rest.index("</details>") < rest.index("- 🔸 `other`")
    assert [row[1].removesuffix("4-shot") for row in rows(text)] == [
        "fell",
        "still",
        "weaker",
        "rose",
        "grew",
        "new",
        "other",
        "same",
    ]
    # By hand: 1 - scipy.stats.binom(60, .5).cdf(37)**20. Each number once, what decides last.
    assert points(text)[0] == (
        "❌ `fell` 4-shot **newly fails**: best .633, needs .700 (p_max = .409; t = 20, "
        "n = 60); best accuracy .750 to .633"
    )
    assert points(text)[1].startswith("❌ `still` 4-shot **fails as before**: best .500, needs ")


def test_red_flags_and_unreadable_suites_are_told() -> None:
    text = comment(run(claim(red_flags=[flag("It guesses.")]), broken=["a.yaml:3: no tasks"]))
    assert "🚩 `weather` 4-shot: passes, but no better than the same answer to all" in points(text)
    assert f"🚩 `weather` 4-shot: **{linked('majority', 'warns')}**; It guesses." in points(text)
    assert text.startswith(
        "### ❌ maxrandom: 1 suite could not be read; 1 of 1 claim passes\n\n- ⚠️ a."
    )


STATES: tuple[Outcome | None, ...] = (
    "passed",
    "failed",
    "xfailed",
    "xpassed",
    "skipped",
    "error",
    None,
)
# By hand. Rows: before; columns: now, both in the order of STATES. F fell, W weakened, R rose,
# O otherwise, S the same.
KINDS = """
S F F F F F F
R S W O W O O
R F S F O F F
R O O S W O O
R F W F S F F
R O W O W S O
R O W O W O S
"""
TOLD = {
    ("passed", "failed"): "newly fails",
    ("passed", "skipped"): "is skipped now",
    ("failed", "failed"): "fails as before",
    ("failed", "skipped"): "is skipped now",
    ("failed", "xfailed"): "is expected to fail now",
    ("failed", "passed"): "newly passes",
    ("skipped", "passed"): "newly passes",
    ("error", "passed"): "newly passes",
    ("skipped", "failed"): "fails, before: skipped",
    ("error", "failed"): "fails, before: error",
    (None, "failed"): "fails, before: no result",
    ("xfailed", "failed"): "fails, before: fails as expected",
    ("xfailed", "xpassed"): "passes unexpectedly, before: fails as expected",
    ("xfailed", "skipped"): "was skipped, before: fails as expected",
    ("xpassed", "xfailed"): "fails as expected, before: passes unexpectedly",
    ("failed", "error"): "could not be tested, before: fails",
    ("failed", None): "has no result, before: fails",
    ("xpassed", "xpassed"): "passes unexpectedly as before",
    ("error", "error"): "still cannot be tested",
    ("skipped", "skipped"): "is skipped as before",
    (None, None): "still has no result",
}


@pytest.mark.parametrize("now", STATES)
@pytest.mark.parametrize("before", STATES)
def test_every_turn_is_counted_named_and_true(before: Outcome | None, now: Outcome | None) -> None:
    """Where the numbers are the same, so that the outcome alone is another one."""
    (change,) = changes(run(claim(outcome=now)), run(claim(outcome=before)))
    expected = KINDS.split("\n")[1:-1][STATES.index(before)].split()[STATES.index(now)]
    assert {"t grew": "?", "other": "O"}.get(change.kind, change.kind[0].upper()) == expected
    text = comment(run(claim(outcome=now)), run(claim(outcome=before)))
    found = [point for point in points(text) if "**" in point]
    if now == before and now in ("passed", "xfailed"):
        assert found == []
        return
    (point,) = found
    assert ("as before**" in point or "**still " in point) == (now == before)
    if told := TOLD.get((before, now)):
        assert f"**{told}**" in point


@pytest.mark.parametrize("outcome", ["error", "skipped"])
@pytest.mark.parametrize("before", ["passed", "none"])
def test_what_was_not_tested_for_one_reason_is_one_point(outcome: Outcome, before: str) -> None:
    """Such as a server that does not answer, whatever else is different since the base."""
    why = "http://gpu:8000: no server answers"
    changed: dict[str, Any] = {"outcome": outcome, "message": why}
    left = [untested(id=f"s.yaml::t{n}", task=f"t{n}", **changed) for n in range(14)]
    base = [claim(), *(claim(id=one.id, t=5) for one in left)]
    (point,) = points(comment(run(*left, claim()), run(*base) if before == "passed" else None))
    said = {
        ("error", "passed"): "**can no longer be tested**: ",
        ("error", "none"): ": **could not be tested**; ",
        ("skipped", "passed"): "**are skipped now**: ",
        ("skipped", "none"): ": **were skipped**; ",
    }[outcome, before]
    assert said in point
    assert "and 11 more" in point
    assert point.endswith("no server answers")


def test_new_red_flags_beyond_the_first_ones_are_folded_and_not_called_known() -> None:
    kinds: list[str] = list(RED_FLAGS)[:9]
    head = run(claim(red_flags=[flag(f"It is {kind}.", kind=kind) for kind in kinds]))
    base = run(claim(red_flags=[flag("It is known.", kind=kinds[0])]))
    text = comment(head, base)
    unfolded = text.partition("<details>")[0]
    assert sum(f"It is {kind}." in unfolded for kind in kinds) == 3
    assert f"It is {kinds[0]}." in folded(text, "1 known red flag, with what to look at")
    more = folded(text, "5 more new red flags, with what to look at")
    assert sum(f"It is {kind}." in more for kind in kinds[1:]) == 5


@pytest.mark.parametrize(
    ("partial", "said"),
    [
        ({"interrupted": True}, "it was interrupted"),
        ({"not_run": 2, "interrupted": True}, "2 tests have no result"),
        ({"broken": ["a.yaml:1: x"]}, "1 suite could not be read"),
        ({"broken": ["x"], "not_run": 1}, "1 test has no result; 1 suite could not be read"),
    ],
)
def test_what_an_incomplete_base_lacks_is_not_new(partial: dict[str, Any], said: str) -> None:
    text = comment(run(named("bad", best=38), named("good")), run(**partial))
    assert "**Since the base of 2026-01-31 12:00 UTC:** 2 have no result in the base" in text
    assert f"*The run of the base is incomplete:* {said}\n" in text
    point = points(text)[0]
    assert point.startswith("❌ `bad` 4-shot **fails; has no result in the base**: best .633, ")
    assert "is new" not in text


def test_why_a_run_does_not_pass_stands_before_all_else() -> None:
    why = "The gate failed: pytest failed, but not because of a claim; the log says why"
    text = comment(run(claim()), outcome=why, report=URL)
    assert text.startswith(f"### ❌ maxrandom: {why}\n\n1 of 1 claim passes.\n\n")
    assert len(rows(text)) == 1
    alone = comment(None, run(claim()), outcome=why, report=URL, key="gate")
    assert alone == f"### ❌ maxrandom · gate: {why}\n\n[Full report](<{URL}>)\n"


def test_a_time_that_is_none_is_shown_as_text() -> None:
    text = comment(run(claim()), run(claim(), created="@team <b>soon</b>"))
    page = read(text)
    assert "Since the base of @\u200bteam <b>soon</b>: nothing changed." in page.text
    assert not [node for node in page.prose if ACTIVE.search(node)]


def test_a_base_that_cannot_be_read_is_said_and_changes_nothing_else() -> None:
    text = comment(run(claim()), "base.json: not JSON <b>@team</b>", report=URL)
    without = comment(run(claim()), report=URL)
    added = [line for line in text.splitlines() if line not in without.splitlines()]
    assert len(added) == 1
    assert added[0].startswith("*Nothing to compare with:* base.json: not JSON ")
    assert not [node for node in read(text).prose if ACTIVE.search(node)]


def many(number: int, **changed: Any) -> RunRecord:
    return run(*[named(f"task {index}", **changed) for index in range(number)])


def test_a_comment_of_nothing_is_short() -> None:
    assert comment(run()).startswith("### maxrandom: no claim was tested\n")


def test_the_same_records_make_the_same_comment() -> None:
    now, before = many(60, best=38), many(40)
    assert comment(now, before) == comment(replace(now), replace(before))


def test_blocks_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "comment.md.j2"
    path.write_text('{% extends "maxrandom/comment.md.j2" %}{% block table %}mine{% endblock %}')
    text = comment(run(claim()), templates=tmp_path)
    assert "mine" in text
    assert not read(text).tables
    path.write_text("{% for row in rows %}\n{% endfor %}{{ claims[0].n }" + "x")
    with pytest.raises(ReportError, match=r"comment\.md\.j2:2"):
        comment(run(claim()), templates=tmp_path)
    path.write_text("x" * 70_000)
    with pytest.raises(ReportError, match="without a row, more than 65,536; shorten its template"):
        comment(run(claim()), templates=tmp_path)


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (run(claim()), "### ✅ maxrandom: 1 of 1 claim passes"),
        (run(claim(level=0.9)), "### 🟠 maxrandom: 1 claim was weakened; 1 of 1 claim passes"),
        (
            run(claim(task="other")),
            "### 🟠 maxrandom: 1 claim is gone; 1 of 1 claim passes",
        ),
        (
            run(claim(outcome="xfailed", best=31)),
            "### 🟠 maxrandom: 1 claim is excused now (xfail); 1 of 1 claim fails as expected",
        ),
    ],
)
def test_no_tick_stands_above_what_was_taken_out_since_the_base(now: RunRecord, line: str) -> None:
    assert comment(now, run(claim())).splitlines()[0] == line


def test_what_a_gate_holds_against_a_run_is_named_below_the_headline() -> None:
    held = [
        Reservation("gone", "a.yaml::old"),
        Reservation("weakened", "a.yaml::b", False, ["asserts"], {"p_max": 0.9}, {"p_max": 0.05}),
        Reservation("uncounted", "a.yaml::c", fails=True, tries=3),
        Reservation("uncounted", "a.yaml::d", fails=True, tries=0),
    ]
    lines = comment(replace(run(claim()), reservations=held), None).splitlines()
    assert lines[0].startswith(
        "### ❌ maxrandom: 1 claim is gone, 1 was weakened, 2 have tries in no committed ledger; "
    )
    assert lines[2:6] == [
        "- 🗑️ `old` **is gone**",
        "- 🔓 `b` **was weakened**: asserts p_max: .9, before: p_max: .05",
        "- 🧾 `c` **has tries in no committed ledger**: 3 prompts",
        "- 🧾 `d` **has tries in no committed ledger**: no prompt, but another line, such as a "
        "look",
    ]
