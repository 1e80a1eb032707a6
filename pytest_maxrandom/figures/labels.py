"""Labels at the right ends of curves, moved apart where they would touch."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from pytest_maxrandom.figures.style import SMALL, darkened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_LINE = 1.25 * SMALL
"""Points from one label to the next, at least."""
_AWAY = 7.0
"""Points from the axes to a label."""


@dataclass(frozen=True, slots=True)
class EndLabels:
    """The labels beside one panel, by ascending height."""

    axes: Axes
    texts: tuple[Annotation, ...]

    def spread(self) -> None:
        """Move the labels apart; the panel must have its final size."""
        figure = self.axes.get_figure(root=True)
        assert figure is not None
        points = 72 / figure.dpi
        heights = [
            float(self.axes.transData.transform((1.0, text.xy[1]))[1]) * points
            for text in self.texts
        ]
        lowest = self.axes.bbox.y0 * points + _LINE / 2
        placed = apart(heights, _LINE, lowest)
        for text, height, place in zip(self.texts, heights, placed, strict=True):
            text.set_position((_AWAY, place - height))


def label_ends(axes: Axes, entries: Iterable[tuple[float, str, str]]) -> EndLabels:
    """Write texts right of a panel.

    Parameters
    ----------
    entries
        Height in data, text and colour of each.
    """
    texts = tuple(
        axes.annotate(
            text,
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(_AWAY, 0),
            textcoords="offset points",
            va="center",
            color=darkened(colour),
            size=SMALL,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "lw": 0.8, "color": colour, "shrinkA": 0, "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )
        for height, text, colour in sorted(entries)
    )  # fmt: skip
    return EndLabels(axes, texts)


def settle(figure: Figure, labels: Iterable[EndLabels] = ()) -> Figure:
    """Fix the layout of a finished figure and move its labels apart."""
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    figure.set_layout_engine("none")
    for each in labels:
        each.spread()
    return figure


def apart(heights: Sequence[float], least: float, lowest: float = -inf) -> list[float]:
    """Move ascending heights so little that neighbours are `least` apart, and none below `lowest`.

    Labels that touch are put together about the mean of where they want to be.

    Examples
    --------
    >>> apart([0.0, 1.0, 50.0], 9.0)
    [-4.0, 5.0, 50.0]
    >>> apart([0.0, 1.0, 11.0], 9.0, lowest=0.0)
    [0.0, 9.0, 18.0]
    """
    blocks: list[tuple[float, int]] = []
    for height in heights:
        centre, size = height, 1
        while blocks:
            below, many = blocks[-1]
            if centre - below >= (size + many) / 2 * least:
                break
            blocks.pop()
            centre, size = (centre * size + below * many) / (size + many), size + many
        blocks.append((centre, size))
    placed = (
        centre + (place - (size - 1) / 2) * least
        for centre, size in blocks
        for place in range(size)
    )
    return [max(height, lowest + rank * least) for rank, height in enumerate(placed)]
