"""Selection curves against all subsets of prompts, and their guessers against SciPy."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from scipy.stats import beta

from pytest_maxrandom.figures.prompts import families, guessers_of, no_selection, selection_figures
from tests.unit.figures import common
from tests.unit.reports import samples

COUNTS = [31, 45, 38, 38, 40, 29, 44]


def test_a_curve_is_the_mean_over_all_subsets_of_the_prompts() -> None:
    [result] = common.results(samples.claim(best=45, n=60, t=7, correct_counts=COUNTS))
    [(name, figure)] = selection_figures([result])
    assert name == "selection"
    drawn = common.data(common.labelled(figure.axes[0], f"curve of {result.claim}"))
    expected = [
        (t, sum(map(max, combinations(COUNTS, t))) / comb(len(COUNTS), t) / 60)
        for t in range(1, len(COUNTS) + 1)
    ]
    assert [x for x, _ in drawn] == [t for t, _ in expected]
    assert [y for _, y in drawn] == pytest.approx([y for _, y in expected])


def test_guessers_have_the_maximum_random_baseline_of_each_t() -> None:
    [result] = common.results(samples.claim(best=45, n=60, t=7, correct_counts=COUNTS))
    [(_, figure)] = selection_figures([result])
    for t, height in common.data(common.labelled(figure.axes[0], "guessers, n = 60")):
        assert height == pytest.approx(common.expected_maximum(60, 0.5, round(t)), rel=1e-9)


def test_the_best_of_all_ends_a_curve_with_its_interval() -> None:
    [result] = common.results(samples.claim(best=45, n=60, t=7, correct_counts=COUNTS))
    [(_, figure)] = selection_figures([result])
    assert common.data(common.labelled(figure.axes[0], result.claim)) == [(7, 0.75)]
    ends = common.data(common.labelled(figure.axes[0], f"interval of {result.claim}"))
    assert [y for _, y in ends] == pytest.approx(
        [beta.ppf(0.05 / 7, 45, 16), beta.ppf(0.95, 46, 15)]
    )


def test_claims_on_a_task_are_a_family_of_curves_told_apart_by_colour_and_line() -> None:
    claims = [
        samples.claim(best=45 - place, model=model, shots=shots, task=task)
        for task in ("weather", "snarks")
        for place, (model, shots) in enumerate((m, k) for m in ("a", "b") for k in (0, 4))
    ]
    results = common.results(*claims)
    [(_, figure)] = selection_figures(results)
    shown = common.panels(figure)
    assert [axes.get_title(loc="left").splitlines()[0] for axes in shown] == ["weather", "snarks"]
    for axes in shown:
        curves = [line for line in axes.lines if str(line.get_label()).startswith("curve of")]
        assert len(curves) == len({line.get_color() for line in curves}) == 4
        assert len({str(line.get_linestyle()) for line in curves}) > 2  # of two, only gaps differ
        places = [
            common.data(line)[0][0] for line in axes.lines if "interval" in str(line.get_label())
        ]
        assert len(set(places)) == 4  # none hides another
    names = [result.claim for result in results]
    assert common.claims_in([figure], names) == sorted(names)


def test_more_than_four_claims_on_a_task_have_several_panels() -> None:
    results = common.results(*(samples.claim(shots=shots) for shots in range(9)))
    assert [len(family) for family in families(results)] == [3, 3, 3]


def test_guessers_are_drawn_for_the_fewest_examples_and_for_clearly_more() -> None:
    close = common.results(*(samples.claim(n=n, best=50, shots=n) for n in (60, 62, 70)))
    assert [one.n for one in guessers_of(close)] == [60]
    apart = common.results(*(samples.claim(n=n, best=50, shots=n) for n in (60, 200)))
    assert [one.n for one in guessers_of(apart)] == [60, 200]


def test_what_has_no_curve_says_why() -> None:
    lone = samples.claim(t=1, best=45, correct_counts=[45])
    for claim, why in (
        (lone, "of a single prompt"),
        (samples.claim(correct_counts=[]), "without every prompt's count"),
        (samples.scored(), "whose metric is macro-F1"),
    ):
        assert no_selection(*common.results(claim)) == why
