"""Histograms of prompts beside the distributions of guessers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle, StepPatch
from scipy.stats import binom

from pytest_maxrandom.figures.histogram import bins, drawable, figures
from tests.unit.figures import common
from tests.unit.reports import samples


@pytest.mark.parametrize(("best", "n"), [(45, 60), (540, 1000)])
def test_bars_are_shares_of_the_prompts_and_outlines_probabilities(best: int, n: int) -> None:
    counts = [best, best, best - 1, best - 5, best - 20, *[best - 7] * 15]
    [result] = common.results(samples.claim(best=best, n=n, t=20, correct_counts=counts))
    [(_, figure)] = figures([result])
    axes = figure.axes[0]
    edges = bins(result)
    assert len(edges) <= 41

    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    heights = [bar.get_height() for bar in bars]
    assert sum(heights) == pytest.approx(1)
    for bar, low, high in zip(bars, edges[:-1], edges[1:], strict=True):
        inside = [count for count in counts if low <= count < high]
        assert bar.get_height() == pytest.approx(len(inside) / 20)
        assert bar.get_x() == pytest.approx((low - 0.5) / n)

    one = binom(n, 0.5)
    outlines = {patch.get_label(): patch for patch in axes.patches if isinstance(patch, StepPatch)}
    for label, t in (("one guesser", 1), ("best guesser of t", 20)):
        expected = np.diff(one.cdf(edges - 1) ** t)
        drawn = np.asarray(outlines[label].get_data()[0])
        assert drawn == pytest.approx(expected, abs=1e-12)
        assert drawn.sum() > 0.995


def test_every_claim_has_one_panel_and_twelve_fill_a_file() -> None:
    results = common.results(
        *(samples.claim(task=f"task {number}", best=30 + number) for number in range(13))
    )
    drawn = list(figures(results))
    assert [name for name, _ in drawn] == ["histogram-1", "histogram-2"]
    titles = [axes.get_title(loc="left") for _, f in drawn for axes in common.panels(f)]
    assert [title.splitlines()[0] for title in titles] == [
        f"task {number}, 4-shot" for number in range(13)
    ]
    assert all(title.endswith("n = 60, t = 20") for title in titles)


def test_a_t_of_earlier_runs_too_is_told_from_the_prompts_shown() -> None:
    [result] = common.results(samples.claim(t=50, correct_counts=[45, 40]))
    [(_, figure)] = figures([result])
    title = figure.axes[0].get_title(loc="left")
    assert title.endswith("n = 60, t = 50 (2 prompts shown)")


def test_guessers_differ_in_line_style_and_hatch() -> None:
    [(_, figure)] = figures(common.results(samples.claim()))
    one, best = (
        next(patch for patch in figure.axes[0].patches if patch.get_label() == label)
        for label in ("one guesser", "best guesser of t")
    )
    assert one.get_linestyle() != best.get_linestyle()
    assert best.get_hatch()


def test_claims_without_counts_or_with_other_chances_have_no_histogram() -> None:
    unlike = samples.claim(validation=None, max_random_baseline=0.9)
    for claim in (samples.claim(correct_counts=[]), samples.scored(), unlike):
        assert not drawable(*common.results(claim))


def test_a_hand_written_claim_has_the_chance_that_it_states() -> None:
    [result] = common.results(samples.hand_written())
    assert result.guessers is not None
    assert result.guessers.expected_accuracy == pytest.approx(
        common.expected_maximum(60, 0.5, 20), rel=1e-12
    )
