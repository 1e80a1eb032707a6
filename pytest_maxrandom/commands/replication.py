"""`maxrandom replication`: do two arms differ, and would a single replicate have told otherwise?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands import add_command, json_text, table
from pytest_maxrandom.notation import NONE, accuracy, count, p_value, signed, span
from pytest_maxrandom.reports.text import shorten, visible
from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, compare_arms, paired
from pytest_maxrandom.stats.replication import unreplicated
from pytest_maxrandom.studies.arms.recorded import ROLES, Result, Unit, read_arms

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Cells = list[tuple[str, str]]

_SHOWN = 24
"""Characters of a name."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = (
        "test whether two arms differ, and how often a single replicate would have said otherwise"
    )
    parser = add_command(commands, "replication", run, text)
    add = parser.add_argument
    add(
        "file",
        type=Path,
        metavar="FILE",
        help=".csv or .csv.gz: columns task, replicate, arm, correct, n; or task, replicate, n and "
        "a column of accuracies for each arm",
    )
    add(
        "--compare",
        action="append",
        required=True,
        metavar="A-B",
        help="two arms; the difference is the accuracy of A minus that of B (may be repeated)",
    )
    add(
        "--by",
        type=_names,
        default=(),
        metavar="COLUMN,...",
        help="analyse these groups separately",
    )
    add(
        "--pool",
        type=_names,
        default=(),
        metavar="COLUMN,...",
        help="columns that distinguish several rows of one task and replicate within a group",
    )
    for role, usual in ROLES.items():
        add(f"--{role}", metavar="COLUMN", help=f"column of the {role} (default: {usual})")
    add("--slices", type=int, default=500, help="number of single draws (default: 500)")
    add("--confidence", type=float, default=0.89, help="level of all intervals (default: 0.89)")
    add(
        "--outside",
        type=float,
        default=0.04,
        metavar="LOG_ODDS",
        help="count single draws with an effect further from 0 than this (default: 0.04)",
    )
    add("--seed", type=int, default=0, help="seed of draws and signs (default: 0)")
    add(
        "--full",
        action="store_true",
        help="also sample the full hierarchical model (needs the extra bayes)",
    )
    add("--json", action="store_true", help="print JSON, unrounded")


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
    recorded = read_arms(
        options.file,
        options.compare,
        columns={role: name for role in ROLES if (name := getattr(options, role)) is not None},
        by=options.by,
        pool=options.pool,
    )
    results = [
        _result(dict(zip(options.by, group, strict=True)), a, b, units, options)
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
    return json_text(summary) if options.json else _text(summary)


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
        "single_draws": single
        and {
            **asdict(single),
            "model_contradicts": single.model_contradicts,
            "sign_flip_contradicts": single.sign_flip_contradicts,
        },
    }


def _full(
    units: dict[Unit, dict[str, Result]], a: str, b: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Sample the full model; what is pooled, such as models, has its own level there."""
    from pytest_maxrandom.studies.hierarchical import hierarchical_model

    models: dict[tuple[str, ...], dict[Unit, dict[str, Result]]] = {}
    for unit, arms in units.items():
        models.setdefault(unit.pooled, {})[unit] = arms
    fitted = hierarchical_model(
        {", ".join(name): _pairs(models[name], a, b) for name in sorted(models)},
        confidence=options.confidence,
        seed=options.seed,
    )
    reason = fitted.diagnostics.reason
    return {**asdict(fitted), "conclusive": reason is None, "reason": reason}


def _text(summary: dict[str, Any]) -> str:
    """Write the results, as the JSON has them, for people."""
    results = summary["results"]
    drawn = [result for result in results if result["single_draws"] is not None]
    confidence, level = f"{summary['confidence'] * 100:g} %", accuracy(1 - summary["confidence"], 2)
    tasks = span([len(result["tasks"]) for result in results])
    pairs = span([result["pairs"] for result in results])
    lines = [
        f"All replicates: tasks {tasks}, pairs {pairs}",
        "",
        _table(results, lambda result: _all_replicates(result, confidence)),
        "",
        "difference   mean over tasks of (accuracy of the first arm - accuracy of the second),",
        "             with interval and p by sign-flip over tasks",
        "q            smallest adjusted p of a single task, by sign-flip over its replicates",
        "effect       in log odds, by the conditional model; with its interval, which is too",
        "             narrow by the square root of",
        "dispersion   variance between pairs over binomial variance",
    ]
    fewest = max(results, key=lambda result: float(result["smallest_p"]))
    if fewest["smallest_p"] > 1 - summary["confidence"]:
        few = len(fewest["tasks"])
        lines += [
            "",
            f"With {count(few)} task{'s' * (few > 1)} no p over tasks is below "
            f"{p_value(fewest['smallest_p'])}, and the interval is not informative.",
        ]
    lines += _full_model(results, confidence)
    if not drawn:
        return "\n".join([*lines, "", "No task has a second replicate, so nothing can be drawn."])
    return "\n".join(
        [
            *lines,
            "",
            f"One replicate of each task: {count(summary['slices'])} draws, seed {summary['seed']}",
            "",
            _table(drawn, _single_draws),
            "",
            f"all          better or worse if its p is at most {level}, else not shown",
            f"far          share of the draws with an effect further from 0 than "
            f"{accuracy(summary['outside'], 2)}",
            "model        share whose interval is above (+) or below (-) 0",
            f"sign-flip    share in which p is at most {level}, with a difference above (+) or "
            "below (-) 0",
            "contrary     share that disagrees with the sign-flip over all replicates",
        ]
    )


def _full_model(results: list[dict[str, Any]], confidence: str) -> list[str]:
    """Write what was sampled, and why nothing can be concluded from it."""
    if results[0]["full"] is None:
        return []
    first = results[0]["full"]
    refused = [
        f"{_name(result['a'] + '-' + result['b'])}"
        f"{''.join(' ' + _name(value) for value in result['group'].values())}: "
        f"no conclusion, {result['full']['reason']}"
        for result in results
        if not result["full"]["conclusive"]
    ]
    return [
        "",
        f"The full hierarchical model: {first['chains']} chains of {count(first['draws'])} draws "
        f"after {count(first['tune'])}",
        "",
        _table(results, lambda result: _full_cells(result, confidence)),
        "",
        "effect       in log odds; predicted: the difference in a repetition of these pairs; both",
        "             too narrow where the dispersion is above 1",
        "R-hat, ESS   the worst of all parameters but the pairs', and of the average difference",
        *refused,
    ]


def _table(results: list[dict[str, Any]], cells: Callable[[dict[str, Any]], Cells]) -> str:
    """Names of comparison and group on the left, figures below each other."""
    groups = results[0]["group"]
    rows = [["compare", *map(_name, groups), *(heading for heading, _ in cells(results[0]))]]
    for result in results:
        names = [f"{result['a']}-{result['b']}", *result["group"].values()]
        rows.append([*map(_name, names), *(cell for _, cell in cells(result))])
    return table(rows, left=1 + len(groups))


def _all_replicates(result: dict[str, Any], confidence: str) -> Cells:
    effect, dispersion = result["effect"], result["overdispersion"]
    return [
        ("difference", signed(result["difference"], 4)),
        (confidence, _interval(result["low"], result["high"], 4)),
        ("p", p_value(result["p_value"])),
        ("q (BH)", _smallest(result["tasks"], "bh")),
        ("q (Holm)", _smallest(result["tasks"], "holm")),
        ("effect", signed(effect["mean"])),
        (confidence, _interval(effect["low"], effect["high"])),
        ("dispersion", NONE if dispersion is None else f"{dispersion:.1f}"),
    ]


def _full_cells(result: dict[str, Any], confidence: str) -> Cells:
    full = result["full"]
    diagnostics = full["diagnostics"]
    rhat, bulk, tail = (diagnostics[name]["value"] for name in ("rhat", "ess_bulk", "ess_tail"))
    return [
        ("effect", signed(full["mean"])),
        (confidence, _interval(full["low"], full["high"])),
        ("predicted", signed(full["difference"], 4)),
        (confidence, _interval(full["difference_low"], full["difference_high"], 4)),
        ("R-hat", NONE if rhat is None else f"{rhat:.3f}"),
        ("bulk ESS", NONE if bulk is None else f"{bulk:,.0f}"),
        ("tail ESS", NONE if tail is None else f"{tail:,.0f}"),
        ("divergences", count(diagnostics["divergences"])),
    ]


def _single_draws(result: dict[str, Any]) -> Cells:
    single = result["single_draws"]
    cells = [
        ("all replicates", single["all_replicates"]),
        ("90 % of differences", _interval(single["difference_low"], single["difference_high"])),
        ("far", accuracy(single["outside"], 2)),
    ]
    for kind, name in (("model", "model"), ("sign_flip", "sign-flip")):
        cells += [
            (f"{name} +", accuracy(single[kind]["better"], 2)),
            ("-", accuracy(single[kind]["worse"], 2)),
            ("contrary", accuracy(single[f"{kind}_contradicts"], 2)),
        ]
    return cells


def _smallest(tasks: list[dict[str, Any]], adjusted: str) -> str:
    known = [task[adjusted] for task in tasks if task[adjusted] is not None]
    return p_value(min(known, default=None))


def _interval(low: float, high: float, decimals: int = 3) -> str:
    return f"{signed(low, decimals)} to {signed(high, decimals)}"


def _name(text: str) -> str:
    return shorten(visible(text), _SHOWN)
