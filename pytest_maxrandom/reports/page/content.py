"""What a claim opens to: all that is known of it, in builtin types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import accuracy, count, p_value
from pytest_maxrandom.reports import phrases
from pytest_maxrandom.reports.curves import curve
from pytest_maxrandom.reports.html import HTML
from pytest_maxrandom.reports.page.cells import may_show
from pytest_maxrandom.reports.red_flags import does, page_of, remedy
from pytest_maxrandom.reports.summary import model_name
from pytest_maxrandom.reports.wording import metric_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, ComparisonRecord, LabelBiasRecord, RunRecord
    from pytest_maxrandom.reports.page.cells import Cells, Texts


def content(
    run: RunRecord,
    claim: ClaimRecord,
    cells: Cells | None,
    *,
    names: Mapping[str, str],
    told: str,
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
    told : str
        HTML of all else that is known of it.
    trend : sequence of mapping
        The same claim in earlier runs, the oldest first: `pytest_maxrandom.reports.trend.Point`.
    """
    shown = may_show(claim, texts)
    return {
        "id": claim.id,
        "name": names[claim.id],
        "task": claim.task,
        "model": model_name(claim),
        "numbers": _numbers(claim),
        "why": phrases.finding(claim) or phrases.result(claim),
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
        "told": told,
        "counts": claim.correct_counts,
        "n": claim.n,
        "texts": shown,
        "prompt": _prompt(claim) if shown else None,
        "best": claim.best_prompt.index if claim.best_prompt else None,
        "curve": curve(claim),
        "labels": [_labels(each) for each in run.label_bias if each.claim == claim.id],
        "arms": [_arm(each) for each in run.comparisons if _is_beside(each, claim)],
        "trend": list(trend),
        "cells": cells,
    }


def _numbers(claim: ClaimRecord) -> list[tuple[str, str]]:
    needed = claim.critical_score
    if needed is None and claim.critical_count is not None and claim.n:
        needed = claim.critical_count / claim.n
    interval = phrases.best_interval(claim)
    return [
        ("best accuracy" if claim.metric == "accuracy" else f"best {metric_name(claim)}",
         accuracy(phrases.best_value(claim))),
        *([("on new questions, 95 %", " to ".join(map(accuracy, interval)))] if interval else []),
        ("needed", accuracy(needed)),
        ("maximum random baseline", accuracy(claim.max_random_baseline)),
        ("standard baseline", accuracy(claim.standard_baseline)),
        (phrases.decisive_name(claim) or "p_max", phrases.decisive_p(claim)),
        ("n", count(claim.n)),
        ("t", count(claim.t)),
    ]  # fmt: skip


def _prompt(claim: ClaimRecord) -> dict[str, Any] | None:
    best = claim.best_prompt
    if best is None or best.text is None:
        return None
    return {
        "text": best.text,
        "question": best.question,
        "answers": best.answers,
        "digest": best.digest[:12],
        "demonstrations": best.demonstration_ids,
        "tied": best.tied_with,
    }


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
                "labels": [
                    {
                        "label": each.label,
                        "gold": each.gold,
                        "recall": each.recall,
                        "predicted": each.predicted,
                        "base": each.base_rate,
                    }
                    for each in bias.labels
                ],
            }
            for bias in record.interactions
        ],
    }


def _is_beside(record: ComparisonRecord, claim: ClaimRecord) -> bool:
    """Tell whether a comparison of arms is about the same task and shots of the same suite."""
    return (record.suite, record.task, record.shots) == (claim.suite, claim.task, claim.shots)


def _arm(record: ComparisonRecord) -> dict[str, Any]:
    return {
        "first": record.first,
        "second": record.second,
        "changed": record.changed,
        "difference": record.difference,
        "low": record.low,
        "high": record.high,
        "p": p_value(record.p_value),
        "passed": record.passed,
    }


def detail(facts: Sequence[Any]) -> str:
    """Write facts as HTML, without red flags, which stand by themselves."""
    return HTML.fact_list([fact for fact in facts if not str(fact[0]).startswith("🚩")])
