"""Files of figures, whose bytes depend on nothing but the numbers and matplotlib's version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.figures.style import applied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

_WITHOUT_DATE: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}


def write(
    draw: Callable[[], Iterable[tuple[str, Figure]]], folder: Path, formats: Sequence[str]
) -> Iterator[Path]:
    """Draw figures and write each in all formats.

    Parameters
    ----------
    draw
        Yields pairs (name of the file without its ending, figure).

    Yields
    ------
    Path
        Each file, when it is written.

    Raises
    ------
    OSError
        If the folder or a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    with applied():
        for stem, figure in draw():
            name = _free(stem, taken)
            for ending in formats:
                path = folder / f"{name}.{ending}"
                figure.savefig(path, format=ending, metadata=_WITHOUT_DATE[ending])
                yield path


def _free(stem: str, taken: set[str]) -> str:
    """Return a name that no earlier file has, also where upper and lower case are the same."""
    name, number = stem, 2
    while name.casefold() in taken:
        name, number = f"{stem}-{number}", number + 1
    taken.add(name.casefold())
    return name
