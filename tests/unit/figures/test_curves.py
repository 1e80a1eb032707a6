"""The baseline over t and n, and contours of p-values, against SciPy."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.text import Text
from scipy.stats import binom

from pytest_maxrandom.figures import curves
from pytest_maxrandom.figures.curves import LEVELS, Panel, Row
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from tests.unit.figures import common
from tests.unit.reports import samples

CURVE = re.compile(r"([nt]) = ([\d,]+)")


@pytest.mark.parametrize("choices", [2, 4])
def test_curves_are_expected_maxima(choices: int) -> None:
    [(_, figure)] = curves.baseline_figures([Row(choices, n=50, t=200)])
    assert figure.axes[0].get_title(loc="left") == f"{choices} choices; wide: n = 50, t = 200"
    found = set()
    for axes, swept in zip(figure.axes, "tn", strict=True):
        for line in axes.lines:
            if named := CURVE.fullmatch(str(line.get_label())):
                held, value = named[1], int(named[2].replace(",", ""))
                assert held != swept
                found.add((held, value))
                for place, height in common.data(line)[::7]:
                    numbers = {held: value, swept: int(place)}
                    expected = common.expected_maximum(numbers["n"], 1 / choices, numbers["t"])
                    assert height == pytest.approx(expected, rel=1e-9)
    assert found == {("n", n) for n in (10, 30, 50, 100, 300, 1000)} | {
        ("t", t) for t in (1, 10, 100, 200, 1000, 10_000)
    }


def test_no_two_curves_of_a_panel_share_a_line_style_or_a_colour() -> None:
    [(_, figure)] = curves.baseline_figures([Row(2, n=50, t=200)])
    for axes in figure.axes:
        lines = [line for line in axes.lines if CURVE.fullmatch(str(line.get_label()))]
        assert len({str(line._dash_pattern) for line in lines}) == len(lines)  # type: ignore[attr-defined]
        assert len({line.get_color() for line in lines}) == len(lines)


def test_every_curve_is_named_at_its_end_without_overlap() -> None:
    [(_, figure)] = curves.baseline_figures([Row(2, n=50, t=200)])
    for axes in figure.axes:
        # Without the line that leads to the curve.
        texts = {text.get_text(): Text.get_window_extent(text) for text in axes.texts}
        named = {str(line.get_label()) for line in axes.lines}
        assert {name for name in named if CURVE.fullmatch(name)} == set(texts)
        boxes = sorted(texts.values(), key=lambda box: float(box.y0))
        for lower, upper in itertools.pairwise(boxes):
            assert upper.y0 >= lower.y0 + 7 * figure.dpi / 72


def test_claims_are_marked_in_the_row_of_their_number_of_choices() -> None:
    claims = common.grid()
    rows = curves.rows_of(common.results(*claims))
    assert [row.choices for row in rows] == [2]
    [(_, figure)] = curves.baseline_figures(rows)
    for axes, name in zip(figure.axes, "tn", strict=True):
        expected = sorted((getattr(claim, name), claim.max_random_baseline) for claim in claims)
        assert sorted(common.data(common.labelled(axes, "claims"))) == expected
    assert "n = 40 to 80, t = 10 to 40" in figure.axes[0].get_title(loc="left")


def test_a_third_written_as_a_decimal_is_three_choices() -> None:
    maximum = common.expected_maximum(60, 1 / 3, 20)
    [result] = common.results(
        samples.claim(standard_baseline=1 / 3, validation=None, max_random_baseline=maximum)
    )
    assert curves.choices_of(result) == 3


def test_labels_of_the_axes_do_not_touch_whatever_t_is() -> None:
    numbers = [(t, common.expected_maximum(60, 0.5, t)) for t in (1, 10**6, 10**15)]
    claims = [
        replace(samples.claim(task=f"{t}"), t=t, max_random_baseline=maximum)
        for t, maximum in numbers
    ]
    results = common.results(*claims)
    for drawn in (
        curves.baseline_figures(curves.rows_of(results)),
        curves.contour_figures(curves.panels_of(results)),
    ):
        for _, figure in drawn:
            for axes in figure.axes:
                ticks = [tick for tick in axes.get_xticklabels() if tick.get_text()]
                boxes = [tick.get_window_extent() for tick in ticks]
                assert len(boxes) >= 3
                for left, right in itertools.pairwise(boxes):
                    assert left.x1 < right.x0


def test_contours_are_the_least_accuracies_with_such_a_p_value() -> None:
    panel = Panel(MaxRandomBaseline(60, Fraction(1, 4), 1), t=37)
    [(_, figure)] = curves.contour_figures([panel])
    one = binom(60, 0.25)
    for alpha, name in zip(LEVELS, ("p_max = .5", "p_max = .05", "p_max = .001"), strict=False):
        points = common.data(common.labelled(figure.axes[0], name))
        assert 37 in [t for t, _ in points]
        for t, accuracy in points[::9]:
            p_max = -np.expm1(t * one.logcdf(np.arange(61) - 1))
            assert accuracy == int(np.argmax(p_max <= alpha)) / 60


def test_a_level_that_no_accuracy_reaches_has_no_contour() -> None:
    [(_, figure)] = curves.contour_figures([Panel(MaxRandomBaseline(5, Fraction(1, 2), 1))])
    heights = [y for _, y in common.data(common.labelled(figure.axes[0], "p_max = .05"))]
    assert heights[0] == 1  # 1/32 is below .05 for one guesser, and for no more than that
    assert np.isnan(heights[1:]).all()


def test_every_claim_stands_in_the_panel_of_its_examples() -> None:
    results = common.results()
    panels = curves.panels_of(results)
    assert [panel.guessers.n for panel in panels] == [40, 60, 80]
    drawn = [figure for _, figure in curves.contour_figures(panels)]
    names = [result.claim for result in results]
    assert common.claims_in(drawn, names) == sorted(names)
    for panel, axes in zip(panels, drawn[0].axes, strict=False):
        assert axes.get_title(loc="left").startswith(f"n = {panel.guessers.n}, t = 10 to 40")
        for result in panel.results:
            assert common.data(common.labelled(axes, result.claim)) == [(result.t, result.best)]


def test_mixed_chances_are_those_of_the_examples() -> None:
    sizes = {"1/2": 30, "1/5": 30}
    claim = samples.claim()
    assert claim.validation is not None
    claim.validation.chances = sizes
    mixed = np.convolve(binom(30, 0.5).pmf(range(31)), binom(30, 0.2).pmf(range(31)))
    claim.max_random_baseline = float((1 - np.cumsum(mixed)[:-1] ** 20).sum() / 60)
    [panel] = curves.panels_of(common.results(claim))
    assert panel.guessers.with_t(1).pmf(21) == pytest.approx(mixed[21], rel=1e-9)
    assert curves.rows_of(common.results(claim)) == []
