"""`maxrandom replication`: do two arms differ, and would a single replicate have told otherwise?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands.replication_text import replication_text
from pytest_maxrandom.commands.rows import json_text
from pytest_maxrandom.recorded.arms import ArmColumns, read_arms
from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import compare_arms, paired
from pytest_maxrandom.stats.replication import unreplicated

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.recorded.arms import Result, Unit
    from pytest_maxrandom.stats.paired import Pairs
    from pytest_maxrandom.stats.replication import Unreplicated

_ROLES = {
    "task": "task",
    "replicate": "replicate, or else subsample",
    "n": "n",
    "arm": "arm",
    "correct": "correct",
}
"""Columns, and what they are called unless an option says otherwise."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "whether two arms differ, and how often a single replicate would have told otherwise"
    parser = commands.add_parser("replication", help=text, description=text.capitalize())
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help=".csv or .csv.gz: columns task, replicate, arm, correct, n; or task, replicate, n and "
        "a column of accuracies for each arm",
    )
    parser.add_argument(
        "--compare",
        action="append",
        required=True,
        metavar="A-B",
        help="two arms; the difference is accuracy of A minus accuracy of B (repeat for more)",
    )
    parser.add_argument(
        "--by", type=_names, default=(), metavar="COLUMN,...", help="analyse these groups apart"
    )
    parser.add_argument(
        "--pool",
        type=_names,
        default=(),
        metavar="COLUMN,...",
        help="columns that tell apart several rows of one task and replicate within a group",
    )
    for role, usual in _ROLES.items():
        parser.add_argument(f"--{role}", metavar="COLUMN", help=f"its name; by default {usual}")
    parser.add_argument("--slices", type=int, default=500, help="single draws; 500 by default")
    parser.add_argument(
        "--confidence", type=float, default=0.89, help="of all intervals; 0.89 by default"
    )
    parser.add_argument(
        "--outside",
        type=float,
        default=0.04,
        metavar="LOG_ODDS",
        help="count the single draws whose effect is further from 0; 0.04 by default",
    )
    parser.add_argument("--seed", type=int, default=0, help="of draws and signs; 0 by default")
    parser.add_argument(
        "--full",
        action="store_true",
        help="sample the full hierarchical model too (needs the extra bayes)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, unrounded")
    parser.set_defaults(run=run)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def run(options: argparse.Namespace) -> str:
    """Analyse every group and comparison of the file.

    Raises
    ------
    MaxRandomError
        If the file is wrong, or the full model is asked for and not installed.
    TypeError, ValueError
        If an option is outside its domain.
    """
    if options.full:
        from pytest_maxrandom.studies.hierarchical import require_libraries

        require_libraries()
    named = {role: getattr(options, role) for role in _ROLES}
    recorded = read_arms(
        options.file,
        options.compare,
        columns=ArmColumns(**{role: name for role, name in named.items() if name is not None}),
        by=options.by,
        pool=options.pool,
    )
    results = [
        _result(dict(zip(recorded.by, group, strict=True)), a, b, units, options)
        for a, b in recorded.comparisons
        for group, units in recorded.groups.items()
    ]
    summary = {
        "file": str(options.file),
        "confidence": options.confidence,
        "slices": options.slices,
        "outside": options.outside,
        "seed": options.seed,
        "results": results,
    }
    return json_text(summary) if options.json else replication_text(summary)


def _pairs(units: dict[Unit, dict[str, Result]], a: str, b: str) -> Pairs:
    return paired(
        [unit.task for unit in units],
        [unit.replicate for unit in units],
        [arms[a].correct for arms in units.values()],
        [arms[a].n for arms in units.values()],
        [arms[b].correct for arms in units.values()],
        [arms[b].n for arms in units.values()],
    )


def _result(
    group: dict[str, str],
    a: str,
    b: str,
    units: dict[Unit, dict[str, Result]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    pairs = _pairs(units, a, b)
    comparison = compare_arms(pairs, confidence=options.confidence, seed=options.seed)
    single = None
    if any(task.replicates > 1 for task in comparison.tasks):
        single = unreplicated(
            pairs,
            slices=options.slices,
            confidence=options.confidence,
            outside=options.outside,
            seed=options.seed,
        )
    effect = conditional_likelihood(pairs).posterior(options.confidence)
    return {
        "group": group,
        "a": a,
        "b": b,
        "pairs": comparison.pairs,
        "difference": comparison.difference,
        "low": comparison.low,
        "high": comparison.high,
        "p_value": comparison.test.p_value(),
        "smallest_p": comparison.test.smallest_p,
        "overdispersion": comparison.overdispersion,
        "effect": asdict(effect),
        "full": _full(units, a, b, options) if options.full else None,
        "tasks": [asdict(task) for task in comparison.tasks],
        "single_draws": None if single is None else _single(single),
    }


def _single(found: Unreplicated) -> dict[str, Any]:
    return {
        **asdict(found),
        "model_contradicts": found.model_contradicts,
        "sign_flip_contradicts": found.sign_flip_contradicts,
    }


def _full(
    units: dict[Unit, dict[str, Result]], a: str, b: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Sample the full model; what is pooled, such as models, has its own level there."""
    from pytest_maxrandom.studies.hierarchical import hierarchical_model

    models: dict[tuple[str, ...], dict[Unit, dict[str, Result]]] = {}
    for unit, arms in units.items():
        models.setdefault(unit.pooled, {})[unit] = arms
    found = hierarchical_model(
        {", ".join(name): _pairs(models[name], a, b) for name in sorted(models)},
        confidence=options.confidence,
        seed=options.seed,
    )
    diagnostics = found.diagnostics
    return {
        **asdict(found),
        "diagnostics": {
            **asdict(diagnostics),
            **{
                name: getattr(diagnostics, name)._asdict()
                for name in ("rhat", "ess_bulk", "ess_tail")
            },
        },
        "conclusive": found.conclusive,
        "reason": found.reason,
    }
