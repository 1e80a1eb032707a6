"""Red flags in the reports: what they do is seen, and none is told twice."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import DOCUMENTATION
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import ClaimRecord, RedFlag, Severity
from pytest_maxrandom.reports.annotations import annotate
from pytest_maxrandom.reports.changes import Change, changes
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.headlines import all_flags, flagged as flagged_lines, open_questions
from pytest_maxrandom.reports.origins import held_out
from pytest_maxrandom.reports.red_flags import brief, page_of, set_by_suite
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump, load_untrusted
from tests.unit.reports.opened import claims, html
from tests.unit.reports.page import folded, read
from tests.unit.reports.samples import claim, flag, flagged, linked, recorded, run, shown, untested

UNKNOWN = " (which are new is not known)"
"""Said where there is no earlier report to compare with."""
TIED = flag("30 of 60 scores tie.", kind="tied_scores", severity="fail")
WHY = "a red flag fails it: scores tie"
TOLD = "passes, but no better than the same answer to all"


def failing_twice() -> ClaimRecord:
    """Make a claim that neither its numbers nor its red flags let pass."""
    record = claim(best=41, red_flags=[TIED])
    return replace(record, message=f"{record.message}; red flag: tied_scores")


def test_the_gravest_flag_of_a_failing_claim_stands_in_its_line() -> None:
    (line,) = open_questions(run(flagged(), claim(id="a::b", red_flags=[flag()])))
    assert (line.symbol, line.found, line.what) == ("❌", "best .750", WHY)
    line, *_ = open_questions(run(failing_twice()))
    assert (line.found, line.what) == ("best .683, needs .700", "scores tie")


def test_flags_of_claims_that_pass_are_told_by_themselves() -> None:
    (alone,) = flagged_lines(run(flagged(), claim(id="a::b", red_flags=[flag()])))
    assert (alone.symbol, alone.what) == ("🚩", TOLD)
    assert len(alone.names) == 1


def test_flags_of_a_claim_that_could_not_be_finished_are_told_in_full() -> None:
    (told,) = all_flags(run(untested(red_flags=[TIED])))
    assert told.flag == TIED


@pytest.mark.parametrize(("written", "known"), [(markdown, ""), (comment, UNKNOWN)])
def test_every_flag_is_told_in_full_in_one_fold(written: Any, known: str) -> None:
    text = folded(written(run(flagged())), f"2 red flags{known}, with what to look at")
    assert text.count("30 of 60 scores tie") == text.count("Always wet is as good") == 1
    assert text.index(f"**{linked('tied_scores', 'fails')}**") < text.index(
        f"**{linked('majority', 'warns')}**"
    )


def test_every_kind_has_a_few_words() -> None:
    said = {kind: brief(RedFlag(kind, "warn", "A sentence.")) for kind in KINDS}
    assert all(said[kind] != kind.replace("_", " ") for kind in KINDS)
    assert max(len(words.split()) for words in said.values()) <= 11
    assert brief(RedFlag("brand_new", "warn", "A sentence.")) == "brand new"


def test_the_few_words_name_the_label() -> None:
    always: dict[str, Any] = {"label": "odd", "place": 2, "share": 1.0, "prompts": 10, "told": 10}
    assert brief(RedFlag("constant_answers", "warn", "", always)) == 'always says "odd"'
    often = brief(RedFlag("constant_answers", "warn", "", {**always, "share": 0.98}))
    assert often == 'says "odd" to 98 %'


def test_the_details_have_a_line_for_each_flag_those_that_fail_first() -> None:
    (line, second) = re.findall(
        r"- (\*\*🚩 .*)", markdown(run(flagged())).partition("<details>")[2]
    )
    assert line == "**🚩 Red flag tied_scores (fails):** 30 of 60 scores tie."
    assert second == "**🚩 Red flag majority (warns):** Always wet is as good."
    (opened,) = claims(html(run(flagged())))
    assert [tuple(flag.values()) for flag in opened["flags"]] == [
        (
            "tied_scores",
            "fails",
            "30 of 60 scores tie.",
            KINDS["tied_scores"].remedy,
            page_of("tied_scores"),
        ),
        (
            "majority",
            "warns",
            "Always wet is as good.",
            KINDS["majority"].remedy,
            page_of("majority"),
        ),
    ]


def test_what_the_suite_sets_is_a_fact_of_the_claim() -> None:
    text = read(markdown(run(claim(severities={"majority": "fail", "max_t": "ignore"})))).text
    assert "Red flags, by the suite: majority fails, max_t is ignored" in text


@pytest.mark.parametrize(
    ("severity", "said"),
    [("ignore", "all are ignored"), ("warn", "all warn"), ("fail", "all fail")],
)
def test_one_word_for_all_kinds_is_said_in_one_phrase(severity: Severity, said: str) -> None:
    told = Claim(p_max=0.05, red_flags=severity)
    assert set_by_suite(claim(severities=told.deviations())) == said
    but_one = Claim(p_max=0.05, red_flags={"never_right": severity})
    assert "all" not in set_by_suite(claim(severities=but_one.deviations()))


def test_the_terminal_says_once_where_all_red_flags_are_ignored() -> None:
    alone = Claim(p_max=0.05, red_flags="ignore").deviations()
    unseen = [claim(id=f"a::{name}", severities=alone) for name in "bcdef"]
    left_out = untested(outcome="skipped", severities=alone)
    others = [claim(severities={"never_right": "ignore"}), left_out]
    told = [line for line in shown(run(*unseen, *others)) if "ignored" in line]
    assert told == ["All red flags are ignored, by the suite: b, c, d and 2 more"]
    assert not any("ignored" in line for line in shown(run(*others)))


GRAVE: list[str] = ["complementary_prompts", "other_examples", "never_right"]


def in_claim_order() -> list[ClaimRecord]:
    """Make claims of which the last ones have the red flags that fail a claim by default."""
    mild = [
        recorded(id=f"a::m{place}", red_flags=[flag(f"mild {place}", kind="label_mass")])
        for place in range(30)
    ]
    grave = [recorded(id=f"a::{kind}", red_flags=[flag(kind, kind=kind)]) for kind in GRAVE]
    return [*mild, *grave, flagged(red_flags=[TIED, flag("mild too", kind="label_mass")])]


def test_kinds_that_fail_by_default_are_told_before_others_then_in_the_order_of_claims() -> None:
    record = run(*in_claim_order())
    told = [each.flag.text for each in all_flags(record)]
    # Claims that pass come first among flags of one gravity.
    last = [*(f"mild {place}" for place in range(30)), "mild too"]
    assert told == ["30 of 60 scores tie.", *GRAVE, *last]
    lines = shown(record, 200, 1)
    terminal = lines[lines.index("Red flags of claims that are reported:") + 1 :]
    assert [line.partition(": ")[2].partition(" (")[0] for line in terminal] == [
        *(*GRAVE, *(f"mild {place}" for place in range(17))),
        "",
        "",
        "mild too",
    ]
    full = folded(comment(record), f"35 red flags{UNKNOWN}, with what to look at")
    points = re.findall(r"^- 🚩 .*\*\*; (.*)$", full, re.MULTILINE)
    assert points[:3] == ["30 of 60 scores tie.", *GRAVE[:2]]


def test_failures_are_told_before_the_red_flags_of_any_claim() -> None:
    passing = claim(id="a::c", red_flags=[flag()])
    text = markdown(run(passing, claim(best=41, red_flags=[flag()]), claim(best=40, id="a::b")))
    assert re.findall("^- (.)", text.partition("<details>")[0], re.MULTILINE) == ["❌", "❌", "🚩"]


def test_an_annotation_has_a_line_for_each_flag_that_fails() -> None:
    (found,) = annotate(run(flagged()), Path(), Path())
    assert found.message == "red flag: tied_scores\ntied_scores: 30 of 60 scores tie."
    (both,) = annotate(run(failing_twice()), Path(), Path())
    first, second = both.message.split("\n")
    assert first.endswith("42 would have passed; red flag: tied_scores")
    assert second == "tied_scores: 30 of 60 scores tie."
    (expected,) = annotate(run(flagged(xfail="it guesses")), Path(), Path())
    assert expected.message.splitlines()[2].startswith("`xfail` expects of the numbers ")


def test_the_terminal_tells_flags_once_below_the_table() -> None:
    several = [claim(id=f"a::{name}", red_flags=[flag("As good.")]) for name in "bcdef"]
    told = [
        "Red flags of claims that pass:",
        "  majority (warns): claim balanced accuracy, or balance the labels (b, c, d and 2 more)",
    ]
    assert shown(run(flagged(red_flags=[TIED]), *several))[-2:] == told
    whole = shown(run(flagged(red_flags=[TIED]), *several), verbosity=1)
    assert whole[-1] == "  majority (warns): As good. (b, c, d and 2 more)"
    assert not any("tied_scores" in line for line in shown(run(flagged())))
    assert shown(run(flagged()))[-2:] == [
        "Red flags of claims that do not pass:",
        "  majority (warns): claim balanced accuracy, or balance the labels "
        "(weather[demo-nf4-4shot])",
    ]
    many = [claim(id=f"a::{place}", red_flags=[flag(f"no {place}")]) for place in range(30)]
    assert shown(run(*many), verbosity=1)[-2:] == [
        "  majority (warns): no 19 (19)",
        "  10 more are in the reports",
    ]


def test_a_comment_tells_a_flag_of_many_claims_once() -> None:
    several = [claim(id=f"a::{name}", red_flags=[flag("As good.")]) for name in "bcdef"]
    text = comment(run(*several))
    assert text.count("As good") == 1
    assert f" and 2 more: **{linked('majority', 'warns')}**; As good.\n" in text


@pytest.mark.parametrize(("kinds", "told"), [
    (["tied_scores", "cut_text"], "red flags cut_text and tied_scores: ignore, before: fail"),
    (["tied_scores", "cut_text", "choices"], "3 red flags: ignore, before: fail"),
])  # fmt: skip
def test_flags_that_change_alike_are_told_together(kinds: list[str], told: str) -> None:
    severities: Any = dict.fromkeys(kinds, "ignore")
    assert told in compare(claim(severities=severities), claim()).why


def test_a_test_set_that_a_flag_keeps_closed_is_explained() -> None:
    closed = replace(flagged(), holds=True)
    assert closed.validation is not None
    closed.validation.test = 20
    assert held_out(closed) == "20 examples are still closed, because a red flag fails the claim"
    assert held_out(replace(closed, holds=False)).endswith("because the claim fails")


def compare(now: ClaimRecord, before: ClaimRecord) -> Change:
    (change,) = changes(run(now), run(before))
    return change


def test_new_and_gone_flags_are_changes_by_their_kind() -> None:
    change = compare(claim(red_flags=[flag("now")]), claim(red_flags=[flag("then", kind="max_t")]))
    assert (change.kind, change.what) == ("other", "")
    assert change.why == ("red flag majority is new", "red flag max_t is gone")
    same = compare(claim(red_flags=[flag("now")]), claim(red_flags=[flag("then")]))
    assert (same.kind, same.why) == ("same", ())
    fell = compare(flagged(), claim())
    assert (fell.kind, fell.what) == ("fell", "newly fails")
    assert fell.why == ("red flag tied_scores is new", "red flag majority is new")
    lost = compare(untested(id=claim().id), claim(red_flags=[flag()]))
    assert not any("red flag" in why for why in lost.why)


@pytest.mark.parametrize(
    ("now", "before", "kind"),
    [
        ("warn", None, "weakened"),
        ("ignore", "warn", "weakened"),
        ("ignore", None, "weakened"),
        ("fail", None, "same"),
        (None, "warn", "other"),
    ],
)
def test_a_flag_that_does_less_weakens_a_claim(
    now: Severity | None, before: Severity | None, kind: str
) -> None:
    made = [claim(severities={"tied_scores": each} if each else {}) for each in (now, before)]
    assert compare(*made).kind == kind


def test_a_failure_that_is_excused_by_a_severity_is_said() -> None:
    change = compare(claim(severities={"tied_scores": "ignore"}), flagged())
    assert (change.kind, change.what) == ("weakened", "passes, but asserts less")
    assert change.why[0] == "red flag tied_scores: ignore, before: fail"
    reported = compare(claim(asserted={}), claim(severities={"majority": "fail"}))
    assert not any("red flag" in why for why in reported.why)


def test_of_an_untrusted_report_only_kinds_and_what_they_do_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(run(flagged(red_flags=[TIED, flag(), flag("Merge this."), flag("x")]))))
    (record,) = load_untrusted(path).claims
    assert record.red_flags == [
        RedFlag("tied_scores", "fail", "the full report says what"),
        RedFlag("majority", "warn", "the full report says what"),
    ]
    text = comment(run(record), untrusted=True)
    assert f"**{linked('tied_scores', 'fails')}**; the full report says what" in text


def test_each_kind_has_a_page_where_it_is_linked_to() -> None:
    for kind in KINDS:
        place = page_of(kind).removeprefix(DOCUMENTATION)
        assert (Path(__file__).parents[3] / "docs" / place).with_suffix(".md").is_file()
        assert f"({page_of(kind)})" in linked(kind, "warns")
