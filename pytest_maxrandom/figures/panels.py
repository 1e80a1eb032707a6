"""How panels become a figure: sizes, legends, titles; and files of limited size."""

from __future__ import annotations

import math
import re
import textwrap
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeVar

from matplotlib.figure import Figure

from pytest_maxrandom.figures.axes import interval_handle, standing_handles
from pytest_maxrandom.figures.labels import EndLabels, settle
from pytest_maxrandom.figures.style import SMALL, inches, letters, narrow, width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from pytest_maxrandom.figures.results import Result

Item = TypeVar("Item")

_LONGEST = 60
"""Characters of a file's name."""
_HANDLE = 0.55
"""Inches that an entry of a legend takes beside its letters."""
_SIDE = 0.65
"""Inches left of a panel, where titles begin, and a little room."""


def frame(
    number: int,
    widths: Sequence[float],
    above: float,
    high: float,
    *,
    shared: bool | Literal["y"] = False,
) -> tuple[Figure, list[Axes], int]:
    """Make a figure of panels, row by row.

    Parameters
    ----------
    number : int
        Panels.
    widths : sequence of float
        Inches that the figure is wide with one column, with two, and so on; none has more columns
        than fit.
    above, high : float
        Inches above all panels, and of each with its title.
    shared : bool or "y"
        Whether panels share their axes, or only the upright ones.

    Returns
    -------
    tuple of (Figure, list of Axes, int)
        The figure, its panels, and the number of columns.
    """
    fitting = [one for one in widths if one <= width()] or [width()]
    columns = min(len(fitting), number)
    rows = math.ceil(number / columns)
    figure = Figure(figsize=(fitting[columns - 1], above + high * rows), layout="constrained")
    grid = figure.subplots(
        rows, columns, squeeze=False, sharex=shared is True, sharey=bool(shared)
    ).ravel()
    for axes in grid[number:]:
        axes.set_visible(False)
    for axes in grid[max(0, number - columns) : number]:
        axes.tick_params(axis="x", labelbottom=True)
    return figure, list(grid[:number]), columns


def pairs(number: int, above: float, high: float) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Make a figure of pairs of panels beside each other; below each other where it is narrow.

    `above` are the inches above all panels, and `high` those of each.
    """
    columns = 1 if narrow() else 2
    rows = 2 * number // columns
    figure = Figure(figsize=(width(), above + high * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    return figure, list(zip(grid[::2], grid[1::2], strict=True))


def with_strips(
    number: int, wide: float, heights: tuple[float, float], more: float
) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Make a figure of panels below each other, each with a strip below it.

    Parameters
    ----------
    number : int
        Panels.
    wide : float
        Inches that the figure is wide.
    heights : tuple of (float, float)
        Inches of a panel and of its strip, without what is written.
    more : float
        Inches of all that is written.
    """
    every = [*heights] * number
    figure = Figure(figsize=(wide, sum(every) + more), layout="constrained")
    grid = figure.subplots(2 * number, 1, squeeze=False, height_ratios=every)[:, 0].tolist()
    return figure, list(zip(grid[::2], grid[1::2], strict=True))


def draw_panels(
    panels: Sequence[Item],
    draw: Callable[[Axes, Item], EndLabels],
    framed: tuple[Figure, list[Axes], int],
    results: Sequence[Result],
    *,
    along: str,
    upright: str,
    first: Sequence[Artist] = (),
) -> Figure:
    """Draw panels with claims as marks into a `frame`, and what they all have around them.

    Parameters
    ----------
    draw
        Draws a panel and returns the labels at its right.
    results
        All claims that are drawn, for the legend.
    along, upright
        What the axes of all panels are.
    first
        Entries of the legend before those of marks and intervals.
    """
    figure, grid, _ = framed
    labels = [draw(axes, panel) for axes, panel in zip(grid, panels, strict=True)]
    figure.supxlabel(along, size=SMALL)
    figure.supylabel(upright, size=SMALL)
    legend(figure, [*first, *standing_handles(results), *interval_handle(results)])
    return settle(figure, labels)


def legend(figure: Figure, handles: Sequence[Artist], side: str = "left") -> None:
    """Put a legend above all panels: lines that fit, in as many columns as fit."""
    if not handles:
        return
    wide = figure.get_figwidth()
    fitting = letters(wide - _HANDLE)
    names = [textwrap.fill(str(handle.get_label()), fitting) for handle in handles]
    longest = max(len(line) for name in names for line in name.splitlines())
    columns = int(wide / (inches(longest) + _HANDLE))
    figure.legend(
        handles, names, loc=f"outside upper {side}", ncols=max(1, min(columns, len(names)))
    )


def title(axes: Axes, *lines: str, left: float = _SIDE) -> None:
    """Write what stands above a panel, in lines that fit above it; empty ones are left out.

    `left` are the inches between the figure's edge, or the panel before, and this one.
    """
    figure, spec = axes.figure, axes.get_subplotspec()
    assert isinstance(figure, Figure)
    assert spec is not None
    room = letters(figure.get_figwidth() / spec.get_gridspec().ncols - left)
    axes.set_title("\n".join(textwrap.fill(line, room) for line in lines if line), size=SMALL)


def per_file(panels: int, columns: int) -> int:
    """Return how many panels a file has room for: as many rows where it is narrow."""
    return math.ceil(panels / columns) if narrow() else panels


def pages(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Cut into parts of nearly equal length, none longer than `size`.

    Examples
    --------
    >>> pages("abcdefg", 3)
    ['abc', 'de', 'fg']
    """
    number = -(-len(items) // size)
    short, longer = divmod(len(items), number) if number else (0, 0)
    cuts = [page * short + min(page, longer) for page in range(number + 1)]
    return [items[start:stop] for start, stop in pairwise(cuts)]


class Figures:
    """Figures with the names of their files, each drawn when its turn comes."""

    def __init__(self, drawings: Iterable[tuple[str, Callable[[], Figure]]]) -> None:
        self._drawings = [*drawings]

    def __len__(self) -> int:
        return len(self._drawings)

    def __iter__(self) -> Iterator[tuple[str, Figure]]:
        return ((name, draw()) for name, draw in self._drawings)


def numbered(
    stem: str, draw: Callable[[Item], Figure], shown: Sequence[Item]
) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Name a file for each part of what is shown: the stem, with a number where there are several.

    The parts are drawn when they are asked for.
    """
    width = len(str(len(shown)))
    for place, part in enumerate(shown, 1):
        yield stem if len(shown) == 1 else f"{stem}-{place:0{width}d}", partial(draw, part)


def file_name(text: str) -> str:
    """Make a part of a file's name that every file system takes.

    Examples
    --------
    >>> file_name("meta/Llama 2 (nf4)")
    'meta-Llama-2-nf4'
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", text)[:_LONGEST].strip("-.") or "model"
