"""Histograms of prompts beside the distributions of guessers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.patches import StepPatch
from scipy.stats import binom

from pytest_maxrandom.figures.prompts import bins, histogram_figures, no_histogram, span_of
from pytest_maxrandom.record import Recorded
from tests.unit.figures import common
from tests.unit.reports import samples


@pytest.mark.parametrize(("best", "n"), [(45, 60), (540, 1000)])
def test_bars_are_shares_of_the_prompts_and_outlines_probabilities(best: int, n: int) -> None:
    counts = [best, best, best - 1, best - 5, best - 20, *[best - 7] * 15]
    [result] = common.results(samples.claim(best=best, n=n, t=20, correct_counts=counts))
    [(_, figure)] = histogram_figures([result])
    axes = figure.axes[0]
    edges = bins(result, span_of([result]))
    assert len(edges) <= 41

    outlines = {patch.get_label(): patch for patch in axes.patches if isinstance(patch, StepPatch)}
    heights, places, _ = outlines["prompts"].get_data()
    assert outlines["prompts"].get_fill()
    assert sum(heights) == pytest.approx(1)
    assert places == pytest.approx(np.clip((edges - 0.5) / n, 0, 1))
    for height, low, high in zip(heights, edges[:-1], edges[1:], strict=True):
        inside = [count for count in counts if low <= count < high]
        assert height == pytest.approx(len(inside) / 20)

    one = binom(n, 0.5)
    for label, t in (("one guesser", 1), ("best guesser of t", 20)):
        expected = np.diff(one.cdf(edges - 1) ** t)
        drawn, at, _ = map(np.asarray, outlines[label].get_data())
        start = int(np.argmin(abs((edges - 0.5) / n - at[0])))
        assert drawn == pytest.approx(expected[start : start + len(drawn)], abs=1e-12)
        assert drawn.sum() > 0.99


def test_panels_share_their_axes_and_no_bar_is_beyond_0_or_1() -> None:
    all_right = samples.claim(best=60, correct_counts=[60] * 10)
    all_wrong = samples.claim(best=0, task="b", t=1, correct_counts=[0])
    usual = samples.claim(best=45, task="c", n=61)
    [(_, figure)] = histogram_figures(common.results(all_right, all_wrong, usual))
    shown = common.panels(figure)
    assert len({axes.get_xlim() for axes in shown}) == len({axes.get_ylim() for axes in shown}) == 1
    for axes in shown:
        for patch in (patch for patch in axes.patches if isinstance(patch, StepPatch)):
            _, edges, _ = patch.get_data()
            assert 0 <= min(edges) < max(edges) <= 1
            assert min(np.diff(edges)) >= 0.5 / 61
        low, high = axes.get_xlim()
        assert low < 0
        assert high > 1
        assert axes.get_ylim()[1] > 1


@given(st.integers(1, 3000), st.data())
def test_every_count_of_a_panel_is_in_one_bin(n: int, data: st.DataObject) -> None:
    low = data.draw(st.floats(0, 1))
    high = data.draw(st.floats(low, 1))
    [result] = common.results(samples.claim())
    edges = bins(replace(result, n=n), (low, high))
    assert edges[0] <= low * n
    assert high * n <= edges[-1] - 1 <= n
    assert len(edges) <= 41
    assert (np.diff(edges) > 0).all()


def test_every_claim_has_one_panel_and_twelve_fill_a_file() -> None:
    results = common.results(
        *(samples.claim(task=f"task {number}", best=30 + number) for number in range(13))
    )
    drawn = list(histogram_figures(results))
    assert [name for name, _ in drawn] == ["histogram-1", "histogram-2"]
    titles = [axes.get_title(loc="left") for _, f in drawn for axes in common.panels(f)]
    assert [title.splitlines()[0] for title in titles] == [
        f"task {number}, 4-shot" for number in range(13)
    ]
    assert all(title.endswith("n = 60, t = 20") for title in titles)


def test_a_t_of_earlier_runs_too_is_told_from_the_prompts_shown() -> None:
    [result] = common.results(samples.claim(t=50, correct_counts=[45, 40]))
    [(_, figure)] = histogram_figures([result])
    title = figure.axes[0].get_title(loc="left")
    assert title.endswith("n = 60, t = 50 (2 prompts shown)")


def test_guessers_differ_in_line_style_and_hatch() -> None:
    [(_, figure)] = histogram_figures(common.results(samples.claim()))
    one, best = (
        next(patch for patch in figure.axes[0].patches if patch.get_label() == label)
        for label in ("one guesser", "best guesser of t")
    )
    assert one.get_linestyle() != best.get_linestyle()
    assert best.get_hatch()


def test_claims_without_counts_or_with_other_chances_have_no_histogram() -> None:
    unlike = samples.claim(validation=None, max_random_baseline=0.9)
    for claim in (samples.claim(correct_counts=[]), samples.scored(), unlike):
        assert no_histogram(*common.results(claim))


def test_recorded_results_with_mixed_chances_have_the_guessers_of_that_mix() -> None:
    mix = Recorded("r.csv", "table", [], {"1/2": 20, "1/4": 40})
    density = np.convolve(binom(20, 0.5).pmf(np.arange(21)), binom(40, 0.25).pmf(np.arange(41)))
    expected = (1 - np.cumsum(density)[:-1] ** 20).sum() / 60
    told = {"standard_baseline": 1 / 3, "max_random_baseline": expected, "correct_counts": [45, 40]}
    mixed = samples.recorded(recorded=mix, **told)
    [result] = common.results(mixed)
    assert not no_histogram(result)
    assert result.guessers is not None
    assert result.guessers.expected_accuracy == pytest.approx(expected, abs=1e-12)
    [result] = common.results(replace(mixed, max_random_baseline=expected + 0.05))
    assert result.unknown == "whose prompts were scored on different numbers of examples"


def test_a_hand_written_claim_has_the_chance_that_it_states() -> None:
    [result] = common.results(samples.hand_written())
    assert result.guessers is not None
    assert result.guessers.expected_accuracy == pytest.approx(
        common.expected_maximum(60, 0.5, 20), rel=1e-12
    )
