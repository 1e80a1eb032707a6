"""The rows of a task's splits: local JSON by itself, all else by the package `datasets`."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import described, did_you_mean, listed, quoted
from pytest_maxrandom.host.data import refused_address
from pytest_maxrandom.tasks.reading import Mistake, file_findings, parse_json, shown
from pytest_maxrandom.tasks.tables import load_split, not_cached, refused_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.tasks.lm_eval.config import Config

BUILDERS = ("json", "csv", "parquet", "text", "arrow", "xml")
"""Names that stand for local files, and are no dataset of the hub."""
_MORE_THAN_DATA = ("pandas", "iceberg", "sql", "generator", "spark", "cache")
"""Names by which `datasets` reads what may run code, such as pickles, or asks other programs."""
_OWN_KEYS = {"data_files", "field", "trust_remote_code"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one split."""

    columns: list[str]
    rows: list[dict[str, Any]]
    """Each with all columns; None where a row of the file has no such key."""


def read_rows(config: Config, split: str, folders: Sequence[Path]) -> Rows:
    """Read one split of the task's data; files without a folder are looked for in these folders.

    Raises
    ------
    Mistake
        In one sentence.
    """
    given = config.get("dataset_kwargs", {})
    if not isinstance(given, dict):
        raise Mistake(f"`dataset_kwargs`: found {described(given)}, expected keys with values")
    kwargs = dict(given)
    kwargs.pop("trust_remote_code", None)  # `datasets` runs no scripts since 4.0
    path = config.get("dataset_path")
    if not isinstance(path, str):
        raise Mistake(f"`dataset_path`: found {described(path)}, expected a name or a folder")
    if path in _MORE_THAN_DATA:
        raise Mistake(
            f"`dataset_path: {path}` may run code; expected {', '.join(BUILDERS)} or the name of a "
            "dataset"
        )
    files = kwargs.get("data_files")
    if path in BUILDERS and files is not None:
        of_split = _of_split(files, split)
        kwargs["data_files"] = {split: _found(of_split, folders)}
        if path == "json" and kwargs.keys() <= _OWN_KEYS:
            local = [Path(file) for file in kwargs["data_files"][split]]
            if all(file.suffix in (".json", ".jsonl") and file.is_file() for file in local):
                return _json_rows(local, kwargs.get("field"))
    base = next((each for each in folders if _is_folder(each / path)), folders[0])
    settings = {**kwargs, "name": config.get("dataset_name"), "split": split}
    needed_by = f"`dataset_path: {path}`"
    try:
        found = load_split(path, None if path in BUILDERS else base, needed_by, **settings)
        return Rows(list(found.column_names), list(found))
    except Exception as error:  # images, sound and other columns have decoders of their own
        raise Mistake(f"{needed_by}, split {quoted(split)}: {error}") from error


def absent_rows(config: Config, folders: Sequence[Path]) -> str | None:
    """Say that the data of a task are on this machine in no way; None where they are.

    The hub is not asked. What a wrong task says of its data is for :func:`read_rows` to tell.
    """
    path = config.get("dataset_path")
    if not isinstance(path, str) or path in _MORE_THAN_DATA:
        return None
    if path in BUILDERS:
        try:
            with_found_files(config, folders)
        except Mistake as mistake:
            return str(mistake) if str(mistake).startswith("there is no file") else None
        return None
    if any(_is_folder(each / path) for each in folders):
        return None
    return not_cached(path, config.get("dataset_name"))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def with_found_files(config: Config, folders: Sequence[Path]) -> Config:
    """Return a task whose local files are named by where they are, for all of its splits.

    Raises
    ------
    Mistake
        If there is no such file.
    """
    kwargs = config.get("dataset_kwargs", {})
    files = kwargs.get("data_files") if isinstance(kwargs, dict) else None
    if config.get("dataset_path") not in BUILDERS or files is None:
        return config
    splits = files if isinstance(files, dict) else ("train",)
    found = {split: _found(_of_split(files, split), folders) for split in splits}
    return config.changed({"dataset_kwargs": {**kwargs, "data_files": found}})


def _of_split(files: object, split: str) -> list[str]:
    if isinstance(files, dict):
        if split not in files:
            raise Mistake(
                f"`dataset_kwargs: data_files` has no split {quoted(split)}, found "
                f"{listed([str(name) for name in files])}"
            )
        files = files[split]
    elif split != "train":
        raise Mistake(
            "`dataset_kwargs: data_files` names no splits, so its only split is train, not "
            f"{quoted(split)}; write `data_files: {{{split}: FILE}}`"
        )
    given = files if isinstance(files, list) else [files]
    named = [name for name in given if isinstance(name, str)]
    if not named or len(named) < len(given):
        raise Mistake("`dataset_kwargs: data_files` must name files")
    return named


def _found(names: Iterable[str], folders: Sequence[Path]) -> list[str]:
    """Return the files of these names, or patterns, in the first folder that has one."""
    files_there: list[str] = []
    for name in names:
        if "://" in name:
            if why := refused_address(name):
                raise Mistake(why)
            files_there.append(name)
            continue
        for folder in (*folders, Path()):
            if (folder / name).is_file():
                files_there.append(str(folder / name))
                break
            if files := sorted(glob.glob(name, root_dir=folder, recursive=True)):  # noqa: PTH207
                files_there += [str(folder / file) for file in files]
                break
        else:
            looked = " and ".join(
                dict.fromkeys(quoted(str(shown(each)), 200) for each in (*folders, Path()))
            )
            raise Mistake(f"there is no file {quoted(name, 200)} in {looked}")
    for file in files_there:
        if "://" not in file and (why := refused_file(Path(file))):
            raise Mistake(why)
    return files_there


def _json_rows(files: Iterable[Path], field: str | None) -> Rows:
    rows: list[dict[str, Any]] = []
    for file in files:
        rows += file_findings(shown(file)).require(_rows_of, file, field)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    whole = [{column: row.get(column) for column in columns} for row in rows]
    return Rows(columns, _of_one_type(whole))


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return values as a column of the package `datasets` holds them, so that texts are the same.

    Whole numbers among fractions are fractions, also within lists, and within objects that all
    have the same keys.
    """
    given = [value for value in values if value is not None]
    kinds = set(map(type, given))
    made: Iterator[Any] = iter(given)
    if kinds == {int, float}:
        made = map(float, given)
    elif kinds == {list}:
        items = iter(_of_one_type([item for value in given for item in value]))
        made = ([next(items) for _ in value] for value in given)
    elif kinds == {dict} and all(value.keys() == given[0].keys() for value in given):
        columns = (_of_one_type([value[key] for value in given]) for key in given[0])
        made = (dict(zip(given[0], row, strict=True)) for row in zip(*columns, strict=True))
        if not given[0]:
            return values
    return [None if value is None else next(made) for value in values]


def _rows_of(file: Path, field: str | None) -> list[dict[str, Any]]:
    """Return the rows of one file: a list of objects, or an object in each line."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"cannot read the file: {error}") from None
    if field is not None or text.lstrip()[:1] == "[":
        whole = parse_json(text, dict)
        if field is not None:
            if not isinstance(whole, dict) or field not in whole:
                known = whole if isinstance(whole, dict) else {}
                raise Mistake(f"there is no field {quoted(field)}{did_you_mean(field, known)}")
            whole = whole[field]
        rows = whole if isinstance(whole, list) else [whole]
        numbered: list[tuple[int | None, Any]] = [(None, row) for row in rows]
    else:
        lines = enumerate(text.split("\n"), 1)
        numbered = [(at, parse_json(line, dict, at)) for at, line in lines if line.strip()]
    for number, row in numbered:
        if not isinstance(row, dict):
            raise Mistake(f"a row must be a JSON object, found {described(row)}", number)
    return [row for _, row in numbered]
