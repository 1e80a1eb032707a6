"""Results whose numbers SciPy computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from pytest_maxrandom.figures.results import Result, results_of
from tests.unit.reports import samples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pytest_maxrandom.record import ClaimRecord

TASKS = ("weather", "emoji_movie", "snarks")


def grid(models: Iterable[str] = ("demo", "other"), shots: Iterable[int] = (0, 4)) -> list[Any]:
    """Make claims on two-choice examples, all different."""
    return [
        samples.claim(
            best=26 + 3 * place + 2 * task,
            n=40 + 20 * task,
            t=10 * (place + 1),
            task=name,
            model=model,
            shots=number,
            quantization="none",
        )
        for task, name in enumerate(TASKS)
        for place, (model, number) in enumerate((model, k) for model in models for k in shots)
    ]


def results(*claims: ClaimRecord) -> list[Result]:
    found, without = results_of(samples.run(*(claims or grid())))
    assert without == []
    return found


def expected_maximum(n: int, chance: float, t: int) -> float:
    """E[max of t counts] / n, summed from SciPy's tails."""
    below = binom.logcdf(np.arange(n), n, chance)
    return float(-np.expm1(t * below).sum() / n)


def labelled(axes: Axes, label: str) -> Line2D:
    """Return the one curve with this label."""
    (line,) = (line for line in axes.lines if line.get_label() == label)
    return line


def data(line: Line2D) -> list[tuple[float, float]]:
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    return list(zip(x.tolist(), y.tolist(), strict=True))


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_visible()]


def claims_in(figures: Iterable[Figure], known: Iterable[str]) -> list[str]:
    """Return the claims that marks of these figures stand for, with repetitions."""
    names = set(known)
    return sorted(
        str(line.get_label())
        for figure in figures
        for axes in panels(figure)
        for line in axes.lines
        if line.get_label() in names
    )
