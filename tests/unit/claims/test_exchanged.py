"""Right answers that no example can exchange by itself: clusters, and things that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.tasks.task import Example
from tests.notes import noted
from tests.proof.nulls import Clustered, Compared, clustered, compare, right_on
from tests.suites import load_suite
from tests.unit.claims.test_assessment import assessed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.record import ClaimRecord


def of_pairs(drawn: Compared, answers: NDArray[np.int64]) -> ClaimRecord:
    """Judge a sweep over questions which of two things is first."""
    offered = drawn.offered.tolist()
    examples = tuple(
        Example(f"e{at}", f"which, {at}?", tuple(f"T{each}" for each in own), (own.index(right),))
        for at, (own, right) in enumerate(zip(offered, drawn.gold.tolist(), strict=True))
    )
    places = [
        [own.index(said) for own, said in zip(offered, row, strict=True)]
        for row in answers.tolist()
    ]
    return assessed(examples, lambda each, prompt: places[prompt][int(each.id[1:])], t=len(answers))


@pytest.mark.parametrize("things", [6, 15])
@pytest.mark.parametrize("t", [1, 10])
def test_who_knows_the_order_passes(things: int, t: int) -> None:
    generator = np.random.default_rng(2)
    found = []
    for _ in range(5):
        drawn = compare(generator, things, 100)
        found.append(of_pairs(drawn, right_on(0.8)(generator, drawn, t)))
    assert all(each.passed for each in found)
    assert all(each.critical_count is not None for each in found)
    assert not any("permutation_p" in each.critical_parts for each in found)


def test_what_is_compared_in_no_order_is_judged_as_well() -> None:
    generator = np.random.default_rng(3)
    drawn = compare(generator, 30, 200, kind="no order")
    assert of_pairs(drawn, right_on(0.75)(generator, drawn, 3)).passed
    assert not of_pairs(drawn, drawn.anything(generator, 3)).passed


def of_clusters(drawn: Clustered, answers: NDArray[np.int64]) -> ClaimRecord:
    names = drawn.clusters.tolist()
    examples = tuple(
        Example(f"e{at}", f"question {at}", ("Yes", "No"), (right,), cluster=f"p{name}")
        for at, (right, name) in enumerate(zip(drawn.gold.tolist(), names, strict=True))
    )
    rows = answers.tolist()
    return assessed(examples, lambda each, prompt: rows[prompt][int(each.id[1:])], t=len(rows))


def test_who_knows_passes_on_clusters_of_unequal_size() -> None:
    generator, passed = np.random.default_rng(4), 0
    for _ in range(20):
        drawn = clustered(generator, 10, 2, 0.6)
        right = generator.random((3, len(drawn.gold))) < 0.9
        record = of_clusters(drawn, drawn.right(generator, right))
        passed += bool(record.passed)
    assert passed >= 18
    assert any("Clusters differ in size" in note for note in noted(record))


def suite_of_clusters(folder: Path, clusters: list[int], rest: str = "") -> Path:
    rows = [
        f'question {at},"[""Yes"", ""No""]",{"Yes" if at % 3 else "No"},{cluster}'
        for at, cluster in enumerate(clusters)
    ]
    (folder / "t.csv").write_text("\n".join(["input,choices,answer,passage", *rows]))
    path = folder / "s.yaml"
    path.write_text(
        "models: [{name: some/model}]\n"
        "tasks: [{name: t, format: csv, path: t.csv, columns: {cluster: passage}}]\n"
        f"prompts: {{shots: [0]}}\n{rest}"
    )
    return path


UNEQUAL = [0] * 7 + [1] * 20 + [2] * 13 + [3] * 20


@pytest.mark.parametrize("rest", ["", "assert: {permutation_p: 0.05}\n"])
def test_a_claim_on_fewer_than_five_clusters_cannot_be_told(tmp_path: Path, rest: str) -> None:
    (planned,) = plan(load_suite(suite_of_clusters(tmp_path, UNEQUAL, rest)))
    assert planned.claim.cannot_tell is not None
    assert planned.claim.cannot_tell.kind == "few_clusters"
    assert planned.claim.cannot_tell.values["clusters"] == 4
    # Of as many as 24 ways one in 24 is a p below the level, and four clusters tell nothing either.
    text = worded(planned.claim.cannot_tell).text
    assert "in 6 ways at most, too few to conclude anything at .05: collect more" in text


def test_what_is_not_claimed_of_permutations_can_be_told(tmp_path: Path) -> None:
    rest = "assert: {p_max: 0.05}\n"
    (planned,) = plan(load_suite(suite_of_clusters(tmp_path, UNEQUAL, rest)))
    assert planned.claim.cannot_tell is None


def test_clusters_of_sizes_that_all_differ_can_be_told(tmp_path: Path) -> None:
    clusters = [name for name in range(4, 12) for _ in range(name)]
    (planned,) = plan(load_suite(suite_of_clusters(tmp_path, clusters)))
    assert planned.claim.cannot_tell is None


def test_without_clusters_too_few_ways_stay_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "\n".join(["input,choices,answer", *[f'q {at},"[""Yes"", ""No""]",Yes' for at in range(9)]])
    )
    path = tmp_path / "s.yaml"
    path.write_text(
        "models: [{name: some/model}]\ntasks: [{name: t, format: csv, path: t.csv}]\n"
        "prompts: {shots: [0]}\n"
    )
    with pytest.raises(SuiteError, match="can never pass"):
        plan(load_suite(path))
