"""What guessers reach, over t and over n: expected best accuracies, and contours of p-values.

After figures 2, 6 and 7 of arXiv 2404.13020. Both are drawn of plain numbers, or with the claims of
a run as marks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.figures import panels
from pytest_maxrandom.figures.axes import accuracy_axis, claims_over_t, log_axis, spaced
from pytest_maxrandom.figures.labels import EndLabels, counts, decimal, label_ends, settle, short
from pytest_maxrandom.figures.style import BLACK, DARK, GREY, LINES, PALE, WIDTH, marks, narrow
from pytest_maxrandom.notation import accuracy, count, span
from pytest_maxrandom.reports.text import number_of
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.stats.chances import Groups

USUAL = {"n": (10, 30, 100, 300, 1000), "t": (1, 10, 100, 1000, 10_000)}
"""Examples of the curves over prompts, and prompts of those over examples."""
LEVELS = (0.5, 0.05, 0.001, 1e-6)
"""Of the contours."""

_MOST_ROWS, _MOST_PANELS = 3, 6
"""Of a file: rows for numbers of choices, and panels of contours."""
_ROW, _PANEL = 2.1, 2.3
"""Inches that these are high."""
_STEPS, _CONTOUR_STEPS = 60, 80
"""Points of a curve."""
_FARTHEST = 10_000
"""t up to which contours are drawn, at least."""
_LONGEST = 50
"""Characters of a suite's name."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one row of panels shows."""

    choices: int
    """The chance of one guess is one in so many."""
    n: int | None = None
    t: int | None = None
    """Of curves that are drawn in addition to the usual ones, and stand out."""
    results: tuple[Result, ...] = ()
    """Claims that are marked."""


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


def baseline_figures(rows: Sequence[Row]) -> panels.Figures:
    """Draw two panels for each number of choices, at most three rows in a file."""
    pages = panels.pages(rows, panels.per_file(_MOST_ROWS, 2))
    return panels.Figures(panels.numbered("baseline_over_t_and_n", baselines, pages))


def baselines(rows: Sequence[Row]) -> Figure:
    """Draw, for each row, curves over t for some n, and over n for some t."""
    figure, grid = panels.pairs(len(rows), 0.3, _ROW)
    labels: list[EndLabels] = []
    for (over_t, over_n), row in zip(grid, rows, strict=True):
        labels += [_curves(over_t, row, "t"), _curves(over_n, row, "n")]
        over_t.set_ylabel("expected best accuracy")
        if narrow():
            over_n.set_ylabel("expected best accuracy")
        parts = [f"{row.choices} choices"]
        given = [f"{name} = {count(one)}" for name, one in (("n", row.n), ("t", row.t)) if one]
        if given:
            parts.append(f"wide: {', '.join(given)}")
        if row.results:
            parts.append(f"circles: claims, {counts(row.results)}")
        panels.title(over_t, "; ".join(parts))
        if row is rows[-1] or narrow():
            over_t.set_xlabel("prompts t")
            over_n.set_xlabel("examples n")
    return settle(figure, labels)


def _curves(axes: Axes, row: Row, swept: Literal["n", "t"]) -> EndLabels:
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


@dataclass(frozen=True, slots=True)
class Panel:
    """Contours for one set of examples."""

    guessers: MaxRandomBaseline
    """Guessers on those examples; their number does not matter."""
    t: int | None = None
    """A number of prompts to be marked by a line."""
    results: tuple[Result, ...] = ()
    """The claims about such examples."""


def panels_of(results: Iterable[Result]) -> list[Panel]:
    """Put a suite's claims with equal n and chances together, ascending by chance and n."""
    panels: dict[tuple[str, Groups], Panel] = {}
    for result in results:
        if (one := result.guessers) is not None:
            known = panels.get(kind := (result.suite, one.chance_groups), Panel(one))
            panels[kind] = replace(known, results=(*known.results, result))
    suites = [*dict.fromkeys(suite for suite, _ in panels)]

    def rank(kind: tuple[str, Groups]) -> tuple[int, float, int]:
        guessers = panels[kind].guessers
        return suites.index(kind[0]), guessers.standard_baseline, guessers.n

    return [panels[kind] for kind in sorted(panels, key=rank)]


def contour_figures(shown: Sequence[Panel]) -> panels.Figures:
    """Draw panels, at most six in a file."""
    pages = panels.pages(shown, panels.per_file(_MOST_PANELS, 2))
    return panels.Figures(panels.numbered("p_contours", contours, pages))


def contours(shown: Sequence[Panel]) -> Figure:
    """Draw panels: for each t, the least accuracy whose p_max is at most some level."""
    return panels.draw_panels(
        shown,
        _contours,
        panels.frame(len(shown), (4.4, WIDTH), 0.6, _PANEL, shared="y"),
        [result for panel in shown for result in panel.results],
        along="prompts t",
        upright="accuracy of the best prompt",
    )


def _contours(axes: Axes, panel: Panel) -> EndLabels:
    guessers, results = panel.guessers, panel.results
    tries = [result.t for result in results]
    marked = [*tries, panel.t or 1]
    steps = spaced(1, max(_FARTHEST, *marked), _CONTOUR_STEPS, marked)
    labels = []
    for alpha, (colour, dashes) in zip(LEVELS, LINES, strict=False):
        critical = [guessers.with_t(t).critical_count(alpha) for t in steps]
        known = [math.nan if each is None else each / guessers.n for each in critical]
        name = f"p_max = {decimal(alpha)}"
        axes.plot(steps, known, color=colour, linestyle=dashes, label=name, drawstyle="steps-post")
        if last := [height for height in known if not math.isnan(height)]:
            labels.append((last[-1], name, colour))
    expected = [guessers.with_t(t).expected_accuracy for t in steps]
    axes.plot(steps, expected, color=GREY, linewidth=2.6, alpha=0.6, label="expected", zorder=1)
    labels.append((expected[-1], "expected", GREY))
    if panel.t is not None:
        axes.axvline(panel.t, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    stated = f"n = {count(guessers.n)}, t = {span(tries or ([panel.t] if panel.t else []))}"
    stated += f", standard baseline {accuracy(guessers.standard_baseline)}"
    if results:
        stated += f"; {number_of(len(results), 'claim')}"
    suite = results[0].suite if results else ""
    ordered = sorted(results, key=lambda each: -each.best)
    claims_over_t(axes, [(each.t, each.best, each, DARK) for each in ordered], steps[-1])
    panels.title(axes, *short([suite], _LONGEST), stated)
    return label_ends(axes, labels)
