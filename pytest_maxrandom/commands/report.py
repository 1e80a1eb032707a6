"""`maxrandom report`: recorded numbers for people and programs."""

from __future__ import annotations

import argparse
import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import add_command, written
from pytest_maxrandom.errors import ReportError, did_you_mean
from pytest_maxrandom.host.packages import package_of
from pytest_maxrandom.record.packed import pack
from pytest_maxrandom.recorded.prediction_lines import read_lines
from pytest_maxrandom.reports.csv import TABLES, csv
from pytest_maxrandom.reports.formats import FORMATS
from pytest_maxrandom.reports.hub import DEFAULT_TASK, hub
from pytest_maxrandom.reports.page.cells import allowed_texts, of_lines
from pytest_maxrandom.reports.page.render import html
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.trend import trends

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import RunRecord

_TEMPLATED = ("markdown", "disclosure", "html", "latex")
_OF_ONE_FORMAT = {
    "latex": ("standalone", "upright"),
    "csv": ("table",),
    "html": ("predictions", "earlier", "texts"),
    "hub": ("dataset", "task-id", "claim"),
}
"""Options that only one format has."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "write a JSON report as Markdown, HTML, LaTeX, BibTeX, CSV, a badge or for the hub"
    parser = add_command(commands, "report", run, text)
    add = parser.add_argument
    add("results", type=Path, help="file written by pytest --maxrandom-json")
    add(
        "--format",
        type=_format,
        default="markdown",
        metavar="FORMAT",
        help="markdown: for GitHub (the default); disclosure: the paragraph for a paper or a model "
        "card, as Markdown; checklist: number of runs, selection criterion, seeds and compute, as "
        "checklists of papers ask for them; html: one file for a browser; latex: tables and a "
        "paragraph for a paper, to \\input; bibtex: the entries that they cite; csv: one row per "
        "claim, unrounded; badge: JSON of a badge endpoint (shields.io); badge-svg: the same "
        "badge as an image; hub: an evaluation result of the Hugging Face hub, a file for "
        ".eval_results/"
        + "".join(
            f"; {name}: of {package_of(FORMATS.group, name)}" for name in FORMATS.names_added()
        ),
    )
    add(
        "--table",
        choices=TABLES,
        help="with --format csv: what a row is about: a claim (the default), a replicate of a "
        "claim, a label or a calibration of a label-bias check, a comparison, a comparison "
        "over all tasks, or a contamination check",
    )
    add(
        "--predictions",
        type=Path,
        metavar="FILE",
        help="with --format html: file written by pytest --maxrandom-predictions, so that the page "
        "shows which prompt was right on which example",
    )
    add(
        "--earlier",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="with --format html: JSON report of an earlier run, so that the page shows each claim "
        "over time; may be repeated",
    )
    add(
        "--texts",
        choices=("auto", "all", "shared"),
        help="with --format html: which texts of prompts the page holds: all, or only those of "
        "suites with `share: texts` (shared); auto (the default) is shared if the environment "
        "variable CI is set, else all",
    )
    add(
        "--dataset",
        metavar="ID",
        help="with --format hub, which needs it: id of the benchmark on the hub, OWNER/NAME",
    )
    add(
        "--task-id",
        metavar="ID",
        help=f"with --format hub: id of the benchmark's task (default: {DEFAULT_TASK})",
    )
    add(
        "--claim",
        metavar="NAME",
        help="with --format hub: which claim, where the report has several: task[model-kshot]",
    )
    add("--out", type=Path, metavar="FILE", help="file to write (default: standard output)")
    add(
        "--standalone",
        action="store_true",
        help="with --format latex: write a whole document with its references",
    )
    add(
        "--upright",
        action="store_true",
        help="with --format latex: tables of claims for an upright page, over both columns where "
        "it has two; without it they are made for a page in landscape",
    )
    add("--templates", type=Path, metavar="DIR", help="folder with templates that override blocks")


def _format(name: str) -> str:
    if name not in FORMATS:
        hint = did_you_mean(name, [*FORMATS], cutoff=0.5)
        raise argparse.ArgumentTypeError(f"found {name!r}, expected {' or '.join(FORMATS)}{hint}")
    return name


def run(options: argparse.Namespace) -> str:
    """Render the report.

    Returns
    -------
    str
        The report without its last line feed, or where it was written.

    Raises
    ------
    ReportError
        If the file or a template is wrong, or the report cannot be written.
    ExtensionError
        If the format is that of a package, which cannot be used or fails.
    RecordedError
        If the predictions file is wrong.
    ValueError
        If the options do not go together.
    """
    if options.templates and options.format not in _TEMPLATED:
        raise ValueError(
            f"--templates: --format {options.format} uses no templates; expected "
            f"{', '.join(_TEMPLATED)}"
        )
    for form, names in _OF_ONE_FORMAT.items():
        for name in names:
            if getattr(options, name.replace("-", "_")) and options.format != form:
                raise ValueError(f"--{name}: found --format {options.format}, expected {form}")
    record, templates = load(options.results), options.templates
    write: dict[str, Callable[[], str]] = {
        "csv": lambda: csv(record, options.table or "claims"),
        "latex": lambda: latex(
            record, templates, standalone=options.standalone, upright=options.upright
        ),
        "disclosure": lambda: disclosure(record, templates),
        "html": lambda: html(
            record,
            _cells(record, options.predictions),
            templates,
            texts=allowed_texts(options.texts or "auto", os.environ),
            trend=trends([(path.stem, load(path)) for path in (*options.earlier, options.results)]),
        ),
        "markdown": lambda: markdown(record, templates),
        "hub": lambda: hub(
            record, options.dataset or "", options.task_id or DEFAULT_TASK, options.claim
        ),
    }
    text = write.get(options.format, lambda: FORMATS[options.format](record))()
    if options.out is None:
        return text.removesuffix("\n")
    return written(options.out, text, "report")


def _cells(record: RunRecord, path: Path | None) -> dict[str, str]:
    """Return what a predictions file says of the claims of a report, packed, by their ids."""
    if path is None:
        return {}
    best = {
        each.id: each.best_prompt.digest if each.best_prompt else None for each in record.claims
    }
    shown: dict[str, str] = {}
    for name, answers in groupby(read_lines(path), key=lambda line: line.claim):
        if name in shown:
            raise ReportError(
                f"{path}: the lines of the claim {name!r} are not consecutive; keep them in the "
                "order in which --maxrandom-predictions wrote them"
            )
        if name in best and (cells := of_lines(answers, best[name])) is not None:
            shown[name] = pack(cells)
    if not shown:
        raise ReportError(
            f"{path}: has no predictions of the report's claims; give the file of the same run"
        )
    return shown
