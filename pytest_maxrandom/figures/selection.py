"""The selection curve: the expected best of t of a claim's prompts, and the best of t guessers.

After Dodge et al. (2021), "Expected Validation Performance and Estimation of a Random Variable's
Maximum": the unbiased estimate of what the best of t of the N evaluated prompts reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from pytest_maxrandom.figures.axes import claims_over_t, spaced
from pytest_maxrandom.figures.labels import counts, label_ends, short
from pytest_maxrandom.figures.panels import draw_panels, frame, numbered, pages, per_file, title
from pytest_maxrandom.figures.style import GREY, LINES, WIDTH, narrow
from pytest_maxrandom.notation import count
from pytest_maxrandom.stats.selection import expected_maximum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.labels import EndLabels
    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.stats.maximum import MaxRandomBaseline

_MOST = 6
"""Panels of a file."""
_TOGETHER = 4
"""Curves of a panel."""
_WIDTHS = (4.8, WIDTH)
_LABEL, _SHORT_LABEL = 28, 18
"""Characters of a curve's name, and of one in a narrow figure."""
_PANEL = 2.5
"""Inches that a panel is high."""
_STEPS = 60
"""Points of a curve, at most."""
_CLEARLY = 1.25
"""How many times more examples make another curve of guessers."""


def obstacle(result: Result) -> str:
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
        for page in pages(group, _TOGETHER)
    ]


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw one panel for each task, with a curve for each model and number of shots."""
    drawn = [selection(page) for page in pages(families(results), per_file(_MOST, 2))]
    yield from numbered("selection", drawn)


def selection(panels: Sequence[Sequence[Result]]) -> Figure:
    """Draw panels of claims without an `obstacle`.

    A mark at the end of each curve is the best of all prompts, with its interval, which stands a
    little to the left where it would hide another; wide curves are the best of t guessers.
    """
    return draw_panels(
        panels,
        _panel,
        frame(len(panels), _WIDTHS, 0.85, _PANEL, shared="y"),
        [result for family in panels for result in family],
        along="prompts t, of those that were evaluated",
        upright="expected accuracy of the best of t",
        first=[Line2D([], [], **_GUESSERS, label="best of t random guessers")],
    )


_GUESSERS: dict[str, Any] = {"color": GREY, "linewidth": 2.6, "alpha": 0.55}


def guessers_of(family: Sequence[Result]) -> list[MaxRandomBaseline]:
    """Return the guessers that are drawn: of each mean chance those with the fewest examples.

    They are the hardest to beat. Where others have clearly more examples, those with most too.
    """
    found: dict[float, list[MaxRandomBaseline]] = {}
    for result in family:
        if result.guessers is not None:
            alike = found.setdefault(round(result.guessers.standard_baseline, 6), [])
            alike.append(result.guessers)
    drawn = []
    for alike in found.values():
        fewest, most = min(alike, key=_size), max(alike, key=_size)
        drawn += [fewest, most] if most.n > _CLEARLY * fewest.n else [fewest]
    return drawn


def _size(guessers: MaxRandomBaseline) -> int:
    return guessers.n


def curve(result: Result, steps: Sequence[int]) -> list[float]:
    """Return the expected best accuracy of each number of prompts, without replacement."""
    return [expected_maximum(result.counts, t, "u") / result.n for t in steps]


def _panel(axes: Axes, family: Sequence[Result]) -> EndLabels:
    longest = max(len(result.counts) for result in family)
    labels: list[tuple[float, str, str]] = []
    for one in guessers_of(family):
        steps = spaced(1, longest, _STEPS)
        heights = [one.with_t(t).expected_accuracy for t in steps]
        name = f"guessers, n = {count(one.n)}"
        axes.plot(steps, heights, **_GUESSERS, zorder=1, label=name)
        labels.append((heights[-1], name, GREY))
    names = short([_name(result) for result in family], _SHORT_LABEL if narrow() else _LABEL)
    for result, name, (colour, dashes) in zip(family, names, LINES, strict=False):
        steps = spaced(1, len(result.counts), _STEPS)
        heights = curve(result, steps)
        axes.plot(steps, heights, color=colour, linestyle=dashes, label=f"curve of {result.claim}")
        labels.append((heights[-1], name, colour))
    claims = [
        (len(each.counts), max(each.counts) / each.n, each, colour)
        for each, (colour, _) in zip(family, LINES, strict=False)
    ]
    first = family[0]
    above = short([name for name in (first.task, first.suite) if name], 40)
    claims_over_t(axes, claims, longest)
    title(axes, *above, counts(family))
    return label_ends(axes, labels)


def _name(result: Result) -> str:
    return f"{result.model}, {result.shots}-shot" if result.shots else result.model
