"""`maxrandom plan`: how many examples, or how few prompts, an honest claim needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands.rows import (
    add_baseline_arguments,
    baseline_rows,
    chance_of,
    json_text,
    table,
)
from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.sizes import plan

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.commands.rows import Rows


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "how many examples, or how few prompts, an honest claim needs"
    parser = commands.add_parser("plan", help=text, description=text.capitalize())
    parser.add_argument("--n", type=int, help="examples at hand")
    parser.add_argument("--t", type=int, help="prompts to be tried")
    parser.add_argument("--below", type=float, help="keep the expected maximum at or below this")
    parser.add_argument("--true-accuracy", type=float, help="what the best prompt hopefully has")
    add_baseline_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Answer every planning question that the options pose.

    Raises
    ------
    TypeError, ValueError
        If neither n nor t is given, or an option is outside its domain.
    """
    answers = plan(
        chance_of(options.choices),
        options.n,
        options.t,
        below=options.below,
        true_accuracy=options.true_accuracy,
        alpha=options.alpha,
    )
    return json_text(answers) if options.json else table(_rows(answers))


def _rows(answers: dict[str, Any]) -> Rows:
    given = answers["given"]
    below, hoped = given["below"], given["true_accuracy"]
    rows = baseline_rows(answers["baseline"]) if "baseline" in answers else []
    labels = {
        "smallest_n": "fewest examples that can pass",
        "n_for_expected_maximum": f"examples for expected maximum <= {below}",
        "largest_t": "most prompts that can pass",
        "largest_t_for_expected_maximum": f"most prompts for expected maximum <= {below}",
    }
    rows += [(label, _counted(answers[key])) for key, label in labels.items() if key in answers]
    by_power = {
        "n_for_power": "examples for {power} % power at true accuracy " + str(hoped),
        "largest_t_for_power": "most prompts for {power} % power at true accuracy " + str(hoped),
    }
    for key, label in by_power.items():
        rows += [
            (label.format(power=_percent(power)), _counted(value))
            for power, value in answers.get(key, {}).items()
        ]
    rows += [
        (f"true accuracy for {_percent(power)} % power", "-" if value is None else f"{value:.4f}")
        for power, value in answers.get("true_accuracy_for_power", {}).items()
    ]
    if "power" in answers:
        rows.append((f"power at true accuracy {hoped}", f"{answers['power']:.3f}"))
    return rows


def _counted(value: int | None) -> str:
    if value is None:
        return "none"
    return "no limit" if value >= MOST_GUESSERS else f"{value:,}"


def _percent(power: str) -> str:
    return f"{float(power) * 100:g}"
