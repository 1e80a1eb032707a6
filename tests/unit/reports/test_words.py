"""Outcomes and standings are shown in every report by the words of their tables."""

from __future__ import annotations

from typing import get_args

import pytest

from pytest_maxrandom.figures.axes import standing_handles
from pytest_maxrandom.figures.results import results_of
from pytest_maxrandom.record import OUTCOMES, STANDINGS, Outcome, PassesOn, Remark, Standing
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


@pytest.mark.parametrize("on", get_args(PassesOn))
def test_a_pass_without_shuffled_right_answers_says_on_what_everywhere(on: PassesOn) -> None:
    words = OUTCOMES[on]
    record = run(claim(passes_on=on))
    assert words.word == f"passes ({on})"
    assert f"{words.sign}&nbsp;{words.word}" in markdown(record)
    assert on in comment(record).splitlines()[0]
    assert words.word.replace("p_max", r"$p_{\max}$") in latex(record)
    assert f"</span> {words.word}</span>" in html(record)
    for width in (60, 80, 120):
        assert any(line.startswith(words.word) for line in shown(record, width))
    what = on if on == "p_max only" else f"the {on}"
    assert tally(record) == f"1 of 1 claim passes on {what}"
    assert tally(run(*[claim(passes_on=on)] * 2)) == f"2 of 2 claims pass on {what}"
    assert f"({on})" not in markdown(run(claim(permutation_p=0.01)))


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


@pytest.mark.parametrize(
    ("rates", "said"), [([0.53331, 0.53334], ".533"), ([0.5, 0.7], ".500 to .700")]
)
def test_p_max_of_guessers_who_are_as_good_as_constant_answers_says_so_wherever_it_is(
    rates: list[float], said: str
) -> None:
    values = {"why": "nobody knows", "rates": rates}
    told = claim(best=38, notes=[Remark("constants", values)])
    word(told)
    record, with_it = run(told), f"of guessers who are right with {said}"
    legend = f"The guessers are as good as constant answers, right with {said}, because"
    terminal = " ".join(shown(record, 80))
    assert legend in terminal
    for text in (markdown(record), latex(record), html(record)):
        assert legend in text
        assert with_it in text
    assert with_it in comment(record)
    assert with_it in str(told.message)
    assert legend.replace("guessers", "guessers of 1 claim") in latex(run(told, claim(task="b")))
    (note,) = told.notes
    assert note.text.endswith(f"where that is above the chance: right with {said}.")


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
