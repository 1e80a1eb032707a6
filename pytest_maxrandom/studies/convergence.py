"""Whether the chains of a Markov chain Monte Carlo sampler found the posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_RHAT = 1.01
LEAST_ESS = 400
"""Both of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding,
and localization: an improved R-hat", section 4, for rank-normalized split R-hat and for bulk and
tail effective sample size."""
MOST_DIVERGENCES = 0
"""Betancourt (2017), "A conceptual introduction to Hamiltonian Monte Carlo", section 6.2: where
trajectories diverge, a part of the posterior is left out, and the average is biased."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst value of a diagnostic, None where it cannot be computed, and what has it."""

    value: float | None
    of: str


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Whether the chains found the posterior."""

    rhat: Worst
    ess_bulk: Worst
    ess_tail: Worst
    """Largest R-hat and smallest effective sample sizes of all parameters but the pairs', and of
    the average difference."""
    divergences: int
    """Trajectories that diverged, of all chains."""
    pairs_rhat: float | None
    pairs_ess: float | None
    """The same (R-hat, bulk) of the pairs' own effects, for information: among thousands of them
    the largest R-hat passes any limit by chance."""

    @property
    def reason(self) -> str | None:
        """One sentence on why nothing can be concluded; None where all is well."""
        faults = []
        for name, worst, digits, limit, least in (
            ("R-hat", self.rhat, 3, MOST_RHAT, False),
            ("bulk ESS", self.ess_bulk, 0, LEAST_ESS, True),
            ("tail ESS", self.ess_tail, 0, LEAST_ESS, True),
        ):
            value = worst.value
            if value is None or (value < limit if least else value > limit):
                shown = "undefined" if value is None else f"{value:.{digits}f}"
                expected = f"expected at {'least' if least else 'most'} {limit}"
                faults.append(f"{name} of {worst.of} is {shown} ({expected})")
        if self.divergences > MOST_DIVERGENCES:
            noun = "trajectory" if self.divergences == 1 else "trajectories"
            faults.append(f"{self.divergences:,} {noun} diverged (expected none)")
        if not faults:
            return None
        return f"the chains did not converge: {'; '.join(faults)}; take more draws"


def worst_of(diagnostics: Any, worst: Any) -> Worst:
    """Return the worst, by `numpy.max` or `numpy.min`, of an xarray.Dataset of diagnostics."""
    values = {str(name): float(worst(array)) for name, array in diagnostics.data_vars.items()}
    for name, value in values.items():
        if not math.isfinite(value):
            return Worst(None, name)
    name = (max if worst is np.max else min)(values, key=values.__getitem__)
    return Worst(values[name], name)
