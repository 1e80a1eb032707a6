"""The best accuracy, normalized for chance, against its p-value; each claim with its name.

After figure 9 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.figures.axes import (
    FLOOR,
    accuracy_axis,
    alpha_lines,
    draw_intervals,
    mark_claims,
    p_axis,
    shown_p,
)
from pytest_maxrandom.figures.labels import Marked, counts, label_ends, label_marks, short
from pytest_maxrandom.figures.panels import draw_panels, frame, numbered, pages, per_file, title
from pytest_maxrandom.figures.results import by_model
from pytest_maxrandom.figures.style import GREY, PALE, WIDTH
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.labels import EndLabels
    from pytest_maxrandom.figures.results import Result

_MOST, _MOST_WIDE = 9, 2
"""Panels of a file, and wide ones."""
_WIDTHS = (4.4, WIDTH, WIDTH)
_MINUS = "\N{MINUS SIGN}"
_PANEL, _HIGH = 2.3, 3.9
"""Inches that a panel is high, and a wide one."""
_MANY = 12
"""Claims beyond which a model has a wide panel, so that there is room for names."""
_LINES = 4
"""Names beside marks that lie on each other; what is beyond is counted."""
_NEAR = 0.02
"""Share of a panel within which marks lie on each other."""
_LETTERS = 24
"""Characters of a task with its shots."""


def obstacle(result: Result) -> str:
    """Say which claims have nothing above chance; else empty."""
    return "" if result.standard < 1 else "whose chance is 1"


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw one panel for each model, at most nine in a file, or two where claims are many."""
    models = list(by_model(results).values())
    most = _MOST_WIDE if max(map(len, models)) > _MANY else per_file(_MOST, 3)
    yield from numbered("normalized", [normalized(page) for page in pages(models, most)])


def score(result: Result, value: float | None = None) -> float:
    """(best - chance) / (1 - chance): 0 for chance, 1 for no mistake; or of another value."""
    best = result.best if value is None else value
    return (best - result.standard) / (1 - result.standard)


def _ends(result: Result) -> tuple[float, float] | None:
    if result.interval is None:
        return None
    low, high = result.interval
    return score(result, low), score(result, high)


def normalized(models: Sequence[Sequence[Result]]) -> Figure:
    """Draw p_max over the normalized score, a mark for each claim."""
    wide = max(map(len, models)) > _MANY
    widths, high = ((WIDTH,), _HIGH) if wide else (_WIDTHS, _PANEL)
    framed = frame(len(models), widths, 0.75, high, shared=True)
    _, grid, columns = framed
    everything = [result for model in models for result in model]
    metrics = " / ".join(dict.fromkeys(result.metric for result in everything))
    figure = draw_panels(
        models,
        partial(_panel, longest=34 if columns > 1 else 60),
        framed,
        everything,
        along=f"(best {metrics} {_MINUS} chance) / (1 {_MINUS} chance)",
        upright="p_max",
    )
    for axes, model in zip(grid, models, strict=True):
        _names(axes, model)
    return figure


def _panel(axes: Axes, model: Sequence[Result], longest: int) -> EndLabels:
    p_axis(axes)
    labels = alpha_lines(axes, model)
    axes.axvline(0, color=GREY, linewidth=0.7, zorder=1)
    mark_claims(axes, [(score(each), shown_p(each.p_max), each) for each in model], of_p=True)
    ends = [(shown_p(each.p_max), _ends(each), each.claim) for each in model]
    draw_intervals(axes, ends, level=True)
    axes.margins(x=0.15)
    axes.grid(True, color=PALE, linewidth=0.6)
    accuracy_axis(axes.xaxis)
    names = short([name for name in (model[0].model, model[0].suite) if name], longest)
    title(axes, *names, counts(model))
    return label_ends(axes, labels)


def together(model: Sequence[Result], low: float, high: float) -> list[list[Result]]:
    """Return the claims whose marks lie on each other, in a panel of scores from low to high."""
    tall = math.log(1 / FLOOR)
    groups: list[list[Result]] = []
    for result in sorted(model, key=lambda each: (shown_p(each.p_max), score(each))):
        for group in groups:
            first = group[0]
            across = abs(score(result) - score(first)) / (high - low)
            up = abs(math.log(shown_p(result.p_max) / shown_p(first.p_max))) / tall
            if max(across, up) <= _NEAR:
                group.append(result)
                break
        else:
            groups.append([result])
    return groups


def _names(axes: Axes, model: Sequence[Result]) -> None:
    """Write beside marks which claims they are: those nearest to their levels first.

    Where there is no room for a name there is none; no name lies on another or on a mark.
    """
    groups = together(model, *axes.get_xlim())
    groups.sort(key=lambda group: abs(math.log(shown_p(group[0].p_max) / group[0].alpha)))
    entries = []
    for group in groups:
        names = short([each.setting for each in group], _LETTERS)
        if len(names) > _LINES:
            names[_LINES - 1 :] = [f"and {count(len(names) - _LINES + 1)} more"]
        ends = [end for each in group for end in (score(each), *(_ends(each) or ()))]
        middle = sum(map(score, group)) / len(group)
        height = shown_p(group[0].p_max)
        entries.append(Marked(min(ends), middle, max(ends), height, "\n".join(names)))
    label_marks(axes, entries, {shown_p(each.alpha) for each in model})
