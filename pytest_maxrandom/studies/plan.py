"""From a suite file of any kind to all that is planned in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.claims.planned import ClaimOfSuite, Planned, PlannedClaim
from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.claims.untestable import missing_claims
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.studies.arms.plan import plan_comparisons
from pytest_maxrandom.studies.label_bias.plan import plan_label_bias
from pytest_maxrandom.studies.replicates import PlannedReplicates, plan_replicates
from pytest_maxrandom.suite.loader import RecordedSuite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def plan_file(path: Path, backends: Backends | None = None) -> list[Planned]:
    """Return the claims of a suite file, with what is asked of each, and comparisons of its arms.

    `backends` are those of the session, which find its models; new ones if not given.

    Raises
    ------
    SuiteError
        With all the mistakes in it, and in the files that it names.
    """
    backends = backends or Backends()
    suite = read_suite(path, backends)
    claims: Sequence[Planned]
    if isinstance(suite, RecordedSuite):
        claims = plan_recorded(suite)
    else:
        claims = [*plan_replicates(suite, plan(suite, backends)), *missing_claims(suite, backends)]
    planned = plan_label_bias(suite, claims)
    return [*planned, *plan_comparisons(suite, planned)]


def claims_of(planned: Sequence[Planned]) -> list[ClaimOfSuite]:
    """Return all claims, replicates included; comparisons and other checks are made of them."""
    found: dict[ClaimOfSuite, None] = {}
    for each in planned:
        claims = each.claims if isinstance(each, PlannedReplicates) else [each]
        found |= dict.fromkeys(claim for claim in claims if isinstance(claim, ClaimOfSuite))
    return list(found)


def sweeps_of(planned: Sequence[Planned]) -> list[PlannedClaim]:
    """Return the claims whose models are run, replicates included."""
    return [claim for claim in claims_of(planned) if isinstance(claim, PlannedClaim)]
