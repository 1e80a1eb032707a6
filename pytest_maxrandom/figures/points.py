"""How far baselines lie apart by task, and normalized scores against p-values, for each model.

After figures 8 and 9 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from pytest_maxrandom.figures import axes as drawing, labels, panels, style
from pytest_maxrandom.figures.axes import FLOOR, shown_p
from pytest_maxrandom.figures.labels import LONGEST, EndLabels, counts, short
from pytest_maxrandom.figures.results import Result, by_model
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_MODELS, _TASKS = 3, 40
"""Panels of a file about increases, and rows of a panel."""
_ROW = 0.21
"""Inches that a row is high."""
_MARKS = "o^sDvPX*"
"""Marks for numbers of shots, ascending."""
_MOST, _MOST_WIDE = 9, 2
"""Panels of a file of normalized scores, and wide ones."""
_WIDTHS = (4.4, style.WIDTH, style.WIDTH)
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


def increase_figures(results: Sequence[Result]) -> panels.Figures:
    """Draw a row for each task and a panel for each model, at most 40 by three in a file."""
    largest: dict[str, float] = {}
    for result in results:
        step = result.maximum - result.standard
        largest[result.task] = max(step, largest.get(result.task, step))
    tasks = sorted(largest, key=lambda task: -largest[task])
    all_shots = sorted({each.shots for each in results}, key=lambda shots: (len(shots), shots))
    beside = 1 if style.narrow() else _MODELS
    shown = [
        (models, page)
        for models in panels.pages(list(by_model(results).values()), beside)
        for page in panels.pages(tasks, _TASKS)
        if any(result.task in page for model in models for result in model)
    ]
    return panels.Figures(
        panels.numbered("increase", lambda part: increase(*part, all_shots), shown)
    )


def increase(
    models: Sequence[Sequence[Result]], tasks: Sequence[str], all_shots: Sequence[str]
) -> Figure:
    """Draw what the claims of these models about these tasks have."""
    wide = style.width() if len(models) > 1 else min(5.2, style.width())
    figure = Figure(figsize=(wide, 1.25 + _ROW * len(tasks)), layout="constrained")
    grid = figure.subplots(1, len(models), squeeze=False, sharex=True, sharey=True)[0]
    rows = short(tasks, min(LONGEST, style.letters(wide / 3)))
    beside = style.inches(max(map(len, rows))) / len(models) + 0.2
    for axes, model in zip(grid, models, strict=True):
        shown = [result for result in model if result.task in tasks]
        _rows(axes, shown, tasks, all_shots)
        above = [name for name in (model[0].model, model[0].suite) if name]
        names = short(above, 60 // len(models))
        stated = counts(shown).replace(", t", "\nt" if len(models) > 1 else ", t")
        panels.title(axes, *names, *stated.splitlines(), left=beside if axes is grid[0] else 0.2)
    grid[0].set_yticks(range(len(tasks)), rows)
    grid[0].set_ylim(len(tasks) - 0.4, -0.6)
    largest = max(each.maximum - each.standard for model in models for each in model)
    grid[0].set_xlim(0, 1.08 * largest or 1)
    figure.supxlabel("maximum random baseline \N{MINUS SIGN} standard baseline", size=style.SMALL)
    handles = {
        name: handle
        for axes in grid
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if any(all_shots):
        ordered = [handles[name] for name in map(_shots, all_shots) if name in handles]
        panels.legend(figure, ordered, "right")
    return labels.settle(figure)


def _rows(
    axes: Axes, results: Sequence[Result], tasks: Sequence[str], all_shots: Sequence[str]
) -> None:
    for place in range(len(tasks)):
        axes.axhline(place, color=style.PALE, linewidth=0.6, zorder=0)
    for rank, shots in enumerate(all_shots):
        shown = [result for result in results if result.shots == shots]
        if not shown:
            continue
        # Shots of a task stand a little above each other, so that none hides another.
        shift = (rank - (len(all_shots) - 1) / 2) * min(0.28, 0.8 / len(all_shots))
        colour, _ = style.LINES[rank % len(style.LINES)]
        mark, face = _MARKS[rank % len(_MARKS)], "white" if rank % 2 else colour
        axes.plot(
            [result.maximum - result.standard for result in shown],
            [tasks.index(result.task) + shift for result in shown],
            **style.marks(mark, face, colour, 3.6, 0.9),
            label=_shots(shots),
            clip_on=False,
        )
    axes.grid(True, axis="x", color=style.PALE, linewidth=0.6)
    drawing.accuracy_axis(axes.xaxis)
    axes.tick_params(axis="y", length=0)


def _shots(shots: str) -> str:
    return f"{shots}-shot" if shots else "no shots stated"


def obstacle(result: Result) -> str:
    """Say which claims have nothing above chance; else empty."""
    return "" if result.standard < 1 else "whose chance is 1"


def normalized_figures(results: Sequence[Result]) -> panels.Figures:
    """Draw one panel for each model, at most nine in a file, or two where claims are many."""
    models = list(by_model(results).values())
    most = _MOST_WIDE if max(map(len, models)) > _MANY else panels.per_file(_MOST, 3)
    pages = panels.pages(models, most)
    return panels.Figures(panels.numbered("normalized", normalized, pages))


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
    widths, high = ((style.WIDTH,), _HIGH) if wide else (_WIDTHS, _PANEL)
    framed = panels.frame(len(models), widths, 0.75, high, shared=True)
    _, grid, columns = framed
    everything = [result for model in models for result in model]
    metrics = " / ".join(dict.fromkeys(result.metric for result in everything))
    figure = panels.draw_panels(
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
    drawing.p_axis(axes)
    lines = drawing.alpha_lines(axes, model)
    axes.axvline(0, color=style.GREY, linewidth=0.7, zorder=1)
    drawing.mark_claims(
        axes, [(score(each), shown_p(each.p_max), each) for each in model], of_p=True
    )
    ends = [(shown_p(each.p_max), _ends(each), each.claim) for each in model]
    drawing.draw_intervals(axes, ends, level=True)
    axes.margins(x=0.15)
    axes.grid(True, color=style.PALE, linewidth=0.6)
    drawing.accuracy_axis(axes.xaxis)
    names = short([name for name in (model[0].model, model[0].suite) if name], longest)
    panels.title(axes, *names, counts(model))
    return labels.label_ends(axes, lines)


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
        entries.append(labels.Marked(min(ends), middle, max(ends), height, "\n".join(names)))
    labels.label_marks(axes, entries, {shown_p(each.alpha) for each in model})
