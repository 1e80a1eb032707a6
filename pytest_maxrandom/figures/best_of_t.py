"""The best of t prompts against both baselines, with the p-values below.

After figures 3, 4 and 11 to 13 of arXiv 2404.13020.
"""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from matplotlib.ticker import NullLocator

from pytest_maxrandom.figures import axes as drawing, style
from pytest_maxrandom.figures.axes import FLOOR, shown_p
from pytest_maxrandom.figures.labels import LONGEST, EndLabels, counts, label_ends, settle, short
from pytest_maxrandom.figures.panels import (
    Figures,
    file_name,
    legend,
    numbered,
    pages,
    title,
    with_strips,
)
from pytest_maxrandom.figures.results import Result, by_model
from pytest_maxrandom.notation import P_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_TOGETHER = 24
"""Claims of several models in one file."""
_MOST_MODELS = 3
"""Models in one file."""
_SLOT = (0.115, 0.5)
"""Inches that a claim takes, at least and at most."""
_SIDES = 1.65
"""Inches beside the panels."""
_PANEL, _STRIP = 1.75, 0.95
"""Inches that a panel, and the strip below it, are high."""
_SIGNS = {"o": "○", "s": "■", "D": "◆", "^": "▲"}
"""matplotlib's marks, in a text."""
_SLANT = 60
"""Degrees."""


def figures(results: Sequence[Result]) -> Figures:
    """Draw all claims: one panel for each model, one file for each model where they are many."""
    models = by_model(results)
    together = max(map(len, models.values())) <= _most() and len(results) <= _MOST_TOGETHER
    if together and len(models) <= _MOST_MODELS:
        return Figures(numbered("best_of_t", best_of_t, [list(models.values())]))
    return Figures(
        drawing
        for model, group in models.items()
        for drawing in numbered(
            f"best_of_t-{file_name(model)}", best_of_t, [[page] for page in _pages(group)]
        )
    )


def _most() -> int:
    """Return how many claims a panel has room for."""
    return int((style.width() - _SIDES) / _SLOT[0])


def _pages(group: list[Result]) -> list[list[Result]]:
    """Cut the claims of a model, between tasks where that is possible."""
    tasks = [list(same) for _, same in groupby(group, key=lambda result: result.task)]
    widest, most = max(map(len, tasks)), _most()
    if widest > most:
        return [list(page) for page in pages(group, most)]
    return [[result for same in page for result in same] for page in pages(tasks, most // widest)]


def best_of_t(models: Sequence[Sequence[Result]]) -> Figure:
    """Draw one panel for each model; the claims of a task stand together.

    Every claim has a grey bar from the standard to the maximum random baseline, a mark at the best
    prompt's value, a line at the incumbent's where there is one, and a mark for each p-value in the
    strip below: that of one guesser, p_max, and those beside shuffled right answers and the
    incumbent where they were computed.
    """
    longest = max(map(len, models))
    slot = min(max((style.width() - _SIDES) / longest, _SLOT[0]), _SLOT[1])
    slants = [_slant_height(model, slot) for model in models]
    below = sum(0.8 + (slant or 0.15) for slant in slants)
    wide = max(_SIDES + slot * longest, min(4.4, style.width()))
    figure, grid = with_strips(len(models), wide, (_PANEL, _STRIP), 0.35 + below)
    labels: list[EndLabels] = []
    for (upper, strip), model, slant in zip(grid, models, slants, strict=True):
        labels += [_values(upper, model), _p_values(strip, model)]
        _settings(strip, model, slanted=slant > 0)
        for axes in (upper, strip):
            spare = max(0.0, (3 - len(model)) / 2)
            axes.set_xlim(-0.6 - spare, len(model) - 0.4 + spare)
            for _, start, _ in _tasks(model)[1:]:
                axes.axvline(start - 0.5, color=style.PALE, linewidth=0.6, zorder=0)
    everything = [result for model in models for result in model]
    legend(figure, [*drawing.standing_handles(everything), *drawing.interval_handle(everything)])
    return settle(figure, labels)


def _values(axes: Axes, model: Sequence[Result]) -> EndLabels:
    places = range(len(model))
    standard, maximum = [each.standard for each in model], [each.maximum for each in model]
    axes.bar(
        places,
        [high - low for low, high in zip(standard, maximum, strict=True)],
        bottom=standard,
        width=0.8,
        color=style.PALE,
        label="guessers",
    )
    sides = [place - 0.4 for place in places], [place + 0.4 for place in places]
    axes.hlines(
        standard,
        *sides,
        colors=style.STANDARD,
        linestyles=(0, (1, 1)),
        linewidth=1.4,
        label="standard",
        zorder=3,
    )
    axes.hlines(maximum, *sides, colors=style.MAXIMUM, linewidth=1.8, label="maximum", zorder=2)
    beside = [
        (place, each.incumbent) for place, each in enumerate(model) if each.incumbent is not None
    ]
    if beside:
        centres, scores = zip(*beside, strict=True)
        axes.hlines(
            scores,
            [place - 0.4 for place in centres],
            [place + 0.4 for place in centres],
            colors=style.GREEN,
            linestyles="-.",
            linewidth=1.4,
            label="incumbent",
            zorder=3,
        )
    drawing.mark_claims(axes, [(place, result.best, result) for place, result in enumerate(model)])
    drawing.draw_intervals(
        axes, [(place, each.interval, each.claim) for place, each in enumerate(model)]
    )
    ends = [end for each in model for end in each.interval or ()]
    values = [*standard, *maximum, *(each.best for each in model), *ends]
    values += [score for _, score in beside]
    margin = max(0.04, 0.08 * (max(values) - min(values)))
    axes.set_ylim(max(min(values) - margin, -0.03), min(max(values) + margin, 1.03))
    drawing.accuracy_axis(axes.yaxis)
    axes.yaxis.grid(True, color=style.PALE, linewidth=0.6)
    axes.xaxis.set_major_locator(NullLocator())
    metrics = dict.fromkeys(result.metric for result in model)
    axes.set_ylabel(" / ".join(metrics))
    title(axes, *short([model[0].panel], 60), counts(model))
    return label_ends(
        axes,
        [
            (model[-1].best, "best prompt", style.BLACK),
            *((score, "incumbent", style.GREEN) for _, score in beside[-1:]),
            (model[-1].maximum, "max. random baseline", style.MAXIMUM),
            (model[-1].standard, "standard baseline", style.STANDARD),
        ],
    )


def _p_values(axes: Axes, model: Sequence[Result]) -> EndLabels:
    drawing.p_axis(axes)
    labels = drawing.alpha_lines(axes, model)
    for shift, name, colour, symbol, filled in (
        (-0.3, "p_standard", style.STANDARD, "o", False),
        (-0.1, "p_max", style.MAXIMUM, "s", True),
        (0.1, "permutation_p", style.BLACK, "D", True),
        (0.3, "incumbent_p", style.GREEN, "^", True),
    ):
        known = [(place, getattr(result, name)) for place, result in enumerate(model)]
        drawn = [(place, p) for place, p in known if p is not None]
        for mark, shown in (
            (symbol, [(place, p) for place, p in drawn if p >= FLOOR]),
            ("v", [(place, p) for place, p in drawn if p < FLOOR]),
        ):
            axes.plot(
                [place + shift for place, _ in shown],
                [shown_p(p) for _, p in shown],
                **style.marks(mark, colour if filled else "white", colour, 3.4, 0.9),
                zorder=3,
                label=name,
            )
        if drawn:
            told = f"{_SIGNS[symbol]} {P_VALUES.get(name, name)}"
            labels.append((shown_p(drawn[-1][1]), told, colour))
    axes.set_ylabel("p-value")
    return label_ends(axes, labels)


def _tasks(model: Sequence[Result]) -> list[tuple[str, int, int]]:
    """Return each task as it is written, where its claims begin, and how many they are."""
    starts = [
        place
        for place, result in enumerate(model)
        if place == 0 or model[place - 1].task != result.task
    ]
    # In a narrow figure a long name would slant over all that is left of it.
    longest = min(LONGEST, style.letters(style.width() / 3))
    names = short([model[start].task for start in starts], longest)
    return [
        (name, start, stop - start)
        for name, (start, stop) in zip(names, pairwise([*starts, len(model)]), strict=True)
    ]


def _settings(axes: Axes, model: Sequence[Result], *, slanted: bool) -> None:
    """Write shots below each claim, and each task once below its claims."""
    axes.set_xticks(range(len(model)), [result.shots for result in model])
    axes.tick_params(axis="x", length=0, pad=2)
    any_shots = any(result.shots for result in model)
    if any_shots:
        axes.annotate(
            "shots",
            (0, 0),
            xycoords="axes fraction",
            xytext=(-4, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            size=style.SMALL,
            color=style.GREY,
        )
    tasks = axes.secondary_xaxis(location=0)
    names, starts, widths = zip(*_tasks(model), strict=True)
    centres = [start + (width - 1) / 2 for start, width in zip(starts, widths, strict=True)]
    tasks.set_xticks(centres, names)
    tasks.tick_params(axis="x", length=0, pad=13 if any_shots else 3)
    tasks.spines["bottom"].set_visible(False)
    if slanted:
        for text in tasks.get_xticklabels():
            text.set(rotation=_SLANT, ha="right", rotation_mode="anchor")


def _slant_height(model: Sequence[Result], slot: float) -> float:
    """Return the inches that names take when slanted; 0 where each fits below its claims."""
    tasks = _tasks(model)
    if len(tasks) == 1 or all(style.inches(len(name)) <= many * slot for name, _, many in tasks):
        return 0
    longest = max(len(name) for name, _, _ in tasks)
    return 0.1 + style.inches(longest) * math.sin(math.radians(_SLANT))
