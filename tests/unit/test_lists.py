"""What a suite may name has, wherever something is said of each name, all that it needs."""

from __future__ import annotations

from typing import get_args

from pytest_maxrandom.notation import METRIC_NAMES
from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind
from pytest_maxrandom.recorded.sources import READERS
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.suite.claims import DESCRIPTIONS, Metric
from pytest_maxrandom.suite.recorded import RESULTS


def test_every_metric_is_defined_and_has_a_name() -> None:
    assert tuple(METRICS) == tuple(METRIC_NAMES) == get_args(Metric)


def test_every_format_of_recorded_results_has_a_reader() -> None:
    assert set(READERS) == set(RESULTS.specs)


def test_every_red_flag_has_a_severity_and_is_described_in_the_schema() -> None:
    assert set(DEFAULTS) == set(DESCRIPTIONS) == set(get_args(RedFlagKind))
