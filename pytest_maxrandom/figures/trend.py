"""A claim over runs: its best accuracy with its interval, what was needed, and t."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from pytest_maxrandom.figures import style
from pytest_maxrandom.figures.axes import accuracy_axis, draw_intervals
from pytest_maxrandom.figures.labels import EndLabels, label_ends, plain, settle, short
from pytest_maxrandom.figures.panels import Figures, legend, numbered, pages, title, with_strips
from pytest_maxrandom.notation import count, span
from pytest_maxrandom.reports.trend import Point, Trend, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 3
"""Claims of a file."""
_MOST_POINTS = 60
"""Points of a claim: its last ones."""
_TICK = 0.9
"""Inches that a run's name takes below a claim."""
_LONGEST = 14
"""Characters of a run's label."""
_PANEL, _STRIP = 1.6, 0.55
"""Inches that a panel, and the strip of t below it, are high."""
_ENDED: dict[bool | str | None, tuple[str, str, str, float]] = {
    True: ("passes", "o", style.BLACK, 5),
    False: ("fails", "D", "white", 5),
    "cannot tell": ("cannot tell", "s", "white", 5),
    None: ("nothing claimed, or a look in the ledger", "o", style.GREY, 3),
}
"""In words, the mark, its face and its size, by whether a claim passed, or could not be told."""


def _ended(point: Point) -> bool | str | None:
    return point.ended if point.ended in _ENDED else point.passed


def drawable(trend: Trend) -> bool:
    """Return whether a claim was seen more than once."""
    return len(trend.points) > 1


def figures(trends: Sequence[Trend]) -> Figures:
    """Draw one panel for each claim, at most three in a file."""
    return Figures(numbered("trend", courses, pages(trends, _MOST)))


def courses(trends: Sequence[Trend]) -> Figure:
    """Draw claims, the oldest run left; lines end where the validation examples are others."""
    more = 0.5 + 0.75 * len(trends)
    figure, grid = with_strips(len(trends), style.width(), (_PANEL, _STRIP), more)
    labels: list[EndLabels] = []
    names = [trend.claim.partition("::")[2] or trend.claim for trend in trends]
    longest = min(70, style.letters(style.width() - 0.6))
    for (upper, strip), trend, name in zip(grid, trends, short(names, longest), strict=True):
        points = trend.points[-_MOST_POINTS:]
        labels.append(_values(upper, points))
        upper.set_ylabel(trend.metric)
        stated = f"n = {span([each.n for each in points])}, t = {span([each.t for each in points])}"
        title(upper, name, stated)
        _tries(strip, points)
        for axes in (upper, strip):
            axes.set_xlim(-0.4, len(points) - 0.6)
    present = {_ended(point) for trend in trends for point in trend.points}
    handles = [
        Line2D([], [], **style.marks(mark, face, style.BLACK, size), label=word)
        for passed, (word, mark, face, size) in _ENDED.items()
        if passed in present
    ]
    if any(point.low is not None for trend in trends for point in trend.points):
        look = {**style.INTERVAL, "marker": "|", "markersize": 3}
        handles.append(Line2D([], [], **look, label=style.INTERVALS))
    legend(figure, handles)
    return settle(figure, labels)


def _values(axes: Axes, points: Sequence[Point]) -> EndLabels:
    labels = []
    for name, text, look in (
        ("maximum", "max. random baseline", {"color": style.MAXIMUM, "linestyle": "-"}),
        ("standard", "standard baseline", {"color": style.STANDARD, "linestyle": (0, (1, 1))}),
        ("needed", "needed", {"color": style.BLACK, "linestyle": (0, (5, 2))}),
        ("best", "best prompt", {"color": style.GREY, "linestyle": "-"}),
    ):
        known = [(place, getattr(each, name), each) for place, each in enumerate(points)]
        drawn = [(place, value, each) for place, value, each in known if value is not None]
        for _, group in groupby(drawn, key=lambda entry: entry[2].examples):
            part = list(group)
            places, values = [place for place, _, _ in part], [value for _, value, _ in part]
            axes.plot(places, values, **look, linewidth=1.2, zorder=2, label=name)
        if drawn:
            labels.append((drawn[-1][1], text, str(look["color"])))
    for place, point in enumerate(points):
        _, mark, face, size = _ENDED[_ended(point)]
        look = style.marks(mark, face, style.BLACK, size)
        axes.plot(place, point.best, **look, zorder=4, label="run")
        if point.low is not None and point.high is not None:
            draw_intervals(axes, [(place, (point.low, point.high), point.label)])
    axes.xaxis.set_major_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.grid(True, color=style.PALE, linewidth=0.6)
    accuracy_axis(axes.yaxis)
    return label_ends(axes, labels)


def _tries(axes: Axes, points: Sequence[Point]) -> None:
    """Draw t as steps, and name the runs below."""
    places, tries = range(len(points)), [point.t for point in points]
    axes.step(places, tries, where="mid", color=style.BLACK, linewidth=1.1, label="t")
    axes.set_yscale("log")
    axes.set_ylim(min(tries) / 1.6, max(tries) * 1.6)
    axes.set_yticks(sorted({min(tries), max(tries)}), map(count, sorted({min(tries), max(tries)})))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("t")
    every = max(1, math.ceil(len(points) / int(style.width() / _TICK)))
    shown = list(places)[::-1][::every][::-1]
    axes.set_xticks(shown, [_run(points[place]) for place in shown])


def _run(point: Point) -> str:
    when = moment(point.when)
    day = f"{when:%Y-%m-%d}" if when.year > 1 else ""
    label = short([plain(point.label)], _LONGEST)[0]
    return "\n".join(filter(None, (label, day)))
