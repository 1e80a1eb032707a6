"""The page: one HTML file that needs nothing from elsewhere, and reads a claim when it is opened.

The table of claims, and of the checks that go with them, is HTML that needs no script. What a claim
opens to stands in a block for each, deflated, which the browser inflates when it is asked for.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, p_value
from pytest_maxrandom.record import (
    OUTCOMES,
    SCORE,
    SETTLED,
    ClaimRecord,
    ComparisonRecord,
    LabelBiasRecord,
    RunRecord,
)
from pytest_maxrandom.record.packed import pack, unpack
from pytest_maxrandom.reports import phrases, summary
from pytest_maxrandom.reports.columns import mark
from pytest_maxrandom.reports.details import claim_detail
from pytest_maxrandom.reports.guessers import curve
from pytest_maxrandom.reports.html import HTML
from pytest_maxrandom.reports.losses import whether_worse
from pytest_maxrandom.reports.page.cells import (
    Cells,
    ShownText,
    Texts,
    may_show,
    without_texts,
)
from pytest_maxrandom.reports.quantities import best_value, metric_name, needed_score
from pytest_maxrandom.reports.red_flags import does, page_of, remedy
from pytest_maxrandom.reports.rendering import Written, render
from pytest_maxrandom.reports.text import clauses, middle_left_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.reports.trend import Point, Trend

LARGEST = 14_000_000
"""Bytes of all blocks; texts are shortened until they fit, so that a page opens anywhere."""
_LIMITS = (8000, 2000, 800, 300, 120, 0)
"""Characters of a text, tried in turn."""
_SCRIPTS = ("dom.js", "tables.js", "charts.js", "matrix.js", "views.js", "main.js")


def html(
    run: RunRecord,
    cells: Mapping[str, str] | None = None,
    templates: Path | None = None,
    *,
    texts: Texts = "all",
    trend: Sequence[Trend] = (),
    largest: int = LARGEST,
    opened: bool = False,
) -> str:
    """Render a run as the page.

    Parameters
    ----------
    run : RunRecord
        The claims.
    cells : mapping of str to str, optional
        By the ids of claims their answers, as `pack` of `pytest_maxrandom.record.packed` wrote
        them.
    templates : Path, optional
        A folder with the user's own templates.
    texts : str
        Whether the texts of questions of all suites may be shown, or of those that share them.
    trend : sequence of Trend
        The course of claims over earlier runs, this one included.
    largest : int
        Bytes that all blocks together may have, as far as shorter texts help.
    opened : bool
        Whether the page opens on its first claim, and not on the table of all.

    Raises
    ------
    ReportError
        If a template is wrong.
    """
    claims = sorted(run.claims, key=lambda claim: claim.outcome in SETTLED)
    unpacked: dict[str, Cells] = {id_: unpack(packed) for id_, packed in (cells or {}).items()}
    for claim in claims:
        if claim.id in unpacked and not may_show(claim, texts):
            without_texts(unpacked[claim.id])
    blocks = _blocks(run, claims, unpacked, texts, trend, largest)
    return render(
        run,
        HTML,
        templates,
        shown=claims,
        css=Written(_asset("page.css")),
        script=Written(_script()),
        script_hash=_hash(_script()),
        style_hash=_hash,
        blocks=[Written(block) for block in blocks],
        opened=opened,
        withheld=sum(not may_show(claim, texts) for claim in claims),
    )


def headed(page: str, run: RunRecord) -> str:
    """Write on top of a page what a gate found after it was made.

    These are its reservations, what got worse, or why it was compared with nothing. The page is as
    :func:`html` renders it without them; one by a template of the user's own may lack the verdict,
    and stays as it is.
    """
    bare = replace(run, reservations=[], regressions=None)
    for sep in (" maxrandom: ", " "):
        made, found = (
            f"{summary.symbol(each)}{sep}{clauses(summary.reserved(each), summary.tally(each))}"
            for each in (bare, run)
        )
        page = page.replace(made, found, 1)
    said = f'<p class="soft">{summary.not_compared(run)}.</p>\n' if run.not_compared else ""
    if run.regressions is not None:
        said += f'<p class="warning">{HTML.plain(whether_worse(run.regressions))}.</p>\n'
    return page.replace("</header>\n", f"{said}</header>\n", 1)


def _blocks(
    run: RunRecord,
    claims: Sequence[ClaimRecord],
    cells: Mapping[str, Cells],
    texts: Texts,
    trend: Sequence[Trend],
    largest: int,
) -> list[str]:
    """Write a block for each claim, and one for each set of questions that claims share."""
    known = summary.names(run)
    courses = {each.claim: [*map(_point, each.points)] for each in trend}
    questions: dict[str, list[ShownText]] = {}
    owners: dict[str, str] = {}
    for claim in claims:
        found = cells.get(claim.id)
        asked = found.pop("texts", None) if found else None
        if asked:
            key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
            questions[key], owners[claim.id] = asked, key
    blocks: list[str] = []
    for claim in claims:
        facts = claim_detail(claim, run, known).facts
        # Red flags stand by themselves.
        details = HTML.fact_list([fact for fact in facts if not str(fact[0]).startswith("🚩")])
        shown = content(
            run, claim, cells.get(claim.id), names=known, details=details, texts=texts,
            trend=courses.get(claim.id, []),
        )  # fmt: skip
        blocks.append(_block(f"claim-{len(blocks)}", shown | {"questions": owners.get(claim.id)}))
    index = [
        {
            "name": known[each.id],
            "task": each.task,
            "model": summary.model_name(each),
            "flags": [flag.kind for flag in each.red_flags],
        }
        for each in claims
    ]
    blocks.append(_block("index", index))
    left = largest - sum(map(len, blocks))
    return [*blocks, *_within(questions, left)]


def _within(questions: Mapping[str, list[ShownText]], room: int) -> list[str]:
    """Write the texts of questions, the middle of long ones left out where there is little room."""
    written: list[str] = []
    for limit in _LIMITS:
        shown = {key: [_shortened(one, limit) for one in asked] for key, asked in questions.items()}
        written = [
            _block(f"texts-{key}", {"limit": limit, "texts": texts}) for key, texts in shown.items()
        ]
        if sum(map(len, written)) <= room:
            break
    return written


def _shortened(text: ShownText, limit: int) -> ShownText:
    return {
        "input": middle_left_out(text["input"], limit) if limit else "",
        "choices": [middle_left_out(each, limit) if limit else "" for each in text["choices"]],
    }


def _block(name: str, shown: object) -> str:
    return f'<script type="text/plain" id="{name}">{pack(shown)}</script>'


def _asset(name: str) -> str:
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    parts = "\n".join(map(_asset, _SCRIPTS))
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _hash(text: str) -> str:
    """Return what a policy allows a script or a style by."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def content(
    run: RunRecord,
    claim: ClaimRecord,
    cells: Cells | None,
    *,
    names: Mapping[str, str],
    details: str,
    texts: Texts,
    trend: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return what the page shows of one claim.

    Parameters
    ----------
    cells : Cells or None
        Its answers; None where only the JSON report is at hand.
    names : mapping
        What records are called, by their ids.
    details : str
        HTML of all else that is known of it.
    trend : sequence of mapping
        The same claim in earlier runs, the oldest first: `pytest_maxrandom.reports.trend.Point`,
        and how each ended in a word.
    """
    shown, about = may_show(claim, texts), (claim.suite, claim.task, claim.shots)
    return {
        "id": claim.id,
        "name": names[claim.id],
        "task": claim.task,
        "model": summary.model_name(claim),
        "numbers": _numbers(claim),
        "why": phrases.finding(claim) or phrases.reached(claim),
        "flags": [
            {
                "kind": flag.kind,
                "does": does(flag),
                "text": flag.text,
                "remedy": remedy(flag),
                "page": page_of(flag.kind),
            }
            for flag in claim.red_flags
        ],
        "told": details,
        "counts": claim.correct_counts,
        "n": claim.n,
        "texts": shown,
        "prompt": _prompt(claim) if shown else None,
        "best": claim.best_prompt.index if claim.best_prompt else None,
        "curve": curve(claim),
        "labels": [_labels(each) for each in run.label_bias if each.claim == claim.id],
        "arms": [_arm(one) for one in run.comparisons if (one.suite, one.task, one.shots) == about],
        "trend": list(trend),
        "cells": cells,
    }


def _numbers(claim: ClaimRecord) -> list[tuple[str, str]]:
    interval = phrases.best_interval(claim)
    return [
        ("best accuracy" if claim.metric == "accuracy" else f"best {metric_name(claim)}",
         accuracy(best_value(claim))),
        *([("on new questions, 95 %", " to ".join(map(accuracy, interval)))] if interval else []),
        *([] if claim.metric == SCORE else [  # beside which no guesser stands
            ("needed", accuracy(needed_score(claim))),
            ("maximum random baseline", accuracy(claim.max_random_baseline)),
            ("standard baseline", accuracy(claim.standard_baseline)),
        ]),
        (phrases.name_of_p(claim), phrases.decisive_p(claim)),
        ("n", count(claim.n)),
        ("t", count(claim.t)),
    ]  # fmt: skip


def _prompt(claim: ClaimRecord) -> dict[str, Any] | None:
    best = claim.best_prompt
    if best is None or best.text is None:
        return None
    return asdict(best) | {"digest": best.digest[:12]}


def _labels(record: LabelBiasRecord) -> dict[str, Any]:
    return {
        "finding": record.finding,
        "sentence": record.sentence,
        "asked": [
            {
                "as": bias.interaction,
                "score": bias.score,
                "baseline": bias.score_baseline,
                "p": p_value(bias.p_value),
                "labels": [*map(asdict, bias.labels)],
            }
            for bias in record.interactions
        ],
    }


def _arm(record: ComparisonRecord) -> dict[str, Any]:
    names = ("first", "second", "changed", "difference", "low", "high")
    values = {name: getattr(record, name) for name in names}
    return values | {"p": p_value(record.p_value), "result": mark(record).word}


def _point(point: Point) -> dict[str, Any]:
    return asdict(point) | {"result": OUTCOMES[point.ended].word if point.ended else NONE}
