"""A suite with counterfactual scoring: other tries of the same claims, stored like any."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _run(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert len(claims) == 2
    return list(claims)


def test_counterfactual_scores_are_tries_of_their_own_and_are_computed_once(
    pytester: pytest.Pytester, suites: Path
) -> None:
    assert [claim["tries"]["claim"] for claim in _run(pytester)] == [1, 1]
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text() + "scoring: counterfactual\n")
    for computed in (1, 0):
        for claim in _run(pytester):
            assert claim["scoring"] == "counterfactual"
            assert (claim["t"], claim["tries"]["claim"]) == (2, 2)
            assert claim["engine"]["requests"] == 2 * claim["n"] * computed
            assert claim["engine"]["reused"] == 1 - computed
    assert "model `tiny`, counterfactual\n" in (pytester.path / "r.md").read_text()
    main(["report", "r.json", "--format", "disclosure", "--out", "d.md"])
    assert "the highest log-likelihood of a continuation" in (pytester.path / "d.md").read_text()
    suite.write_text(suite.read_text() + "counterfactual: {statement: ' was'}\n")
    assert [claim["tries"]["claim"] for claim in _run(pytester)] == [3, 3]
