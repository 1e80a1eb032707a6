"""Whether Markov chains found the posterior, and one sentence where they did not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

MOST_RHAT = 1.01
LEAST_ESS = 400
"""Both of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding,
and localization: an improved R-hat", section 4, for rank-normalized split R-hat and for bulk and
tail effective sample size."""
MOST_DIVERGENCES = 0
"""Betancourt (2017), "A conceptual introduction to Hamiltonian Monte Carlo", section 6.2: where
trajectories diverge, a part of the posterior is left out, and the average is biased."""


class Worst(NamedTuple):
    """The worst value of a diagnostic, None where it cannot be computed, and what has it."""

    value: float | None
    of: str


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Whether the chains found the posterior.

    Attributes
    ----------
    rhat, ess_bulk, ess_tail
        Largest R-hat and smallest effective sample sizes of all parameters but the pairs', and
        of the average difference.
    divergences
        Trajectories that diverged, of all chains.
    pairs_rhat, pairs_ess
        The same (R-hat, bulk) of the pairs' own effects, for information: among thousands of
        them the largest R-hat passes any limit by chance.
    """

    rhat: Worst
    ess_bulk: Worst
    ess_tail: Worst
    divergences: int
    pairs_rhat: float | None
    pairs_ess: float | None

    @property
    def reason(self) -> str | None:
        """One sentence on why nothing can be concluded; None where all is well."""
        faults = [
            f"{name} of {worst.of} is {_shown(worst.value, digits)} (expected {expected})"
            for name, worst, digits, expected, wrong in (
                ("R-hat", self.rhat, 3, f"at most {MOST_RHAT}", _above(self.rhat, MOST_RHAT)),
                ("bulk ESS", self.ess_bulk, 0, f"at least {LEAST_ESS}", _below(self.ess_bulk)),
                ("tail ESS", self.ess_tail, 0, f"at least {LEAST_ESS}", _below(self.ess_tail)),
            )
            if wrong
        ]
        if self.divergences > MOST_DIVERGENCES:
            noun = "trajectory" if self.divergences == 1 else "trajectories"
            faults.append(f"{self.divergences:,} {noun} diverged (expected none)")
        if not faults:
            return None
        return f"the chains did not converge: {'; '.join(faults)}; take more draws"


def _shown(value: float | None, digits: int) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def _above(worst: Worst, limit: float) -> bool:
    return worst.value is None or worst.value > limit


def _below(worst: Worst) -> bool:
    return worst.value is None or worst.value < LEAST_ESS


def worst_of(found: Any, worst: Any) -> Worst:
    """Return the worst of an xarray.Dataset of diagnostics.

    Parameters
    ----------
    worst
        `numpy.max` or `numpy.min`.
    """
    values = {str(name): float(worst(array)) for name, array in found.data_vars.items()}
    for name, value in values.items():
        if not math.isfinite(value):
            return Worst(None, name)
    name = max(values, key=lambda each: values[each] if worst is np.max else -values[each])
    return Worst(values[name], name)
