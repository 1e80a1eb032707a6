"""Reports of scores between 0 and 1, which are compared with a control or a stated baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
from pytest_maxrandom.claims.scored import assess_scores
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.record import SCORE, ClaimRecord, RunRecord
from pytest_maxrandom.reports import origins
from pytest_maxrandom.reports.checklist import checklist
from pytest_maxrandom.reports.page.render import html
from pytest_maxrandom.reports.references import methods
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from tests.unit.reports.samples import claim, recorded, run

T, N = 6, 50


@cache
def graded() -> ClaimRecord:
    """Judge scores, of which the best prompt's are .75 and a control's .3."""
    heading = ClaimRecord(
        id="test_grades.py::test_grades",
        suite="test_grades.py",
        line=1,
        task="summaries",
        model="",
        quantization="",
        shots=0,
        asserted={"beats": 0.6, "baseline_p": 0.05, "control_p": 0.05},
        backend="numbers",
        scoring="",
        metric=SCORE,
    )
    scores = np.tile([0.7, 0.8], (T, N // 2)) - 0.02 * np.arange(T)[:, np.newaxis]
    answers = answers_of("scores", scores, None)
    control = scores_beside("control", [0.3] * N, answers)
    asked = Claim(baseline=0.6, baseline_p=0.05, control_p=0.05)
    return assess_scores(asked, answers, T, control=control).record(heading)


def text(page: str) -> str:
    return re.sub(r"<(script|style).*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)


def test_a_paper_is_told_what_was_tried_and_what_it_was_compared_with() -> None:
    told = disclosure(run(graded()))
    assert f"The best of t = {T} prompts reaches a score of .750 on n = {N} validation" in told
    assert "It is .150 above the stated baseline (.600; interval +" in told
    assert "and .450 above the control (.300; interval +" in told
    assert "(Gaffke, 2005)" in told


def test_a_checklist_has_items_of_scores() -> None:
    told = checklist(run(graded()))
    assert f"**Number of runs.** t = {T} prompts" in told
    assert "the prompt with the highest score on the validation set" in told


@pytest.mark.parametrize("report", [markdown, html, latex])
def test_no_report_of_scores_alone_speaks_of_guessers_or_accuracies(report: object) -> None:
    assert callable(report)
    told = text(report(run(graded())))
    assert "guessers" not in told
    assert "accurac" not in told
    assert "between baselines" not in told


def test_chance_is_not_said_to_be_counted_where_no_guess_has_one() -> None:
    read_from = recorded().recorded
    assert "chance" in origins.recorded(recorded())
    assert "n and t were counted in them" in origins.recorded(replace(graded(), recorded=read_from))


def test_the_page_names_guessers_where_any_claim_is_compared_with_them() -> None:
    assert "against the best of as many random guessers" in text(
        html(run(graded(), claim(best=45)))
    )


def test_methods_of_scores_are_cited_beside_claims_about_guessers() -> None:
    def cited(of: RunRecord) -> set[str]:
        return {each.key for method in methods(of) for each in method.references}

    mixed = cited(run(graded(), claim(best=45)))
    assert mixed == cited(run(graded())) | cited(run(claim(best=45)))
    assert "gaffke-2005" in mixed - cited(run(claim(best=45)))
