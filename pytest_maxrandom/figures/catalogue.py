"""All figures of a run, of plain numbers, or of a held-out study; and what they leave out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.figures import (
    DEFAULT_FORMATS,
    NAMES,
    best_models,
    best_of_t,
    curves,
    label_bias,
    points,
    prompts,
)
from pytest_maxrandom.figures.results import Result, results_of
from pytest_maxrandom.figures.style import WIDTH, applied
from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.text import number_of, some_of, visible
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_maxrandom.figures.panels import Figures
    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.trend import Trend
    from pytest_maxrandom.studies.holdout import Study

MOST = 24
"""Figures of a family that are drawn, unless more are asked for: of 288 claims all histograms."""
_NAMED = 3
"""Claims that a note names."""
_WITHOUT_DATE: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}


@dataclass(slots=True)
class Catalogue:
    """What can be drawn."""

    families: dict[str, Callable[[], Figures]] = field(default_factory=dict)
    """Draws, by the family's name; families with nothing to show are not in it."""
    notes: dict[str, str] = field(default_factory=dict)
    """By the family's name, or "" for all: a sentence on what it leaves out."""

    def add(
        self,
        name: str,
        figures: Callable[[Sequence[Any]], Figures],
        shown: Sequence[Any],
        left_out: str = "",
    ) -> None:
        """Add a family that shows something, and say what it leaves out."""
        if shown:
            self.families[name] = lambda: figures(shown)
        if left_out:
            self.notes[name] = f"{name}: left out {left_out}"

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
    """Return the figures of a run's claims, and of its label-bias checks."""
    results, without = results_of(run)
    drawn = Catalogue()
    if without:
        claims = number_of(len(without), "claim")
        drawn.notes[""] = f"left out {claims} without p_max: {_named(without)}"

    def add(
        name: str,
        figures: Callable[[Sequence[Result]], Figures],
        obstacle: Callable[[Result], str] = lambda _: "",
    ) -> None:
        obstacles = list(map(obstacle, results))
        shown = [result for result, why in zip(results, obstacles, strict=True) if not why]
        missing = Counter(filter(None, obstacles))
        parts = [f"{number_of(number, 'claim')} {why}" for why, number in missing.items()]
        drawn.add(name, figures, shown, ", ".join(parts))

    add("best_of_t", best_of_t.figures)
    add("selection", prompts.selection_figures, prompts.no_selection)
    add("histogram", prompts.histogram_figures, prompts.no_histogram)
    add(
        "baseline_over_t_and_n",
        lambda shown: curves.baseline_figures(curves.rows_of(shown)),
        curves.obstacle,
    )
    add(
        "p_contours",
        lambda shown: curves.contour_figures(curves.panels_of(shown)),
        lambda result: result.unknown,
    )
    add("increase", points.increase_figures)
    add("normalized", points.normalized_figures, points.obstacle)
    panels, untold = label_bias.panels_of(run)
    left_out = f"without a result: {_named(untold)}" if untold else ""
    drawn.add("label_bias", label_bias.figures, panels, left_out)
    drawn.add("best_models", lambda _: best_models.figures(run), best_models.with_result(run))
    return drawn


def _named(labels: Sequence[str]) -> str:
    return some_of([*map(visible, labels)], _NAMED)


def of_numbers(choices: Sequence[int], n: int | None, t: int | None) -> Catalogue:
    """Return the figures that need no results, with a row or panel for each number of choices.

    Examples n and prompts t stand out; contours need n.

    Raises
    ------
    TypeError, ValueError
        If a number is outside its domain.
    """
    guessers = [
        MaxRandomBaseline(1 if n is None else n, Fraction(1, number), 1 if t is None else t)
        for number in choices
    ]
    rows = [curves.Row(number, n, t) for number in choices]
    found = Catalogue({"baseline_over_t_and_n": lambda: curves.baseline_figures(rows)})
    if n is not None:
        panels = [curves.Panel(each, t) for each in guessers]
        found.families["p_contours"] = lambda: curves.contour_figures(panels)
    return found


def of_studies(studies: Sequence[Study]) -> Catalogue:
    """Return the curves of a held-out study; needs scikit-learn."""
    from pytest_maxrandom.figures import holdout

    shown = [study for study in studies if holdout.drawable(study.trials)]
    missing = ", ".join(study.name for study in studies if study not in shown)
    catalogue = Catalogue()
    why = f"studies of which all trials end alike: {missing}" if missing else ""
    catalogue.add("holdout", holdout.figures, shown, why)
    return catalogue


def of_trends(trends: Sequence[Trend]) -> Catalogue:
    """Return the courses of claims that were seen more than once."""
    from pytest_maxrandom.figures import trend

    shown = [each for each in trends if trend.drawable(each)]
    once = [each.claim for each in trends if each not in shown]
    catalogue = Catalogue()
    why = f"{number_of(len(once), 'claim')} of a single run: {_named(once)}" if once else ""
    catalogue.add("trend", trend.figures, shown, why)
    return catalogue


def write_all(
    catalogues: Sequence[Catalogue],
    folder: Path,
    formats: Sequence[str] = DEFAULT_FORMATS,
    *,
    width: float = WIDTH,
    most: int = MOST,
    report: Callable[[Path], object] = lambda _: None,
) -> Written:
    """Draw and write everything.

    Parameters
    ----------
    folder
        Is made if it is not there.
    width
        Inches that figures are wide at most.
    most
        Figures of a family that are drawn; a note says how many there are beside them.
    report
        Is called with each file when it is written.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    files: list[Path] = []
    taken: set[str] = set()
    notes = [note for each in catalogues for note in each.notes.values()]
    with applied(width):
        for family, draw in (each for one in catalogues for each in one.families.items()):
            folder.mkdir(parents=True, exist_ok=True)
            figures = draw()
            if len(figures) > most:
                notes.append(
                    f"{family}: drew the first {count(most)} of {count(len(figures))} figures; "
                    f"for all, run `maxrandom figures` with --only {family} --most {len(figures)}"
                )
            for stem, figure in islice(figures, most):
                name, number = stem, 2
                # Also where upper and lower case are the same.
                while name.casefold() in taken:
                    name, number = f"{stem}-{number}", number + 1
                taken.add(name.casefold())
                for ending in formats:
                    path = folder / f"{name}.{ending}"
                    figure.savefig(path, format=ending, metadata=_WITHOUT_DATE[ending])
                    files.append(path)
                    report(path)
    return Written(files, notes)


def write_run(run: RunRecord, folder: Path) -> Written:
    """Draw all that a run's claims tell; nothing, and a note, where they tell nothing."""
    catalogue = of_run(run)
    if not catalogue.families and not catalogue.notes:
        catalogue.notes[""] = "no claim was tested"
    return write_all([catalogue], folder)
