"""Results of two models that are those of one: the same weights, or the same file, read twice."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.notation import count
from pytest_maxrandom.recorded.sweep import RecordedSweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.claims import RecordedClaim

_ALIKE = 0.98
"""Cohen's kappa from which on two models are one."""
_FEWEST_CELLS = 1_000


def with_twins(claims: Sequence[RecordedClaim]) -> list[RecordedClaim]:
    """Return the claims, with a red flag where another model is right on the same answers."""
    groups: defaultdict[tuple[str, int | None], list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        groups[claim.task, claim.shots].append(place)
    flagged = list(claims)
    for places in groups.values():
        for one, other in itertools.combinations(places, 2):
            agreement = _agreement(claims[one], claims[other])
            for place, twin in ((one, other), (other, one)) if agreement else ():
                flagged[place] = _flagged(
                    flagged[place],
                    f"{agreement} answers are right or wrong as those of "
                    f"{claims[twin].model.name} are: look whether the two are one model.",
                )
    return flagged


def _flagged(claim: RecordedClaim, warning: str) -> RecordedClaim:
    evidence = claim.evidence
    assert evidence is not None
    flags = (*evidence.red_flags, warning)
    return replace(claim, evidence=replace(evidence, red_flags=flags))


def _agreement(one: RecordedClaim, other: RecordedClaim) -> str | None:
    """Say on how many of the shared answers two models agree, if no two models would."""
    found = [claim.evidence.results for claim in (one, other) if claim.evidence]
    sweeps = [results for results in found if isinstance(results, RecordedSweep)]
    if len(sweeps) < 2 or one.model.name == other.model.name:
        return None
    first, second = _aligned(*sweeps)
    if first.size < _FEWEST_CELLS:
        return None
    agreeing = int((first == second).sum())
    shares = float(first.mean()), float(second.mean())
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    if agreeing / first.size - expected <= _ALIKE * (1 - expected):
        return None
    return f"{count(agreeing)} of {count(first.size)}"


def _aligned(one: RecordedSweep, other: RecordedSweep) -> tuple[NDArray[np.bool_], ...]:
    """Return what both say of the prompts and examples that they share, shapes (cells,)."""
    rows = _shared(one.identities, other.identities)
    columns = _shared(one.example_ids, other.example_ids)
    cells = [np.ix_(rows[:, side], columns[:, side]) for side in (0, 1)]
    both = one.evaluated[cells[0]] & other.evaluated[cells[1]]
    return one.correct[cells[0]][both], other.correct[cells[1]][both]


def _shared(one: Sequence[str], other: Sequence[str]) -> NDArray[np.intp]:
    """Return the places of equal names, shape (shared, 2)."""
    places = {name: place for place, name in enumerate(other)}
    pairs = [(place, places[name]) for place, name in enumerate(one) if name in places]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
