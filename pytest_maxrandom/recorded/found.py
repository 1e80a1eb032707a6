"""What a file or folder of results holds, of which nobody has said anything yet."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import RecordedError, did_you_mean, listed
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.recorded.files import opened
from pytest_maxrandom.recorded.guesses import guess
from pytest_maxrandom.recorded.names import plain
from pytest_maxrandom.recorded.sources import READERS, read_results
from pytest_maxrandom.recorded.tables.files import ENDINGS, read_columns
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.suite.mistakes import worded
from pytest_maxrandom.suite.recorded import RESULTS, SummaryColumns, TableColumns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.roles import Guessed

_OF_PREDICTIONS = {"schema_version", "claim", "examples"}
"""Keys of a line that `--maxrandom-predictions` wrote, and of no table."""
_KNOWN = ".csv, .jsonl, .parquet, .npz, .eval or .json, or a folder of logs"
_WAYS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save it as CSV"),
    **dict.fromkeys((".tsv", ".tab"), "rename it to .csv, where tabs are read as well"),
}
_JOINED = "join them into one, with a column `prompt`"


@dataclass(slots=True)
class FoundResults:
    """The results of a file or folder, and how a suite reads them."""

    path: Path
    keys: dict[str, Any]
    """Below `results` in a suite, without `path`."""
    answers: list[Answers] = field(default_factory=list)
    """Empty where something is missing without which nothing can be read."""
    header: tuple[str, ...] = ()
    """The names of the columns of a table."""
    guessed: Guessed | None = None
    """What the columns of a table seem to hold; None where the format says it."""
    missing: dict[str, str] = field(default_factory=dict)
    """By the keys of a suite what is needed and neither told nor guessed, with the reason."""
    chance: str | None = None
    """The chance of one guess that the labels of right answers seem to have."""
    assumed: dict[str, str] = field(default_factory=dict)
    """By keys of a suite what nobody tells, and is taken to be so, with the reason."""

    @property
    def free(self) -> list[str]:
        """The columns of a table that have no role."""
        taken = self.header if self.guessed is None else self.guessed.taken
        return [name for name in self.header if name not in taken]


def find_results(
    path: Path, said: Mapping[str, Any], stated: Mapping[str, Any], model: str | None = None
) -> FoundResults:
    """Read the results of a file or folder, with guesses for what nobody says.

    Parameters
    ----------
    said : mapping
        Keys of `results` in a suite that somebody gave, such as `columns`; they are not questioned.
    stated : mapping
        Keys of its task that somebody gave, such as `chance`.
    model : str, optional
        What the model is called where the results do not say it; after the file if not given.

    Raises
    ------
    RecordedError
        In one sentence, if it is of no known kind or cannot be read.
    """
    keys = {"format": format_of(path, said.get("format")), **said}
    results = FoundResults(path, keys)
    if keys["format"] in ("table", "summary"):
        _look_into_table(results, stated)
    if any(key.startswith("columns.") for key in results.missing):
        return results
    name = name_of(path)
    whole = {**results.keys, "path": str(path)}
    try:
        spec = RESULTS.validate(whole)
    except ValidationError as error:
        kind = RESULTS.kind(whole)
        assert kind is not None
        raise RecordedError(f"{path}: {worded(error, whole, kind)}") from None
    meant = Meant(model or name, name, getattr(spec, "shots", None))
    results.answers = read_results(spec, path, meant)
    _told_of_guessers(results, stated)
    return results


def format_of(path: Path, said: object = None) -> str:
    """Return the format of results: the one that somebody says, else as the file or folder tells.

    Raises
    ------
    RecordedError
        If there is no such format, or no such file, or it tells none.
    """
    if why := refused(path, str(path)):
        raise RecordedError(why)
    if not path.exists():
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        near = did_you_mean(path.name, beside)
        raise RecordedError(f"there is no file or folder {path}{near}")
    if said is None:
        return _format(path)
    if not isinstance(said, str) or said not in READERS:
        raise RecordedError(f"format is {said!r}, expected {listed([*READERS])}")
    return said


def name_of(path: Path) -> str:
    """Return what results are called whose model and task nobody names: after their file."""
    whole = path.resolve()
    return whole.stem if whole.is_file() else whole.name


def _format(path: Path) -> str:
    """Tell the format of results by their names, and by how they begin."""
    if path.is_dir():
        if any(path.rglob("samples_*.jsonl")):
            return "lm_eval"
        if any(path.rglob("*.eval")) or any(path.rglob("*.json")):
            return "inspect"
        of_tables = any(each.suffix.lower() in ENDINGS for each in path.iterdir())
        raise RecordedError(
            f"{path}: found a folder without logs, expected samples_*.jsonl of "
            "lm-evaluation-harness (run it with --log_samples), or .eval or .json of Inspect"
            + (f"; if each table is of one prompt, {_JOINED}" if of_tables else "")
        )
    ending = path.suffix.lower()
    if ending == ".npz":
        return "npz"
    if ending in (".eval", ".json"):
        if path.name.startswith("results_"):
            raise RecordedError(
                f"{path}: found the results of lm-evaluation-harness, which hold no answers; give "
                "their folder, with the samples_*.jsonl of --log_samples"
            )
        return "inspect"
    if ending == ".jsonl":
        if path.name.startswith("samples_"):
            return "lm_eval"
        return "predictions" if _first_keys(path) >= _OF_PREDICTIONS else "table"
    if ending in ENDINGS:
        return "table"
    way = f"; {_WAYS[ending]}" if ending in _WAYS else ""
    raise RecordedError(f"{path}: found {ending or 'no'} ending, expected {_KNOWN}{way}")


def _first_keys(path: Path) -> set[str]:
    with opened(path, newline="\n") as file:
        try:
            first = json.loads(next((line for line in file if line.strip()), "{}"))
        except (ValueError, RecursionError):  # its reader says what is wrong
            return set()
    return set(first) if isinstance(first, dict) else set()


def _look_into_table(results: FoundResults, stated: Mapping[str, Any]) -> None:
    """Guess what the columns of a table hold, or that each row is a published maximum."""
    header = read_columns(results.path, {}).header
    results.header = header = tuple(name for name in header if name.strip())
    stated_columns = results.keys.get("columns", {})
    if not isinstance(stated_columns, dict):
        raise RecordedError(f"columns is {stated_columns!r}, expected columns.ROLE=NAME")
    names = {plain(name): name for name in header}
    if (
        "n" in names
        and {"accuracy", "best_correct"} & names.keys()
        and "prompt" not in stated_columns
    ):
        results.keys["format"] = "summary"
        roles = SummaryColumns.model_fields
        own = {role: names[role] for role in roles if names.get(role, role) != role}
        results.keys["columns"] = {**own, **stated_columns}
        if "shots" not in names and "shots" not in results.keys:
            _assume_no_shots(results)
        return
    for role, column in stated_columns.items():
        if role not in TableColumns.model_fields:
            raise RecordedError(
                f"columns.{role}: unknown key{did_you_mean(role, TableColumns.model_fields)} "
                f"(keys here: {', '.join(TableColumns.model_fields)})"
            )
        for name in column if isinstance(column, list) else [column]:
            if name and name not in header:
                raise RecordedError(
                    f"{results.path}: there is no column {name!r} for columns.{role}; found "
                    f"{listed(header)}{did_you_mean(str(name), header)}"
                )
    rows = read_columns(results.path, {name: (name, False) for name in header})
    results.guessed = guess(rows, stated_columns, choices="chance" in stated)
    results.keys["columns"] = {**results.guessed.keys(), **stated_columns}
    results.missing |= {f"columns.{role}": why for role, why in results.guessed.missing.items()}
    if "shots" not in results.guessed.columns and "shots" not in results.keys:
        _assume_no_shots(results)
    labels, columns = results.guessed.labels, results.guessed.columns
    if not results.guessed.guessed_at:
        return
    if labels:
        results.chance = f"1/{len(labels)}"
    if not labels and "choices" not in columns and "chance" not in stated:
        gold = columns.get("gold")
        results.missing["chance"] = (
            "the chance of one guess: no column tells how many choices a question has"
        ) + (f" (if none: --set columns.reference={shlex.quote(gold.column)})" if gold else "")


def _assume_no_shots(found: FoundResults) -> None:
    found.keys["shots"] = 0
    found.assumed["shots"] = "no column tells the number of demonstrations"


def _told_of_guessers(results: FoundResults, stated: Mapping[str, Any]) -> None:
    """Say what is missing of n, t and chance, and leave out a chance that results tell."""
    if all(
        each.chances is not None or each.open is not None or each.without_guessers
        for each in results.answers
    ):
        results.chance = None
    elif results.chance is None and "chance" not in stated:
        results.missing.setdefault("chance", "the chance of one guess: the results do not tell it")
    if any(each.tried is None for each in results.answers) and "t" not in stated:
        results.missing["t"] = "how many prompts were tried: the results do not tell it"
