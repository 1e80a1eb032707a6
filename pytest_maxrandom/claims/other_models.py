"""What other models were asked as well, as far as their answers are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.sweep import Cache, stored_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.models.registry import ModelPool
    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.sweeps.store import Store
    from pytest_maxrandom.sweeps.sweep import Sweep


def other_models(
    planned: PlannedClaim,
    collected: Iterable[PlannedClaim],
    store: Store,
    pool: ModelPool,
    forced_engine: str,
) -> list[tuple[PlannedClaim, Sweep]]:
    """Return the sweeps of other models with the same prompts and examples; none is computed.

    Models are others where their names differ: one name with several quantizations, adapters or
    revisions are arms of one model. Whose answers are stored depends on no selection, order or
    number of processes in the end: of two models, the one that is asked last finds the other.

    Parameters
    ----------
    collected : iterable of PlannedClaim
        The claims of all suites that were read, whether they are selected or not.
    pool : ModelPool
        Tells what computes each model here; what was computed otherwise is not compared.
    """
    found: dict[tuple[str, str], tuple[PlannedClaim, Sweep]] = {}
    for other in collected:
        if other.model.name == planned.model.name or not _asked_the_same(other, planned):
            continue
        try:
            identity = pool.identity(other.model, other.base)
        except ModelError:  # and so it has no results
            continue
        key = other.model.name, identity.digest
        if key in found:
            continue
        jobs = jobs_of(other.condition.prompt_set.pairs, other.suite.scoring)
        cache = Cache(store, identity.digest, identity.arithmetic, forced_engine)
        sweep = stored_sweep(jobs, cache)
        if sweep is not None:
            found[key] = other, sweep
    return list(found.values())


def _asked_the_same(one: PlannedClaim, other: PlannedClaim) -> bool:
    first, second = one.condition.prompt_set, other.condition.prompt_set
    return first.validation == second.validation and _digests(first) == _digests(second)


def _digests(asked: PromptSet) -> set[str]:
    return {prompt.digest for prompt in asked.prompts}
