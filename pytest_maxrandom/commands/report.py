"""`maxrandom report`: the report of recorded numbers, for GitHub, a browser, a paper, a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.csv import TABLES, csv
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import html, latex, markdown
from pytest_maxrandom.reports.results import load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_FORMATS = ("markdown", "html", "latex", "bibtex", "csv")
_TEMPLATED = ("markdown", "html", "latex")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "the report of a JSON report, as Markdown, HTML, LaTeX, BibTeX or CSV"
    parser = commands.add_parser("report", help=text, description=text[:1].upper() + text[1:])
    parser.add_argument("results", type=Path, help="file written by pytest --maxrandom-json")
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="markdown",
        help="markdown: for GitHub (the default); html: one file for a browser; latex: tables and "
        "a paragraph for a paper, to \\input; bibtex: the entries that those cite; csv: one row "
        "per claim, unrounded",
    )
    parser.add_argument(
        "--table",
        choices=TABLES,
        help="with --format csv: what has a row; claims (the default), each replicate of a claim, "
        "each label, or each calibration, of a label-bias check, comparisons, comparisons over all "
        "tasks, or contamination checks",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there, not to the screen")
    parser.add_argument(
        "--standalone",
        action="store_true",
        help="with --format latex: a whole document with its references",
    )
    parser.add_argument(
        "--templates", type=Path, metavar="DIR", help="folder with templates that override blocks"
    )
    parser.set_defaults(run=run)


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
    ValueError
        If the options do not go together.
    """
    if options.templates and options.format not in _TEMPLATED:
        raise ValueError(
            f"--templates: {options.format} is written without templates; "
            f"they are for {', '.join(_TEMPLATED)}"
        )
    if options.standalone and options.format != "latex":
        raise ValueError(f"--standalone: found --format {options.format}, expected latex")
    if options.table and options.format != "csv":
        raise ValueError(f"--table: found --format {options.format}, expected csv")
    record, templates = load(options.results), options.templates
    write: dict[str, Callable[[], str]] = {
        "csv": lambda: csv(record, options.table or "claims"),
        "bibtex": lambda: bibtex(record),
        "latex": lambda: latex(record, templates, standalone=options.standalone),
        "html": lambda: html(record, templates),
        "markdown": lambda: markdown(record, templates),
    }
    text = write[options.format]()
    if options.out is None:
        return text.removesuffix("\n")
    try:
        # Line ends are part of CSV.
        options.out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise ReportError(f"{options.out}: cannot be written: {error.strerror}") from error
    return f"report: {options.out}"
