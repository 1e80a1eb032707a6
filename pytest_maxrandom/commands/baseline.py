"""`maxrandom baseline`: the best of t random guessers on n examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.commands.rows import (
    add_baseline_arguments,
    baseline_rows,
    chance_of,
    json_text,
    table,
)
from pytest_maxrandom.stats.sizes import baseline_summary

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "the maximum random baseline of n examples and t prompts"
    parser = commands.add_parser("baseline", help=text, description=text.capitalize())
    parser.add_argument("--n", type=int, help="examples; counted from --choices if mixed")
    parser.add_argument("--t", type=int, required=True, help="prompts that were tried")
    parser.add_argument("--correct", type=int, help="right answers of the best prompt")
    add_baseline_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Return the baseline and what it takes to pass.

    Raises
    ------
    TypeError, ValueError
        If an option is outside its domain.
    """
    if options.n is None and not isinstance(options.choices, dict):
        raise ValueError("--n is needed where --choices is one number; it counts the examples")
    summary = baseline_summary(
        options.n, chance_of(options.choices), options.t, options.correct, options.alpha
    )
    return json_text(summary) if options.json else table(baseline_rows(summary))
