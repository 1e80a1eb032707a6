"""The published study of pretraining on unlabeled test text, from its 27,000 accuracies.

Boost is what pretraining on other texts brings, extra - base; bias is what pretraining on the
test texts brings beyond, test - extra. Known of it: the effects of its hierarchical model at
m = 100, n = 500; that two cells of its tables were rounded twice; no task with a bias at q <= .05;
the variance of its pairs; and how often single draws concluded otherwise.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pytest_maxrandom.cli import main
from pytest_maxrandom.record import ContaminationRecord
from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, paired
from pytest_maxrandom.studies.arms.conclude import contamination_over_tasks
from pytest_maxrandom.studies.arms.recorded import read_arms

if TYPE_CHECKING:
    from collections.abc import Iterable

SUITES = Path(__file__).parents[2] / "eval_suites" / "pretraining" / "study"
BOOST, BIAS = ("extra", "base"), ("test", "extra")
CELLS = [*itertools.product(("50", "100"), ("50", "100", "200", "500"), ("bert", "gpt2"))]
Cells = dict[tuple[str, ...], dict[tuple[str, str], dict[str, Any]]]


@pytest.fixture(scope="module")
def study(data_dir: Path) -> Path:
    return data_dir / "paper" / "pretrain_on_test_accuracies.csv.gz"


def analysed(study: Path, *options: str) -> Cells:
    compare = ["--compare", "extra-base", "--compare", "test-extra"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["replication", str(study), *compare, *options, "--json"]) == 0
    cells: Cells = {}
    for each in json.loads(printed.getvalue())["results"]:
        cells.setdefault(tuple(each["group"].values()), {})[each["a"], each["b"]] = each
    return cells


@pytest.fixture(scope="module")
def by_model(study: Path) -> Cells:
    return analysed(study, "--by", "m,n,model", "--slices", "20")


@pytest.fixture(scope="module")
def pooled(study: Path) -> Cells:
    return analysed(study, "--by", "m,n", "--pool", "model")


def exact_means(study: Path) -> dict[tuple[tuple[str, ...], tuple[str, str]], Fraction]:
    """Mean differences from the file's own decimals, without floating point."""
    sums: dict[tuple[tuple[str, ...], tuple[str, str]], list[Fraction]] = {}
    with gzip.open(study, "rt", newline="") as lines:
        for row in csv.DictReader(lines):
            for a, b in (BOOST, BIAS):
                cell = (row["m"], row["n"], row["model"])
                n = int(row["n"])
                counts = [round(float(row[arm]) * n) for arm in (a, b)]
                sums.setdefault((cell, (a, b)), []).append(Fraction(counts[0] - counts[1], n))
    return {key: sum(values, Fraction(0)) / len(values) for key, values in sums.items()}


def test_the_file_holds_the_studys_design(study: Path) -> None:
    recorded = read_arms(study, ["extra-base"], by=["m", "n", "model"])
    assert [*recorded.groups] == CELLS
    for (_, n, _), units in recorded.groups.items():
        replicates = {"50": 100, "100": 100, "200": 50, "500": 20}[n]
        assert len({unit.task for unit in units}) == 25
        assert len(units) == 25 * replicates
        assert {result.n for arms in units.values() for result in arms.values()} == {int(n)}


def test_truncation_would_lose_answers(study: Path) -> None:
    with gzip.open(study, "rt", newline="") as lines:
        rows = [(float(row[arm]), int(row["n"])) for row in csv.DictReader(lines) for arm in BOOST]
    lost = sum(int(accuracy * n) < round(accuracy * n) for accuracy, n in rows) / len(rows)
    assert 0.025 < lost < 0.045


def test_mean_boost_and_bias_are_those_of_the_files_own_decimals(
    study: Path, by_model: Cells
) -> None:
    for (cell, arms), mean in exact_means(study).items():
        assert by_model[cell][arms]["difference"] == pytest.approx(float(mean), abs=1e-12)


def test_a_suites_row_over_tasks_is_the_published_analysis(study: Path) -> None:
    alike = analysed(study, "--by", "m,n,model", "--slices", "1", "--confidence", "0.95")
    units = read_arms(study, ["extra-base", "test-extra"], by=["m", "n", "model"]).groups
    found_by: dict[tuple[str, ...], str] = {}
    for cell, arms in alike.items():
        by_task: dict[str, list[tuple[float, float]]] = {}
        for unit, found in units[cell].items():
            base, extra, test = (found[arm].correct / found[arm].n for arm in ("base", *BIAS[::-1]))
            by_task.setdefault(unit.task, []).append((extra - base, test - extra))
        checks = [
            ContaminationRecord(
                id=task, suite="study.yaml", line=1, task=task, shots=0,
                base="base", extra="extra", test="test",
                boost=sum(boost for boost, _ in several) / len(several),
                bias=sum(bias for _, bias in several) / len(several),
            )
            for task, several in by_task.items()
        ]  # fmt: skip
        (row,) = contamination_over_tasks(checks)
        boost, bias = arms[BOOST], arms[BIAS]
        assert row.tasks == 25
        assert row.boost == pytest.approx(boost["difference"], abs=1e-12)
        assert row.bias == pytest.approx(bias["difference"], abs=1e-12)
        assert (row.bias_low, row.bias_high) == pytest.approx((bias["low"], bias["high"]), abs=1e-6)
        # Sign flips are symmetric: the side of the difference has half of both.
        assert row.boost_p == pytest.approx(boost["p_value"] / 2, rel=1e-6)
        if row.bias > 0:
            assert row.bias_p == pytest.approx(bias["p_value"] / 2, rel=1e-6)
        else:
            assert row.bias_p >= 1 - bias["p_value"] / 2
        found_by[cell] = row.finding
    # One-sided at .05 in each of 16 cells, one may be found where there is nothing.
    assert sorted(found_by.values()) == ["no sign of it"] * 15 + ["tuned on the text"]


def rounded(value: Fraction, steps: Iterable[str]) -> Decimal:
    number = Decimal(value.numerator) / Decimal(value.denominator)
    for step in steps:
        number = number.quantize(Decimal(step), rounding=ROUND_HALF_UP)
    return number


def test_rounding_twice_changes_two_cells_of_the_tables(study: Path) -> None:
    changed = {
        key
        for key, mean in exact_means(study).items()
        if rounded(mean, [".01"]) != rounded(mean, [".001", ".01"])
    }
    assert changed == {(("50", "500", "bert"), BIAS), (("100", "100", "gpt2"), BOOST)}


def test_every_boost_is_positive_and_every_bias_small(by_model: Cells) -> None:
    assert [*by_model] == CELLS
    for cell in by_model.values():
        assert 0.02 < cell[BOOST]["difference"] < 0.07
        assert abs(cell[BIAS]["difference"]) < 0.005


def test_no_task_has_a_bias_once_q_values_count_the_tasks(by_model: Cells) -> None:
    for cell in by_model.values():
        tasks = cell[BIAS]["tasks"]
        assert len(tasks) == 25
        assert min(task["bh"] for task in tasks) > 0.05
        assert min(task["holm"] for task in tasks) > 0.05
        assert sum(task["bh"] <= 0.05 for task in cell[BOOST]["tasks"]) >= 9


def test_the_effects_at_m_100_and_n_500_are_the_published_ones(pooled: Cells) -> None:
    boost, bias = (pooled["100", "500"][arms] for arms in (BOOST, BIAS))
    assert boost["pairs"] == bias["pairs"] == 1000
    assert boost["effect"]["mean"] == pytest.approx(0.263, abs=0.0006)
    assert bias["effect"]["mean"] == pytest.approx(-0.0096, abs=0.00006)
    for found in (boost, bias):
        assert found["effect"]["sd"] == pytest.approx(0.005, abs=0.0005)
        assert found["effect"]["difference"] == pytest.approx(found["difference"], abs=1e-4)
    assert boost["effect"]["difference"] == pytest.approx(0.050, abs=0.0005)
    assert bias["effect"]["difference"] == pytest.approx(-0.0018, abs=0.00005)


def test_pairs_vary_many_times_as_much_as_binomial_ones(pooled: Cells) -> None:
    boost, bias = (pooled["100", "500"][arms]["overdispersion"] for arms in (BOOST, BIAS))
    assert boost == pytest.approx(12, abs=0.5)
    assert bias == pytest.approx(5.9, abs=0.05)


def test_single_draws_mislead_the_binomial_model_and_seldom_the_sign_flip(pooled: Cells) -> None:
    for m in ("50", "100"):
        single = pooled[m, "500"][BIAS]["single_draws"]
        assert single["slices"] == 500
        assert single["all_replicates"] == "not shown"
        assert single["outside"] == pytest.approx(0.45, abs=0.06)
        assert single["model_contradicts"] == pytest.approx(0.54, abs=0.08)
        assert single["sign_flip_contradicts"] == pytest.approx(0.10, abs=0.03)
        boost = pooled[m, "500"][BOOST]["single_draws"]
        assert boost["all_replicates"] == "better"
        assert boost["model_contradicts"] < 0.02


def pairs_of(study: Path, a: str, b: str, *, backwards: bool = False) -> Pairs:
    units = read_arms(study, [f"{a}-{b}"], by=["m", "n", "model"]).groups["100", "500", "gpt2"]
    ordered = sorted(units, reverse=backwards)
    columns = [
        [getattr(units[unit][arm], field) for unit in ordered]
        for arm in (a, b)
        for field in ("correct", "n")
    ]
    return paired([u.task for u in ordered], [u.replicate for u in ordered], *columns)


def test_neither_the_order_of_the_rows_nor_that_of_the_arms_changes_the_effect(study: Path) -> None:
    one, reordered, swapped = (
        conditional_likelihood(pairs).posterior()
        for pairs in (
            pairs_of(study, *BIAS),
            pairs_of(study, *BIAS, backwards=True),
            pairs_of(study, *reversed(BIAS)),
        )
    )
    assert reordered == one
    assert swapped.mean == pytest.approx(-one.mean, abs=1e-9)
    assert swapped.difference == pytest.approx(-one.difference, abs=1e-9)


def test_the_suites_of_the_study_have_the_cells_that_were_published(study: Path) -> None:
    with gzip.open(study, "rt") as file:
        rows = list(csv.DictReader(file))
    published = {
        (model, int(m), int(n)): Counter(row["task"] for row in cell)
        for (model, m, n), cell in itertools.groupby(sorted(rows, key=_cell), key=_cell)
    }
    suites = {}
    for model, m, n in published:
        suite = yaml.safe_load((SUITES / f"{model}-m{m}-n{n}.yaml").read_text())
        arms = [
            suite["arms"][arm].get("train", {}).get("text") for arm in ("base", "extra", "test")
        ]
        assert arms == [None, "extra", "scored"]
        assert suite["classify"]["examples"] == m
        assert {task["validation"]["max_examples"] for task in suite["tasks"]} == {n}
        suites[model, m, n] = {task["name"]: suite["replicates"] for task in suite["tasks"]}
    assert suites == published
    assert {len(classes) for classes in published.values()} == {25}


def _cell(row: dict[str, str]) -> tuple[str, str, str]:
    return row["model"], row["m"], row["n"]
