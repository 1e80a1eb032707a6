"""`maxrandom holdout`: does beating a baseline on validation foretell the test accuracy?"""

from __future__ import annotations

from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands import add_command, json_text, table
from pytest_maxrandom.errors import MaxRandomError, RecordedError
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.recorded.sources import ChoiceTable, read, read_choices, with_choices
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.studies.holdout import Study, Trials, predictive_values, split_trials

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.answers import Answers

_COLUMNS = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "auroc": "AUROC",
    "aupr": "AUPR",
    "auroc_F": "AUROC of F",
    "aupr_F": "AUPR of F",
}
_TOTAL = "total"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = (
        "measure how well a validation accuracy above a baseline predicts a test accuracy above "
        "chance"
    )
    parser = add_command(commands, "holdout", run, text)
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="recorded predictions: .jsonl written by pytest --maxrandom-predictions, or .npz",
    )
    parser.add_argument(
        "--choices",
        help="the number of choices, if the files do not give it, or a CSV file with the columns "
        "model, task, shots, choices",
    )
    add_study_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, unrounded")


def add_study_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how the examples are split, and how n and t are counted."""
    add = parser.add_argument
    add("--splits", type=int, default=100, help="random splits of each sweep (default: 100)")
    add(
        "--validation",
        type=float,
        default=0.75,
        help="share of the examples that select the prompt (default: .75)",
    )
    add("--seed", type=int, default=0, help="seed of the splits (default: 0)")
    add(
        "--conventions",
        choices=("exact", "paper"),
        default="exact",
        help="exact (the default): n counts the examples that a prompt was scored on, t the "
        "distinct prompts; paper: n is the size of the validation part, t counts repeated prompts",
    )


def run(options: argparse.Namespace) -> str:
    """Analyse all sweeps of the files.

    Raises
    ------
    MaxRandomError
        If a file is wrong, a sweep stands in two files, or scikit-learn is not installed.
    ValueError
        If an option is outside its domain.
    """
    studies = studies_of(options.files, options)
    summary = {
        "sweeps": sum(len(study.sizes) for study in studies),
        "splits": options.splits,
        "validation": options.validation,
        "seed": options.seed,
        "conventions": options.conventions,
        "models": {study.name: _summary(study.trials) for study in studies},
        _TOTAL: _summary(Study.together(_TOTAL, studies).trials),
    }
    return json_text(summary) if options.json else _text(summary)


def studies_of(files: list[Path], options: argparse.Namespace) -> list[Study]:
    """Split the examples of all sweeps of some files as the options say; a study for each model.

    Raises
    ------
    MaxRandomError
        If scikit-learn is not installed.
    RecordedError
        If a file is wrong, a sweep stands in two of them, or cannot be split so.
    """
    if find_spec("sklearn") is None:
        raise MaxRandomError(
            "the areas under the curves need the package scikit-learn; "
            'install it with `pip install "pytest-maxrandom[holdout]"`'
        )
    models: dict[str, list[Study]] = {}
    for sweep in _read_sweeps(files, options.choices):
        counted = sweep.distinct() if options.conventions == "exact" else sweep
        seed = digest("holdout", options.seed, sweep.model, sweep.task, sweep.shots)
        try:
            trials = split_trials(
                counted.correct,
                counted.evaluated,
                counted.chances or (),
                splits=options.splits,
                validation=options.validation,
                seed=int(seed, 16),
                conventions=options.conventions,
            )
        except ValueError as error:
            raise RecordedError(f"{sweep.path}: {sweep.claim}: {error}") from error
        t, n = counted.correct.shape
        models.setdefault(sweep.model, []).append(Study(sweep.model, trials, (n,), (t,)))
    return [Study.together(model, studies) for model, studies in models.items()]


def _read_sweeps(files: list[Path], choices: str | None) -> list[Answers]:
    """Read all sweeps of some files, with their chances; none may stand in two of them."""
    known: int | ChoiceTable | None = None if choices is None else read_choices(choices)
    sweeps: dict[str, Answers] = {}
    for path in files:
        for sweep in read(path):
            if sweep.claim in sweeps:
                raise RecordedError(
                    f"{path}: {sweep.claim}: {sweeps[sweep.claim].path} has the same claim; name "
                    "each file once, and one run at a time"
                )
            told = f"{sweep.model} (simulated)" if sweep.simulated else sweep.model
            sweeps[sweep.claim] = replace(with_choices(sweep, known), model=told)
    return list(sweeps.values())


def _summary(trials: Trials) -> dict[str, Any]:
    values = predictive_values(trials)
    return {
        "trials": len(trials),
        "test_above_chance": float(trials.test_above_chance.mean()),
        **{baseline: asdict(value) for baseline, value in values.items()},
    }


def _text(summary: dict[str, Any]) -> str:
    share = f"{summary['validation']:.0%}"
    sweeps = "1 sweep" if summary["sweeps"] == 1 else f"{summary['sweeps']} sweeps"
    heading = (
        f"{sweeps}, {summary['splits']} splits each, {share} validation, "
        f"seed {summary['seed']}, {summary['conventions']} conventions"
    )
    rows = [["model", "baseline", "trials", "test above standard", *_COLUMNS.values()]]
    models = dict(summary["models"])
    if len(models) > 1:
        models[_TOTAL] = summary[_TOTAL]
    for model, values in models.items():
        above = accuracy(values["test_above_chance"])
        for baseline in ("standard", "maximum"):
            figures = [accuracy(values[baseline][key]) for key in _COLUMNS]
            rows.append([model, baseline, count(values["trials"]), above, *figures])
    return f"{heading}\n\n{table(rows, left=2)}"
