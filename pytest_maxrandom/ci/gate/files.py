"""The files that a gate writes beside each other, and those of an earlier one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BEGINNING = 1000
"""Bytes that tell what a file is."""
_OWN = {
    "json": re.compile(rb'\s*\{\s*"schema_version"\s*:|\s*\Z'),
    "junit": re.compile(rb"\s*(<\?xml[^>]*>)?\s*(<testsuites?[\s>/]|\Z)"),
}
"""How a report of this package, and a JUnit file, begin; an empty file holds nothing to lose."""


def report_files(report: str) -> dict[str, Path]:
    """Return the files to write, by the names of the step's outputs.

    Raises
    ------
    ValueError
        If `report` is no path of a Markdown file.
    """
    path = Path(report)
    if path.suffix != ".md" or not report.isprintable() or report.startswith("-"):
        raise ValueError(f"report: found {report!r}, expected the path of a file *.md")
    return {
        "report": path,
        "json": path.with_suffix(".json"),
        "junit": path.with_suffix(".xml"),
    }


def discard(files: Mapping[str, Path]) -> None:
    """Remove the files of an earlier gate, which would pass for this one's.

    Raises
    ------
    ValueError
        If a file that no argument names is none of a gate's; then all are left.
    OSError
        If a file cannot be read or removed.
    """
    for name, own in _OWN.items():
        file = files[name]
        if file.exists() and not (file.is_file() and own.match(_beginning(file))):
            raise ValueError(
                f"report: {file} beside {files['report'].name} would be overwritten, and no gate "
                "wrote it; give --report another name, or move that file"
            )
    for file in files.values():
        file.unlink(missing_ok=True)


def _beginning(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_BEGINNING)
