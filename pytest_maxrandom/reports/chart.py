"""The best of t prompts beside both baselines, as charts that GitHub draws from Mermaid's text.

Names stand in the charts with letters, digits and a few signs only, because what would end a text,
start a directive or name an entity differs between versions of Mermaid. Numbers before them tell
names apart; a chart with two bars of one name would draw one of them.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.phrases import best_value, metric_name
from pytest_maxrandom.reports.summary import names
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord

MOST_BARS = 20
"""Of one chart."""
MOST_CHARTS = 8
"""Of one report: a browser draws each anew."""

_LABEL = 40
"""Characters of a name."""
_SIGNS = frozenset(" _-.,()/+=[]")
_BAR, _REST = 28, 90
"""Pixels that a bar takes, and that the axis takes."""
_WIDTH = 900
# Of Okabe and Ito: bars; maximum random baseline; standard baseline, which stands left of it.
_PALETTE = "#56B4E9, #D55E00, #8c8c8c"


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts of a run."""

    sources: tuple[str, ...]
    """Text of each."""
    shown: int
    """Claims in them: the first ones."""
    claims: int
    """Claims that could be."""


def charts(run: RunRecord) -> Charts | None:
    """Draw the claims that have a result.

    Returns
    -------
    Charts or None
        At most MOST_CHARTS of at most MOST_BARS claims, in the run's order; None where fewer than
        two have a result, because a baseline of one point is no line.
    """
    named = names(run)
    bars = [bar for claim in run.claims if (bar := _bar(claim)) is not None]
    if len(bars) < 2:
        return None
    shown = bars[: MOST_BARS * MOST_CHARTS]
    each = ceil(len(shown) / ceil(len(shown) / MOST_BARS))
    sources = tuple(
        _source(
            [
                (f"{number + 1} {label(named[bar[0].id])}", bar)
                for number, bar in enumerate(shown[first : first + each], first)
            ]
        )
        for first in range(0, len(shown), each)
    )
    return Charts(sources, len(shown), len(bars))


def label(name: str) -> str:
    """Write a name with letters, digits and harmless signs; a dot stands for any other one."""
    shown = unicodedata.normalize("NFC", shorten(visible(name), _LABEL)).replace("…", "..")
    return "".join(
        character
        if character in _SIGNS or unicodedata.category(character)[0] in "LNM"
        else "\N{MIDDLE DOT}"
        for character in shown
    )


_Bar = tuple["ClaimRecord", float, float, float]


def _bar(claim: ClaimRecord) -> _Bar | None:
    values = (best_value(claim), claim.max_random_baseline, claim.standard_baseline)
    best, highest, chance = (
        value if value is not None and isfinite(value) else None for value in values
    )
    if claim.p_max is None or best is None or highest is None or chance is None:
        return None
    return claim, best, highest, chance


def _source(bars: list[tuple[str, _Bar]]) -> str:
    metrics = {metric_name(bar[0]) for _, bar in bars}
    measure = label(metrics.pop()) if len(metrics) == 1 else "score"
    height = _REST + _BAR * len(bars)
    settings = (
        f'{{"xyChart": {{"width": {_WIDTH}, "height": {height}}}, '
        f'"themeVariables": {{"xyChart": {{"plotColorPalette": "{_PALETTE}"}}}}}}'
    )
    columns = [
        ", ".join(f"{value:.3f}" for value in column)
        for column in zip(*(bar[1:] for _, bar in bars), strict=True)
    ]
    labels = ", ".join(f'"{name}"' for name, _ in bars)
    return "\n".join(
        [
            f"%%{{init: {settings}}}%%",
            "xychart-beta horizontal",
            f"    x-axis [{labels}]",
            f'    y-axis "{measure}" 0 --> 1',
            f"    bar [{columns[0]}]",
            f"    line [{columns[1]}]",
            f"    line [{columns[2]}]",
        ]
    )
