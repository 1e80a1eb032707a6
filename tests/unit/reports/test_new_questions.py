"""What the winner is worth on new questions, in every report."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import ClaimRecord, NewQuestions, Sampled
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.csv import csv as as_csv
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import latex, markdown
from pytest_maxrandom.reports.results import dump, load_untrusted
from tests.unit.reports.opened import html
from tests.unit.reports.page import read
from tests.unit.reports.samples import claim, run, scored

if TYPE_CHECKING:
    from pathlib import Path


FOUND = NewQuestions(low=0.53432, estimate=0.60212, resamples=500)


def known(**changed: object) -> ClaimRecord:
    return claim(best=45, new_questions=replace(FOUND, **changed))  # type: ignore[arg-type]


def test_the_tables_and_the_comment_show_it() -> None:
    told = "weather 4-shot: accuracy at least .534 at 95 %"
    assert told in read(comment(run(known()), report="https://ci.test/1")).text
    legend = "Below the best: between which accuracies on new questions"
    assert legend in html(run(known()))
    # scipy.stats.beta(45, 16).ppf(.05 / 20) = .56644 and beta(46, 15).ppf(.95) = .83914.
    assert "<br>.566\N{EN DASH}&#8288;.839</td>" in html(run(known()))
    assert r"& best & correct & new & needed & \shortstack" in latex(run(known()))
    row = r"& .750 & 45/60 & .566\textendash{}.839 & .700 & .500 &"
    assert row in latex(run(known()))


@pytest.mark.parametrize("report", [markdown, html, latex])
def test_nothing_is_estimated_where_predictions_are_not_known(report: object) -> None:
    assert callable(report)
    assert "without the bias of the selection" not in report(run(claim(best=45)))


def test_the_details_say_what_was_estimated() -> None:
    said = "accuracy at least .534 at 95 %; estimated .602, without the bias of the selection"
    assert f"**On new questions:** {said} (.750 on these)" in markdown(run(known()))
    assert f"{said} (.750 on these)" in html(run(known()))
    nothing = markdown(run(known(estimate=None)))
    assert "**On new questions:** accuracy at least .534 at 95 %\n" in nothing


def test_another_metric_is_not_taken_for_the_accuracy() -> None:
    text = html(run(scored(new_questions=FOUND)))
    assert ".515<br>accuracy at least .534<" in text


@pytest.mark.parametrize(
    ("aggregate", "correct", "named"),
    [("pass", 45, "pass@4"), ("all", 45, "all of 4"), ("mean", None, "mean accuracy of 4 samples")],
)
def test_of_several_samples_it_names_what_they_come_to(
    aggregate: Literal["pass", "all", "mean"], correct: int | None, named: str
) -> None:
    sampled = Sampled(samples=4, aggregate=aggregate, right=0.4, any_right=0.75, all_right=0.2)
    of_samples = replace(known(), sampled=sampled, best_correct=correct)
    assert f"On new questions: {named} at least .534 at 95 %" in html(run(of_samples))
    assert f"reaches .750 ({named}) on n = 60 validation examples" in html(run(of_samples))


def test_the_disclosure_says_it_with_its_sources() -> None:
    text = latex(run(known(clusters=12)))
    assert "On new questions: accuracy at least .534" in text
    assert "of 12 clusters of examples" in text
    assert "of 1 cluster of examples" in latex(run(known(clusters=1)))
    for key in ("clopper-pearson-1934", "efron-tibshirani-1997", "bentkus-2004"):
        assert f"\\cite{{{key}}}" in text
        assert f"{{{key}," in bibtex(run(known(clusters=12)))
    assert "bentkus" not in latex(run(known()))
    assert "efron" not in latex(run(known(estimate=None)))


def test_the_table_of_numbers_has_all_digits() -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv(run(known()))))
    assert (row["new_questions_low"], row["new_questions_estimate"]) == ("0.53432", "0.60212")


@pytest.mark.parametrize(("name", "value"), [("low", 1.2), ("estimate", -0.1), ("clusters", -1)])
def test_a_report_of_anybody_holds_no_number_that_no_run_has(
    tmp_path: Path, name: str, value: float
) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(run(known())))
    assert load_untrusted(path).claims[0].new_questions == FOUND
    path.write_text(dump(run(known(**{name: value}))))
    with pytest.raises(ReportError, match=rf"claims\[0\]\.new_questions\.{name}"):
        load_untrusted(path)
