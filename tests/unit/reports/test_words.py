"""Outcomes and standings are shown in every report by the words of their tables."""

from __future__ import annotations

from typing import get_args

import pytest

from pytest_maxrandom.figures.axes import standing_handles
from pytest_maxrandom.figures.results import results_of
from pytest_maxrandom.record import OUTCOMES, P_MAX_ONLY, STANDINGS, Outcome, Remark, Standing
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.headlines import standing as standings_of
from pytest_maxrandom.reports.rendering import latex, markdown
from pytest_maxrandom.reports.summary import became, symbol, tally
from pytest_maxrandom.reports.wording import word
from tests.unit.reports.opened import html
from tests.unit.reports.samples import claim, run, several, shown


@pytest.mark.parametrize("outcome", [*get_args(Outcome), None])
def test_an_outcome_is_shown_by_its_words(outcome: Outcome | None) -> None:
    words = OUTCOMES[outcome]
    record = run(claim(outcome=outcome, xfail="too few"))
    assert f"{words.sign}&nbsp;{words.word}" in markdown(record)
    assert words.word in latex(record)
    assert f"</span> {words.word}</span>" in html(record)
    assert any(line.startswith(words.brief or words.word) for line in shown(record, 80))
    assert any(line.startswith(words.word) for line in shown(record, 120))
    assert tally(record) == f"1 of 1 claim {words.one}"
    assert tally(run(*[claim(outcome=outcome)] * 2)) == f"2 of 2 claims {words.more}"


def test_a_pass_on_p_max_only_says_so_everywhere() -> None:
    words = OUTCOMES[P_MAX_ONLY]
    record = run(claim(p_max_only=True))
    assert words.word == "passes (p_max only)"
    assert f"{words.sign}&nbsp;{words.word}" in markdown(record)
    assert "p_max only" in comment(record).splitlines()[0]
    assert r"passes ($p_{\max}$ only)" in latex(record)
    assert f"</span> {words.word}</span>" in html(record)
    assert any(line.startswith("p_max only") for line in shown(record, 80))
    assert any(line.startswith(words.word) for line in shown(record, 120))
    assert tally(record) == "1 of 1 claim passes on p_max only"
    assert tally(run(*[claim(p_max_only=True)] * 2)) == "2 of 2 claims pass on p_max only"
    assert "p_max only" not in markdown(run(claim(permutation_p=0.01)))


def test_what_cannot_be_told_says_why_in_the_headline_and_the_comment() -> None:
    why = Remark("only_right_and_wrong")
    told = claim(
        outcome="cannot tell", passed=None, holds=None, cannot_tell=why, critical_count=None
    )
    word(told)
    record = run(told)
    for text in (markdown(record), comment(record), html(record)):
        assert "only right and wrong are known" in text
    assert comment(record).count("cannot tell") > 1


@pytest.mark.parametrize("verdict", get_args(Standing))
def test_a_standing_is_shown_by_its_words(verdict: Standing) -> None:
    words = STANDINGS[verdict]
    reported = claim(verdict=verdict, asserted={}, outcome="passed")
    assert became(reported) == "reported"
    assert symbol(run(reported)) == OUTCOMES["reported"].sign
    assert standings_of(run(reported)) == f"Best accuracies: 1 {words.clause}."
    assert f"| {verdict} |" in markdown(run(reported))
    judged = run(*(claim(id=f"a::{place}", task=one.task, model=one.model, shots=one.shots,
                         verdict=verdict) for place, one in enumerate(several())))  # fmt: skip
    assert f"{words.sign}&nbsp;{words.brief}" in markdown(judged)
    assert f"{words.latex} {words.brief}" in latex(judged)
    (handle,) = standing_handles(results_of(judged)[0])
    assert (handle.get_label(), handle.get_marker()) == (words.clause, words.mark[0])
