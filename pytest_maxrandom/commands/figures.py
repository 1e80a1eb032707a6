"""`maxrandom figures`: figures of recorded numbers, or of n, t and the number of choices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import add_command
from pytest_maxrandom.commands.holdout import add_study_arguments, studies_of
from pytest_maxrandom.errors import MaxRandomError, ReportError, did_you_mean
from pytest_maxrandom.figures import DEFAULT_FORMATS, FORMATS, MISSING, NAMES, installed
from pytest_maxrandom.ledger.summary import looks
from pytest_maxrandom.reports.results import find, load
from pytest_maxrandom.reports.trend import Trend, trends
from pytest_maxrandom.studies.holdout import Study

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.figures.catalogue import Catalogue
    from pytest_maxrandom.record import RunRecord


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = (
        "draw figures of a JSON report, of a held-out study, or of n, t and the number of choices"
    )
    parser = add_command(commands, "figures", run, text)
    add = parser.add_argument
    add(
        "results",
        nargs="?",
        type=Path,
        metavar="RESULTS.json",
        help="file written by pytest --maxrandom-json",
    )
    add("--out", type=Path, default=Path("figures"), help="folder for the files (default: figures)")
    add(
        "--formats",
        default=",".join(DEFAULT_FORMATS),
        help=f"formats, from {','.join(FORMATS)} (default: {','.join(DEFAULT_FORMATS)})",
    )
    add(
        "--width",
        type=float,
        metavar="INCHES",
        help="how wide figures are at most: 7.2, a page, by default; 3.3 for one column of two. "
        "Letters keep their size",
    )
    add(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"draw only these, from {', '.join(NAMES)}",
    )
    add(
        "--most",
        type=int,
        metavar="NUMBER",
        help="draw at most so many figures of each name (default: 24); what is left out is said",
    )
    add("--n", type=int, help="number of examples, for figures without results")
    add("--t", type=int, help="number of prompts, for figures without results")
    add(
        "--choices",
        help="without results: one or more numbers of choices, such as 2,4; with --holdout: as in "
        "`maxrandom holdout`",
    )
    add(
        "--holdout",
        nargs="+",
        default=[],
        type=Path,
        metavar="FILE",
        help="recorded predictions, as for `maxrandom holdout`; draws its curves",
    )
    add(
        "--trend",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="earlier runs, to show each claim over time: JSON reports (files, or git revisions as "
        "for `maxrandom diff`), ledger files, or folders to search for ledgers",
    )
    add_study_arguments(parser)


def run(options: argparse.Namespace) -> str:
    """Draw, write, and list each file when it is written; return what is left out.

    Raises
    ------
    MaxRandomError
        If matplotlib is not installed, a file is wrong, or there is nothing to draw.
    TypeError, ValueError
        If an option is outside its domain, or options contradict each other.
    """
    formats = _formats(options.formats)
    for name in options.only:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES, str, cutoff=0.4)
            raise ValueError(f"--only: found {name!r}, expected some of {', '.join(NAMES)}{hint}")
    _check_sources(options)
    if not installed():
        raise MaxRandomError(MISSING)
    from pytest_maxrandom.figures.catalogue import MOST, write_all
    from pytest_maxrandom.figures.style import NARROWEST, WIDTH

    width = WIDTH if options.width is None else options.width
    if not NARROWEST <= width <= WIDTH:
        raise ValueError(f"--width: found {width:g}, expected inches from {NARROWEST:g} to {WIDTH}")
    most = MOST if options.most is None else options.most
    if most < 1:
        raise ValueError(f"--most: found {most}, expected a number from 1 on")
    written = write_all(
        [each.only(options.only) for each in _catalogues(options)],
        options.out,
        formats,
        width=width,
        most=most,
        report=lambda path: print(path, flush=True),
    )
    if not written.files:
        names = ", ".join(options.only)
        asked = f"{names} cannot be drawn from these inputs" if names else "no claim was tested"
        raise ReportError(f"nothing to draw: {'; '.join(written.notes) or asked}")
    return "\n".join(written.notes)


def _formats(text: str) -> list[str]:
    formats = list(dict.fromkeys(text.split(",")))
    for name in formats:
        if name not in FORMATS:
            raise ValueError(
                f"--formats: found {name!r}, expected some of {', '.join(FORMATS)}, with commas "
                "between them"
            )
    return formats


def _check_sources(options: argparse.Namespace) -> None:
    recorded = options.results is not None or options.holdout or options.trend
    numbers = options.n is not None or options.t is not None
    if recorded and numbers:
        raise ValueError(
            "--n and --t are for figures without results; leave them out, because recorded results "
            "have their own n and t"
        )
    if not recorded and not numbers:
        raise ValueError(
            "nothing to draw: give a file written by pytest --maxrandom-json, --holdout with "
            "recorded predictions, --trend with earlier runs, or --choices with --n or --t"
        )
    if options.choices is not None and not options.holdout and not numbers:
        raise ValueError("--choices is for --holdout, and for figures without results")


def _catalogues(options: argparse.Namespace) -> list[Catalogue]:
    from pytest_maxrandom.figures.catalogue import of_numbers, of_run, of_studies, of_trends

    catalogues = []
    own = [] if options.results is None else [(options.results.name, load(options.results))]
    catalogues += [of_run(run) for _, run in own]
    if options.trend:
        catalogues.append(of_trends(_trends(options.trend, own, options.results)))
    if options.holdout:
        studies = studies_of(options.holdout, options)
        if len(studies) > 1:
            studies.append(Study.together("all models", studies))
        catalogues.append(of_studies(studies))
    if not catalogues:
        catalogues.append(of_numbers(_choices(options.choices), options.n, options.t))
    return catalogues


def _trends(sources: list[str], own: list[tuple[str, RunRecord]], like: Path | None) -> list[Trend]:
    """Follow claims through reports and ledgers, and the report that is drawn."""
    ledgers = [Path(each) for each in sources if Path(each).is_dir() or each.endswith(".jsonl")]
    reports = [each for each in sources if Path(each) not in ledgers]
    runs = [(Path(each).name, find(each, like)) for each in reports]
    return trends([*runs, *own], looks(ledgers))


def _choices(text: str | None) -> list[int]:
    if text is None:
        raise ValueError(
            "--choices is needed for figures without results, such as 2, or 2,4 for both"
        )
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and int(part) > 1 for part in parts):
        raise ValueError(f"--choices: found {text!r}, expected numbers from 2 on, such as 2 or 2,4")
    return sorted(set(map(int, parts)))
