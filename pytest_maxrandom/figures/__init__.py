"""Figures for papers, after those of arXiv 2404.13020.

Here stands which families there are and whether they can be drawn, without loading matplotlib,
which is an extra and which all modules load.
"""

from __future__ import annotations

from importlib.util import find_spec

NAMES = (
    "best_of_t",
    "selection",
    "histogram",
    "baseline_over_t_and_n",
    "p_contours",
    "increase",
    "normalized",
    "label_bias",
    "best_models",
    "holdout",
    "trend",
)
"""Families of figures; their files' names begin so."""
FORMATS = ("svg", "png", "pdf")
DEFAULT_FORMATS = ("svg", "png")

MISSING = (
    'figures need the package matplotlib; install it with `pip install "pytest-maxrandom[plots]"`'
)


def installed() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None
