"""Turn the result files that arXiv 2404.13020 published into the archives of eval_suites/paper.

``python tools/paper_npz.py RESULTS OUT`` reads all files ``MODEL_TASK_SHOTS-shot.csv`` (or
``.csv.gz``) below the folder RESULTS, and writes ``correct_MODEL.npz`` for each model into the
folder OUT. What the arrays are is said in :mod:`pytest_maxrandom.recorded.npz`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_NAME = re.compile(r"(?P<model>[^_]+)_(?P<task>.+)_(?P<shots>\d+)-shot\.csv(\.gz)?")
_COLUMNS = ("Prompt ID", "Demonstration IDs in prompt", "Example ID", "Correct prediction")


def arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read a result file: prompts and examples in ascending order, whatever the file's order.

    Raises
    ------
    ValueError
        If a column is missing, or a prompt has two answers to one example that differ, or other
        demonstrations in another row.
    """
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        table = csv.DictReader(file)
        if missing := [name for name in _COLUMNS if name not in (table.fieldnames or ())]:
            raise ValueError(f"{path}: has no column {missing[0]!r}")
        rows = [[json.loads(row[name]) for name in _COLUMNS] for row in table]
    answers: dict[tuple[int, int], int] = {}
    shown: dict[int, list[int]] = {}
    for prompt, demonstrations, example, correct in rows:
        if answers.setdefault((prompt, example), correct) != correct:
            raise ValueError(f"{path}: prompt {prompt} answers example {example} in two ways")
        if shown.setdefault(prompt, demonstrations) != demonstrations:
            raise ValueError(f"{path}: prompt {prompt} has two lists of demonstrations")
    prompts, examples = sorted(shown), sorted({example for _, example in answers})
    row_of, column_of = _places(prompts), _places(examples)
    evaluated = np.zeros((len(prompts), len(examples)), dtype=bool)
    correct_ones = evaluated.copy()
    for (prompt, example), correct in answers.items():
        evaluated[row_of[prompt], column_of[example]] = True
        correct_ones[row_of[prompt], column_of[example]] = bool(correct)
    return {
        "correct": correct_ones,
        "evaluated": evaluated,
        "prompt_ids": np.array(prompts, dtype=np.int32),
        "example_ids": np.array(examples, dtype=np.int32),
        "demonstration_ids": np.array([shown[prompt] for prompt in prompts], dtype=np.int32),
    }


def archives(results: Path) -> dict[str, dict[str, NDArray[np.generic]]]:
    """Read all result files below a folder, by model."""
    models: dict[str, dict[str, NDArray[np.generic]]] = {}
    for path in sorted(results.rglob("*-shot.csv*")):
        if match := _NAME.fullmatch(path.name):
            archive = models.setdefault(match["model"], {})
            for name, array in arrays(path).items():
                archive[f"{match['task']}__{match['shots']}__{name}"] = array
    return models


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the tool; returns 0, or 2 after a mistake, which it names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("out", type=Path, metavar="OUT")
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        models = archives(options.results)
        if not models:
            raise ValueError(f"{options.results}: holds no file MODEL_TASK_SHOTS-shot.csv")
        options.out.mkdir(parents=True, exist_ok=True)
        for model, archive in models.items():
            path = options.out / f"correct_{model}.npz"
            np.savez_compressed(path, **archive)  # type: ignore[arg-type]
            print(path)
    except (OSError, ValueError) as error:
        print(f"paper_npz: {error}", file=sys.stderr)
        return 2
    return 0


def _places(ids: Iterable[int]) -> dict[int, int]:
    return {identifier: place for place, identifier in enumerate(ids)}


if __name__ == "__main__":
    sys.exit(main())
