"""The maximum random baseline over t and over n.

After figures 2 and 6 of arXiv 2404.13020.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.figures.axes import accuracy_axis, log_axis, spaced
from pytest_maxrandom.figures.labels import counts, label_ends, settle
from pytest_maxrandom.figures.panels import numbered, pages, pairs, per_file, title
from pytest_maxrandom.figures.style import BLACK, GREY, LINES, PALE, marks, narrow
from pytest_maxrandom.notation import count
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.labels import EndLabels
    from pytest_maxrandom.figures.results import Result

USUAL = {"n": (10, 30, 100, 300, 1000), "t": (1, 10, 100, 1000, 10_000)}
"""Examples of the curves over prompts, and prompts of those over examples."""

_MOST = 3
"""Rows of a file: numbers of choices."""
_ROW = 2.1
"""Inches that a row is high."""
_STEPS = 60
"""Points of a curve."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one row of panels shows.

    Attributes
    ----------
    choices : int
        The chance of one guess is one in so many.
    n, t : int or None
        Of curves that are drawn in addition to the usual ones, and stand out.
    results : tuple of Result
        Claims that are marked.
    """

    choices: int
    n: int | None = None
    t: int | None = None
    results: tuple[Result, ...] = ()


def choices_of(result: Result) -> int | None:
    """Return the number of choices, if all examples have the same and one of them is right.

    A chance that is nobody's 1/m, and a chance of 1, have None.
    """
    groups = result.guessers.chance_groups if result.guessers else ()
    if len(groups) != 1:
        return None
    nearest = groups[0][0].limit_denominator(10_000)
    alike = nearest.numerator == 1 < nearest.denominator and float(nearest) == float(groups[0][0])
    return nearest.denominator if alike else None


def obstacle(result: Result) -> str:
    """Say which claims are in no row; else empty."""
    if result.unknown or choices_of(result) is not None:
        return result.unknown
    return "whose examples do not all have the same chance 1/m, m > 1"


def rows_of(results: Iterable[Result]) -> list[Row]:
    """Return a row for each number of choices, ascending, with the claims that have it."""
    kinds: dict[int, list[Result]] = {}
    for result in results:
        if (choices := choices_of(result)) is not None:
            kinds.setdefault(choices, []).append(result)
    return [Row(choices, results=tuple(kinds[choices])) for choices in sorted(kinds)]


def figures(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """Draw two panels for each number of choices, at most three rows in a file."""
    drawn = [baselines(page) for page in pages(rows, per_file(_MOST, 2))]
    yield from numbered("baseline_over_t_and_n", drawn)


def baselines(rows: Sequence[Row]) -> Figure:
    """Draw, for each row, curves over t for some n, and over n for some t."""
    figure, grid = pairs(len(rows), 0.3, _ROW)
    labels: list[EndLabels] = []
    for (over_t, over_n), row in zip(grid, rows, strict=True):
        labels += [_panel(over_t, row, "t"), _panel(over_n, row, "n")]
        over_t.set_ylabel("expected best accuracy")
        if narrow():
            over_n.set_ylabel("expected best accuracy")
        parts = [f"{row.choices} choices"]
        given = [f"{name} = {count(one)}" for name, one in (("n", row.n), ("t", row.t)) if one]
        if given:
            parts.append(f"wide: {', '.join(given)}")
        if row.results:
            parts.append(f"circles: claims, {counts(row.results)}")
        title(over_t, "; ".join(parts))
        if row is rows[-1] or narrow():
            over_t.set_xlabel("prompts t")
            over_n.set_xlabel("examples n")
    return settle(figure, labels)


def _panel(axes: Axes, row: Row, swept: Literal["n", "t"]) -> EndLabels:
    """Draw curves over n or t for some values of the other, and a mark for each claim."""
    held = "t" if swept == "n" else "n"
    places = [getattr(result, swept) for result in row.results]
    ends = _with([USUAL[swept][0], USUAL[swept][-1], *places], getattr(row, swept))
    steps = spaced(ends[0], ends[-1], _STEPS)
    one_guesser = cache(partial(MaxRandomBaseline, chance=Fraction(1, row.choices), t=1))
    chosen, labels = getattr(row, held), []
    for value, (colour, dashes) in zip(_with(USUAL[held], chosen), LINES, strict=False):
        points = [(value, step) if held == "n" else (step, value) for step in steps]
        heights = [one_guesser(n).with_t(t).expected_accuracy for n, t in points]
        label, width = f"{held} = {count(value)}", 2.4 if value == chosen else 1.3
        axes.plot(steps, heights, color=colour, linestyle=dashes, linewidth=width, label=label)
        labels.append((heights[-1], label, colour))
    axes.axhline(1 / row.choices, color=GREY, linewidth=0.7, zorder=1)
    log_axis(axes.xaxis, steps[0], steps[-1])
    axes.set_ylim(top=1.02)
    axes.grid(True, color=PALE, linewidth=0.6)
    accuracy_axis(axes.yaxis)
    texts = label_ends(axes, labels)
    if places:
        circles = {**marks("o", "none", BLACK), "zorder": 4, "clip_on": False}
        axes.plot(places, [result.maximum for result in row.results], label="claims", **circles)
    return texts


def _with(values: Sequence[int], chosen: int | None) -> list[int]:
    return sorted({*values, *([] if chosen is None else [chosen])})
