"""The commands of `maxrandom`, a module each, and what they share: how to find and to print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], str],
    text: str,
    description: str = "",
    epilog: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command: what runs it, its line in the list of all, and its page."""
    page = description or f"{text[0].upper()}{text[1:]}."
    parser = commands.add_parser(name, help=text, description=page, epilog=epilog)
    parser.set_defaults(run=run)
    return parser


def json_text(value: object) -> str:
    """Write JSON for people and programs."""
    return json.dumps(value, indent=2)


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Write a table, a row a line.

    Parameters
    ----------
    rows : sequence
        The cells of each row, the headings among them; as many in each.
    left : int
        Columns of names, which begin below each other; figures end below each other.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def written(file: Path, text: str, what: str) -> str:
    """Write a file, and say what it is.

    Raises
    ------
    ReportError
        If it cannot be written.
    """
    try:
        file.write_text(text, encoding="utf-8", newline="")  # line ends are part of CSV
    except OSError as error:
        raise ReportError(f"{file}: cannot be written: {error.strerror}") from error
    return f"{what}: {file}"


def suites_in(paths: Iterable[Path]) -> list[Path]:
    """Return the files of suites that are named, and those in folders that are named, each once.

    Raises
    ------
    ValueError
        If a path does not exist or is neither a file nor a folder, or a folder holds no suite.
    """
    return list(dict.fromkeys(suite for path in paths for suite in _suites(path)))


def _suites(path: Path) -> Iterator[Path]:
    """Yield a file itself, whatever its name, and the suites in a folder."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise ValueError(f"{path} is neither a plain file nor a folder")
    here = Path.cwd()
    whole = path.absolute()
    root = here if whole.is_relative_to(here) else whole
    files = sorted(
        file
        for file in path.rglob("*.y*ml")
        if is_suite(file.absolute(), root)
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise ValueError(
            f"the folder {path} holds no suite; suites are YAML files below a folder named "
            "eval_suites, and *.maxrandom.yaml anywhere"
        )
    yield from files
