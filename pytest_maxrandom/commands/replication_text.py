"""What `maxrandom replication` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, p_value, span
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 24
"""Characters of a name."""


def replication_text(summary: dict[str, Any]) -> str:
    """Write the results of `maxrandom replication`, as its JSON has them, for people."""
    results = summary["results"]
    drawn = [each for each in results if each["single_draws"] is not None]
    confidence, level = f"{summary['confidence'] * 100:g} %", accuracy(1 - summary["confidence"], 2)
    tasks = span([len(each["tasks"]) for each in results])
    pairs = span([each["pairs"] for each in results])
    header = [
        *("difference", confidence, "p", "q (BH)", "q (Holm)"),
        *("effect", confidence, "dispersion"),
    ]
    lines = [
        f"All replicates: tasks {tasks}, pairs {pairs}",
        "",
        *_table(header, results, _all_replicates),
        "",
        "difference   mean over tasks of (accuracy of the first arm - accuracy of the second),",
        "             with interval and p by sign-flip over tasks",
        "q            smallest adjusted p of a single task, by sign-flip over its replicates",
        "effect       in log odds, by the conditional model; with its interval, which is too",
        "             narrow by the square root of",
        "dispersion   variance between pairs over binomial variance",
    ]
    fewest = max(results, key=lambda each: float(each["smallest_p"]))
    if fewest["smallest_p"] > 1 - summary["confidence"]:
        few = len(fewest["tasks"])
        lines += [
            "",
            f"With {count(few)} task{'s' * (few > 1)} no p over tasks is below "
            f"{p_value(fewest['smallest_p'])}, and the interval says nothing.",
        ]
    lines += _full_model(results, confidence)
    if not drawn:
        return "\n".join([*lines, "", "No task has a second replicate, so nothing can be drawn."])
    header = [
        *("all replicates", "90 % of differences", "far"),
        *("model +", "-", "contrary", "sign-flip +", "-", "contrary"),
    ]
    return "\n".join(
        [
            *lines,
            "",
            f"One replicate of each task: {count(summary['slices'])} draws, seed {summary['seed']}",
            "",
            *_table(header, drawn, _single_draws),
            "",
            f"all          better or worse where its p is at most {level}, else not shown",
            f"far          share of the draws with an effect further from 0 than "
            f"{accuracy(summary['outside'], 2)}",
            "model        share whose interval is above (+) or below (-) 0",
            f"sign-flip    share in which p is at most {level}, with a difference above (+) or "
            "below (-) 0",
            "contrary     share that does not say what the sign-flip says of all replicates",
        ]
    )


def _full_model(results: list[dict[str, Any]], confidence: str) -> list[str]:
    """Write what was sampled, and why nothing can be concluded from it."""
    if results[0]["full"] is None:
        return []
    first = results[0]["full"]
    header = [
        *("effect", confidence, "predicted", confidence),
        *("R-hat", "bulk ESS", "tail ESS", "divergences"),
    ]
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
        *_table(header, results, _full_cells),
        "",
        "effect       in log odds; predicted: the difference in a repetition of these pairs; both",
        "             too narrow where the dispersion is above 1",
        "R-hat, ESS   the worst of all parameters but the pairs', and of the average difference",
        *refused,
    ]


def _full_cells(result: dict[str, Any]) -> list[str]:
    full = result["full"]
    found = full["diagnostics"]
    rhat, bulk, tail = (found[name]["value"] for name in ("rhat", "ess_bulk", "ess_tail"))
    return [
        _signed(full["mean"]),
        _interval(full["low"], full["high"]),
        _signed(full["difference"], 4),
        _interval(full["difference_low"], full["difference_high"], 4),
        NONE if rhat is None else f"{rhat:.3f}",
        *(NONE if ess is None else f"{ess:,.0f}" for ess in (bulk, tail)),
        count(found["divergences"]),
    ]


def _table(
    header: list[str], results: list[dict[str, Any]], cells: Callable[[dict[str, Any]], list[str]]
) -> list[str]:
    """Names of comparison and group on the left, figures below each other."""
    groups = list(results[0]["group"])
    rows = [["compare", *map(_name, groups), *header]]
    rows += [
        [_name(f"{each['a']}-{each['b']}"), *map(_name, each["group"].values()), *cells(each)]
        for each in results
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place <= len(groups) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _all_replicates(result: dict[str, Any]) -> list[str]:
    tasks, effect = result["tasks"], result["effect"]
    dispersion = result["overdispersion"]
    return [
        _signed(result["difference"], 4),
        _interval(result["low"], result["high"], 4),
        p_value(result["p_value"]),
        _smallest(tasks, "bh"),
        _smallest(tasks, "holm"),
        _signed(effect["mean"]),
        _interval(effect["low"], effect["high"]),
        NONE if dispersion is None else f"{dispersion:.1f}",
    ]


def _single_draws(result: dict[str, Any]) -> list[str]:
    single = result["single_draws"]
    shares = [
        share
        for kind in ("model", "sign_flip")
        for share in (single[kind]["better"], single[kind]["worse"], single[f"{kind}_contradicts"])
    ]
    return [
        single["all_replicates"],
        _interval(single["difference_low"], single["difference_high"]),
        *(accuracy(share, 2) for share in (single["outside"], *shares)),
    ]


def _smallest(tasks: list[dict[str, Any]], adjusted: str) -> str:
    return p_value(
        min((task[adjusted] for task in tasks if task[adjusted] is not None), default=None)
    )


def _interval(low: float, high: float, decimals: int = 3) -> str:
    return f"{_signed(low, decimals)} to {_signed(high, decimals)}"


def _signed(value: float, decimals: int = 3) -> str:
    shown = accuracy(abs(value), decimals)
    return shown if float(shown) == 0 else ("-" if value < 0 else "+") + shown


def _name(text: str) -> str:
    return shorten(visible(text), _SHOWN)
