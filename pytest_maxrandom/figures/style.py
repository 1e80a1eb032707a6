"""How figures look: sizes for a page of text, colours, lines and marks.

Colours are those of Okabe and Ito (2008), "Color Universal Design", which people with any kind of
colour vision can distinguish; a line style, a mark or a hatch shows whatever a colour shows,
so that a print in grey loses nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.colors

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 7.2
"""Inches that a figure is wide at most, unless another width is asked for: a page of text."""
NARROWEST = 3.2
"""Inches below which names and numbers have no room."""
TEXT, SMALL = 8.0, 7.0
"""Points."""
_LETTER = 0.56 * SMALL / 72
"""Inches that a small letter takes, on the average."""

_width: ContextVar[float] = ContextVar("width", default=WIDTH)


def width() -> float:
    """Return the inches that figures are wide at most."""
    return _width.get()


def narrow() -> bool:
    """Return whether figures are for a column of a paper or a telephone: one panel in a row."""
    return _width.get() < 0.75 * WIDTH


def inches(letters: int) -> float:
    """Return what so many small letters take."""
    return letters * _LETTER


def letters(room: float) -> int:
    """Return how many small letters fit into so many inches."""
    return max(1, int(room / _LETTER))


BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
DARK, GREY, PALE = "#4D4D4D", "#767676", "#E2E2E2"

MAXIMUM, STANDARD = VERMILION, BLUE
"""Of the best guesser, and of one guesser, in every figure."""

LINES: tuple[tuple[str, str | tuple[float, tuple[float, ...]]], ...] = (
    (BLUE, "-"),
    (VERMILION, "--"),
    (GREEN, "-."),
    (PURPLE, (0, (1, 1.2))),
    (BLACK, (0, (7, 1.5, 1, 1.5, 1, 1.5))),
    (ORANGE, (0, (9, 3))),
    (SKY, (0, (3, 1, 3, 1, 1, 1))),
)
"""Colours and line styles of curves, none of either twice."""

INTERVAL: dict[str, Any] = {"color": DARK, "linewidth": 1.1, "solid_capstyle": "butt"}
"""Of lines through the marks of best accuracies."""
INTERVALS = "on new questions: each end at 95 %, for the best of t"
"""What those lines are: `pytest_maxrandom.stats.winner.interval`."""


def marks(shape: str, face: str, edge: str, size: float = 4, width: float = 0.8) -> dict[str, Any]:
    """Return how matplotlib draws marks with no line between them; sizes are in points."""
    return {
        "linestyle": "none",
        "marker": shape,
        "markersize": size,
        "markerfacecolor": face,
        "markeredgecolor": edge,
        "markeredgewidth": width,
    }


def darkened(colour: str) -> str:
    """Return the colour of texts about what has this colour, which are too thin for it."""
    red, green, blue = mpl.colors.to_rgb(colour)
    return mpl.colors.to_hex((0.62 * red, 0.62 * green, 0.62 * blue))


_SETTINGS: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.labelsize": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": TEXT,
    "figure.dpi": 100,
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT,
    "hatch.linewidth": 0.6,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "lines.linewidth": 1.3,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "maxrandom",
    # Names from data may hold dollar signs.
    "text.parse_math": False,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
}


@contextmanager
def applied(width: float = WIDTH) -> Iterator[None]:
    """Draw and write figures in this style, whatever the user's own settings are.

    They are at most so many inches wide.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        token = _width.set(width)
        try:
            yield
        finally:
            _width.reset(token)
