"""The best accuracy, normalized for chance, against its p-value.

After figure 9 of arXiv 2404.13020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.figures.labels import counts, label_ends, settle, short
from pytest_maxrandom.figures.panels import (
    accuracy_axis,
    alpha_lines,
    frame,
    mark_claims,
    numbered,
    p_axis,
    pages,
    shown_p,
    standing_handles,
)
from pytest_maxrandom.figures.results import by_model
from pytest_maxrandom.figures.style import GREY, PALE, SMALL, WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.labels import EndLabels
    from pytest_maxrandom.figures.results import Result

_MOST = 9
"""Panels of a file."""
_WIDTHS = (4.4, WIDTH, WIDTH)
_MINUS = "\N{MINUS SIGN}"
_PANEL = 2.3
"""Inches that a panel is high."""


def obstacle(result: Result) -> str:
    """Say which claims have nothing above chance; else empty."""
    return "" if result.standard < 1 else "whose chance is 1"


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw one panel for each model, at most nine in a file."""
    models = list(by_model(results).values())
    yield from numbered("normalized", [normalized(page) for page in pages(models, _MOST)])


def score(result: Result) -> float:
    """(best - chance) / (1 - chance): 0 for chance, 1 for no mistake."""
    return (result.best - result.standard) / (1 - result.standard)


def normalized(models: Sequence[Sequence[Result]]) -> Figure:
    """Draw p_max over the normalized score, a mark for each claim."""
    figure, grid, columns = frame(len(models), _WIDTHS, 0.75, _PANEL, shared=True)
    longest = 34 if columns > 1 else 60
    labels = [_panel(axes, model, longest) for axes, model in zip(grid, models, strict=True)]
    everything = [result for model in models for result in model]
    metrics = " / ".join(dict.fromkeys(result.metric for result in everything))
    figure.supxlabel(f"(best {metrics} {_MINUS} chance) / (1 {_MINUS} chance)", size=SMALL)
    figure.supylabel("p_max", size=SMALL)
    figure.legend(
        handles=standing_handles(everything),
        loc="outside upper left",
        ncols=3 if columns > 1 else 1,
    )
    return settle(figure, labels)


def _panel(axes: Axes, model: Sequence[Result], longest: int) -> EndLabels:
    p_axis(axes)
    labels = alpha_lines(axes, model)
    axes.axvline(0, color=GREY, linewidth=0.7, zorder=1)
    mark_claims(axes, [(score(each), shown_p(each.p_max), each) for each in model], of_p=True)
    axes.grid(True, color=PALE, linewidth=0.6)
    accuracy_axis(axes.xaxis)
    names = short([name for name in (model[0].model, model[0].suite) if name], longest)
    axes.set_title("\n".join([*names, counts(model)]), size=SMALL)
    return label_ends(axes, labels)
