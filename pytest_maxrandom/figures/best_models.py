"""Which of several models may be the best: how far each is from the one with the highest score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from pytest_maxrandom.figures.axes import accuracy_axis, draw_intervals
from pytest_maxrandom.figures.labels import plain, settle, short
from pytest_maxrandom.figures.panels import Figures, frame, legend, numbered, title
from pytest_maxrandom.figures.style import BLACK, GREY, INTERVAL, PALE, SMALL, WIDTH, marks
from pytest_maxrandom.notation import count, level
from pytest_maxrandom.reports.summary import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.record import BestModelsRecord, RunRecord

_ROW, _REST = 0.2, 1.0
"""Inches of a model, and of all else in a panel."""
_NAME = 30
"""Characters of a model's name."""
_FACES = {True: BLACK, False: "white"}


def with_result(run: RunRecord) -> list[BestModelsRecord]:
    """Return the comparisons that have one."""
    return [each for each in run.best_models if each.models]


def figures(run: RunRecord) -> Figures:
    """Draw a file for each comparison of all models."""
    where = files(run)
    return Figures(
        numbered("best_models", lambda record: _figure(record, where[record.id]), with_result(run))
    )


def distances(record: BestModelsRecord) -> list[tuple[str, float, float, float, bool]]:
    """Return each model, the highest first, with its score less that of the highest.

    Its interval follows, which holds at once with those of all pairs, and whether it may be the
    best.
    """
    ordered = sorted(record.models, key=lambda each: -each.accuracy)
    top = ordered[0].name
    spans = {top: (0.0, 0.0, 0.0)}
    for pair in record.pairs:
        if pair.first == top:
            spans[pair.second] = (-pair.difference, -pair.high, -pair.low)
        elif pair.second == top:
            spans[pair.first] = (pair.difference, pair.low, pair.high)
    return [(each.name, *spans[each.name], each.among_best) for each in ordered]


def _figure(record: BestModelsRecord, file: str) -> Figure:
    rows = distances(record)
    figure, [axes], _ = frame(1, (WIDTH * 2 / 3,), 0.4, _REST + _ROW * len(rows))
    _draw(axes, rows)
    task = ", ".join(filter(None, (record.task, file)))
    title(axes, f"{task}, {record.shots}-shot", f"n = {count(record.n)}")
    axes.set_xlabel(f"score less that of {short([rows[0][0]], _NAME)[0]}", size=SMALL)
    handles = [
        Line2D([], [], **marks("o", _FACES[best], BLACK, 5, 1), label=name)
        for best, name in ((True, "may be the best"), (False, "not the best"))
    ]
    said = f"intervals of all pairs at once, {level(1 - record.level)}"
    handles.append(Line2D([], [], **INTERVAL, label=said))
    legend(figure, handles)
    settle(figure)
    return figure


def _draw(axes: Axes, rows: list[tuple[str, float, float, float, bool]]) -> None:
    axes.axvline(0, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    names = short([name for name, *_ in rows], _NAME)
    for place, (name, difference, low, high, best) in enumerate(rows):
        draw_intervals(axes, [(place, (low, high), name)], level=True)
        look = marks("o", _FACES[best], BLACK, 5, 1)
        axes.plot(difference, place, **look, zorder=4, clip_on=False, label=plain(name))
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(True, axis="x", color=PALE, linewidth=0.6)
    accuracy_axis(axes.xaxis)
