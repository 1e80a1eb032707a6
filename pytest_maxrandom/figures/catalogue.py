"""All figures of a run, of plain numbers, or of a held-out study; and what they leave out."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.figures import (
    baselines,
    best_of_t,
    histogram,
    increase,
    normalized,
    p_contours,
)
from pytest_maxrandom.figures.library import DEFAULT_FORMATS, NAMES
from pytest_maxrandom.figures.results import results_of
from pytest_maxrandom.figures.write import write
from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from pytest_maxrandom.figures.holdout import Study
    from pytest_maxrandom.figures.results import Result
    from pytest_maxrandom.record import RunRecord

_NAMED = 3
"""Claims that a note names."""


@dataclass(slots=True)
class Catalogue:
    """What can be drawn.

    Attributes
    ----------
    families : dict
        Draws, by the family's name; families with nothing to show are not in it.
    notes : dict of str to str
        By the family's name, or "" for all: a sentence on what it leaves out.
    """

    families: dict[str, Callable[[], Iterable[tuple[str, Figure]]]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def only(self, names: Sequence[str]) -> Catalogue:
        """Return the families with these names, all if there are none."""
        kept = names or NAMES
        return Catalogue(
            {name: draw for name, draw in self.families.items() if name in kept},
            {name: note for name, note in self.notes.items() if name in ("", *kept)},
        )


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, and one sentence on each thing that they leave out."""

    files: list[Path]
    notes: list[str]


def of_run(run: RunRecord) -> Catalogue:
    """Return the figures of a run's claims."""
    results, without = results_of(run)
    found = Catalogue()
    if without:
        named = ", ".join(map(visible, without[:_NAMED]))
        more = f" and {count(len(without) - _NAMED)} more" if len(without) > _NAMED else ""
        found.notes[""] = f"{_left_out(len(without), 'without p_max')}: {named}{more}"

    def add(
        name: str,
        figures: Callable[[Sequence[Result]], Iterator[tuple[str, Figure]]],
        shown: Sequence[Result],
        why: str = "",
    ) -> None:
        if shown:
            found.families[name] = lambda: figures(shown)
        if missing := len(results) - len(shown):
            found.notes[name] = f"{name}: {_left_out(missing, why)}"

    known = [result for result in results if result.guessers]
    uniform = [result for result in known if baselines.choices_of(result)]
    add("best_of_t", best_of_t.figures, results)
    add(
        "histogram",
        histogram.figures,
        [result for result in results if histogram.drawable(result)],
        "without every prompt's count, every example's chance, or accuracy as the metric,",
    )
    add(
        "baseline_over_t_and_n",
        lambda shown: baselines.figures(baselines.rows_of(shown)),
        uniform,
        "whose examples do not all have the same known chance 1/m, m > 1,",
    )
    add(
        "p_contours",
        lambda shown: p_contours.figures(p_contours.panels_of(shown)),
        known,
        "without every example's chance, or accuracy as the metric,",
    )
    add("increase", increase.figures, results)
    add(
        "normalized",
        normalized.figures,
        [result for result in results if normalized.drawable(result)],
        "whose chance is 1",
    )
    return found


def of_numbers(choices: Sequence[int], n: int | None, t: int | None) -> Catalogue:
    """Return the figures that need no results.

    Parameters
    ----------
    choices
        Numbers of choices, one row or panel each.
    n, t
        Examples and prompts that stand out; contours need n.

    Raises
    ------
    TypeError, ValueError
        If a number is outside its domain.
    """
    guessers = [
        MaxRandomBaseline(1 if n is None else n, Fraction(1, number), 1 if t is None else t)
        for number in choices
    ]
    rows = [baselines.Row(number, n, t) for number in choices]
    found = Catalogue({"baseline_over_t_and_n": lambda: baselines.figures(rows)})
    if n is not None:
        panels = [p_contours.Panel(each, t) for each in guessers]
        found.families["p_contours"] = lambda: p_contours.figures(panels)
    return found


def of_studies(studies: Sequence[Study]) -> Catalogue:
    """Return the curves of a held-out study; needs scikit-learn."""
    from pytest_maxrandom.figures import holdout

    shown = [study for study in studies if holdout.drawable(study.trials)]
    found = Catalogue()
    if shown:
        found.families["holdout"] = lambda: holdout.figures(shown)
    if missing := [study.name for study in studies if study not in shown]:
        found.notes["holdout"] = (
            f"holdout: left out, because all trials end alike: {', '.join(missing)}"
        )
    return found


def write_all(
    catalogues: Sequence[Catalogue], folder: Path, formats: Sequence[str] = DEFAULT_FORMATS
) -> Written:
    """Draw and write everything.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    files = [
        path
        for catalogue in catalogues
        for draw in catalogue.families.values()
        for path in write(draw, folder, formats)
    ]
    return Written(files, [note for each in catalogues for note in each.notes.values()])


def _left_out(number: int, which: str) -> str:
    claims = "1 claim" if number == 1 else f"{count(number)} claims"
    return f"{claims} {which} left out"


def write_run(run: RunRecord, folder: Path) -> Written:
    """Draw all that a run's claims tell; nothing, and a note, where they tell nothing."""
    catalogue = of_run(run)
    if not catalogue.families and not catalogue.notes:
        catalogue.notes[""] = "no claim was tested"
    return write_all([catalogue], folder)
