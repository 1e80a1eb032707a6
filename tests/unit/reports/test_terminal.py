"""The terminal's summary is aligned, fits where it can, and never cuts a number."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.reports.terminal import rows
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import claim, recorded, run, scored, untested


def test_the_table_shows_each_claim_with_n_t_baseline_and_outcome() -> None:
    lines = rows(run(claim(best=41), claim(best=35, outcome="xfailed"), untested()))
    assert lines == [
        "                            max",
        "result     n    t  best  random     p  claim",
        "failed    60   20  .683    .620  .060  weather[demo-nf4-4shot]",
        "xfailed   60   20  .583    .620  .927  weather[demo-nf4-4shot]",
        "error    100  200     -       -     -  emoji_movie[OLMo-7B-4shot]",
    ]


def test_many_skipped_claims_are_counted_and_have_no_rows() -> None:
    skipped = untested(outcome="skipped", message="no results here", n=None, t=None)
    assert rows(run(*[skipped] * 144)) == ["144 claims were skipped"]
    lines = rows(run(claim(), *[skipped] * 6))[1:]
    assert [line.split()[-1] for line in lines] == ["claim", "weather[demo-nf4-4shot]", "skipped"]
    assert [line.split()[0] for line in rows(run(claim(), *[skipped] * 5))[3:]] == ["skipped"] * 5


def test_a_claim_of_nothing_is_reported() -> None:
    results = [line.split()[0] for line in rows(run(claim(), recorded()))[1:]]
    assert results == ["result", "passed", "reported"]


def test_a_score_stands_with_the_name_of_its_metric() -> None:
    _, header, plain, named = rows(run(claim(best=41), scored()))
    assert header.split()[:5] == ["result", "n", "t", "best", "metric"]
    assert plain.split()[3:5] == [".683", ".620"]
    assert named.split()[3:5] == [".515", "macro-F1"]
    assert "metric" not in rows(run(claim(best=41)))[1]


def test_another_p_value_that_decides_is_named() -> None:
    both = {"p_max": 0.05, "permutation_p": 0.05}
    record = claim(asserted=both, permutation_p=0.0502, passed=False, outcome="failed")
    lines = rows(run(record, claim()))
    assert "  .620  .0502  " in lines[2]
    told = "p is the p-value that decides: permutation p of 1 claim, p_max of the others"
    assert lines[-1] == told
    assert rows(run(record))[-1] == told.removesuffix(", p_max of the others")


@pytest.mark.parametrize("n", [60, 1000])
def test_a_claim_of_the_demo_fits_in_80_columns(n: int) -> None:
    name = "swapped_topic[demo-llama-nf4-4shot]"
    lines = rows(run(claim(outcome="xfailed", p_max=8.7e-18, n=n, id=f"demo.yaml::{name}")))
    assert max(map(len, lines)) <= 80


def test_claims_of_the_same_name_are_told_apart_by_their_files() -> None:
    one, two = (claim(id=f"evals/{name}/demo.yaml::weather[x]") for name in "ab")
    ends = [line.split()[-1] for line in rows(run(one, two))[2:]]
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
def test_suites_that_could_not_be_read_are_told_last(broken: list[str], line: str) -> None:
    assert rows(run(claim(), broken=broken, not_run=1))[-1] == line
    assert rows(run(broken=broken)) == [line]


names = st.text(st.characters(categories=("L", "N", "P", "S"), exclude_characters="\ufe0f"))


@given(st.lists(names, min_size=1, max_size=4))
@settings(deadline=None)
def test_names_stand_last_and_are_never_cut(found: list[str]) -> None:
    claims = [claim(best=41, id=f"suite::{name or 'x'}") for name in found]
    lines = rows(run(*claims))
    numbers = "failed  60  20  .683    .620  .060  "
    assert [line for line in lines[2:] if not line.startswith(numbers)] == []
    for line, name in zip(lines[2:], found, strict=True):
        assert line.removeprefix(numbers).endswith((name or "x").rstrip())


@given(any_text)
@settings(deadline=None)
def test_no_text_can_break_the_table_or_speak_to_the_terminal(text: str) -> None:
    lines = rows(run(claim(task=text, id=f"{text}::{text}")))
    assert len(lines) == 3
    for line in lines:
        assert len(line.splitlines()) == 1
        hidden = {unicodedata.category(letter) for letter in line.replace("\u200d", "")}
        assert not hidden & {"Cc", "Cf", "Cs"}


@pytest.mark.parametrize(
    ("interrupted", "line"),
    [
        (True, "interrupted: 3 selected tests have no result"),
        (False, "ended early: 3 selected tests have no result"),
    ],
)
def test_a_run_that_did_not_end_says_so_last(interrupted: bool, line: str) -> None:
    assert rows(run(claim(), interrupted=interrupted, not_run=3))[-1] == line
    assert rows(run(interrupted=interrupted, not_run=3)) == [line]
    one = rows(run(interrupted=interrupted, not_run=1))[0]
    assert one.endswith(": 1 selected test has no result")


def test_a_run_without_claims_has_nothing_to_show() -> None:
    assert rows(run()) == []
