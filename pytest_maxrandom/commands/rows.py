"""What the commands share: tables and JSON, the arguments of a baseline and its rows."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from typing import Any

Rows = list[tuple[str, str]]


def table(rows: Rows) -> str:
    """Write pairs (label, value), one a line, values below each other."""
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)


def json_text(value: object) -> str:
    """Write JSON for people and programs."""
    return json.dumps(value, indent=2)


def add_baseline_arguments(command: argparse.ArgumentParser) -> None:
    """Add what every question about a baseline needs."""
    command.add_argument(
        "--choices",
        type=_choices,
        required=True,
        help="choices of each example: 4, or choices:examples of each kind: 2:50,5:50",
    )
    command.add_argument("--alpha", type=float, default=0.05, help="level; 0.05 by default")
    command.add_argument("--json", action="store_true", help="print JSON, unrounded")


def _choices(text: str) -> int | dict[int, int]:
    """Read "4", or "2:50,5:50" as {choices: examples}."""
    try:
        if ":" not in text:
            return int(text)
        mix: dict[int, int] = {}
        for part in text.split(","):
            choices, _, examples = part.partition(":")
            mix[int(choices)] = mix.get(int(choices), 0) + int(examples)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a number of choices such as 4, or choices:examples of each "
            "kind such as 2:50,5:50"
        ) from None
    return mix


def chance_of(choices: int | dict[int, int]) -> Any:
    """Return the chance that the statistics take."""
    for each in choices if isinstance(choices, dict) else (choices,):
        if each < 2:
            raise ValueError(
                f"--choices: found {each}, expected at least 2: of one choice there is nothing to "
                "guess"
            )
    return choices if isinstance(choices, dict) else Fraction(1, choices)


def baseline_rows(summary: dict[str, Any]) -> Rows:
    """Return the rows of a summary by `baseline_summary`."""
    n, t, alpha = summary["n"], summary["t"], summary["alpha"]
    rows = [
        ("examples n", str(n)),
        ("prompts t", str(t)),
        ("standard baseline", f"{summary['standard_baseline']:.4f}"),
        ("maximum random baseline", f"{summary['max_random_baseline']:.4f}"),
        (f"needed for p_max <= {alpha:g}", _needed(summary["critical_count"], n, summary["min_p"])),
    ]
    if "correct" in summary:
        rows += [
            ("best prompt", f"{summary['correct']}/{n} = {summary['accuracy']:.4f}"),
            ("p_standard", f"{summary['p_standard']:.4g}"),
            ("p_max", f"{summary['p_max']:.4g}"),
            ("union p", f"{summary['union_p']:.4g}"),
        ]
    return rows


def _needed(count: int | None, n: int, smallest: float) -> str:
    if count is None:
        return f"impossible: even {n}/{n} has p_max {smallest:.4g}"
    return f"{count}/{n} = {count / n:.4f}"
