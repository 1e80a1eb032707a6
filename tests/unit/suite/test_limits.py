"""Limits of what comes from outside: what a suite may say of them, and what the runner has said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.errors import LimitsError, SuiteError
from pytest_maxrandom.host.data import Boundary
from pytest_maxrandom.host.limits import USUAL, VARIABLE, Limits, in_force, limits
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.suite.claims import LimitsSpec
from pytest_maxrandom.suite.loader import load_any_suite
from tests.unit.recorded.suites import rows, save, suite_text

if TYPE_CHECKING:
    from pathlib import Path

SUITE = suite_text("{name: t, chance: 1/2}", "limits: LIMITS\n")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite whose results unpack to 3 MB."""
    save(tmp_path / "m.npz", t__0={"correct": rows(60, 50, n=90)})
    with np.load(tmp_path / "m.npz") as arrays:
        known = dict(arrays)
    np.savez_compressed(tmp_path / "m.npz", **known, other=np.zeros(3_000_000, dtype=np.uint8))
    return tmp_path / "suite.yaml"


def planned(suite: Path, said: str) -> str:
    """Return what is wrong with a suite that says these limits."""
    suite.write_text(SUITE.replace("LIMITS", said))
    try:
        plan_file(suite)
    except SuiteError as error:
        return str(error)
    finally:
        assert limits() == USUAL or VARIABLE in said
    return ""


def test_a_suite_says_how_much_its_data_may_take(suite: Path) -> None:
    assert not planned(suite, "{data_mb: 4}")
    said = planned(suite, "{data_mb: 1}")
    assert "it unpacks to more than 1 MB; if it should, raise `limits: data_mb`" in said


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("{data_mb: 0}", "5: `limits.data_mb`: found 0"),
        ("{data_mb: -1}", "5: `limits.data_mb`: found -1"),
        ("{data_mb: '5'}", "5: `limits.data_mb`: found '5'"),
        ("{pattern_seconds: .inf}", "5: `limits.pattern_seconds`: found"),
        ("{pattern_seconds: 1.5}", "5: `limits.pattern_seconds`: found 1.5"),
        ("{answer_depth: 5000}", "5: `limits.answer_depth`: found 5000"),
        ("{data_gb: 1}", "did you mean `data_mb`?"),
        ("512", "5: `limits`: found 512"),
    ],
)
def test_what_is_no_limit_is_told(suite: Path, said: str, wrong: str) -> None:
    assert wrong in planned(suite, said)


def test_under_a_gate_a_suite_may_lower_a_limit_and_not_raise_it(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*LimitsSpec.model_fields]
    with Boundary(suite.parent).in_force():
        for name in names:
            most = getattr(USUAL, name)
            assert not planned(suite, f"{{{name}: {most}}}")
            said = planned(suite, f"{{{name}: {most + 1}}}")
            assert f"suite.yaml:5: limits.{name}: found {most + 1:,}, expected at most" in said
            assert f"let the workflow set {VARIABLE}={name}={most + 1}" in said
        assert "more than 1 MB" in planned(suite, "{data_mb: 1}")
        monkeypatch.setenv(VARIABLE, "data_mb=2000, pattern_seconds=30")
        suite.write_text(SUITE.replace("LIMITS", "{data_mb: 2000, pattern_seconds: 5}"))
        assert load_any_suite(suite)
    suite.write_text(SUITE.replace("LIMITS", "{data_mb: 5000}"))
    assert load_any_suite(suite)  # whoever runs pytest decides


def test_the_runner_says_what_is_usual(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " data_mb = 2 ,answer_mb=3,")
    assert limits() == Limits(data_mb=2, answer_mb=3)
    with in_force({"data_mb": 5}):
        assert limits() == Limits(data_mb=5, answer_mb=3)
    suite.write_text(SUITE.replace("LIMITS", "{}"))
    with pytest.raises(SuiteError, match="more than 2 MB"):
        plan_file(suite)


@pytest.mark.parametrize(
    "said",
    [
        "data_mb",
        "data_mb=x",
        "data_mb=0",
        "data_mb=-1",
        "data_mb=1000001",
        "answer_depth=501",
        "mb=5",
        "512",
    ],
)
def test_a_variable_that_says_no_limit_is_told(
    suite: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(LimitsError, match=f"the variable {VARIABLE} has '{said}', expected NAME="):
        limits()
    suite.write_text(SUITE.replace("LIMITS", "{}"))
    with pytest.raises(SuiteError, match=f"the variable {VARIABLE} has '{said}'"):
        load_any_suite(suite)
