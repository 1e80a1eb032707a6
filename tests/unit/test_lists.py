"""What a suite may name has, wherever something is said of each name, all that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from pytest_maxrandom.models import registry
from pytest_maxrandom.notation import METRIC_NAMES
from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind
from pytest_maxrandom.recorded.sources import READERS
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.suite.base import Scoring
from pytest_maxrandom.suite.claims import DESCRIPTIONS, Metric
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks import load


def test_every_metric_is_defined_and_has_a_name() -> None:
    assert tuple(METRICS) == tuple(METRIC_NAMES) == get_args(Metric)


def test_every_format_of_recorded_results_has_a_reader() -> None:
    assert set(READERS) == set(RESULTS.specs)


def test_every_backend_format_and_scorer_is_defined() -> None:
    assert set(registry.BUILT_IN) == set(MODELS.specs)
    assert set(load.BUILT_IN) == set(TASKS.specs)
    assert set(SCORERS) == set(get_args(Scoring))


def test_every_red_flag_has_a_severity_and_is_described_in_the_schema() -> None:
    assert set(DEFAULTS) == set(DESCRIPTIONS) == set(get_args(RedFlagKind))
    pages = Path(__file__).parents[2] / "docs" / "how-to" / "red-flags"
    assert {page.stem for page in pages.glob("*.md")} - {"index"} == set(DEFAULTS)
