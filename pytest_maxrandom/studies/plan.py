"""From a suite file of any kind to all that is planned in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.claims.plan_recorded import plan_recorded
from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.studies.arms.plan import plan_comparisons, plan_recorded_comparisons
from pytest_maxrandom.studies.label_bias.plan import plan_label_bias
from pytest_maxrandom.studies.replicates import plan_replicates, replicated
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import RecordedClaim
    from pytest_maxrandom.studies.arms.plan import PlannedComparison, PlannedContamination
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.studies.replicates import PlannedReplicates

    Planned = (
        PlannedClaim
        | PlannedLabelBias
        | PlannedReplicates
        | RecordedClaim
        | PlannedComparison
        | PlannedContamination
    )


def plan_file(path: Path) -> Sequence[Planned]:
    """Return the claims of a suite file, with what is asked of each, and comparisons of its arms.

    Raises
    ------
    SuiteError
        With all the mistakes in it, and in the files that it names.
    """
    suite = load_any_suite(path)
    if isinstance(suite, RecordedSuite):
        recorded = plan_recorded(suite)
        checked = plan_label_bias(suite, recorded)
        return [*checked, *plan_recorded_comparisons(suite, recorded)]
    planned = plan_label_bias(suite, plan_replicates(suite, plan(suite)))
    claims = [each for each in planned if isinstance(each, PlannedClaim)]
    return [*planned, *plan_comparisons(suite, map(replicated, claims))]
