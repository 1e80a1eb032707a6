"""Claims on panels, as marks with intervals, and the axes that several figures share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from pytest_maxrandom.figures.labels import decimal, plain
from pytest_maxrandom.figures.style import BLACK, INTERVAL, INTERVALS, PALE, marks
from pytest_maxrandom.notation import level
from pytest_maxrandom.record import STANDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from pytest_maxrandom.figures.results import Result

FLOOR = 1e-6
"""Smaller p-values are drawn here, as triangles that point down."""
MOST_DECADES = 18
"""No number of prompts is larger than 10 to this power."""
_APART = 0.02
"""Share of an axis between intervals that would stand on each other."""


def mark_claims(
    axes: Axes, places: Iterable[tuple[float, float, Result]], *, of_p: bool = False
) -> None:
    """Draw a mark for each claim, by its verdict; for a p-value below `FLOOR` a triangle."""
    for x, y, result in places:
        mark, face, edge = STANDINGS[result.verdict].mark
        shape = "v" if of_p and result.p_max < FLOOR else mark
        look = marks(shape, face, edge)
        axes.plot(x, y, **look, zorder=4, clip_on=False, label=plain(result.claim))


def draw_intervals(
    axes: Axes,
    entries: Iterable[tuple[float, tuple[float, float] | None, str]],
    *,
    level: bool = False,
    color: str | None = None,
) -> None:
    """Draw intervals, upright or level; those that are None are left out.

    An entry is where it stands on the other axis, its ends, and what it is an interval of.
    """
    for place, ends, name in entries:
        if ends is not None:
            beside = [place, place]
            points = (ends, beside) if level else (beside, ends)
            label = f"interval of {plain(name)}"
            look = INTERVAL if color is None else {**INTERVAL, "color": color}
            axes.plot(*points, **look, zorder=3, clip_on=False, label=label)


def interval_handle(results: Iterable[Result]) -> list[Line2D]:
    """Return the entry of a legend that says what intervals are; none where there is none."""
    if not any(result.interval for result in results):
        return []
    return [Line2D([], [], **INTERVAL, marker="|", markersize=3, label=INTERVALS)]


def standing_handles(results: Iterable[Result]) -> list[Line2D]:
    """Return the entries of a legend for the verdicts that occur."""
    present = {result.verdict for result in results}
    return [
        Line2D([], [], **marks(*shown.mark, size=5, width=1), label=shown.clause)
        for standing, shown in STANDINGS.items()
        if standing in present
    ]


def claims_over_t(
    axes: Axes, claims: Sequence[tuple[int, float, Result, str]], longest: int
) -> None:
    """Finish a panel over t, from 1 to the longest: claims with their intervals, and its axes.

    A claim has its t, its height and the colour of its interval. An interval that would hide one of
    those before stands a little to the left of its claim; a tick on it says which best accuracy it
    belongs to.
    """
    mark_claims(axes, [(t, height, result) for t, height, result, _ in claims])
    step = max(longest, 2) ** _APART
    taken: list[float] = []
    for t, _, result, colour in claims:
        place = float(t)
        while any(max(place / other, other / place) < step * 0.99 for other in taken):
            place /= step
        taken.append(place)
        draw_intervals(axes, [(place, result.interval, result.claim)], color=colour)
        if place < t and result.interval is not None:
            axes.plot(place, result.best, **marks("_", colour, colour, 5, 1.1), zorder=3)
    log_axis(axes.xaxis, 1, longest)
    axes.grid(True, color=PALE, linewidth=0.6)
    accuracy_axis(axes.yaxis)


def p_axis(axes: Axes) -> None:
    """Give a panel an upright logarithmic axis of p-values from `FLOOR` to 1."""
    axes.set_yscale("log")
    axes.set_ylim(FLOOR / 3, 2.5)
    axes.yaxis.set_major_locator(FixedLocator([FLOOR, 1e-4, 1e-2, 1]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda p, _: f"≤ {decimal(p)}" if p <= FLOOR else decimal(p))
    )


def shown_p(p: float) -> float:
    """Return where a p-value is drawn on a `p_axis`."""
    return max(p, FLOOR)


def alpha_lines(axes: Axes, results: Iterable[Result]) -> list[tuple[float, str, str]]:
    """Draw what the claims bound p_max by, and return the lines' labels."""
    alphas = sorted({result.alpha for result in results})
    for alpha in alphas:
        axes.axhline(shown_p(alpha), color=BLACK, linewidth=0.9, linestyle=(0, (5, 2)), zorder=1)
    return [
        (shown_p(alpha), f"\N{GREEK SMALL LETTER ALPHA} = {level(alpha)}", BLACK)
        for alpha in alphas
    ]


def log_axis(axis: Axis, low: int, high: int) -> None:
    """Make an axis logarithmic, with few enough powers of ten that their labels do not touch."""
    axis.axes.set_xscale("log")
    axis.axes.set_xlim(low, high)
    within = [power for power in range(MOST_DECADES + 1) if low <= 10**power <= high]
    every = max(1, math.ceil((len(within) - 1) / 4))
    axis.set_major_locator(FixedLocator([10**power for power in within[::every]]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value < 1e6 else f"{value:.0e}")
    )


def spaced(low: int, high: int, steps: int, also: Iterable[int] = ()) -> list[int]:
    """Return about so many whole numbers from low to high, evenly spaced on a `log_axis`."""
    between = np.geomspace(low, high, steps).round().astype(int).tolist()
    return sorted({low, high, *also, *between})


def accuracy_axis(axis: Axis) -> None:
    """Write accuracies as reports do: ``.5``."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: decimal(round(value, 6))))
