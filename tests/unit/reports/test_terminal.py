"""The terminal's summary: verdict first, then what fails; nothing wider than the terminal."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import RunRecord, Sampled
from pytest_maxrandom.reports.headlines import by_luck
from pytest_maxrandom.reports.layout import width_of, wrapped
from pytest_maxrandom.reports.terminal import summary
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import (
    claim,
    comparison,
    contamination,
    flag,
    flagged,
    label_bias,
    recorded,
    replicates,
    run,
    scored,
    shown,
    untested,
)


def first(record: RunRecord, width: int = 100) -> str:
    return summary(record, width)[0].text


def test_the_verdict_comes_first_and_what_fails_stands_on_top() -> None:
    record = run(claim(best=35, outcome="xfailed"), claim(), untested(), claim(best=41))
    assert [line.text for line in summary(record, 80)] == [
        "FAILED: 1 of 4 claims fails, 1 could not be tested, 1 passes, 1 fails as",
        "    expected",
        "                           max",
        "result    n    t  best  random      p  claim",
        "fails    60   20  .683    .620   .060  weather[demo-nf4-4shot]",
        "error   100  200     -       -      -  emoji_movie[OLMo-7B-4shot]",
        "passes   60   20  .750    .620  .0013  weather[demo-nf4-4shot]",
        "xfails   60   20  .583    .620   .927  weather[demo-nf4-4shot]",
    ]


@pytest.mark.parametrize(
    ("aggregate", "asked", "word"),
    [
        ("mean", None, "mean of 4"),
        ("vote", None, "vote of 4"),
        ("pass", None, "pass@4"),
        ("pass", 2, "pass@2"),
        ("all", None, "all of 4"),
    ],
)
def test_what_samples_come_to_stands_beside_the_best(
    aggregate: Any, asked: int | None, word: str
) -> None:
    sampled = Sampled(
        samples=4, aggregate=aggregate, asked=asked, right=0.5, any_right=0.75, all_right=0.25
    )
    table = [line.text for line in summary(run(claim(sampled=sampled)), 80)][1:]
    assert [line.split()[3:5] for line in table if "result" in line] == [["best", "metric"]]
    assert f".750  {word} " in table[-1]
    assert "metric" not in "".join(line.text for line in summary(run(claim()), 80))


@pytest.mark.parametrize(
    ("record", "word", "colour"),
    [
        (run(claim()), "PASSED:", "green"),
        (run(claim(), claim(best=41)), "FAILED:", "red"),
        (run(claim(), untested()), "FAILED:", "red"),
        (run(claim(best=35, outcome="xfailed")), "PASSED:", "green"),
        (run(untested(outcome="skipped")), "SKIPPED:", "yellow"),
    ],
)
def test_the_verdict_has_the_colour_of_pytest(record: RunRecord, word: str, colour: str) -> None:
    verdict = summary(record)[0]
    assert verdict.text[: verdict.lead] == word
    assert verdict.markup == (colour, "bold")


def test_a_result_is_marked_by_what_became_of_it() -> None:
    lines = summary(run(claim(), claim(best=41), claim(best=35, outcome="xfailed")), 100)
    marked = {line.text[: line.lead]: line.markup for line in lines if line.text[:1].islower()}
    assert marked["passes"] == ("green",)
    assert marked["fails"] == ("red",)
    assert marked["xfails"] == ("yellow",)


def test_verbosity_takes_away_and_adds() -> None:
    record = run(claim(best=41), claim(), flagged(outcome="passed", passed=True))
    (alone,) = summary(record, 100, -2)
    assert alone.text.startswith("FAILED: ")
    quiet = [line.text for line in summary(record, 100, -1)]
    assert any(line.startswith("fails ") for line in quiet)
    assert any(line.startswith("  tied_scores (fails): look what") for line in quiet)
    assert "30 of 60 scores tie." not in " ".join(shown(record))
    assert "30 of 60 scores tie." in " ".join(shown(record, verbosity=1))


def test_many_claims_that_pass_are_counted_and_those_that_fail_never() -> None:
    passing = [claim(id=f"a::p{number}") for number in range(60)]
    failing = [claim(best=41, id=f"a::f{number}") for number in range(60)]
    record = run(*passing, *failing)
    lines = shown(record)
    assert sum(line.startswith("fails ") for line in lines) == 60
    assert sum(line.startswith("passes ") for line in lines) == 20
    assert "40 more claims pass, or fail as expected (-v shows them)" in lines
    assert sum(line.startswith("passes ") for line in shown(record, verbosity=1)) == 60


def test_red_flags_of_claims_that_pass_come_before_those_of_others() -> None:
    tied = flag("30 of 60 scores tie.", kind="tied_scores")
    record = run(claim(best=41, red_flags=[tied]), claim(red_flags=[flag()], id="a::passes"))
    lines = shown(record)
    assert lines[-4:] == [
        "Red flags of claims that pass:",
        "  majority (warns): claim balanced accuracy, or balance the labels (passes)",
        "Red flags of claims that do not pass:",
        "  tied_scores (warns): look what is scored, and how it is rounded "
        "(weather[demo-nf4-4shot])",
    ]
    assert first(record) == "FAILED: 1 of 2 claims fails, 1 passes; 1 that passes has red flags"


def test_each_red_flag_has_a_remedy_that_fits_one_line() -> None:
    for each in KINDS.values():
        assert len(f"  {each.kind} (warns): {each.remedy}") <= 80


def test_what_luck_brings_is_told_as_in_the_report_and_explains_too_much_for_q() -> None:
    record = run(*[claim(best=41, task=f"t{i}", id=f"a::t{i}") for i in range(13)], claim())
    said = by_luck(record)
    assert said.startswith("If all answers were guesses, up to 0.7 of these 14 claims")
    assert said in " ".join(shown(record))
    assert said not in " ".join(shown(record, verbosity=-1))


def test_many_skipped_claims_are_counted_and_have_no_rows() -> None:
    skipped = untested(outcome="skipped", message="no results here", n=None, t=None)
    assert shown(run(*[skipped] * 144)) == ["144 claims were skipped"]
    lines = shown(run(claim(), *[skipped] * 6))[1:]
    assert [line.split()[-1] for line in lines] == ["claim", "weather[demo-nf4-4shot]", "skipped"]
    assert [line.split()[0] for line in shown(run(claim(), *[skipped] * 5))[3:]] == ["skipped"] * 5


def test_a_claim_of_nothing_is_reported() -> None:
    results = [line.split()[0] for line in shown(run(claim(), recorded()))[1:]]
    assert results == ["result", "passes", "reported"]


def test_a_score_stands_with_the_name_of_its_metric() -> None:
    _, header, plain, named = shown(run(claim(best=41), scored()))
    assert header.split()[:5] == ["result", "n", "t", "best", "metric"]
    assert plain.split()[3:5] == [".683", ".620"]
    assert named.split()[3:5] == [".515", "macro-F1"]
    assert "metric" not in shown(run(claim(best=41)))[1]


def test_another_p_value_that_decides_is_named() -> None:
    both = {"p_max": 0.05, "permutation_p": 0.05}
    record = claim(asserted=both, permutation_p=0.0502, passed=False, outcome="failed")
    lines = shown(run(record, claim(best=41)))
    assert "  .620  .0502  " in lines[2]
    told = "p is the p-value that decides: permutation p of 1 claim, p_max of the others"
    assert lines[-1] == told
    assert shown(run(record))[-1] == told.removesuffix(", p_max of the others")
    # What cannot be told has no p-value that decides.
    untold = claim(asserted={"permutation_p": 0.05}, passed=None, outcome="cannot tell")
    [last] = [line for line in shown(run(record, untold)) if line.startswith("p is the p-value")]
    assert last == told.removesuffix(", p_max of the others")


@pytest.mark.parametrize("n", [60, 1000])
def test_a_claim_of_the_demo_is_one_line_of_80_columns(n: int) -> None:
    name = "swapped_topic[demo-llama-nf4-4shot]"
    lines = shown(run(claim(outcome="xfailed", p_max=8.7e-18, n=n, id=f"demo.yaml::{name}")), 80)
    assert lines[-1].endswith(f"  {name}")


def test_a_wide_terminal_has_more_columns() -> None:
    narrow, wide = (shown(run(claim()), width) for width in (119, 120))
    assert "standard" not in " ".join(narrow)
    assert "standard" in " ".join(wide)


def test_claims_of_the_same_name_are_told_apart_by_their_files() -> None:
    one, two = (claim(id=f"evals/{name}/demo.yaml::weather[x]") for name in "ab")
    ends = [line.split()[-1] for line in shown(run(one, two))[2:]]
    assert ends == ["a/demo.yaml::weather[x]", "b/demo.yaml::weather[x]"]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (["a.yaml:3: no models"], "1 suite could not be read"),
        (
            ["a.yaml:3: no models", "b.yaml:1: no tasks"],
            "some suites could not be read (2 mistakes)",
        ),
    ],
)
def test_suites_that_could_not_be_read_stand_with_the_verdict(broken: list[str], line: str) -> None:
    assert [told.text for told in summary(run(claim(), broken=broken, not_run=1))][2] == line
    assert [told.text for told in summary(run(broken=broken))] == [line]


LONG = "a_task_of_a_benchmark_whose_name_nobody_would_shorten"
MODEL = "organisation-model-with-a-rather-long-name-7B-instruct-nf4-4shot"


def everything() -> RunRecord:
    name = f"folder/of/suites/suite.yaml::{LONG}[{MODEL}]"
    long: dict[str, Any] = {"id": name, "task": LONG}
    flags = [flag(kind=kind, text="word " * 40) for kind in ("label_mass", "never_right")]
    return run(
        claim(best=41, **long, red_flags=flags),
        claim(**long, red_flags=flags[:1]),
        scored(metric="balanced_accuracy", **long, warnings=[]),
        claim(best=35, outcome="xfailed", **long),
        claim(outcome="xpassed", xfail="it was thought to be hard", **long),
        untested(**long),
        untested(**{**long, "outcome": "skipped"}),
        recorded(**long),
        not_run=2,
        interrupted=True,
        replicates=[replicates(45, 40, 30, id=f"{name}::replicates[3]")],
        label_bias=[label_bias(id=f"{name}::label_bias")],
        comparisons=[comparison(id=f"{name}::compare[one-other]")],
        contamination=[contamination("tuned on the text", id=f"{name}::contamination")],
    )


@pytest.mark.parametrize("width", [80, 100, 120, 160])
@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_no_line_is_wider_than_the_terminal(width: int, verbosity: int) -> None:
    lines = summary(everything(), width, verbosity)
    assert max(width_of(line.text) for line in lines) <= width
    joined = re.sub(r"\s+", "", "".join(line.text for line in lines))
    if verbosity >= 0:
        assert joined.count(f"{LONG}[{MODEL}]") >= 12


texts = st.text(st.sampled_from("ab[]-_:/. 中é"), max_size=60)


@given(texts, st.integers(8, 40))
@example(":::::中 - :[", 8)  # stands together where there is room
@settings(deadline=None)
def test_wrapping_loses_nothing_and_breaks_words_only_where_a_line_is_too_short(
    text: str, width: int
) -> None:
    lines = [line.text for line in wrapped(text, width, indent="  ")]
    assert all(width_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for word in text.split():
        if width_of(word) <= width - 2 and text.strip() == text:
            assert any(word in line for line in lines)


@pytest.mark.parametrize("width", range(15, 60))
def test_numbers_stay_with_their_names(width: int) -> None:
    text = "best .600, needs .640 (p_max > .999; t = 10, n = 100; 90 % interval) at 8.7e-18"
    lines = [line.text for line in wrapped(text, width)]
    for whole in ("(p_max > .999;", "t = 10,", "n = 100;", "90 %", "8.7e-18"):
        assert any(whole in line for line in lines)


names = st.text(st.characters(categories=("L", "N", "P", "S"), exclude_characters="\ufe0f"))


@given(st.lists(names, min_size=1, max_size=4))
@settings(deadline=None)
def test_names_stand_last_and_are_never_cut(found: list[str]) -> None:
    claims = [claim(best=41, id=f"suite::{name or 'x'}") for name in found]
    lines = shown(run(*claims), 10_000)
    rows = [line for line in lines if line.startswith("fails ")]
    assert len(rows) == len(found)
    for line, name in zip(rows, found, strict=True):
        assert line.endswith((name or "x").rstrip())


@given(any_text, st.sampled_from([80, 120]))
@settings(deadline=None)
def test_no_text_can_break_the_table_or_speak_to_the_terminal(text: str, width: int) -> None:
    lines = shown(run(claim(task=text, id=f"{text}::{text}")), width)
    for line in lines:
        assert len(line.splitlines()) == 1
        assert width_of(line) <= width
        hidden = {unicodedata.category(letter) for letter in line.replace("\u200d", "")}
        assert not hidden & {"Cc", "Cf", "Cs"}


@pytest.mark.parametrize(
    ("interrupted", "line"),
    [
        (True, "interrupted: 3 selected tests have no result"),
        (False, "ended early: 3 selected tests have no result"),
    ],
)
def test_a_run_that_did_not_end_says_so_with_the_verdict(interrupted: bool, line: str) -> None:
    told: dict[str, Any] = {"interrupted": interrupted, "not_run": 3}
    assert shown(run(claim(), **told))[0] == line
    assert [each.text for each in summary(run(**told))] == [line]
    one = summary(run(interrupted=interrupted, not_run=1))[0].text
    assert one.endswith(": 1 selected test has no result")


def test_a_run_without_claims_has_nothing_to_show() -> None:
    assert summary(run()) == []


def test_nothing_that_is_reported_is_said_to_pass_with_red_flags() -> None:
    passing, told = claim(red_flags=[flag()], id="a::passes"), recorded(red_flags=[flag()])
    record = run(told, passing, replace(told, id="b::told"))
    lines = "\n".join(shown(record))
    beside = "1 that passes has red flags; 2 that are reported have red flags"
    assert first(record, 200) == f"PASSED: 1 of 1 claim passes, 2 results reported; {beside}"
    pass_first = lines.index("Red flags of claims that pass:")
    assert pass_first < lines.index("Red flags of claims that are reported:")
    alone = run(told)
    beside = "1 that is reported has red flags"
    assert first(alone) == f"REPORTED: 1 result reported, nothing claimed; {beside}"
    assert "that pass" not in "\n".join(shown(alone))


@pytest.mark.parametrize(
    "module", ["reports.terminal", "reports.text", "reports.summary", "reports.phrases", "notation"]
)
def test_the_terminal_summary_needs_no_library(module: str) -> None:
    heavy = "{'jinja2', 'markupsafe', 'pydantic', 'numpy', 'yaml'}"
    code = f"import sys, pytest_maxrandom.{module}; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
