"""The accuracies of all prompts compared with those of guessers.

After figure 1 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory

from pytest_maxrandom.figures.axes import accuracy_axis, interval_handle
from pytest_maxrandom.figures.labels import counts, plain, settle, short
from pytest_maxrandom.figures.panels import frame, legend, numbered, pages, per_file, title
from pytest_maxrandom.figures.style import (
    BLACK,
    INTERVAL,
    MAXIMUM,
    SKY,
    SMALL,
    STANDARD,
    WIDTH,
)
from pytest_maxrandom.notation import accuracy, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.stats.maximum import MaxRandomBaseline

_MOST = 12
"""Panels of a file."""
_WIDTHS = (WIDTH / 2, WIDTH * 2 / 3, WIDTH)
_PANEL = 1.75
"""Inches that a panel is high, with its title."""
_BINS = 40
"""Bars of a panel, at most."""
_ORDER = ("prompts", "one guesser", "best guesser of t", "best prompt")
"""Of the legend."""
_ROOM, _HIGH = 1.3, 0.86
"""How far panels reach above the highest bar, and at which share of that the interval stands."""
_RARE = 1e-3
"""Share of the guessers on either side that may lie outside a panel."""


def obstacle(result: Result) -> str:
    """Say which claims cannot be drawn, because a distribution is unknown; else empty."""
    return result.unknown or ("" if result.counts else "without every prompt's count")


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw one panel for each claim, at most twelve in a file."""
    drawn = [histograms(page) for page in pages(results, per_file(_MOST, 3))]
    yield from numbered("histogram", drawn)


def histograms(results: Sequence[Result]) -> Figure:
    """Draw claims without an `obstacle`, one in each panel.

    Bars are shares of the prompts; a dotted outline is the distribution of one guesser and a
    hatched one that of the best of t, both in the same bins of whole counts.
    """
    figure, grid, _ = frame(len(results), _WIDTHS, 0.55, _PANEL, shared=True)
    extent = span_of(results)
    tasks = short([result.setting for result in results])
    for axes, result, task in zip(grid, results, tasks, strict=True):
        _panel(axes, result, extent)
        named = short([name for name in (result.model, result.suite) if name], 36)
        stated = counts([result])
        if len(result.counts) != result.t:
            stated += f" ({count(len(result.counts))} prompts shown)"
        title(axes, task, *named, stated)
    figure.supxlabel("accuracy", size=SMALL)
    figure.supylabel("share of the prompts, probability", size=SMALL)
    handles = {
        name: handle for handle, name in zip(*grid[0].get_legend_handles_labels(), strict=True)
    }
    legend(figure, [*(handles[name] for name in _ORDER), *interval_handle(results)])
    margin = (extent[1] - extent[0]) / 50
    grid[0].set_xlim(extent[0] - margin, extent[1] + margin)
    low, high = grid[0].get_ylim()
    grid[0].set_ylim(low, _ROOM * max(high, 0.1))
    for axis in (grid[0].xaxis, grid[0].yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    for axes in grid:
        accuracy_axis(axes.xaxis)
        accuracy_axis(axes.yaxis)
    return settle(figure)


def span_of(results: Sequence[Result]) -> tuple[float, float]:
    """Return the accuracies between which all panels of a file are drawn."""
    lows, highs = [], []
    for result in results:
        guessers = result.guessers
        assert guessers is not None
        low, high = result.interval or (result.best, result.best)
        counted = guessers.with_t(1).quantile(_RARE) / guessers.n, min(result.counts) / guessers.n
        lows.append(min(low, *counted))
        highs.append(max(high, result.best, guessers.quantile(1 - _RARE) / guessers.n))
    return max(0.0, min(lows)), min(1.0, max(highs))


def bins(result: Result, extent: tuple[float, float]) -> NDArray[np.int64]:
    """Return the edges of bins of equally many counts: bin i holds edges[i] .. edges[i + 1] - 1.

    The first bin holds what is left over, too.
    """
    n = result.n
    low, high = math.floor(extent[0] * n), min(n, math.ceil(extent[1] * n))
    width = math.ceil((high - low + 1) / _BINS)
    edges = np.arange(high + 1, low + width - 1, -width)[::-1]
    return np.array([low, *edges[1:]]) if len(edges) > 1 else np.array([low, high + 1])


def probabilities(guessers: MaxRandomBaseline, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each bin."""
    below = np.array([guessers.cdf(int(edge) - 1) for edge in edges])
    return np.diff(below)


def _seen(
    heights: NDArray[np.float64], places: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out bins on either side that would be a line along the axis."""
    seen = np.flatnonzero(heights > _RARE)
    first, last = int(seen[0]), int(seen[-1]) + 1
    return heights[first:last], places[first : last + 1]


def _panel(axes: Axes, result: Result, extent: tuple[float, float]) -> None:
    guessers = result.guessers
    assert guessers is not None
    edges = bins(result, extent)
    # A bin is drawn about the accuracies of its counts, of which none is beyond 0 or 1.
    places = np.clip((edges - 0.5) / result.n, 0, 1)
    shares = np.histogram(result.counts, edges - 0.5)[0] / len(result.counts)
    # One outline of all bars: a rectangle for each makes a run of many claims slow.
    axes.stairs(shares, places, fill=True, color=SKY, linewidth=0, label=_ORDER[0])
    axes.stairs(
        *_seen(probabilities(guessers, edges), places),
        color=MAXIMUM,
        hatch="////",
        fill=False,
        linewidth=1.1,
        label=_ORDER[2],
    )
    axes.stairs(
        *_seen(probabilities(guessers.with_t(1), edges), places),
        color=STANDARD,
        linestyle=(0, (1, 1)),
        linewidth=1.5,
        label=_ORDER[1],
    )
    axes.axvline(result.best, color=BLACK, linewidth=1, linestyle=(0, (5, 2)), label=_ORDER[3])
    top = blended_transform_factory(axes.transData, axes.transAxes)
    if result.interval is not None:
        axes.plot(
            result.interval,
            [_HIGH, _HIGH],
            **INTERVAL,
            transform=top,
            zorder=3,
            label=f"interval of {plain(result.claim)}",
        )
    right = result.best > sum(extent) / 2
    axes.annotate(
        f"best {accuracy(result.best)}",
        (result.best, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3 if right else 3, -1),
        textcoords="offset points",
        ha="right" if right else "left",
        va="top",
        size=SMALL,
    )
