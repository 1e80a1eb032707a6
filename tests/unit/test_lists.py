"""What a suite may name has, wherever something is said of each name, all that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

from pytest_maxrandom.claims.shortcuts import HEURISTICS
from pytest_maxrandom.flags import KINDS, kinds
from pytest_maxrandom.models import registry
from pytest_maxrandom.record import HeuristicName
from pytest_maxrandom.recorded.sources import READERS
from pytest_maxrandom.suite.base import SCORINGS
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks import load

ROOT = Path(__file__).parents[2]

NEW_METRIC = """
from dataclasses import replace
from pytest_maxrandom.stats.metrics import BUILT_IN as METRICS

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
    assert set(READERS.built_in) == set(RESULTS.specs)


def test_every_backend_format_and_scorer_is_defined() -> None:
    assert set(registry.BUILT_IN) == set(MODELS.specs)
    assert set(load.BUILT_IN) == set(TASKS.specs)
    assert set(SCORERS.built_in) == set(SCORINGS)


def test_every_heuristic_is_defined() -> None:
    assert tuple(HEURISTICS) == get_args(HeuristicName)


def test_every_red_flag_has_a_page_and_a_test() -> None:
    pages = {page.stem for page in (ROOT / "docs" / "how-to" / "red-flags").glob("*.md")}
    assert pages - {"index"} == {*KINDS}
    tests = [path.read_text("utf-8") for path in (ROOT / "tests/unit/flags").glob("test_*.py")]
    assert [kind for kind in KINDS if not any(f'"{kind}"' in test for test in tests)] == []


def test_a_red_flag_is_a_module_of_its_name() -> None:
    assert {module.name for module in iter_modules(kinds.__path__)} == {*KINDS}


def test_no_two_red_flags_have_one_rank() -> None:
    assert len({each.rank for each in KINDS.values()}) == len(KINDS)
    assert [*KINDS.values()] == sorted(KINDS.values(), key=lambda each: each.rank)
