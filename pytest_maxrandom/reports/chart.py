"""The best of t prompts beside both baselines, as charts that GitHub draws from Mermaid's text.

Names stand in the charts with letters, digits and a few signs only, because what would end a text,
start a directive or name an entity differs between versions of Mermaid. No two bars of a chart have
one name, because Mermaid would draw one of them.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.phrases import best_value, metric_name
from pytest_maxrandom.reports.suites import by_suite
from pytest_maxrandom.reports.summary import model_name, names, shots
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord

MOST_BARS = 48
"""Of one chart."""
MOST_CHARTS = 8
"""Of one report: a browser draws each anew."""

_TOGETHER = 20
"""Bars of several models in one chart."""
_LABEL, _SHORT = 40, 28
"""Characters of a name, and of one with a model behind it."""
_SIGNS = frozenset(" _-.,()/+=[]")
_BAR, _REST = 28, 90
"""Pixels that a bar takes, and that the axis and the title take."""
_WIDTH = 900
# Of Okabe and Ito: bars; maximum random baseline; standard baseline, which stands left of it.
_PALETTE = "#56B4E9, #D55E00, #8c8c8c"


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts of a run."""

    sources: tuple[str, ...]
    """Text of each."""
    shown: int
    """Claims in them."""
    claims: int
    """Claims that could be."""


def charts(run: RunRecord) -> Charts | None:
    """Draw the claims that have a result: a chart for each suite and model where they are many.

    Returns
    -------
    Charts or None
        At most MOST_CHARTS of at most MOST_BARS claims, in the run's order; None where no suite
        has two results, because a baseline of one point is no line.
    """
    bars = {id(claim): bar for claim in run.claims if (bar := _bar(claim)) is not None}
    pages = [
        _Page(suite, page)
        for suite, claims in by_suite(run.claims).items()
        for group in _groups([bars[id(claim)] for claim in claims if id(claim) in bars])
        for page in _cut(group)
        if len(page) > 1
    ][:MOST_CHARTS]
    if not pages:
        return None
    named = names(run)
    sources = tuple(_source(page, named) for page in pages)
    return Charts(sources, sum(len(page.bars) for page in pages), len(bars))


def label(name: str, limit: int = _LABEL) -> str:
    """Write a name with letters, digits and harmless signs; a dot stands for any other one."""
    shown = unicodedata.normalize("NFC", shorten(visible(name), limit)).replace("…", "..")
    return "".join(
        character
        if character in _SIGNS or unicodedata.category(character)[0] in "LNM"
        else "\N{MIDDLE DOT}"
        for character in shown
    )


_Bar = tuple["ClaimRecord", float, float, float]


@dataclass(frozen=True, slots=True)
class _Page:
    """What one chart shows."""

    suite: str
    bars: list[_Bar]


def _bar(claim: ClaimRecord) -> _Bar | None:
    values = (best_value(claim), claim.max_random_baseline, claim.standard_baseline)
    best, highest, chance = (
        value if value is not None and isfinite(value) else None for value in values
    )
    if claim.verdict is None or best is None or highest is None or chance is None:
        return None
    return claim, best, highest, chance


def _groups(bars: list[_Bar]) -> list[list[_Bar]]:
    """Part many bars by their models, unless a model had one bar only."""
    models: dict[str, list[_Bar]] = {}
    for bar in bars:
        models.setdefault(model_name(bar[0]), []).append(bar)
    if len(bars) <= _TOGETHER or min(map(len, models.values())) < 2:
        return [bars]
    return list(models.values())


def _cut(bars: list[_Bar]) -> list[list[_Bar]]:
    """Cut into equally long parts with room for each."""
    each = ceil(len(bars) / ceil(len(bars) / MOST_BARS)) if bars else 1
    return [bars[first : first + each] for first in range(0, len(bars), each)]


def _labels(page: _Page, models: set[str], named: dict[str, str]) -> list[str]:
    """Name the bars by task and shots, and by their models where these are not one.

    Claims that this does not tell apart have their whole names, with numbers.
    """
    limit = _LABEL if len(models) == 1 else _SHORT
    parts = [
        (
            label(claim.task, limit),
            f"{shots(claim)}-shot" if shots(claim) else "",
            label(model_name(claim), limit) if len(models) > 1 else "",
        )
        for claim, *_ in page.bars
    ]
    shown = [", ".join(filter(None, each)) for each in parts]
    if len(set(shown)) == len(shown) and all(shown):
        return shown
    return [f"{place} {label(named[bar[0].id])}" for place, bar in enumerate(page.bars, 1)]


def _source(page: _Page, named: dict[str, str]) -> str:
    bars = page.bars
    metrics = {metric_name(bar[0]) for bar in bars}
    measure = label(metrics.pop()) if len(metrics) == 1 else "score"
    models = {model_name(bar[0]) for bar in bars}
    model = models.copy().pop() if len(models) == 1 else ""
    title = ", ".join(label(name) for name in (model, page.suite) if name)
    height = _REST + _BAR * len(bars)
    settings = (
        f'{{"xyChart": {{"width": {_WIDTH}, "height": {height}}}, '
        f'"themeVariables": {{"xyChart": {{"plotColorPalette": "{_PALETTE}"}}}}}}'
    )
    columns = [
        ", ".join(f"{value:.3f}" for value in column)
        for column in zip(*(bar[1:] for bar in bars), strict=True)
    ]
    labels = ", ".join(f'"{name}"' for name in _labels(page, models, named))
    return "\n".join(
        [
            f"%%{{init: {settings}}}%%",
            "xychart-beta horizontal",
            *([f'    title "{title}"'] if title else []),
            f"    x-axis [{labels}]",
            f'    y-axis "{measure}" 0 --> 1',
            f"    bar [{columns[0]}]",
            f"    line [{columns[1]}]",
            f"    line [{columns[2]}]",
        ]
    )
