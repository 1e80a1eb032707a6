"""Clusters from the task's file to the report, and back from the predictions file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.stats.winner import wilson

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clustered(suites: Path) -> Path:
    """The suite whose claim holds, with questions in pairs."""
    file = suites / "data" / "known.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    text = "".join(
        json.dumps({**row, "passage": number // 2}) + "\n" for number, row in enumerate(rows)
    )
    file.write_text(text)
    path = suites / "suite.yaml"
    head, _, _ = path.read_text().partition("  - name: unknown")
    path.write_text(
        f"{head}    columns: {{cluster: passage}}\n    test: {{fraction: 0.25}}\n"
        "prompts: {shots: 0}\nassert: {p_max: 0.05}\n"
    )
    return suites


def only_claim(path: Path) -> dict[str, Any]:
    (claim,) = json.loads(path.read_text())["claims"]
    found: dict[str, Any] = claim
    return found


def test_a_run_tells_clusters_and_what_n_is_worth(
    pytester: pytest.Pytester, clustered: Path
) -> None:
    pytester.runpytest(
        "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-predictions=p.jsonl"
    ).assert_outcomes(passed=1)
    claim = only_claim(pytester.path / "r.json")
    assert (claim["n"], claim["clusters"], claim["effective_n"]) == (18, 9, 9.0)
    test = claim["test"]
    assert (test["n"], test["clusters"], test["effective_n"]) == (6, 3, 3.0)
    assert (test["low"], test["high"]) == wilson(test["correct"], 6, effective_n=3.0)
    report = (pytester.path / "r.md").read_text()
    assert "**Clusters:** n = 18 examples in 9 clusters, effective n 9.0" in report
    main(["report", "r.json", "--format", "disclosure", "--out", "d.md"])
    paragraph = (pytester.path / "d.md").read_text()
    assert "n = 18 validation examples (in 9 clusters, effective n 9.0) of" in paragraph
    assert "by the effective n (in 3 clusters, effective n 3.0)" in paragraph
    assert "Kish" in paragraph

    (clustered / "suite.yaml").write_text(
        "models: [{name: tiny, backend: recorded, quantization: none, results: "
        f"{{path: ../p.jsonl, format: predictions, model: '{claim['model']}'}}}}]\n"
        "tasks: [{name: known}]\nassert: {p_max: 0.05}\n"
    )
    pytester.runpytest("--maxrandom-json=read.json").assert_outcomes(passed=1)
    read = only_claim(pytester.path / "read.json")
    assert (read["clusters"], read["effective_n"]) == (9, 9.0)


def test_a_cluster_that_is_missing_is_told_at_collection(
    pytester: pytest.Pytester, clustered: Path
) -> None:
    file = clustered / "data" / "known.jsonl"
    lines = file.read_text().splitlines()
    row = json.loads(lines[4])
    lines[4] = json.dumps({key: value for key, value in row.items() if key != "passage"})
    file.write_text("\n".join(lines))
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        ["*known.jsonl:5: there is no cluster in 'passage', but with `columns: cluster:`*"]
    )


def test_clusters_that_do_not_fit_are_told_with_their_line(
    pytester: pytest.Pytester, clustered: Path
) -> None:
    path = clustered / "suite.yaml"
    path.write_text(
        path.read_text().replace(
            "    test: {fraction: 0.25}\n", "    validation: {max_examples: 1}\n"
        )
    )
    line = path.read_text().splitlines().index("    validation: {max_examples: 1}") + 1
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        [f"*suite.yaml:{line}: tasks[[]0]: the smallest cluster of known has 2 examples, and *"]
    )


def test_a_claim_without_clusters_says_nothing_of_them(
    pytester: pytest.Pytester, suites: Path
) -> None:
    pytester.runpytest(
        "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-predictions=p.jsonl"
    )
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert {(claim["clusters"], claim["effective_n"]) for claim in claims} == {(None, None)}
    assert "luster" not in (pytester.path / "r.md").read_text()
    assert "cluster" not in (pytester.path / "p.jsonl").read_text()
