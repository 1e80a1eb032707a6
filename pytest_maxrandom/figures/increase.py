"""How far the maximum random baseline lies above the standard baseline.

After figure 8 of arXiv 2404.13020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from pytest_maxrandom.figures.axes import accuracy_axis
from pytest_maxrandom.figures.labels import LONGEST, counts, settle, short
from pytest_maxrandom.figures.panels import legend, numbered, pages, title
from pytest_maxrandom.figures.results import by_model
from pytest_maxrandom.figures.style import LINES, PALE, SMALL, inches, letters, marks, narrow, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from pytest_maxrandom.figures.results import Result

_MODELS = 3
"""Panels of a file."""
_TASKS = 40
"""Rows of a panel."""
_ROW = 0.21
"""Inches that a row is high."""
_MARKS = "o^sDvPX*"
"""Marks for numbers of shots, ascending."""


def figures(results: Sequence[Result]) -> Iterator[tuple[str, Figure]]:
    """Draw a row for each task and a panel for each model, at most 40 by three in a file."""
    largest: dict[str, float] = {}
    for result in results:
        step = result.maximum - result.standard
        largest[result.task] = max(step, largest.get(result.task, step))
    tasks = sorted(largest, key=lambda task: -largest[task])
    all_shots = sorted({each.shots for each in results}, key=lambda shots: (len(shots), shots))
    drawn = [
        increase(models, page, all_shots)
        for models in pages(list(by_model(results).values()), 1 if narrow() else _MODELS)
        for page in pages(tasks, _TASKS)
        if any(result.task in page for model in models for result in model)
    ]
    yield from numbered("increase", drawn)


def increase(
    models: Sequence[Sequence[Result]], tasks: Sequence[str], all_shots: Sequence[str]
) -> Figure:
    """Draw what the claims of these models about these tasks have."""
    wide = width() if len(models) > 1 else min(5.2, width())
    figure = Figure(figsize=(wide, 1.25 + _ROW * len(tasks)), layout="constrained")
    grid = figure.subplots(1, len(models), squeeze=False, sharex=True, sharey=True)[0]
    rows = short(tasks, min(LONGEST, letters(wide / 3)))
    beside = inches(max(map(len, rows))) / len(models) + 0.2
    for axes, model in zip(grid, models, strict=True):
        shown = [result for result in model if result.task in tasks]
        _panel(axes, shown, tasks, all_shots)
        above = [name for name in (model[0].model, model[0].suite) if name]
        names = short(above, 60 // len(models))
        stated = counts(shown).replace(", t", "\nt" if len(models) > 1 else ", t")
        title(axes, *names, *stated.splitlines(), left=beside if axes is grid[0] else 0.2)
    grid[0].set_yticks(range(len(tasks)), rows)
    grid[0].set_ylim(len(tasks) - 0.4, -0.6)
    largest = max(each.maximum - each.standard for model in models for each in model)
    grid[0].set_xlim(0, 1.08 * largest or 1)
    figure.supxlabel("maximum random baseline \N{MINUS SIGN} standard baseline", size=SMALL)
    handles = {
        name: handle
        for axes in grid
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if any(all_shots):
        ordered = [handles[name] for name in map(_name, all_shots) if name in handles]
        legend(figure, ordered, "right")
    return settle(figure)


def _panel(
    axes: Axes, results: Sequence[Result], tasks: Sequence[str], all_shots: Sequence[str]
) -> None:
    for place in range(len(tasks)):
        axes.axhline(place, color=PALE, linewidth=0.6, zorder=0)
    for rank, shots in enumerate(all_shots):
        shown = [result for result in results if result.shots == shots]
        if not shown:
            continue
        # Shots of a task stand a little above each other, so that none hides another.
        shift = (rank - (len(all_shots) - 1) / 2) * min(0.28, 0.8 / len(all_shots))
        colour, _ = LINES[rank % len(LINES)]
        axes.plot(
            [result.maximum - result.standard for result in shown],
            [tasks.index(result.task) + shift for result in shown],
            **marks(_MARKS[rank % len(_MARKS)], "white" if rank % 2 else colour, colour, 3.6, 0.9),
            label=_name(shots),
            clip_on=False,
        )
    axes.grid(True, axis="x", color=PALE, linewidth=0.6)
    accuracy_axis(axes.xaxis)
    axes.tick_params(axis="y", length=0)


def _name(shots: str) -> str:
    return f"{shots}-shot" if shots else "no shots stated"
