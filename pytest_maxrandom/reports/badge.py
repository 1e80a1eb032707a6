"""A badge of a run: what shields.io reads from an address, and an SVG file that needs no server.

Both say the same in a few words: what became of the claims, with t and n. A badge is green only
where every claim passes on what it asserts, nothing is held against the run, and no answer was made
up by a rule.
"""

from __future__ import annotations

import json
from html import escape
from typing import NamedTuple

from pytest_maxrandom.notation import span
from pytest_maxrandom.record import FAILING, OUTCOMES, RunRecord
from pytest_maxrandom.reports import headlines, summary
from pytest_maxrandom.reports.text import clauses

LABEL = "maxrandom"
_COLOURS = {"brightgreen": "#4c1", "yellow": "#dfb317", "red": "#e05d44", "lightgrey": "#9f9f9f"}
"""The colours of shields.io, by their names there."""
_WIDE, _NARROW = 6.6, 4.1
"""Pixels of a letter of Verdana, 11 pixels high; the texts are fitted to what this adds up to."""
_THIN = frozenset("iljtfrI.,:;'| ()[]")
_MARGIN = 6
_WELL = tuple(
    f" {verb}"
    for key, outcome in OUTCOMES.items()
    if key not in FAILING
    for verb in (outcome.one, outcome.more)
)
"""With what a count ends that is no reason for red."""


class Badge(NamedTuple):
    """What a badge says, and its colour by the name that shields.io has for it."""

    message: str
    colour: str


def shown(run: RunRecord) -> Badge:
    """Say what became of a run in a few words, what fails first."""
    ended = summary.overall(run)
    said = headlines.verdict(run).split("; ")
    became = {*map(summary.became, summary.records(run))}
    words, colour = said[0], "yellow"
    if ended == "failed":
        words, colour = _failure(said), "red"
    elif ended != "passed" or not became or summary.simulated(run):
        colour = "lightgrey"
    elif became == {"passed"} and not run.reservations:
        colour = "brightgreen"
    of = [claim for claim in run.claims if claim.outcome != "skipped"]
    t, n = (summary.known(getattr(claim, size) for claim in of) for size in ("t", "n"))
    counted = clauses(t and f"t = {span(t)}", n and f"n = {span(n)}", sep=", ")
    return Badge(clauses(words, summary.simulated(run) and "simulated", counted), colour)


def _failure(said: list[str]) -> str:
    """Return the first thing that fails; a comparison with a base stands in no verdict."""
    first = (clause.split(", ")[0] for clause in said)
    return next((one for one in first if not one.endswith(_WELL)), "worse than before, or untold")


def badge(run: RunRecord) -> str:
    """Write a badge as JSON of a badge endpoint, https://shields.io/badges/endpoint-badge.

    It is one object: schemaVersion, label, message, color.
    """
    said = shown(run)
    told = {"schemaVersion": 1, "label": LABEL, "message": said.message, "color": said.colour}
    return f"{json.dumps(told, indent=2)}\n"


def badge_svg(run: RunRecord) -> str:
    """Write a badge as an SVG image, which a README or a page shows without any server."""
    drawn = shown(run)
    left, right = _width(LABEL), _width(drawn.message)
    texts = "".join(
        f'<text x="{start + _MARGIN}" y="14" textLength="{width - 2 * _MARGIN}">{escape(text)}'
        "</text>\n"
        for start, width, text in ((0, left, LABEL), (left, right, drawn.message))
    )
    title = escape(f"{LABEL}: {drawn.message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{title}">\n<title>{title}</title>\n'
        f'<clipPath id="round"><rect width="{left + right}" height="20" rx="3"/></clipPath>\n'
        '<g clip-path="url(#round)">\n'
        f'<rect width="{left}" height="20" fill="#555"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[drawn.colour]}"/>\n</g>\n'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{texts}</g>\n</svg>\n"
    )


def _width(text: str) -> int:
    letters = sum(_NARROW if letter in _THIN else _WIDE for letter in text)
    return round(letters) + 2 * _MARGIN
