"""Clusters in recorded results."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.recorded_claims import RecordedClaim, plan_recorded
from pytest_maxrandom.errors import RecordedError, SuiteError
from pytest_maxrandom.recorded.sources import read
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite
from pytest_maxrandom.suite.recorded import TableColumns
from tests.unit.recorded.arrays.test_npz import arrays
from tests.unit.recorded.logs.inspect_logs import Log, write_json
from tests.unit.recorded.logs.lm_eval_logs import Run, write_run
from tests.unit.recorded.logs.test_lm_eval import WEATHER
from tests.unit.recorded.reading import read_inspect, read_lm_eval, read_table
from tests.unit.recorded.tables.conftest import MEANT, WRITERS, row
from tests.unit.recorded.test_predictions import answer, line, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", ["cluster", "passage"])
def test_a_column_of_a_table_tells_them(tmp_path: Path, ending: str, name: str) -> None:
    rows = [row(p, e, 1, **{name: c}) for p in "pq" for e, c in (("a", 3), ("b", 3), ("c", 5))]
    path = WRITERS[ending](tmp_path / f"t.{ending}", rows)
    columns = TableColumns() if name == "cluster" else TableColumns(cluster=name)
    [sweep] = read_table(path, columns, **MEANT)
    assert sweep.clusters == ("3", "3", "5")
    assert sweep.distinct().clusters == ("3", "3", "5")


def test_a_table_without_the_column_has_none(tmp_path: Path) -> None:
    [plain] = read_table(WRITERS["csv"](tmp_path / "a.csv", [row("p", "a")]), **MEANT)
    empty = WRITERS["csv"](tmp_path / "b.csv", [row("p", "a", cluster="")])
    assert plain.clusters is None
    assert read_table(empty, **MEANT)[0].clusters is None
    path = WRITERS["csv"](tmp_path / "c.csv", [row("p", "a", cluster="x")])
    assert read_table(path, TableColumns(cluster=""), **MEANT)[0].clusters is None
    with pytest.raises(RecordedError, match=r"a.csv:1: there is no column 'passage' for `columns"):
        read_table(tmp_path / "a.csv", TableColumns(cluster="passage"), **MEANT)


def test_an_example_in_two_clusters_is_told_with_its_line(tmp_path: Path) -> None:
    rows = [row("p", "a", cluster="x"), row("p", "b", cluster="x"), row("q", "a", cluster="y")]
    path = WRITERS["csv"](tmp_path / "t.csv", [*rows, row("q", "b", cluster="x")])
    with pytest.raises(RecordedError) as caught:
        read_table(path, **MEANT)
    assert str(caught.value) == (
        f"{path}:4: t[m-2shot]: cluster of example 'a' is 'y', but 'x' in line 2; give all rows of "
        "an example the same value"
    )


def test_an_example_without_a_cluster_among_others_is_told_with_its_line(tmp_path: Path) -> None:
    rows = [row("p", "a", cluster="x"), row("p", "b", cluster="")]
    path = WRITERS["csv"](tmp_path / "t.csv", rows)
    with pytest.raises(RecordedError) as caught:
        read_table(path, **MEANT)
    assert str(caught.value) == (
        f"{path}:3: t[m-2shot]: example 'b' has no cluster, but others have one; give an example "
        "without relatives a name of its own"
    )


def test_an_archive_holds_them(tmp_path: Path) -> None:
    path = tmp_path / "correct_m.npz"
    for given, expected in (([4, 4, 9], ("4", "4", "9")), (["x", "y", "x"], ("x", "y", "x"))):
        np.savez(path, **arrays(clusters=np.array(given)))
        assert read(path)[0].clusters == expected
    np.savez(path, **arrays())
    assert read(path)[0].clusters is None


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (np.array([1, 2]), r"snarks__1__clusters: found the shape \(2,\), expected \(3,\)"),
        (np.array([1.0, 2, 3]), "found values of the type float64, expected integers or text"),
        (np.array(["x", "", "y"]), "snarks__1__clusters: found none for example '8'"),
    ],
)
def test_an_archive_is_wrong_in_one_sentence(tmp_path: Path, clusters: Any, message: str) -> None:
    path = tmp_path / "correct_m.npz"
    np.savez(path, **arrays(clusters=clusters))
    with pytest.raises(RecordedError, match=message):
        read(path)


def of_cluster(name: str, cluster: str | None, chosen: int = 0) -> dict[str, Any]:
    return answer(name, chosen, [0]) | ({} if cluster is None else {"cluster": cluster})


def test_a_predictions_file_holds_them(tmp_path: Path) -> None:
    first = line(examples=[of_cluster("a", "x"), of_cluster("b", "x")])
    examples = [of_cluster("c", "y"), of_cluster("b", "x")]
    second = line(prompt="2", demonstration_ids=["a"], examples=examples)
    [sweep] = read(write(tmp_path / "p.jsonl", first, second))
    assert (sweep.examples, sweep.clusters) == (("a", "b", "c"), ("x", "x", "y"))
    [sweep] = read(write(tmp_path / "p.jsonl", line()))
    assert sweep.clusters is None


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (of_cluster("a", "y"), "example 'a' has the cluster 'y', but the cluster 'x' in an earlie"),
        (of_cluster("a", None), "example 'a' has no cluster, but the cluster 'x' in an earlier"),
        (of_cluster("d", None), "example 'd' has no cluster, but example 'a' has the cluster 'x'"),
    ],
)
def test_a_predictions_file_that_contradicts_itself_is_told_with_the_line(
    tmp_path: Path, second: dict[str, Any], message: str
) -> None:
    path = write(
        tmp_path / "p.jsonl",
        line(examples=[of_cluster("a", "x"), of_cluster("b", "x")]),
        line(prompt="2", examples=[second]),
    )
    with pytest.raises(RecordedError, match=rf"p\.jsonl:2: {message}"):
        read(path)


def test_a_field_of_the_documents_of_lm_eval_may_tell_them(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER))
    [sweep] = read_lm_eval(tmp_path, cluster="text")
    assert sweep.clusters == ("Document 0", "Document 1", "Document 2")
    assert read_lm_eval(tmp_path)[0].clusters is None
    told = r":1: no cluster in 'passage', found None \(fields: text\); name a field"
    with pytest.raises(RecordedError, match=told):
        read_lm_eval(tmp_path, cluster="passage")


def test_the_metadata_of_samples_of_inspect_may_tell_them(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", Log())
    content = json.loads(path.read_text())
    for number, sample in enumerate(content["samples"]):
        sample["metadata"] = {"passage": number // 2}
    path.write_text(json.dumps(content))
    [sweep] = read_inspect(path, cluster="passage")
    assert sweep.clusters == ("0", "0", "1", "1")
    content["samples"][2]["metadata"] = {}
    path.write_text(json.dumps(content))
    with pytest.raises(RecordedError, match="metadata: no cluster in 'passage'"):
        read_inspect(path, cluster="passage")


def claims(folder: Path, results: str, task: str = "{name: t}") -> list[RecordedClaim]:
    (folder / "suite.yaml").write_text(f"""\
models:
- name: m
  backend: recorded
  results: {results}
tasks: [{task}]
assert: report
""")
    suite = load_any_suite(folder / "suite.yaml")
    assert isinstance(suite, RecordedSuite)
    return plan_recorded(suite)


def test_the_record_tells_what_n_is_worth(tmp_path: Path) -> None:
    clusters = {"a": "x", "b": "x", "c": "x", "d": "y"}
    rows = [row("p", e, 1, passage=c, choices=2) for e, c in clusters.items()]
    rows += [row("q", e, 0, passage=c, choices=2) for e, c in clusters.items()]
    WRITERS["csv"](tmp_path / "t.csv", rows)
    results = "{path: t.csv, format: table, shots: 0, columns: {cluster: passage}}"
    record = claims(tmp_path, results)[0].record("id", "suite.yaml")
    assert (record.n, record.clusters, record.effective_n) == (4, 2, 1.6)
    results = "{path: t.csv, format: table, shots: 0}"
    record = claims(tmp_path, results)[0].record("id", "suite.yaml")
    assert (record.clusters, record.effective_n) == (None, None)


def test_of_prompts_with_different_examples_the_best_ones_count(tmp_path: Path) -> None:
    best = [row("p", e, 1, cluster=c, choices=2) for e, c in (("a", "x"), ("b", "x"))]
    other = [row("q", e, 0, cluster=c, choices=2) for e, c in (("a", "x"), ("c", "y"))]
    WRITERS["csv"](tmp_path / "t.csv", [*best, *other])
    results = "{path: t.csv, format: table, shots: 0, ragged: true}"
    record = claims(tmp_path, results)[0].record("id", "suite.yaml")
    assert (record.clusters, record.effective_n) == (1, 1.0)


def test_logs_have_no_other_columns(tmp_path: Path) -> None:
    with pytest.raises(
        SuiteError, match=r"columns.gold` goes with `format: table`, but this has `format: lm_eval`"
    ):
        claims(tmp_path, "{path: logs, format: lm_eval, columns: {gold: x}}")
    with pytest.raises(
        SuiteError, match=r"columns.cluster` goes with `format: .*`, but this has `format: summary`"
    ):
        claims(tmp_path, "{path: s.csv, format: summary, columns: {cluster: x}}")


def test_a_sweep_has_a_cluster_for_each_example(tmp_path: Path) -> None:
    np.savez(tmp_path / "correct_m.npz", **arrays())
    [sweep] = read(tmp_path / "correct_m.npz")
    with pytest.raises(RecordedError, match="clusters of 2 examples, but there are 3 example ids"):
        replace(sweep, clusters=("x", "y"))
