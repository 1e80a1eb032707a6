"""What a suite may name has, wherever something is said of each name, all that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest

from pytest_maxrandom.notation import METRIC_NAMES
from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.suite.claims import DESCRIPTIONS, Metric
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.spec import TASKS

if TYPE_CHECKING:
    from pytest_maxrandom.suite.extensions import SpecUnion


def test_every_metric_is_defined_and_has_a_name() -> None:
    assert tuple(METRICS) == tuple(METRIC_NAMES) == get_args(Metric)


@pytest.mark.parametrize("union", [TASKS, RESULTS])
def test_a_block_without_its_format_may_have_every_key(union: SpecUnion[Any]) -> None:
    keys = {key for spec in union.specs.values() for key in spec.model_fields}
    assert keys <= set(union.every_key.model_fields)


def test_every_red_flag_has_a_severity_and_is_described_in_the_schema() -> None:
    assert set(DEFAULTS) == set(DESCRIPTIONS) == set(get_args(RedFlagKind))
