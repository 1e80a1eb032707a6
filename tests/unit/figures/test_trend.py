"""Courses of claims: the numbers of every run, by time, broken where examples are others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import beta, binom

from pytest_maxrandom.figures.catalogue import of_trends
from pytest_maxrandom.figures.trend import figures
from pytest_maxrandom.reports.trend import trends
from tests.unit.figures import common
from tests.unit.reports.samples import claim, run, scored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytest_maxrandom.record import RunRecord

RUNS = ((38, 20), (45, 20), (42, 200))
"""Right answers of the best prompt, and t."""


def course(*claims: Any) -> list[tuple[str, RunRecord]]:
    return [
        (f"v{day}", run(each, created=f"2026-02-0{day}T00:00:00Z"))
        for day, each in enumerate(claims, 1)
    ]


def drawn(*claims: Any) -> Figure:
    [(name, figure)] = figures(trends(course(*claims)))
    assert name == "trend"
    return figure


def test_each_run_has_its_best_accuracy_what_was_needed_and_t() -> None:
    figure = drawn(*(claim(best=best, t=t) for best, t in RUNS))
    upper, strip = figure.axes
    assert common.data(common.labelled(upper, "best")) == [
        (place, best / 60) for place, (best, _) in enumerate(RUNS)
    ]
    assert [t for _, t in common.data(common.labelled(strip, "t"))] == [20, 20, 200]
    one = binom(60, 0.5)
    needed = [next(k for k in range(61) if 1 - one.cdf(k - 1) ** t <= 0.05) for _, t in RUNS]
    heights = [y for _, y in common.data(common.labelled(upper, "needed"))]
    assert heights == pytest.approx([k / 60 for k in needed])
    maxima = [y for _, y in common.data(common.labelled(upper, "maximum"))]
    assert maxima == pytest.approx([common.expected_maximum(60, 0.5, t) for _, t in RUNS])
    for place, (best, t) in enumerate(RUNS):
        ends = common.data(common.labelled(upper, f"interval of v{place + 1}"))
        assert [x for x, _ in ends] == [place, place]
        assert [y for _, y in ends] == pytest.approx(
            [beta.ppf(0.05 / t, best, 61 - best), beta.ppf(0.95, best + 1, 60 - best)]
        )


def test_runs_are_named_with_their_day() -> None:
    _, strip = drawn(*(claim(best=best, t=t) for best, t in RUNS)).axes
    assert [text.get_text() for text in strip.get_xticklabels()] == [
        "v1\n2026-02-01", "v2\n2026-02-02", "v3\n2026-02-03",
    ]  # fmt: skip


def test_marks_tell_what_passed_without_their_colour() -> None:
    untold = claim(passed=None, outcome="cannot tell")
    figure = drawn(claim(best=38), claim(best=45), claim(asserted={}), untold)
    marks = [
        (line.get_marker(), line.get_markersize())
        for line in figure.axes[0].lines
        if line.get_label() == "run"
    ]
    assert len(set(marks)) == 4


def test_lines_end_where_the_examples_are_others() -> None:
    figure = drawn(claim(), claim(), claim(task_digest="b"), claim(task_digest="b"))
    parts = [common.data(line) for line in figure.axes[0].lines if line.get_label() == "best"]
    assert [[x for x, _ in part] for part in parts] == [[0, 1], [2, 3]]


def test_a_claim_of_a_single_run_is_left_out_and_said() -> None:
    runs = course(claim(), claim())
    runs[0][1].claims.append(replace(claim(), id="a.yaml::once"))
    catalogue = of_trends(trends(runs))
    assert list(catalogue.families) == ["trend"]
    assert catalogue.notes == {"trend": "trend: left out 1 claim of a single run: a.yaml::once"}
    assert not of_trends(trends(course(claim()))).families


def test_another_metric_has_no_interval_and_more_than_three_claims_fill_a_file() -> None:
    figure = drawn(scored(), scored(best_score=0.6))
    assert not [line for line in figure.axes[0].lines if "interval" in str(line.get_label())]
    claims = [replace(claim(), id=f"a.yaml::{place}") for place in range(4)]
    both = [(name, run(*claims)) for name in "ab"]
    assert [name for name, _ in figures(trends(both))] == ["trend-1", "trend-2"]
