"""What all prompts of a claim reached, compared with guessers: histograms, and the best of fewer.

A histogram is after figure 1 of arXiv 2404.13020; a selection curve shows the expected best of t of
the prompts that were evaluated, over t.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory

from pytest_maxrandom.figures import panels, style
from pytest_maxrandom.figures.axes import accuracy_axis, claims_over_t, interval_handle, spaced
from pytest_maxrandom.figures.labels import EndLabels, counts, label_ends, plain, settle, short
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.stats.selection import expected_maximum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.stats.maximum import MaxRandomBaseline

_MOST, _MOST_CURVED = 12, 6
"""Panels of a file: histograms, and curves."""
_PANEL, _CURVED = 1.75, 2.5
"""Inches that these are high, with their titles."""
_WIDTHS = (style.WIDTH / 2, style.WIDTH * 2 / 3, style.WIDTH)
_CURVED_WIDTHS = (4.8, style.WIDTH)
_BINS, _STEPS = 40, 60
"""Bars of a histogram, and points of a curve, at most."""
_ORDER = ("prompts", "one guesser", "best guesser of t", "best prompt")
"""Of the legend."""
_ROOM, _HIGH = 1.3, 0.86
"""How far panels reach above the highest bar, and at which share of that the interval stands."""
_RARE = 1e-3
"""Share of the guessers on either side that may lie outside a panel."""
_TOGETHER = 4
"""Curves of a panel."""
_LABEL, _SHORT_LABEL = 28, 18
"""Characters of a curve's name, and of one in a narrow figure."""
_CLEARLY = 1.25
"""How many times more examples make another curve of guessers."""
_GUESSERS: dict[str, Any] = {"color": style.GREY, "linewidth": 2.6, "alpha": 0.55}


def no_histogram(result: Result) -> str:
    """Say which claims cannot be drawn, because a distribution is unknown; else empty."""
    return result.unknown or ("" if result.counts else "without every prompt's count")


def histogram_figures(results: Sequence[Result]) -> panels.Figures:
    """Draw one panel for each claim, at most twelve in a file."""
    pages = panels.pages(results, panels.per_file(_MOST, 3))
    return panels.Figures(panels.numbered("histogram", histograms, pages))


def histograms(results: Sequence[Result]) -> Figure:
    """Draw claims that `no_histogram` does not leave out, one in each panel.

    Bars are shares of the prompts; a dotted outline is the distribution of one guesser and a
    hatched one that of the best of t, both in the same bins of whole counts.
    """
    # In one column the legend takes a line for each of its entries.
    above = 0.55 if len(results) > 1 and not style.narrow() else 1.3
    figure, grid, _ = panels.frame(len(results), _WIDTHS, above, _PANEL, shared=True)
    extent = span_of(results)
    tasks = short([result.setting for result in results])
    for axes, result, task in zip(grid, results, tasks, strict=True):
        _bars(axes, result, extent)
        named = short([name for name in (result.model, result.suite) if name], 36)
        stated = counts([result])
        if len(result.counts) != result.t:
            stated += f" ({count(len(result.counts))} prompts shown)"
        panels.title(axes, task, *named, stated)
    figure.supxlabel("accuracy", size=style.SMALL)
    figure.supylabel("share of the prompts, probability", size=style.SMALL)
    drawn, names = grid[0].get_legend_handles_labels()
    handles = dict(zip(names, drawn, strict=True))
    ordered = [handles[name] for name in _ORDER]
    panels.legend(figure, [*ordered, *interval_handle(results)])
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


def _visible_bins(
    heights: NDArray[np.float64], places: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out bins on either side that would be a line along the axis."""
    seen = np.flatnonzero(heights > _RARE)
    first, last = int(seen[0]), int(seen[-1]) + 1
    return heights[first:last], places[first : last + 1]


def _bars(axes: Axes, result: Result, extent: tuple[float, float]) -> None:
    guessers = result.guessers
    assert guessers is not None
    edges = bins(result, extent)
    # A bin is drawn about the accuracies of its counts, of which none is beyond 0 or 1.
    places = np.clip((edges - 0.5) / result.n, 0, 1)
    shares = np.histogram(result.counts, edges - 0.5)[0] / len(result.counts)
    # One outline of all bars: a rectangle for each makes a run of many claims slow.
    axes.stairs(shares, places, fill=True, color=style.SKY, linewidth=0, label=_ORDER[0])
    axes.stairs(
        *_visible_bins(probabilities(guessers, edges), places),
        color=style.MAXIMUM,
        hatch="////",
        fill=False,
        linewidth=1.1,
        label=_ORDER[2],
    )
    axes.stairs(
        *_visible_bins(probabilities(guessers.with_t(1), edges), places),
        color=style.STANDARD,
        linestyle=(0, (1, 1)),
        linewidth=1.5,
        label=_ORDER[1],
    )
    dashed: dict[str, Any] = {"color": style.BLACK, "linewidth": 1, "linestyle": (0, (5, 2))}
    axes.axvline(result.best, label=_ORDER[3], **dashed)
    top = blended_transform_factory(axes.transData, axes.transAxes)
    if result.interval is not None:
        axes.plot(
            result.interval,
            [_HIGH, _HIGH],
            **style.INTERVAL,
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
        size=style.SMALL,
    )


def no_selection(result: Result) -> str:
    """Say which claims have no curve; else empty."""
    if result.unknown or not result.counts:
        return result.unknown or "without every prompt's count"
    return "" if len(result.counts) > 1 else "of a single prompt"


def families(results: Sequence[Result]) -> list[list[Result]]:
    """Put the claims on a task together, whatever their model and shots, at most four."""
    tasks: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        tasks.setdefault((result.suite, result.task), []).append(result)
    return [
        sorted(page, key=lambda each: -each.best)
        for group in tasks.values()
        for page in panels.pages(group, _TOGETHER)
    ]


def selection_figures(results: Sequence[Result]) -> panels.Figures:
    """Draw one panel for each task, with a curve for each model and number of shots."""
    pages = panels.pages(families(results), panels.per_file(_MOST_CURVED, 2))
    return panels.Figures(panels.numbered("selection", selection, pages))


def selection(shown: Sequence[Sequence[Result]]) -> Figure:
    """Draw a panel for each family of claims that `no_selection` does not leave out.

    A mark at the end of each curve is the best of all prompts, with its interval, which stands a
    little to the left where it would hide another; wide curves are the best of t guessers.
    """
    return panels.draw_panels(
        shown,
        _curves,
        panels.frame(len(shown), _CURVED_WIDTHS, 0.85, _CURVED, shared="y"),
        [result for family in shown for result in family],
        along="prompts t, of those that were evaluated",
        upright="expected accuracy of the best of t",
        first=[Line2D([], [], **_GUESSERS, label="best of t random guessers")],
    )


def guessers_of(family: Sequence[Result]) -> list[MaxRandomBaseline]:
    """Return the guessers that are drawn: of each mean chance those with the fewest examples.

    They are the hardest to beat. Where others have clearly more examples, those with most too.
    """
    by_baseline: dict[float, list[MaxRandomBaseline]] = {}
    for result in family:
        if result.guessers is not None:
            alike = by_baseline.setdefault(round(result.guessers.standard_baseline, 6), [])
            alike.append(result.guessers)
    drawn = []
    by_examples = attrgetter("n")
    for alike in by_baseline.values():
        fewest, most = min(alike, key=by_examples), max(alike, key=by_examples)
        drawn += [fewest, most] if most.n > _CLEARLY * fewest.n else [fewest]
    return drawn


def curve(result: Result, steps: Sequence[int]) -> list[float]:
    """Return the expected best accuracy of each number of prompts, without replacement."""
    return [expected_maximum(result.counts, t, "u") / result.n for t in steps]


def _curves(axes: Axes, family: Sequence[Result]) -> EndLabels:
    longest = max(len(result.counts) for result in family)
    labels: list[tuple[float, str, str]] = []
    for one in guessers_of(family):
        steps = spaced(1, longest, _STEPS)
        heights = [one.with_t(t).expected_accuracy for t in steps]
        name = f"guessers, n = {count(one.n)}"
        axes.plot(steps, heights, **_GUESSERS, zorder=1, label=name)
        labels.append((heights[-1], name, style.GREY))
    names = short([_name(result) for result in family], _SHORT_LABEL if style.narrow() else _LABEL)
    for result, name, (colour, dashes) in zip(family, names, style.LINES, strict=False):
        steps = spaced(1, len(result.counts), _STEPS)
        heights = curve(result, steps)
        axes.plot(steps, heights, color=colour, linestyle=dashes, label=f"curve of {result.claim}")
        labels.append((heights[-1], name, colour))
    claims = [
        (len(each.counts), max(each.counts) / each.n, each, colour)
        for each, (colour, _) in zip(family, style.LINES, strict=False)
    ]
    first = family[0]
    above = short([name for name in (first.task, first.suite) if name], 40)
    claims_over_t(axes, claims, longest)
    panels.title(axes, *above, counts(family))
    return label_ends(axes, labels)


def _name(result: Result) -> str:
    return f"{result.model}, {result.shots}-shot" if result.shots else result.model
