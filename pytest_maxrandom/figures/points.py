"""Names beside points, where they touch neither each other nor a point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from matplotlib.text import Text
from matplotlib.transforms import Bbox

from pytest_maxrandom.figures.style import GREY, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_MARK = 3.0
"""Points from the middle of a mark to its edge, with a little room."""
_STEPS = (5.0, 11.0, 19.0, 29.0, 41.0)
"""Points from a mark to its name; the near ones are tried first."""
_LED = 8.0
"""Points from which on a line leads from the mark to its name."""
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_ALIGNED = {-1: "right", 0: "center", 1: "left"}
_STANDING = {-1: "top", 0: "center", 1: "bottom"}
_PLACES = ((-1, 1), (1, -1), (1, 1), (-1, -1), (0, 1), (0, -1), (-1, 0), (1, 0), (0, 0))
"""Of a remark, as sides of the panel: its corners are tried first."""


@dataclass(frozen=True, slots=True)
class Named:
    """The points of a panel.

    Attributes
    ----------
    points : tuple of (str, float, float)
        Name and place of each.
    line : float
        Height of a horizontal line, which no name is written on either.
    remark : str
        A text for a corner; may be empty.
    """

    axes: Axes
    points: tuple[tuple[str, float, float], ...]
    line: float
    remark: str = ""


def name_points(named: Named) -> None:
    """Write the remark and the names; the panel must have its final size."""
    axes = named.axes
    pixels = [axes.transData.transform((x, y)) for _, x, y in named.points]
    figure = axes.get_figure(root=True)
    assert figure is not None
    wide = _MARK * figure.dpi / 72
    taken = [Bbox([[x - wide, y - wide], [x + wide, y + wide]]) for x, y in pixels]
    level = float(axes.transData.transform((0.0, named.line))[1])
    taken.append(Bbox([[axes.bbox.x0, level - 1], [axes.bbox.x1, level + 1]]))
    if named.remark:
        taken.append(_remark(axes, named.remark, taken))
    # A name may touch its own mark.
    for place, (name, x, y) in enumerate(named.points):
        others = [box for index, box in enumerate(taken) if index != place]
        taken.append(_named(axes, name, (x, y), others))


def _remark(axes: Axes, text: str, taken: Sequence[Bbox]) -> Bbox:
    """Write a text into the corner, or at the edge, where it covers the fewest points."""

    def written(place: tuple[int, int]) -> Annotation:
        right, up = place
        return axes.annotate(
            text,
            ((1 + right) / 2, (1 + up) / 2),
            xycoords="axes fraction",
            xytext=(-3 * right, -3 * up),
            textcoords="offset points",
            ha=_ALIGNED[-right],
            va=_STANDING[-up],
            multialignment="left",
            size=SMALL,
        )

    return _best(map(written, _PLACES), axes, taken)


def _named(axes: Axes, name: str, point: tuple[float, float], taken: Sequence[Bbox]) -> Bbox:
    def written(step: float, side: tuple[int, int]) -> Annotation:
        right, up = side
        led = {"arrowstyle": "-", "lw": 0.6, "color": GREY, "shrinkA": 0, "shrinkB": 2}
        return axes.annotate(
            name,
            point,
            xytext=(step * right, step * up),
            textcoords="offset points",
            ha=_ALIGNED[right],
            va=_STANDING[up],
            size=SMALL,
            arrowprops=led if step >= _LED else None,
        )

    tried = (written(step, side) for step, side in product(_STEPS, _SIDES))
    return _best(tried, axes, taken)


def _best(tried: Iterator[Annotation], axes: Axes, taken: Sequence[Bbox]) -> Bbox:
    """Keep the first text that lies within the panel and on nothing, else the one on the least."""
    kept: tuple[Annotation, Bbox] | None = None
    least = 0
    for text in tried:
        box = _box(text)
        covered = sum(box.overlaps(other) for other in taken)
        covered += not _within(box, axes.bbox)
        if kept is not None and covered >= least:
            text.remove()
            continue
        if kept is not None:
            kept[0].remove()
        kept, least = (text, box), covered
        if not covered:
            break
    assert kept is not None
    return kept[1]


def _box(text: Annotation) -> Bbox:
    """Return where the letters are, without the line that leads to them."""
    text.get_window_extent()  # puts the letters where they belong
    return Text.get_window_extent(text)


def _within(box: Bbox, panel: Bbox) -> bool:
    return bool(
        panel.x0 <= box.x0 and panel.y0 <= box.y0 and box.x1 <= panel.x1 and box.y1 <= panel.y1
    )
