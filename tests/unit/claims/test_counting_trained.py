"""Which trained arms are claims of their own, before anything is trained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.counting import ClaimsOfRun, counted_name
from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.claims.tries import expected
from pytest_maxrandom.suite.loader import Suite

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim

HEAD = """\
models: [{name: ./model, quantization: none}]
tasks: [{name: sums, format: jsonl, path: sums.jsonl, validation: {max_examples: 10}}]
classify: {examples: 10}
allow_unpassable: true
arms:
  base: {}
"""
CHECK = "contamination: {base: base, extra: ARM, test: test}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"input": f"question {k}", "choices": ["even", "odd"], "answer": ("even", "odd")[k % 2]}
        for k in range(60)
    ]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return tmp_path


def counted(
    folder: Path, extra: str = "extra", rate: str = "0.001", check: str = CHECK
) -> tuple[list[PlannedClaim], dict[str, int]]:
    path = folder / "s.yaml"
    arms = f"  {extra}: {{train: {{text: extra, learning_rate: {rate}}}}}\n"
    arms += f"  test: {{train: {{text: scored, learning_rate: {rate}}}}}\n"
    path.write_text(HEAD + arms + check.replace("ARM", extra))
    suite = read_suite(path)
    assert isinstance(suite, Suite)
    claims = plan(suite)
    return claims, {claim.arm.name: expected(claim, ClaimsOfRun(claims)).t for claim in claims}


def test_each_arm_of_the_check_is_tried_once(folder: Path) -> None:
    assert counted(folder)[1] == {"base": 1, "extra": 1, "test": 1}


def test_neither_a_new_name_nor_new_settings_make_another_claim(folder: Path) -> None:
    first, other = counted(folder)[0], counted(folder, "more", "0.002")[0]
    assert [*map(counted_name, first)] == [*map(counted_name, other)]
    assert len({*map(counted_name, first)}) == 3
    assert [one.training.digest if one.training else "" for one in first[1:]] != [
        one.training.digest if one.training else "" for one in other[1:]
    ]


def test_arms_outside_the_check_count_together_because_the_best_may_be_chosen(
    folder: Path,
) -> None:
    assert set(counted(folder, check="")[1].values()) == {3}
