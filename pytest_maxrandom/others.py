"""What other models of a session were asked as well, as far as their answers are stored."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.digest import model_digest
from pytest_maxrandom.models.registry import located
from pytest_maxrandom.sweep import stored_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.plan import PlannedClaim
    from pytest_maxrandom.store import Store
    from pytest_maxrandom.sweep import Sweep


def other_models(
    planned: PlannedClaim, run: Iterable[PlannedClaim], store: Store, forced_engine: str
) -> list[tuple[PlannedClaim, Sweep]]:
    """Return the sweeps of other models with the same prompts and examples; none is computed.

    Models are others where their names differ: one name with several quantizations, adapters or
    revisions are arms of one model. A model is compared with those before it only, which have
    results in a first run already, so that a second run finds the same.

    Parameters
    ----------
    run : iterable of PlannedClaim
        What the session is about.
    """
    found: dict[tuple[str, str], tuple[PlannedClaim, Sweep]] = {}
    for other in takewhile(lambda each: each is not planned, run):
        if other.model.name == planned.model.name or not _asked_the_same(other, planned):
            continue
        try:
            digest = model_digest(other.model, *located(other.model, other.base))
        except ModelError:  # and so it has no results
            continue
        if (other.model.name, digest) in found:
            continue
        prompts = other.cell.prompt_set
        work = [(prompt, prompts.scored(prompt)) for prompt in prompts.prompts]
        sweep = stored_sweep(work, other.suite.scoring, store, digest, forced_engine)
        if sweep is not None:
            found[other.model.name, digest] = other, sweep
    return list(found.values())


def _asked_the_same(one: PlannedClaim, other: PlannedClaim) -> bool:
    first, second = one.cell.prompt_set, other.cell.prompt_set
    digests = [{prompt.digest for prompt in each.prompts} for each in (first, second)]
    return first.validation == second.validation and digests[0] == digests[1]
