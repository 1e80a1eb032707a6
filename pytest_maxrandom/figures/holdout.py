"""Whether beating a baseline on validation foretells the test: ROC and precision-recall curves.

After figures 5 and 10 of arXiv 2404.13020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from pytest_maxrandom.figures.axes import accuracy_axis
from pytest_maxrandom.figures.labels import settle, short
from pytest_maxrandom.figures.panels import Figures, numbered, pages, pairs, per_file, title
from pytest_maxrandom.figures.style import BLACK, GREY, MAXIMUM, PALE, SKY, marks
from pytest_maxrandom.notation import accuracy, count, span
from pytest_maxrandom.studies.holdout import Study, Trials, predictive_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 3
"""Rows of a file."""
_ROW = 2.6
"""Inches that a row is high."""
_LOOKS: dict[str, dict[str, Any]] = {
    "standard": {"color": SKY, "linestyle": "-", "linewidth": 3.6, "alpha": 0.55},
    "maximum": {"color": MAXIMUM, "linestyle": (0, (4, 1.5)), "linewidth": 1.2},
}
"""Of curves that may lie on each other: a thin one on a wide one."""


def drawable(trials: Trials) -> bool:
    """Return whether the trials end in both ways, without which there is no curve."""
    above = trials.test_above_chance
    return bool(above.any() and not above.all())


def figures(studies: Sequence[Study]) -> Figures:
    """Draw a row for each study, at most three in a file."""
    return Figures(numbered("holdout", curves, pages(studies, per_file(_MOST, 2))))


def curves(studies: Sequence[Study]) -> Figure:
    """Draw the ROC curve left and the precision-recall curve right, for both baselines.

    Curves take every threshold of F, the distribution function of guessers at the validation
    accuracy; a mark is the prediction "above the baseline".
    """
    figure, grid = pairs(len(studies), 0.3, _ROW)
    for (roc, pr), study in zip(grid, studies, strict=True):
        _row(roc, pr, study)
    return settle(figure)


def _row(roc: Axes, pr: Axes, study: Study) -> None:
    trials = study.trials
    outcome = trials.test_above_chance
    values = predictive_values(trials)
    share = float(outcome.mean())
    roc.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), label="chance")
    pr.axhline(share, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), label="chance")
    for name, guessers, scores, mark in (
        ("standard", "one guesser", trials.standard_score, "o"),
        ("maximum", "best guesser", trials.maximum_score, "s"),
    ):
        value, look = values[name], _LOOKS[name]
        # Only the order counts, and ranks are finite where a score is not.
        ranks = np.unique(scores, return_inverse=True)[1]
        wrong, right, _ = roc_curve(outcome, ranks)
        precision, recall, _ = precision_recall_curve(outcome, ranks)
        roc.plot(wrong, right, label=f"F of {guessers}: AUROC {accuracy(value.auroc_F)}", **look)
        pr.plot(
            recall,
            precision,
            drawstyle="steps-post",
            label=f"F of {guessers}: AUPR {accuracy(value.aupr_F)}",
            **look,
        )
        above = f"above {name} baseline:"
        false_alarms = value.fp / (value.fp + value.tn)
        _mark(roc, false_alarms, value.recall, mark, f"{above} AUROC {accuracy(value.auroc)}")
        _mark(pr, value.recall, value.precision, mark, f"{above} AUPR {accuracy(value.aupr)}")
    for axes, x, y in (
        (roc, "false positive rate", "true positive rate"),
        (pr, "recall", "precision"),
    ):
        axes.set(xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.04))
        axes.grid(True, color=PALE, linewidth=0.6)
        accuracy_axis(axes.xaxis)
        accuracy_axis(axes.yaxis)
        axes.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    sizes = f"n = {span(list(study.sizes))}, t = {span(list(study.tries))}"
    stated = f"{sizes}; {count(len(study.trials))} trials"
    title(roc, *short([study.name], 50), stated)


def _mark(axes: Axes, x: float | None, y: float | None, mark: str, label: str) -> None:
    if x is not None and y is not None:
        axes.plot(x, y, **marks(mark, "white", BLACK, 5.5, 1.1), zorder=4, label=label)
