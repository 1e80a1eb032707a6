"""Tasks in rows: CSV (a header, then a row for each example), JSONL, and data sets of the hub."""

from __future__ import annotations

import csv
import io
import os
import textwrap
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, csv_in_words, listed, quoted
from pytest_maxrandom.host.data import refused, refused_address
from pytest_maxrandom.host.delimiters import DELIMITERS, delimiter_of
from pytest_maxrandom.host.limits import limits, raised
from pytest_maxrandom.host.unpacked import too_large_unpacked
from pytest_maxrandom.suite.tasks import CsvSpec, HubSpec, JsonlSpec
from pytest_maxrandom.tasks.reading import (
    Findings,
    JsonObject,
    Mistake,
    as_object,
    file_findings,
    parse_json,
    read_file,
    shown,
)
from pytest_maxrandom.tasks.rows import RowReader, columns_of, holds
from pytest_maxrandom.tasks.whole import finished_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.tasks.task import Task, Where

_OF_LOADING = (
    "keep_in_memory",
    "num_proc",
    "save_infos",
    "split",
    "streaming",
    "verification_mode",
)
"""Arguments of `datasets.load_dataset` that say nothing of what is loaded."""
_NO_DATA = ("README.md", ".gitattributes")
"""What is downloaded of a dataset before its data."""


class Csv:
    """Reads CSV (commas, semicolons or tabs; double quotes); blank rows are skipped."""

    spec = CsvSpec

    def read(self, spec: CsvSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.task.Source`."""
        file, text = read_file(spec.path, base, where)
        findings = file_findings(file)
        stream = io.StringIO(text, newline="")
        delimiter, start = delimiter_of(stream)
        records = _records(stream, delimiter, start, findings)
        line, header = next(records, (1, []))
        findings.raise_any()
        reader = RowReader(spec)
        findings.require(_check_header, header, line)
        reader.check_header(header, findings, line, where)
        rows = _rows(records, header, delimiter, findings)
        return finished_task(spec.name, reader.examples(rows, findings), findings)


class Jsonl:
    """Reads JSONL, one object in each line; blank lines are skipped."""

    spec = JsonlSpec

    def read(self, spec: JsonlSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.task.Source`."""
        file, text = read_file(spec.path, base, where)
        findings = file_findings(file)
        findings.require(_refuse_one_document, text)
        reader = RowReader(spec)
        rows = list(_objects(text, findings))
        if rows:  # a row may lack a choice column, but one that no row has is a slip of the pen
            header = dict.fromkeys(column for _, row in rows for column in columns_of(row))
            reader.check_header(header, findings, where=where)
        return finished_task(spec.name, reader.examples(rows, findings), findings)


class Hub:
    """Reads one split of a dataset through the package `datasets`.

    A folder `base / spec.path`, if there is one, is read
    in place of the hub.
    """

    spec = HubSpec

    def read(self, spec: HubSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.task.Source`."""
        file, line = where("path")

        def locate(row: int | None, message: str) -> Problem:
            part = f"split {spec.split}" if row is None else f"row {row}"
            return Problem(file, line, f"{quoted(spec.path)}, {part}: {message}")

        findings = Findings(locate, lambda row: f"row {row}")
        dataset = findings.require(
            load_split,
            spec.path,
            base,
            "`format: hub`",
            name=spec.subset,
            split=spec.split,
            revision=spec.revision,
        ).flatten()
        reader = RowReader(_with_classes(spec, dataset.features))
        reader.check_header(dataset.column_names, findings)
        used = [
            name
            for name in dataset.column_names
            if any(holds(name, column) for column in reader.wanted)
        ]
        dataset = dataset.select_columns(used)  # others may be slow to decode
        return finished_task(spec.name, reader.examples(enumerate(dataset, 1), findings), findings)

    def absent(self, spec: HubSpec, base: Path, _where: Where) -> str | None:
        """Say that a dataset is on this machine in no way, without asking the hub; else None."""
        named = (spec.path, spec.pool and spec.pool.path, spec.test and spec.test.path)
        of_hub = (path for path in named if path and not os.path.exists(base / path))  # noqa: PTH110
        return next(filter(None, (not_cached(path, spec.subset) for path in of_hub)), None)


def not_cached(path: str, subset: str | None) -> str | None:
    """Say that no cache holds a dataset of the hub; None where one holds some of it."""
    try:
        import datasets
        from datasets.naming import camelcase_to_snakecase
        from huggingface_hub import constants
        from huggingface_hub.file_download import repo_folder_name
    except ImportError:
        return "the package datasets is not installed"
    owner, slash, name = path.rpartition("/")
    prepared = Path(datasets.config.HF_DATASETS_CACHE) / (
        owner + "___" * len(slash) + camelcase_to_snakecase(name)
    )
    folder = repo_folder_name(repo_id=path, repo_type="dataset")
    downloaded = (Path(constants.HF_HUB_CACHE) / folder / "snapshots").rglob("*")
    if any(prepared.glob(f"{subset or '*'}/*/*")) or any(
        file.name not in _NO_DATA for file in downloaded if file.is_file()
    ):
        return None
    return f"there is no folder {path}, and the hub's cache holds no such dataset"


def _records(
    stream: io.StringIO, delimiter: str, start: int, findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the line on which it starts; `start` is the first."""
    reader = csv.reader(stream, strict=True, delimiter=delimiter)
    before = start - 1
    try:
        for record in reader:
            if any(record):
                yield start, record
            start = before + reader.line_num + 1
    except csv.Error as error:
        findings.add(start, csv_in_words(error))


def _check_header(header: list[str], line: int) -> None:
    repeated = [column for column, count in Counter(header).items() if column and count > 1]
    if repeated:
        raise Mistake(
            f"columns must differ, but these appear more than once: {listed(repeated)}", line
        )
    if len(header) == 1 and "|" in header[0]:
        raise Mistake(
            f"the columns are separated by vertical bars ({quoted(header[0])}), expected commas, "
            "semicolons or tabs; save the file with commas, or as JSONL",
            line,
        )


def _rows(
    records: Iterator[tuple[int, list[str]]],
    header: list[str],
    delimiter: str,
    findings: Findings,
) -> Iterator[tuple[int, dict[str, object]]]:
    for line, record in records:
        if len(record) == len(header):
            yield line, dict(zip(header, record, strict=True))
        else:
            more = len(record) > len(header)
            held = f"; put a cell that holds a {DELIMITERS[delimiter]} in double quotes"
            hint = held if more else ""
            findings.add(
                line,
                f"a row must have {len(header)} cells like the header, found {len(record)}{hint}",
            )


def _objects(text: str, findings: Findings) -> Iterator[tuple[int, JsonObject]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            row = findings.attempt(number, _object, line)
            if row is not None:
                yield number, row


def _object(line: str) -> JsonObject:
    return as_object(parse_json(line), "a line")


def _refuse_one_document(text: str) -> None:
    """Say it once, and not on every line, where the file is JSON over many lines."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        parse_json(first)
    except Mistake:
        try:
            parse_json(text)
        except Mistake:
            return
        raise Mistake(
            "the file is one JSON value over several lines, expected one object per line; for a "
            "BIG-bench task use `format: bigbench`"
        ) from None


def load_split(path: str, base: Path | None, needed_by: str, **settings: Any) -> Any:
    """Load one split of a dataset through the package `datasets`.

    Parameters
    ----------
    base : Path or None
        Where a folder of this path is looked for, before the hub is asked; None: nowhere.
    needed_by : str
        What of a suite needs the package.
    settings
        Further arguments, `split` among them.

    Raises
    ------
    Mistake
        If the package is missing, or the data cannot be loaded.
    """
    try:
        import datasets
    except ImportError:
        raise Mistake(
            f"{needed_by} needs the package datasets; "
            'install it with `pip install "pytest-maxrandom[datasets]"`'
        ) from None
    if base is not None:
        folder = shown(base / path)
        if os.path.exists(folder):  # noqa: PTH110 - Path.exists raises where a name is too long
            if why := refused(folder, path):
                raise Mistake(why)
            path = str(folder.absolute())  # it takes no "."
        elif path.startswith((".", "/")):
            raise Mistake(
                f"there is no folder {quoted(str(folder), 200)} (paths are relative to the suite "
                "file)"
            )
    try:
        named = {key: value for key, value in settings.items() if key not in _OF_LOADING}
        for why in _refused_files(path, datasets.load_dataset_builder(path, **named)):
            raise Mistake(why)
        return datasets.load_dataset(path, **settings)
    except Mistake:
        raise
    # Network, hub, builders and parsers each raise errors of their own here.
    except Exception as error:
        reason = textwrap.shorten(str(error), 400, placeholder=" ...") or type(error).__name__
        raise Mistake(f"the dataset cannot be loaded: {reason}") from error


def _refused_files(path: str, builder: Any) -> Iterator[str]:
    """Yield why a dataset's files are not read: its README may name any, of whatever size."""
    files = [*chain.from_iterable((builder.config.data_files or {}).values())]
    of_hub = path.removeprefix("hf://").removeprefix("datasets/")
    own = f"hf://{'' if of_hub.startswith('buckets/') else 'datasets/'}{of_hub}"
    for file in files:
        if not file.startswith((f"{own}@", f"{own}/")):
            why = refused_address(file) if "://" in file else refused_file(Path(file))
            if why:
                yield why
    if not os.path.exists(builder.cache_dir):  # noqa: PTH110 - it may be an address
        yield from _too_large_to_download([file for file in files if "://" in file])


def _too_large_to_download(files: list[str]) -> Iterator[str]:
    """Yield why files are not downloaded, by what the hub or a server says of their sizes."""
    from fsspec.core import url_to_fs

    places = [url_to_fs(file) for file in files]
    size = sum(system.info(place).get("size") or 0 for system, place in places)
    if size > limits().download_mb * 1_000_000:
        yield (
            f"{len(files):,} file{'s' * (len(files) > 1)} of {size / 1_000_000:,.0f} MB would be "
            f"downloaded, expected at most {limits().download_mb:,} MB; if that should be, "
            f"{raised('download_mb')}"
        )


def refused_file(path: Path) -> str:
    """Say why a file that the package `datasets` would unpack is not read; nothing if it is."""
    said = str(shown(path))
    if why := refused(path, said):
        return why
    why = too_large_unpacked(path)
    return f"{quoted(said, 200)}: {why}" if why else ""


def _with_classes(spec: HubSpec, features: dict[str, Any]) -> HubSpec:
    """Read an answer's classes as indices, and their names as choices if need be."""
    feature = features.get(spec.columns.answer)
    names = getattr(getattr(feature, "feature", feature), "names", None)  # of one, or of a list
    if not names or spec.columns.labels is not None:
        return spec
    given = "choices" in spec.columns.model_fields_set or spec.columns.choices in features
    return spec.model_copy(
        update={
            "choices": spec.choices if spec.choices or given else names,
            "answer_is": spec.answer_is or "index",
        }
    )
