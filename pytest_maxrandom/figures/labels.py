"""Names, counts and numbers as figures write them, and labels at the ends of curves."""

from __future__ import annotations

import functools
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from pytest_maxrandom.figures.style import GREY, SMALL, darkened
from pytest_maxrandom.notation import span
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.results import Result

EndLabels: TypeAlias = list[Annotation]
"""The labels beside one panel, by ascending height."""
_LINE = 1.25 * SMALL
"""Points from one label to the next, at least."""
_AWAY = 7.0
"""Points from the axes to a label."""
_MARK = 2.0
"""Points from the middle of a mark to its edge, or somewhat less."""
_BESIDE = (
    (5, 0), (-5, 0), (5, 3), (-5, 3), (5, -3), (-5, -3), (0, 5), (0, -5), (0, 3), (0, -3),
)  # fmt: skip
"""Points right of an interval's end, or of its mark, and above it, at which a label may stand."""


class Marked(NamedTuple):
    """A mark with its level interval, and what is to be written beside it."""

    low: float
    x: float
    high: float
    y: float
    text: str


def label_ends(axes: Axes, entries: Iterable[tuple[float, str, str]]) -> EndLabels:
    """Write texts right of a panel at heights in data, each in its colour; return them upwards."""
    return [
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
    ]  # fmt: skip


def settle(figure: Figure, labels: Iterable[EndLabels] = ()) -> Figure:
    """Fix the layout of a finished figure and move its labels apart."""
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    figure.set_layout_engine("none")
    points = 72 / figure.dpi
    for texts in labels:
        axes = texts[0].axes
        assert axes is not None
        heights = [float(axes.transData.transform(text.xy)[1]) * points for text in texts]
        lowest = axes.bbox.y0 * points + _LINE / 2
        for text, height, place in zip(texts, heights, apart(heights, _LINE, lowest), strict=True):
            text.set_position((_AWAY, place - height))
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


def label_marks(
    axes: Axes, entries: Sequence[Marked], lines: Iterable[float] = ()
) -> list[Annotation]:
    """Write texts beside marks, or level intervals, of a settled figure, where there is room.

    The most important entries, in data, come first. No text lies on any of them, nor on the lines,
    which are heights. It returns the texts that found a place within the panel, on no other one and
    on no mark.
    """
    reach = _MARK * axes.figure.dpi / 72
    left = axes.transData.transform([(each.low, each.y) for each in entries])
    right = axes.transData.transform([(each.high, each.y) for each in entries])
    taken = [
        Bbox.from_extents(x - reach, y - reach, end + reach, y + reach)
        for (x, y), (end, _) in zip(left.tolist(), right.tolist(), strict=True)
    ]
    heights = [float(axes.transData.transform((0, line))[1]) for line in lines]
    taken += [Bbox.from_extents(axes.bbox.x0, y, axes.bbox.x1, y + 1) for y in heights]
    placed = []
    for each in entries:
        covered, box, label = write_where_free(axes, each.text, _beside(each), taken)
        if covered:
            label.remove()
        else:
            taken.append(box)
            placed.append(label)
    return placed


def _beside(mark: Marked) -> Iterator[dict[str, Any]]:
    for across, up in _BESIDE:
        yield {
            "xy": (mark.high if across > 0 else mark.low if across else mark.x, mark.y),
            "xytext": (across, up),
            "ha": "left" if across > 0 else "right" if across else "center",
            "va": "center" if not up else "bottom" if up > 0 else "top",
            "color": GREY,
            "linespacing": 1.1,
        }


def write_where_free(
    axes: Axes, text: str, places: Iterable[dict[str, Any]], taken: Sequence[Bbox]
) -> tuple[int, Bbox, Annotation]:
    """Write a text where it first lies within the panel and on nothing, else on the least.

    It returns on how many things the text lies, a side of the panel among them, its box and itself.
    """
    tried: list[tuple[int, Bbox, Annotation]] = []
    for place in places:
        one = axes.annotate(text, textcoords="offset points", size=SMALL, **place)
        one.get_window_extent()  # puts the letters where they belong
        box = Text.get_window_extent(one)  # without the line that leads to them
        inside = axes.bbox.contains(box.x0, box.y0) and axes.bbox.contains(box.x1, box.y1)
        covered = sum(map(box.overlaps, taken)) + (not inside)
        tried.append((covered, box, one))
        if not covered:
            break
    best = min(tried, key=lambda each: each[0])
    for other in tried:
        if other is not best:
            other[2].remove()
    return best


LONGEST = 32
"""Characters of a name beside or below an axis."""


def plain(text: str) -> str:
    r"""Replace what would not be seen, or what the font has no shape for, by its code: ``\u4e2d``.

    Examples
    --------
    >>> plain("中 $x$")
    '\\u4e2d $x$'
    """
    return "".join(
        character if ord(character) in _shapes() else _code(character)
        for character in visible(text)
    )


def short(texts: Sequence[str], limit: int = LONGEST) -> list[str]:
    """Make names fit, without making two of them alike.

    Examples
    --------
    >>> short(["emoji_movie", "emu_movie"], 7)
    ['emo…vie', 'emu…vie']
    """
    shown = [plain(text) for text in texts]
    fitting = [shorten(text, limit) for text in shown]
    alike = {
        cut
        for cut, text in zip(fitting, shown, strict=True)
        for other, whole in zip(fitting, shown, strict=True)
        if cut == other and text != whole
    }
    return [text if cut in alike else cut for cut, text in zip(fitting, shown, strict=True)]


def counts(results: Sequence[Result]) -> str:
    """State the examples and prompts of some results.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> counts([SimpleNamespace(n=60, t=20), SimpleNamespace(n=200, t=20)])
    'n = 60 to 200, t = 20'
    """
    return f"n = {span([each.n for each in results])}, t = {span([each.t for each in results])}"


def decimal(value: float) -> str:
    """Write the number at a tick as reports do.

    Examples
    --------
    >>> decimal(0.25), decimal(1.0), decimal(0.0), decimal(1e-4)
    ('.25', '1', '0', '1e-04')
    """
    if value < 0:
        return f"\N{MINUS SIGN}{decimal(-value)}"
    if 0 < value < 0.001:
        return f"{value:.0e}"
    return f"{value:g}".removeprefix("0") or "0"


@functools.cache
def _shapes() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def _code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
