"""Which accuracy of the best of t prompts has which p-value.

After figure 7 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.figures.axes import claims_over_t, spaced
from pytest_maxrandom.figures.labels import decimal, label_ends, short
from pytest_maxrandom.figures.panels import draw_panels, frame, numbered, pages, per_file, title
from pytest_maxrandom.figures.style import BLACK, DARK, GREY, LINES, WIDTH
from pytest_maxrandom.notation import accuracy, count, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.labels import EndLabels
    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.stats.chances import Groups
    from pytest_maxrandom.stats.maximum import MaxRandomBaseline

LEVELS = (0.5, 0.05, 0.001, 1e-6)

_MOST = 6
"""Panels of a file."""
_PANEL = 2.3
"""Inches that a panel is high."""
_FARTHEST = 10_000
"""t up to which contours are drawn, at least."""
_LONGEST = 50
"""Characters of a suite's name."""
_STEPS = 80
"""Points of a contour."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Contours for one set of examples.

    Attributes
    ----------
    guessers : MaxRandomBaseline
        Guessers on those examples; their number does not matter.
    t : int or None
        A number of prompts to be marked by a line.
    results : tuple of Result
        The claims about such examples.
    """

    guessers: MaxRandomBaseline
    t: int | None = None
    results: tuple[Result, ...] = ()


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


def figures(panels: Sequence[Panel]) -> Iterator[tuple[str, Figure]]:
    """Draw the panels, at most six in a file."""
    drawn = [contours(page) for page in pages(panels, per_file(_MOST, 2))]
    yield from numbered("p_contours", drawn)


def contours(panels: Sequence[Panel]) -> Figure:
    """Draw panels: for each t, the least accuracy whose p_max is at most some level."""
    return draw_panels(
        panels,
        _panel,
        frame(len(panels), (4.4, WIDTH), 0.6, _PANEL, shared="y"),
        [result for panel in panels for result in panel.results],
        along="prompts t",
        upright="accuracy of the best prompt",
    )


def _panel(axes: Axes, panel: Panel) -> EndLabels:
    guessers, results = panel.guessers, panel.results
    tries = [result.t for result in results]
    marked = [*tries, panel.t or 1]
    steps = spaced(1, max(_FARTHEST, *marked), _STEPS, marked)
    labels = []
    for alpha, (colour, dashes) in zip(LEVELS, LINES, strict=False):
        counts = [guessers.with_t(t).critical_count(alpha) for t in steps]
        known = [math.nan if each is None else each / guessers.n for each in counts]
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
        stated += f"; {count(len(results))} {'claim' if len(results) == 1 else 'claims'}"
    suite = results[0].suite if results else ""
    ordered = sorted(results, key=lambda each: -each.best)
    claims_over_t(axes, [(each.t, each.best, each, DARK) for each in ordered], steps[-1])
    title(axes, *short([suite], _LONGEST), stated)
    return label_ends(axes, labels)
