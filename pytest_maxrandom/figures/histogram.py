"""The accuracies of all prompts beside those of guessers.

After figure 1 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from pytest_maxrandom.figures.labels import counts, settle, short
from pytest_maxrandom.figures.panels import accuracy_axis, frame, numbered, pages
from pytest_maxrandom.figures.style import (
    BLACK,
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
_RARE = 1e-3
"""Share of the guessers on either side that may lie outside a panel."""


def obstacle(result: Result) -> str:
    """Say which claims cannot be drawn, because a distribution is unknown; else empty."""
    return result.unknown or ("" if result.counts else "without every prompt's count")


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw one panel for each claim, at most twelve in a file."""
    yield from numbered("histogram", [histograms(page) for page in pages(results, _MOST)])


def histograms(results: Sequence[Result]) -> Figure:
    """Draw claims without an `obstacle`, one in each panel.

    Bars are shares of the prompts; a dotted outline is the distribution of one guesser and a
    hatched one that of the best of t, both in the same bins of whole counts.
    """
    figure, grid, columns = frame(len(results), _WIDTHS, 0.55, _PANEL)
    tasks = short([result.setting for result in results])
    for axes, result, task in zip(grid, results, tasks, strict=True):
        _panel(axes, result)
        named = short([name for name in (result.model, result.suite) if name], 36)
        stated = counts([result])
        if len(result.counts) != result.t:
            stated += f" ({count(len(result.counts))} prompts shown)"
        axes.set_title("\n".join([task, *named, stated]), size=SMALL)
    figure.supxlabel("accuracy", size=SMALL)
    figure.supylabel("share of the prompts, probability", size=SMALL)
    handles, _ = grid[0].get_legend_handles_labels()
    figure.legend(
        handles=sorted(handles, key=lambda handle: _ORDER.index(handle.get_label())),
        loc="outside upper left",
        ncols=4 if columns > 1 else 2,
    )
    return settle(figure)


def bins(result: Result) -> NDArray[np.int64]:
    """Return the edges of bins of equally many counts: bin i holds edges[i] .. edges[i + 1] - 1."""
    guessers = result.guessers
    assert guessers is not None
    low = min(*result.counts, guessers.with_t(1).quantile(_RARE), result.n)
    high = max(*result.counts, guessers.quantile(1 - _RARE))
    width = math.ceil((high - low + 1) / _BINS)
    return np.arange(low, high + width + 1, width)


def probabilities(guessers: MaxRandomBaseline, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each bin."""
    below = np.array([guessers.cdf(int(edge) - 1) for edge in edges])
    return np.diff(below)


def _panel(axes: Axes, result: Result) -> None:
    guessers = result.guessers
    assert guessers is not None
    edges = bins(result)
    # A bin is drawn about the accuracies of its counts.
    places = (edges - 0.5) / result.n
    shares = np.histogram(result.counts, edges - 0.5)[0] / len(result.counts)
    # One outline of all bars: a rectangle for each makes a run of many claims slow.
    axes.stairs(shares, places, fill=True, color=SKY, linewidth=0, label=_ORDER[0])
    axes.stairs(
        probabilities(guessers, edges),
        places,
        color=MAXIMUM,
        hatch="////",
        fill=False,
        linewidth=1.1,
        label=_ORDER[2],
    )
    axes.stairs(
        probabilities(guessers.with_t(1), edges),
        places,
        color=STANDARD,
        linestyle=(0, (1, 1)),
        linewidth=1.5,
        label=_ORDER[1],
    )
    axes.axvline(result.best, color=BLACK, linewidth=1, linestyle=(0, (5, 2)), label=_ORDER[3])
    low, high = axes.get_ylim()
    axes.set_ylim(low, 1.22 * high)
    right = result.best > (places[0] + places[-1]) / 2
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
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        accuracy_axis(axis)
