"""Records whose every text is one that may do harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_maxrandom.record import Outcome, Recorded, Remark, RunRecord
from tests.unit.reports.samples import (
    calibrated,
    claim,
    comparison,
    contamination,
    flag,
    interaction,
    label_bias,
    over_tasks,
    recorded,
    replicates,
    run,
)

HOSTILE = "a|b <img> @someone ` `` \n](x) $math$ #12 :smile: \u200f\x1b[31m <!-- </details> \\|"


def hidden_in(text: str, *, outcome: Outcome = "failed") -> RunRecord:
    """Make a run in which every text that comes from files is `text`."""
    first = claim(
        best=38,
        task=text,
        model=text,
        id=f"suite.yaml::{text}",
        suite=text,
        revision=text,
        scoring=text,
        metric=text,
        message=text,
        xfail=text,
        critical_count=None,
        outcome=outcome,
        red_flags=[flag(text, severity="fail"), flag(text)],
        notes=[Remark(text=text)],
        asserted={text: text},
    )
    third = recorded(task=text, model=text, id=f"other.yaml::{text}", published="below standard")
    assert third.published is not None
    third = replace(
        third,
        recorded=Recorded(path=text, format=text, stated=[text]),
        published=replace(third.published, changes=[Remark(text=text)] * 2),
        warnings=[Remark(text=text)],
        notes=[Remark(text=text)],
    )
    assert first.best_prompt is not None
    prompt = replace(
        first.best_prompt,
        text=text,
        question=text,
        answers=[text],
        digest=text,
        demonstration_ids=[text],
    )
    first = replace(first, best_prompt=prompt)
    return run(first, claim(), third, **designs_hiding(text, outcome), created=text)


def designs_hiding(text: str, outcome: Outcome) -> dict[str, Any]:
    """Make records of all other kinds, and versions, whose every text is `text`."""
    told: dict[str, Any] = {
        "suite": text,
        "task": text,
        "message": text,
        "xfail": text,
        "outcome": outcome,
        "notes": [Remark(text=text)],
        "warnings": [Remark(text=text)],
    }
    repeated = replicates(45, 30, claim=text, id=f"r.yaml::{text}", model=text, **told)
    repeated.asserted = {text: text, "in_replicates": 0.9}
    for one in repeated.runs:
        one.best_prompt, one.demonstration_ids = text, [text]
    names: dict[str, Any] = {"first": text, "second": text, "changed": text}
    both = comparison(id=f"c.yaml::{text}", asserted={text: text}, **names, **told)
    tuned = contamination(id=f"t.yaml::{text}", base=text, extra=text, test=text, **told)
    asked = interaction(0.98, None, 0.01, 0.01, calibrated=[calibrated(prior={text: 1.0})])
    for row in asked.labels:
        row.label = text
    asked.best_prompt = asked.score_prompt = text
    biased = label_bias(asked, id=f"l.yaml::{text}", claim=text, model=text, **told)
    biased.sentence = f"Found: {text}"
    return {
        "versions": {"Python": text},
        "replicates": [repeated],
        "label_bias": [biased],
        "comparisons": [both],
        "contamination": [tuned],
        "over_tasks": [over_tasks(first=text, second=text)],
    }
