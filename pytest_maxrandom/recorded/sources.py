"""Where a suite says that results are, how they are read, and what may be told beside them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.errors import MaxRandomError, RecordedError, listed, nearest_file
from pytest_maxrandom.host import packages
from pytest_maxrandom.host.data import NOT_QUOTED, reading, refused, refused_variable
from pytest_maxrandom.host.packages import NamedParts, package_of, reason
from pytest_maxrandom.recorded.logs.inspect import read_inspect
from pytest_maxrandom.recorded.logs.lm_eval import read_lm_eval
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.predictions import read_predictions
from pytest_maxrandom.recorded.tables.columns import as_number
from pytest_maxrandom.recorded.tables.files import read_columns
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.recorded.tables.summary import read_summary
from pytest_maxrandom.recorded.tables.table import read_table
from pytest_maxrandom.suite.recorded import RecordedModelSpec, ResultsSpec, StatedShots, WholeSweeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.loader import RecordedSuite

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(:-(?P<default>[^}]*))?\}")

_LEAST = 4
"""Letters of a part of a variable's value that no message shows."""

ChoiceTable: TypeAlias = dict[tuple[str, str, int], int]
"""Number of choices by model, task and shots."""

_COLUMNS = (("model",), ("task", "dataset"), ("shots",), ("choices", "num_choices"))


def locate(spec: ResultsSpec, base: Path) -> Path:
    """Return the path that a suite means; environment variables are filled in.

    Raises
    ------
    RecordedError
        If a variable is not set, and nothing is given in its place; or if the path, or a variable
        that is set, is none that may be read.
    """

    def value(match: re.Match[str]) -> str:
        said = os.environ.get(match["name"])
        if said and (why := refused_variable(match["name"])):
            raise RecordedError(why)
        found = said or match["default"]
        if found is None:
            raise RecordedError(
                f"the environment variable {match['name']} is not set; set it, or write a default: "
                f"${{{match['name']}:-folder}}"
            )
        return found

    path = base / _VARIABLE.sub(value, spec.path)
    if why := refused(path, spec.path):
        raise RecordedError(why)
    return path


def _unexpanded(text: str, spec: ResultsSpec, base: Path) -> str:
    """Return a message without what variables hold, which may be anybody's secret."""
    names = {match["name"] for match in _VARIABLE.finditer(spec.path)}
    held = {name: value for name in names if (value := os.environ.get(name))}
    if not held:
        return text
    whole = base / _VARIABLE.sub(lambda found: held.get(found["name"], found[0]), spec.path)
    shown = {str(whole): spec.path, str(whole.absolute()): spec.path}
    for name, value in held.items():
        parts = (part for part in value.split("/") if len(part) >= _LEAST)
        shown |= dict.fromkeys((value, repr(value)[1:-1], *parts), f"${{{name}}}")
    hidden = sorted(filter(None, shown), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, hidden)), lambda found: shown[found[0]], text)


class Reader(Protocol):
    """Reads the results of one format.

    A new format here needs a spec in `pytest_maxrandom.suite.recorded`, a reader, and its line in
    `READERS`. A package adds one by an entry point of the group ``pytest_maxrandom.readers``, whose
    name is the format (``results: {format: NAME}``); it has also an attribute `spec`, a subclass of
    `pytest_maxrandom.suite.recorded.ResultsSpec` with the keys that suites may say.

    Each sweep in the file gives `Answers` with its model, task and shots, as each published maximum
    does (`Answers.published`). Nothing after that knows the format.
    """

    def __call__(self, path: Path, spec: Any, meant: Meant, /) -> Sequence[Answers]:
        """Return all results of a file or folder.

        Parameters
        ----------
        path : Path
            Where they are; it exists.
        spec : Spec
            That of the format: what else the suite says of them.
        meant : Meant
            What the suite is about.

        Raises
        ------
        RecordedError
            In one sentence with the file, the line and the way out, if they cannot be read or
            contradict themselves.
        """


def read_results(spec: ResultsSpec, path: Path, meant: Meant) -> list[Answers]:
    """Read all results of a file or folder, by the format that the suite names (see `Reader`).

    Raises
    ------
    RecordedError
        If they cannot be read, or contradict themselves.
    """
    try:
        answers = [*READERS[spec.format](path, spec, meant)]
        if other := [each for each in answers if not isinstance(each, Answers)]:
            raise TypeError(f"it returned {type(other[0]).__name__}, expected Answers")
    except MaxRandomError:
        raise
    except Exception as error:  # whatever the libraries raise that read files
        package = package_of(READERS.group, spec.format)
        raise RecordedError(
            f"{path} cannot be read as `format: {spec.format}` ({reason(error)}); check that the "
            "file is complete and has that format"
            + (f", or report this to the authors of {package}" if package else "")
        ) from error
    return answers


def _whole(sweeps: list[Answers], spec: WholeSweeps) -> list[Answers]:
    """Refuse sweeps in which a prompt lacks more examples than it can have shown."""
    for sweep in sweeps if not spec.ragged else ():
        sizes = sweep.evaluated.sum(axis=1)
        most, least = int(sizes.argmax()), int(sizes.argmin())
        if sizes[most] - sizes[least] > sweep.shots:
            raise RecordedError(
                f"{sweep.path}: {sweep.claim}: prompt {sweep.prompts[least]!r} was scored on "
                f"{sizes[least]} examples and {sweep.prompts[most]!r} on {sizes[most]}, but "
                f"prompts that leave out their own demonstrations differ by at most {sweep.shots}; "
                "finish the interrupted run, leave its prompt out, or write `ragged: true` in "
                "`results`"
            )
    return sweeps


_BUILT_IN: dict[str, Reader] = {
    "npz": lambda path, spec, _: _whole(read_npz(path), spec),
    "predictions": lambda path, spec, _: _whole(read_predictions(path), spec),
    "table": read_table,
    "summary": read_summary,
    "lm_eval": read_lm_eval,
    "inspect": read_inspect,
}


def _usable(_: str, loaded: Any) -> Reader:
    if not callable(loaded):
        raise TypeError("what can be called, as pytest_maxrandom.recorded.sources.Reader says")
    reader: Reader = loaded
    return reader


READERS = NamedParts(packages.READERS, _BUILT_IN, _usable)
"""The reader of each format."""


class ModelResults:
    """Reads the files that a suite names, each of them once."""

    def __init__(self, suite: RecordedSuite) -> None:
        self._suite = suite
        self._read: dict[tuple[str | int | None, ...], list[Answers]] = {}

    def of(self, model: RecordedModelSpec) -> list[Answers] | None:
        """Return all results of a model; None where they are missing, and need not be there.

        Raises
        ------
        RecordedError
            If they cannot be read, or are of other models.
        """
        spec, base = model.results, self._suite.path.parent
        with reading(base) as found:
            try:
                read = self._of(model, spec, base)
            except RecordedError as error:
                if found.quotable:
                    raise RecordedError(_unexpanded(str(error), spec, base)) from None
                raise RecordedError(
                    f"{spec.path}: cannot be read as `format: {spec.format}`; {NOT_QUOTED}"
                ) from None
        if read is None or not _VARIABLE.search(spec.path):
            return read
        return [replace(each, path=Path(spec.path)) for each in read]

    def _of(self, model: RecordedModelSpec, spec: ResultsSpec, base: Path) -> list[Answers] | None:
        try:
            path = locate(spec, base)
            if not path.exists():
                # An incumbent, or a control, has no such key.
                skipped = model in self._suite.spec.models
                way_out = ", or say in `if_missing` how to get it, and its claims are skipped"
                raise RecordedError(
                    f"{path}: no such file or folder; correct the path{way_out if skipped else ''}"
                    f"{nearest_file(path) if path.parent.is_dir() else ''}"
                )
        except OSError as error:  # such as a name that no system allows
            raise RecordedError(f"{path}: cannot be read: {error.strerror}") from None
        except RecordedError:
            if model.if_missing is None:
                raise
            return None
        return self._of_model(model, self._read_once(spec, path, model), path)

    def _read_once(self, spec: ResultsSpec, path: Path, model: RecordedModelSpec) -> list[Answers]:
        stated = spec.shots if isinstance(spec, StatedShots) else None
        tasks, shots = self._suite.spec.tasks, self._suite.spec.prompts.shots or []
        others = [each for each in self._suite.spec.models if each != model]
        meant = Meant(
            model=spec.model or model.name,
            task=(tasks[0].in_results or tasks[0].name) if len(tasks) == 1 else None,
            shots=stated if stated is not None or len(shots) != 1 else shots[0],
            models=tuple(
                (each.results.model,) if each.results.model else (each.name, each.short_name)
                for each in (*others, model)
                if each.results.path == spec.path
            ),
        )
        # A file that names no model is the first one's, or an incumbent's beside each of them; one
        # that does is read once for all.
        of_suite = any(each.results.path == spec.path for each in self._suite.spec.models)
        asked = repr(spec.model_copy(update={"model": None}))
        key = (asked, meant.task, meant.shots, None if of_suite else meant.model)
        if key not in self._read:
            self._read[key] = read_results(spec, path, meant)
        return self._read[key]

    def _of_model(
        self, model: RecordedModelSpec, results: list[Answers], path: Path
    ) -> list[Answers]:
        names = dict.fromkeys(each.model for each in results)
        wanted = [model.results.model] if model.results.model else [model.name, model.short_name]
        own = next((name for name in wanted if name in names), None)
        if own is None:
            raise RecordedError(
                f"{path}: no results of {wanted[0]!r}, found those of {listed(names, 8)}; give "
                "what the model is called there as `results.model`"
            )
        return [each for each in results if each.model == own]


def read(path: Path) -> list[Answers]:
    """Read all sweeps of a file that needs no suite; its name's ending tells the kind.

    It is an ``.npz`` archive (see `pytest_maxrandom.recorded.npz`), or a ``.jsonl`` file that
    ``pytest --maxrandom-predictions`` wrote.

    Raises
    ------
    RecordedError
        If it cannot be read, contradicts itself, or is of no known kind.
    """
    if why := refused(path, str(path)):
        raise RecordedError(why)
    match path.suffix.lower():
        case ".npz":
            return _single(read_npz(path))
        case ".jsonl":
            return _single(read_predictions(path))
        case ending:
            raise RecordedError(
                f"{path}: found the ending {ending!r}, expected .npz (arrays of right answers) or "
                ".jsonl (written by pytest --maxrandom-predictions)"
            )


def _single(sweeps: list[Answers]) -> list[Answers]:
    """Refuse answers of several samples, whose suite says what they come to."""
    for each in sweeps:
        if each.aggregate is not None:
            raise RecordedError(
                f"{each.path}: {each.claim}: holds {each.aggregate.samples} samples of each "
                "answer, and one is needed here; give results with one, or judge these in a suite "
                "(`aggregate`)"
            )
    return sweeps


def read_choices(source: str) -> int | ChoiceTable:
    """Read a whole number of choices, or a table of them, such as a CSV file.

    A table has the columns model, task (or dataset), shots and choices (or num_choices).

    Raises
    ------
    RecordedError
        If it is neither, or the table contradicts itself.
    """
    path, table = Path(source), ChoiceTable()
    if source.isdecimal():
        try:
            return as_number(source, 2)
        except ValueError as error:
            raise RecordedError(f"--choices {error}") from error
    if not path.is_file():
        raise RecordedError(
            f"--choices {source}: found neither a number nor a readable file; give a number such "
            "as 4, or a CSV file"
        )
    rows = read_columns(path, {name: (name, False) for names in _COLUMNS for name in names})
    present = [next((name for name in names if name in rows.names), "") for names in _COLUMNS]
    if "" in present:
        raise RecordedError(
            f"{path}: no column {' or '.join(_COLUMNS[present.index('')])}, found "
            f"{', '.join(rows.header)}; name the columns model, task, shots, choices"
        )
    columns = [
        rows.read(name, str if least is None else partial(as_number, least=least))
        for name, least in zip(present, (None, None, 0, 2), strict=True)
    ]
    for row in range(rows.count):
        *key, number = (column.distinct[column.codes[row]] for column in columns)
        if table.setdefault((key[0], key[1], key[2]), number) != number:
            raise rows.error(
                row,
                f"{number} choices for {tuple(key)}, but {table[key[0], key[1], key[2]]} in an "
                "earlier row; keep the correct one",
            )
    return table


def with_choices(sweep: Answers, choices: int | ChoiceTable | None) -> Answers:
    """Give a sweep its chances, unless its file told them.

    Raises
    ------
    RecordedError
        If nobody tells them.
    """
    if sweep.open is not None:
        raise RecordedError(
            f"{sweep.path}: {sweep.claim}: there are no choices, and a guess has no chance that is "
            "known without the answers; leave it out, and claim it in a suite"
        )
    if sweep.chances is not None:
        return sweep
    key = (sweep.model, sweep.task, sweep.shots)
    number = choices.get(key) if isinstance(choices, dict) else choices
    if number is None:
        found = "--choices was not given" if choices is None else f"--choices has no row {key}"
        raise RecordedError(
            f"{sweep.path}: {sweep.claim}: the file does not give the number of choices, and "
            f"{found}; give --choices 4, or a CSV file with the columns model, task, shots and "
            "choices"
        )
    return replace(sweep, chances=(Fraction(1, number),) * len(sweep.examples))
