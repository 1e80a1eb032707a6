"""What a suite may name has, wherever something is said of each name, all that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

from pytest_maxrandom.models import registry
from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind
from pytest_maxrandom.recorded.sources import READERS
from pytest_maxrandom.suite.base import Scoring
from pytest_maxrandom.suite.claims import DESCRIPTIONS
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks import load

NEW_METRIC = """
from dataclasses import replace
from pytest_maxrandom.stats.metrics import METRICS

METRICS["recalled"] = replace(
    METRICS["balanced_accuracy"], words="recalled share", description="what is new", also=("new",)
)
from pathlib import Path
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.suite.loader import load_any_suite
from pytest_maxrandom.suite.schema import schema
from tests.unit.reports.samples import run, scored

key = schema()["$defs"]["SuiteSpec"]["properties"]["metric"]
assert key["enum"] == [*METRICS] and "recalled: what is new" in key["description"]
assert "recalled share" in markdown(run(scored("recalled")))
Path("suite.yaml").write_text("metric: new")
try:
    load_any_suite(Path("suite.yaml"))
except SuiteError as error:
    assert "did you mean `recalled`?" in str(error), error
"""


def test_a_metric_needs_its_definition_only(tmp_path: Path) -> None:
    """The schema, the mistakes and the reports know one that is added to the table."""
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", NEW_METRIC], check=True, cwd=tmp_path, env=environ)


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
